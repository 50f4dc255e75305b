"""Tests of the journal with real files, real limits of the kernel and real processes."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from detent.errors import DamagedJournal, StorageError, UnreadableError
from detent.store.disk.digest import sha256_of
from detent.store.journal.chain import GENESIS, LARGEST_LINE_BYTES, Journal, decode_lines, split_lines
from detent.store.journal.line import to_line
from detent.words.store import disk as disk_words
from detent.words.store import journal as say

TIMEOUT_S = 60


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(str(tmp_path / "journal.jsonl"))


def fill(journal: Journal, count: int, padding: int = 0) -> tuple[str, int]:
    """Append `count` lines; the hash of the last one and the size."""
    previous, size = GENESIS, 0
    for seq in range(1, count + 1):
        raw, size = journal.append({"seq": seq, "kind": "filed", "text": "x" * padding}, previous, size)
        previous = sha256_of(raw)
    return previous, size


def lines(journal: Journal) -> list[dict[str, object]]:
    return list(map(to_line, decode_lines(split_lines(journal.read())[0], journal.path)))


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, encoding="utf-8", timeout=TIMEOUT_S, check=False
    )


def test_each_line_holds_the_hash_of_the_one_before(journal: Journal) -> None:
    previous, size = fill(journal, 3)
    raws, covered = split_lines(journal.read())
    entries = lines(journal)
    assert [entry["prev"] for entry in entries] == [GENESIS, sha256_of(raws[0]), sha256_of(raws[1])]
    assert (previous, size, covered) == (sha256_of(raws[2]), journal.size(), journal.size())


def test_a_text_that_is_no_text_survives(journal: Journal) -> None:
    """A folder's name may hold bytes that are no UTF-8; it must come back as it was, and other text stays readable."""
    name = os.fsdecode(b"caf\xff")
    journal.append({"seq": 1, "kind": "created", "dir": name, "title": "Übung"}, GENESIS, 0)
    assert lines(journal)[0]["dir"] == name
    journal.append(
        {"seq": 2, "kind": "retitled", "title": "Übung"},
        sha256_of(split_lines(journal.read())[0][0]),
        journal.size() or 0,
    )
    assert "Übung".encode() in journal.read()


# --- torn tails ---


@pytest.mark.parametrize("torn", [b"{", b'{"seq":3,"kind":"mo', b"\0\0\0\0", b'{"seq":3}'])
def test_torn_tail_is_ignored_by_readers_and_cut_by_writer(journal: Journal, torn: bytes) -> None:
    previous, size = fill(journal, 2)
    whole = journal.read()
    Path(journal.path).write_bytes(whole + torn)
    assert [entry["seq"] for entry in lines(journal)] == [1, 2]
    assert journal.read() == whole + torn, "reading must not cut"
    journal.append({"seq": 3, "kind": "filed"}, previous, size)
    assert [entry["seq"] for entry in lines(journal)] == [1, 2, 3]
    assert journal.read().startswith(whole)


def test_a_whole_line_is_never_cut(journal: Journal) -> None:
    """A writer whose memory is older than the journal must not throw away lines acknowledged by another process."""
    previous, size = fill(journal, 2)
    raw, _ = journal.append({"seq": 3, "kind": "filed"}, previous, size)
    before = journal.read()
    with pytest.raises(DamagedJournal, match=re.escape(say.more_lines())):
        journal.append({"seq": 3, "kind": "set_up"}, previous, size)
    assert journal.read() == before
    assert raw in before


def test_a_journal_that_became_shorter_is_not_filled_up(journal: Journal) -> None:
    previous, size = fill(journal, 2)
    os.truncate(journal.path, size - 10)
    before = journal.read()
    with pytest.raises(DamagedJournal, match=re.escape(say.other_size(size - 10, size))):
        journal.append({"seq": 3, "kind": "filed"}, previous, size)
    assert journal.read() == before


def test_a_first_line_is_never_written_over_others(journal: Journal) -> None:
    fill(journal, 2)
    before = journal.read()
    with pytest.raises(DamagedJournal, match=re.escape(say.has_lines_already())):
        journal.append({"seq": 1, "kind": "created"}, GENESIS, 0)
    assert journal.read() == before


@pytest.mark.parametrize("left", [b"", b'{"seq":1,"ki'])
def test_what_a_killed_creation_left_is_replaced(journal: Journal, left: bytes) -> None:
    Path(journal.path).write_bytes(left)
    journal.append({"seq": 1, "kind": "created"}, GENESIS, 0)
    assert [entry["kind"] for entry in lines(journal)] == ["created"]


# --- damage ---


