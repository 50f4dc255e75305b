"""Tests of whole-file reads and writes: only a plain file of modest size is ever read, and nothing is half written."""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from detent.errors import StorageError, UnreadableError
from detent.store.disk.atomic import (
    LARGEST_TEXT_BYTES,
    as_json,
    make_folders,
    read_cache,
    read_plain,
    read_text,
    sweep,
    write_atomic,
    write_cache,
)
from detent.words.store import disk as say

TIMEOUT_S = 60


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


# --- writing ---


@pytest.mark.parametrize("durable", [True, False])
def test_a_write_replaces_the_whole_file(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"a much longer text than the new one")
    write_atomic(str(path), b"new", durable=durable)
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_a_given_mode_is_kept_whatever_the_umask_says(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a"
    before = os.umask(0o077)
    try:
        write_atomic(str(path), b"x", durable=False, mode=mode)
        write_atomic(str(tmp_path / "b"), b"x", durable=False)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o600, "without a mode the umask decides"


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"mine")
    (tmp_path / "link").symlink_to(target)
    write_atomic(str(tmp_path / "link"), b"new", durable=False)
    assert target.read_bytes() == b"mine"
    assert not (tmp_path / "link").is_symlink()


def test_folder_in_way_is_named_and_no_temporary_is_left(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(StorageError) as caught:
        write_atomic(str(tmp_path / "a"), b"x", durable=True)
    reason = say.reason(errno.EISDIR, "")
    refusal = say.disk_refused(say.file_not_written(), reason, say.make_path_writable())
    assert (caught.value.what, caught.value.next_step) == (refusal, refusal.next_step)
    assert caught.value.where == str(tmp_path / "a")
    assert names(tmp_path) == ["a"]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    code = (
        "import resource, signal, sys\nfrom detent.errors import StorageError\n"
        "from detent.store.disk.atomic import write_atomic\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n    write_atomic(sys.argv[1], b'x' * 2000, durable=True)\n"
        "except StorageError as error:\n    print(error.next_step)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a")],
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        check=False,
    )
    assert ended.stdout.startswith(say.free_space()), ended
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_temporaries_of_the_dead_are_swept_and_nothing_else(tmp_path: Path) -> None:
    for name in (".detent-tmp-1-abcd", ".detent-task", "STATE.md", "x.detent-tmp-1"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / ".detent-tmp-folder").mkdir()
    sweep(str(tmp_path))
    assert names(tmp_path) == [".detent-task", ".detent-tmp-folder", "STATE.md", "x.detent-tmp-1"]
    sweep(str(tmp_path / "not there"))


def test_a_killed_writer_leaves_only_what_is_swept(tmp_path: Path) -> None:
    """Killed by the kernel in the middle of its write: the old file stands, and the next command tidies up."""
    (tmp_path / "a").write_bytes(b"old")
    code = (
        "import resource, signal, sys\nfrom detent.store.disk.atomic import write_atomic\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_atomic(sys.argv[1], b'x' * 2000, durable=True)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a")], capture_output=True, timeout=TIMEOUT_S, check=False
    )
    assert ended.returncode < 0, ended
    assert (tmp_path / "a").read_bytes() == b"old"
    assert len(names(tmp_path)) == 2
    sweep(str(tmp_path))
    assert names(tmp_path) == ["a"]


def test_folders_are_made_with_their_parents(tmp_path: Path) -> None:
    make_folders(str(tmp_path / "a" / "b" / "c"))
    make_folders(str(tmp_path / "a" / "b" / "c"))
    assert (tmp_path / "a" / "b" / "c").is_dir()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UnreadableError, match=re.escape(say.file_where_folder_is_needed())):
        make_folders(str(tmp_path / "file"))
    with pytest.raises((UnreadableError, StorageError)):
        make_folders(str(tmp_path / "file" / "below"))


# --- reading ---


def make_link(path: Path) -> None:
    target = path.with_name("target")
    target.write_text("secret", encoding="utf-8")
    path.symlink_to(target)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        before = os.getcwd()
        os.chdir(path.parent)  # the path of a socket is short
        try:
            listener.bind(path.name)
        finally:
            os.chdir(before)


def make_giant(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50_000_000)


STRANGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "link": (make_link, say.unreadable(say.reason(errno.ELOOP, ""))),
    "dangling link": (lambda path: path.symlink_to("nowhere"), say.unreadable(say.reason(errno.ELOOP, ""))),
    "fifo": (os.mkfifo, say.no_plain_file()),
    "folder": (lambda path: path.mkdir(), say.no_plain_file()),
    "socket": (make_socket, say.unreadable(os.strerror(errno.ENXIO))),
    "giant": (make_giant, say.too_large(50_000_000, LARGEST_TEXT_BYTES)),
    "not UTF-8": (lambda path: path.write_bytes(b"abc\xff\xfe"), say.not_utf8(3)),
    "NUL": (lambda path: path.write_bytes(b"ab\0c"), say.binary_data(2)),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_what_is_no_text_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    make, words = STRANGE[kind]
    path = tmp_path / "EVIDENCE.md"
    make(path)
    with pytest.raises(UnreadableError, match=re.escape(words)) as caught:
        read_text(str(path))
    assert caught.value.where == str(path)


def test_missing_file_is_none_and_an_empty_one_is_empty(tmp_path: Path) -> None:
    assert read_text(str(tmp_path / "a")) is None
    (tmp_path / "a").write_bytes(b"")
    assert read_text(str(tmp_path / "a")) == ""
    assert read_text(str(tmp_path / "a" / "b")) is None, "a file is no folder, so nothing lies below it"


def test_a_text_is_read_exactly_as_it_stands(tmp_path: Path) -> None:
    data = "\ufeffPhase: x\r\nb\u2028c\rd".encode()
    (tmp_path / "a").write_bytes(data)
    assert (read_text(str(tmp_path / "a")) or "").encode() == data


def test_the_limit_is_the_last_size_that_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 100)
    assert read_plain(str(path), 100) == b"x" * 100
    with pytest.raises(UnreadableError, match=re.escape(say.too_large(100, 99))):
        read_plain(str(path), 99)


@pytest.fixture
def growing() -> str:
    """A file of the kernel whose size says 0 although it holds more."""
    path = "/proc/self/maps"
    if not os.path.exists(path):
        pytest.skip("this system has no /proc")
    return path


def test_file_larger_than_its_stated_size_is_bounded(growing: str) -> None:
    with pytest.raises(UnreadableError, match=re.escape(say.more_than(10))):
        read_plain(growing, 10)


@pytest.mark.parametrize("compact", [True, False])
def test_json_keeps_text_readable_and_bytes_intact(compact: bool) -> None:
    assert "ü".encode() in as_json({"a": "ü"}, compact=compact)
    assert as_json({"a": "\udcff"}, compact=compact).isascii()
    assert b"\n" not in as_json({"a": "x\ny"}, compact=compact)


@pytest.mark.parametrize("data", [b"", b"x", b"y" * 10_000])
def test_a_file_whose_text_is_carried_elsewhere_is_written_whole(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"what stood there before" * 100)
    write_atomic(str(path), data, durable=False, is_carried=True)
    assert path.read_bytes() == data, "no more and no less, although its room was reserved"


# --- caches ---


def test_a_cache_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = str(tmp_path / "cache")
    assert read_cache(path) is None
    for data in (b"long " * 100, b"x", b"ends with a line end\n", b"\n"):
        write_cache(path, data)
        assert read_cache(path) == data


@pytest.mark.parametrize("cut", range(1, 12))
def test_half_a_cache_is_none(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "cache"
    write_cache(str(path), b"x" * 50)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert read_cache(str(path)) == (None if cut > 1 else b"x" * 50), "the last line end alone says nothing"
    path.write_bytes(whole[:cut] + b"?" + whole[cut + 1 :])
    assert read_cache(str(path)) is None


def test_cache_that_is_a_link_is_neither_read_nor_written(tmp_path: Path) -> None:
    write_cache(str(tmp_path / "real"), b"x")
    (tmp_path / "cache").symlink_to("real")
    assert read_cache(str(tmp_path / "cache")) is None
    with pytest.raises(StorageError, match=re.escape(say.reason(errno.ELOOP, ""))):
        write_cache(str(tmp_path / "cache"), b"y")
    assert read_cache(str(tmp_path / "real")) == b"x"


def test_a_reader_is_notified_of_a_file_behind_a_link(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "folder"
    folder.mkdir()
    (folder / "a").write_bytes(b"x")
    folder.with_name("link").symlink_to("folder")
    notices: list[str] = []
    for name in ("folder", "link"):
        assert read_plain(str(folder.with_name(name) / "a"), elsewhere=partial(notices.append, name)) == b"x"
    assert notices == ["link"]


def test_file_of_current_folder_is_replaced_by_its_bare_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for data in (b"first", b"second"):
        write_atomic("bare", data, durable=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"bare": b"second"}