def damaged(raws: Sequence[bytes], number: int) -> list[tuple[str, list[bytes]]]:
    """Ways to spoil line `number`, which is neither the first nor the last."""
    index = number - 1
    raw = raws[index]
    return [
        ("cut in half", [*raws[:index], raw[: len(raw) // 2], *raws[number:]]),
        ("not JSON", [*raws[:index], b"hello", *raws[number:]]),
        ("nested without end", [*raws[:index], b"[" * 200_000, *raws[number:]]),
        ("empty", [*raws[:index], b"", *raws[number:]]),
        ("no table", [*raws[:index], b"[1]", *raws[number:]]),
        ("of another chain", [*raws[:index], raw.replace(b'"prev":"', b'"prev":"0'), *raws[number:]]),
        ("removed", [*raws[:index], *raws[number:]]),
        ("twice", [*raws[:index], raws[index - 1], *raws[index:]]),
    ]


@pytest.mark.parametrize("how", range(8))
def test_damage_in_the_middle_names_the_line(journal: Journal, how: int) -> None:
    fill(journal, 5)
    name, spoiled = damaged(split_lines(journal.read())[0], 3)[how]
    with pytest.raises(DamagedJournal, match=re.escape(say.damaged(3, ""))) as caught:
        decode_lines(spoiled, journal.path)
    assert (caught.value.where, caught.value.code) == (journal.path, 5), name
    assert caught.value.next_step == say.damaged(3, "").next_step


def test_line_with_wrong_number_is_named_though_it_fits_chain(journal: Journal) -> None:
    previous, size = fill(journal, 2)
    journal.append({"seq": 7, "kind": "filed"}, previous, size)
    with pytest.raises(DamagedJournal, match=re.escape(say.damaged(3, say.not_that_line(3)))):
        lines(journal)


def test_a_changed_line_is_named_by_the_one_after_it(journal: Journal) -> None:
    fill(journal, 3)
    raws = split_lines(journal.read())[0]
    raws[1] = raws[1].replace(b"filed", b"moved")
    with pytest.raises(DamagedJournal, match=re.escape(say.damaged(3, say.chain_broken()))):
        decode_lines(raws, journal.path)


# --- the disk refuses ---

FULL_DISK = """
import resource, signal, sys
from detent.errors import StorageError
from detent.store.journal.chain import Journal
path, limit, previous, size = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    Journal(path).append({"seq": 3, "kind": "filed", "text": "y" * 500}, previous, size)
except StorageError as error:
    print(error.what, error.code)
"""


@pytest.mark.parametrize("room", [0, 1, 40, 499])
def test_a_line_that_does_not_fit_is_cut_back(journal: Journal, room: int) -> None:
    """The kernel lets `room` bytes through, as a full disk does; the next write of the same line fails."""
    previous, size = fill(journal, 2)
    before = journal.read()
    ended = python(FULL_DISK, journal.path, str(size + room), previous, str(size))
    reason = disk_words.reason(errno.EFBIG, "")
    refusal = disk_words.disk_refused(say.not_written(), reason, disk_words.free_space())
    assert ended.stdout == f"{refusal} 5\n", ended
    assert journal.read() == before
    journal.append({"seq": 3, "kind": "filed"}, previous, size)
    assert len(lines(journal)) == 3


def test_a_first_line_that_does_not_fit_leaves_nothing(journal: Journal) -> None:
    ended = python(FULL_DISK, journal.path, "100", GENESIS, "0")
    assert ended.stdout.startswith(disk_words.file_not_written()), ended
    assert os.listdir(os.path.dirname(journal.path)) == []


APPEND = """
import sys
from detent.errors import StorageError
from detent.store.journal.chain import Journal
try:
    Journal(sys.argv[1]).append({"seq": 3}, sys.argv[2], int(sys.argv[3]))
except StorageError as error:
    print(error.what)
"""
SYNC = "import os, sys; os.fdatasync(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT))"


def with_failing_sync(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python whose fdatasync is answered by strace with an input/output error."""
    inject = ["strace", "-f", "-o", os.devnull, "-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO"]
    return subprocess.run(
        [*inject, sys.executable, "-c", code, *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        check=False,
    )


def test_a_line_that_was_not_synced_did_not_happen(tmp_path: Path, journal: Journal) -> None:
    try:
        probe = with_failing_sync(SYNC, str(tmp_path / "probe"))
    except FileNotFoundError:
        pytest.skip("strace is not installed: a failing fdatasync can't be made here")
    if "Input/output error" not in probe.stderr:
        pytest.skip(f"strace can't inject faults here: {probe.stderr[-200:]}")
    previous, size = fill(journal, 2)
    before = journal.read()
    ended = with_failing_sync(APPEND, journal.path, previous, str(size))
    reason = disk_words.reason(errno.EIO, "")
    assert ended.stdout == f"{disk_words.disk_refused(say.not_written(), reason, disk_words.free_space())}\n"
    assert journal.read() == before


def test_a_line_that_is_too_long_is_refused(journal: Journal) -> None:
    previous, size = fill(journal, 1)
    with pytest.raises(UnreadableError, match=re.escape(say.line_too_long(1000093))):
        journal.append({"seq": 2, "text": "x" * LARGEST_LINE_BYTES}, previous, size)
    assert journal.size() == size


def test_a_missing_journal_has_no_size_and_cannot_be_read(journal: Journal) -> None:
    assert journal.size() is None
    with pytest.raises(UnreadableError, match=re.escape(say.no_journal())):
        journal.read()
    with pytest.raises(StorageError, match=re.escape(disk_words.reason(errno.ENOENT, ""))):
        journal.append({"seq": 2}, GENESIS, 100)
    assert not os.path.exists(journal.path), "only the first line makes a journal"


# --- many writers ---

WRITER = """
import json, sys
from detent.store.journal.chain import GENESIS, Journal, decode_lines, split_lines
from detent.store.disk.digest import sha256_of
from detent.store.disk.lock import Lock
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
journal = Journal(path)
for number in range(count):
    with Lock(path + ".lock"):
        raws, size = split_lines(journal.read())
        entries = decode_lines(raws, path)
        entry = {"seq": len(entries) + 1, "kind": "acted", "by": name, "number": number}
        journal.append(entry, sha256_of(raws[-1]), size)
"""


def test_twenty_processes_lose_nothing(journal: Journal) -> None:
    fill(journal, 1)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, journal.path, str(name), "5"], stderr=subprocess.PIPE)
        for name in range(20)
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=TIMEOUT_S)
        assert writer.returncode == 0, errors
    entries = lines(journal)
    assert len(entries) == 101
    written = [(entry["by"], entry["number"]) for entry in entries[1:]]
    expected = [(str(name), number) for name in range(20) for number in range(5)]
    assert sorted(written, key=str) == sorted(expected, key=str)
    assert all(json.loads(raw) for raw in split_lines(journal.read())[0])
