"""Tests of the projection: document and log follow the journal exactly once, whatever died in between."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from detent.core.values import Snapshot
from detent.errors import DamagedJournal, StorageError, UnreadableError
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.store.journal.line import Line
from detent.store.journal.memory import Memory
from detent.store.journal.native import Document, Native
from detent.store.journal.native_log import log_line
from detent.store.journal.places import TaskPlaces, make_task_folder
from detent.store.journal.tasks import TaskStore
from detent.view import with_fields
from detent.words.store import disk as disk_words
from detent.words.store import journal as say
from tests.lines import made

MACHINE = load("phase", vocabulary())[0]
STATE = "# A task\n\nPhase: intake\nStatus: new\nOwner: Ann\nObjective: o\n\nfree text\n"


class World:
    """One task's store and native folder, driven as the runner drives them, but step by step."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "task"
        self.folder.mkdir()
        self.file = self.folder / "STATE.md"
        self.log = self.folder / "history.jsonl"
        self.file.write_text(STATE, encoding="utf-8")
        places = TaskPlaces("t", str(base / "control"))
        make_task_folder(places)
        self.store = TaskStore(places)
        self.native = Native(MACHINE, str(self.folder), places)
        self.projected = Path(places.projected())
        registers = {name: register.start for name, register in MACHINE.registers.items() if register.start}
        first = Snapshot(state="intake", registers=registers, visits={"intake": 1})
        self.memory = self.store.commit(None, made("created", id="t"), first)

    def commit(self, state: str = "", **content: Any) -> Memory:
        """A journal line, not projected yet."""
        after = self.memory.snapshot.replace(state=state) if state else None
        kind = "moved" if state else "answered"
        self.memory = self.store.commit(self.memory, made(kind, {"by": "person", "to": state, **content}), after)
        return self.memory

    def project(self, restore: Mapping[str, str] | None = None) -> Document:
        """What the engine does under the lock, with what the log lacks by its own account."""
        self.native.look_again()
        return self.native.project(self.native.read(), self.memory, restore or {}, self.lines)

    def lines(self, logged: int) -> list[Line]:
        return [line for line in self.store.history() if line.seq > logged]

    def logged(self) -> list[Any]:
        return [json.loads(line)["seq"] for line in self.log.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


# --- reading ---


def test_a_machine_may_have_no_place_for_the_time(tmp_path: Path) -> None:
    machine = MACHINE.replace(store=with_fields(MACHINE.store, updated=""))
    native = Native(machine, str(tmp_path), TaskPlaces("t", str(tmp_path / "control")))
    assert "now" not in native.wanted_fields(Snapshot("intake"), "now").values()


@pytest.mark.parametrize("is_missing", [False, True])
@pytest.mark.parametrize("linked", ["task", "."])
def test_a_folder_behind_a_link_is_not_read(tmp_path: Path, linked: str, is_missing: bool) -> None:
    """The folder itself or one above it: a file at another place is of another's choosing."""
    base = tmp_path.resolve() / "base"
    base.mkdir()
    world = World(base)
    assert world.native.read().text == STATE
    moved = (base / linked).resolve()
    moved.rename(base.with_name("elsewhere"))
    moved.symlink_to(base.with_name("elsewhere"))
    if is_missing:
        world.file.unlink()
    with pytest.raises(UnreadableError, match=re.escape(say.task_folder_is_link())):
        world.native.read()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, say.file_missing("STATE.md")),
        (b"", say.file_empty("STATE.md")),
        (b"\xef\xbb\xbf \r\n\t\n", say.file_empty("STATE.md")),
        (b"Phase: a\0b", disk_words.binary_data(8)),
        (b"\xff", disk_words.not_utf8(0)),
    ],
)
def test_document_that_says_nothing_is_an_error_with_its_path(world: World, data: bytes | None, words: str) -> None:
    world.file.unlink()
    if data is not None:
        world.file.write_bytes(data)
    with pytest.raises(UnreadableError, match=re.escape(words)) as caught:
        world.native.read()
    assert caught.value.where == str(world.file)


@pytest.mark.parametrize(
    "line", ["Phase: shape", "- **Phase:** `shape`", "Phase: shape <!-- or verify -->", "phase:shape"]
)
def test_the_state_is_what_a_reader_sees(world: World, line: str) -> None:
    world.file.write_text(STATE.replace("Phase: intake", line), encoding="utf-8")
    assert world.native.read().state == "shape"


def test_a_document_without_a_state_line_names_none(world: World) -> None:
    world.file.write_text("```\nPhase: shape\n```\n", encoding="utf-8")
    assert world.native.read().state == ""


# --- the document ---


@pytest.mark.requirement("S0.35")
def test_a_projection_writes_what_the_engine_owns_and_nothing_else(world: World) -> None:
    world.project()
    world.commit("shape")
    document = world.project()
    text = world.file.read_text(encoding="utf-8")
    assert document.text == text
    assert document.state == "shape"
    owned = {"Validator status": "pending", "Repair applied": "no", "Revalidation status": "pending"}
    assert {label: document.value(label) for label in owned} == owned
    assert document.value("Last updated") == world.memory.changed_at
    kept = [line for line in text.splitlines() if line.partition(":")[0] not in ("Phase", "Last updated", *owned)]
    assert kept == [line for line in STATE.splitlines() if not line.startswith("Phase")]


def test_the_same_journal_gives_the_same_bytes(world: World) -> None:
    world.commit("shape")
    world.project()
    before = world.file.read_bytes()
    inode = world.file.stat().st_ino
    world.project()
    assert world.file.read_bytes() == before
    assert world.file.stat().st_ino == inode, "a file that is as it should be is not written again"


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_the_mode_of_the_file_is_kept(world: World, mode: int) -> None:
    world.file.chmod(mode)
    world.commit("shape")
    world.project()
    assert stat.S_IMODE(world.file.stat().st_mode) == mode


def test_line_ends_and_byte_order_mark_are_kept(world: World) -> None:
    world.file.write_bytes(("\ufeff" + STATE.replace("\n", "\r\n")).encode().removesuffix(b"\r\n"))
    world.commit("shape")
    world.project()
    data = world.file.read_bytes().decode()
    assert data.startswith("\ufeff# A task\r\n\r\nPhase: shape\r\n")
    assert data.endswith("free text")
    assert "\n" not in data.replace("\r\n", "")


def test_a_locked_value_is_put_back_with_the_projection(world: World) -> None:
    world.commit("implement")
    world.project()
    spoiled = world.file.read_text(encoding="utf-8").replace("Objective: o\n\nfree text\n", "Objective: easier\n")
    world.file.write_text(spoiled, encoding="utf-8")
    document = world.project({"field:Objective": "o\n\nfree text"})
    assert document.value("Objective") == "o\n\nfree text"


@pytest.mark.parametrize("label", ["Validator status", "Repair applied", "Revalidation status"])
@pytest.mark.parametrize("change", ["changed", "removed", "emphasised", "hidden"])
def test_an_owned_field_that_was_touched_is_told(world: World, label: str, change: str) -> None:
    document = world.project()
    assert world.native.tampered(document, world.memory.snapshot, "") == ()
    line = next(line for line in document.text.splitlines() if line.startswith(label))
    new = {"changed": f"{label}: yes", "removed": "", "emphasised": f"{label}: **pass**", "hidden": f"<!-- {line} -->"}
    spoiled = world.native.parsed(document.text.replace(line, new[change]))
    assert world.native.tampered(spoiled, world.memory.snapshot, "") == (label,)
    repaired = world.native.project(spoiled, world.memory, {}, world.lines)
    assert world.native.tampered(repaired, world.memory.snapshot, "") == ()


def test_what_people_write_is_not_tampering(world: World) -> None:
    document = world.project()
    edited = document.text.replace("Status: new", "Status: done soon").replace("Last updated: 2", "Last updated: 1")
    edited = edited.replace("Repair applied: no", "Repair applied: no <!-- the engine writes this -->")
    assert world.native.tampered(world.native.parsed(edited), world.memory.snapshot, "") == ()


# --- what was projected: law 4 ---


def test_last_projected_line_is_known_only_when_file_is_written(world: World) -> None:
    assert world.native.projected_seq() == 0
    world.project()
    assert world.native.projected_seq() == 1
    world.commit("shape")
    world.native.look_again()
    assert world.native.projected_seq() == 1, "the journal moved, the file did not: not a hand edit"
    world.project()
    assert world.native.projected_seq() == 2


def test_bytes_that_were_projected_once_are_recognised_for_ever(world: World) -> None:
    first = world.project()
    world.commit("shape")
    second = world.project()
    assert world.native.was_projected(first)
    assert world.native.was_projected(second)
    edited = world.native.parsed(first.text.replace("Owner: Ann", "Owner: Bob"))
    assert not world.native.was_projected(edited), "a person's edit of an old copy is a new wish"
    assert not world.native.was_projected(world.native.parsed(STATE))


@pytest.mark.parametrize("torn", [b"{", b'{"seq": 9, "sha": "00', b"\0\0"])
def test_a_torn_memory_of_projections_is_repaired_by_the_next(world: World, torn: bytes) -> None:
    first = world.project()
    world.projected.write_bytes(world.projected.read_bytes() + torn)
    world.native.look_again()
    assert world.native.projected_seq() == 1
    world.commit("shape")
    world.project()
    assert world.native.projected_seq() == 2
    assert world.native.was_projected(first)


@pytest.mark.parametrize("data", [b"", b"rubbish\n", b'{"seq": "x"}\n', b"[3]\n", b'{"seq": true}\n'])
def test_a_lost_memory_of_projections_means_that_nothing_was(world: World, data: bytes) -> None:
    world.project()
    world.projected.write_bytes(data)
    world.native.look_again()
    assert world.native.projected_seq() == 0


def test_a_projection_is_seen_only_once_it_is_marked(world: World) -> None:
    world.project()
    other = Native(MACHINE, str(world.folder), world.native.places)
    memory = world.commit("shape")
    other.catch_up(memory, world.lines)
    world.native.look_again()
    assert world.native.projected_seq() == 2
    kept = world.projected.rename(world.projected.with_name("kept"))
    world.projected.mkdir()
    with pytest.raises(StorageError):
        world.native.catch_up(world.commit("implement"), world.lines)
    world.projected.rmdir()
    kept.rename(world.projected)
    world.native.look_again()
    assert world.native.projected_seq() == 2


# --- the native log ---


def test_the_log_has_every_journal_line_once(world: World) -> None:
    world.project()
    world.commit("shape", reason="because")
    world.project()
    world.project()
    assert world.logged() == [1, 2]
    shown = json.loads(world.log.read_text(encoding="utf-8").splitlines()[1])
    assert (shown["kind"], shown["to"], shown["reason"]) == ("moved", "shape", "because")
    assert "after" not in shown


def test_damaged_journal_is_found_out_before_the_document_is_replaced(world: World) -> None:
    world.project()
    before = (world.folder / "STATE.md").read_bytes()
    world.commit("shape")

    def damaged(_logged: int) -> list[Line]:
        raise DamagedJournal("line 1")

    with pytest.raises(DamagedJournal):
        world.native.project(world.native.read(), world.memory, {}, damaged)
    assert (world.folder / "STATE.md").read_bytes() == before


def test_lines_a_crash_left_out_are_caught_up_in_order(world: World) -> None:
    world.project()
    for state in ("shape", "implement", "verify"):
        world.commit(state)
    world.project()
    assert world.logged() == [1, 2, 3, 4]


@pytest.mark.parametrize("length", [1, 30, -2, -1])
def test_a_torn_log_line_is_completed_not_repeated(world: World, length: int) -> None:
    """A crash in the middle of a write, or (whole line, no mark) just behind it."""
    world.project()
    mark = world.projected.read_bytes()
    whole = world.log.read_bytes()
    world.commit("shape")
    world.project()
    line = world.log.read_bytes()[len(whole) :]
    world.log.write_bytes(whole + line[: len(line) + 1 + length if length < 0 else length])
    world.projected.write_bytes(mark)
    world.project()
    assert world.log.read_bytes() == whole + line


@pytest.mark.parametrize(
    "foreign",
    [
        b'{"note": "from another tool"}\n',
        b"free text\n",
        b"free text without an end",
        b'{"seq": "nine"}\n',
        b'{"seq": 99999, "kind": "moved", "to": "done"}\n',
        b'{"seq": 2, "kind": "moved", "to": "done"}\n',
        b'{"seq": -1}\n',
        b"\0\xff\n",
        b"\n\n",
    ],
)
def test_foreign_lines_are_left_alone_and_stop_nothing(world: World, foreign: bytes) -> None:
    """An agent can write into its own folder; what it writes there must not keep the engine's lines out."""
    world.project()
    world.log.write_bytes(world.log.read_bytes() + foreign)
    world.commit("shape")
    world.project()
    world.commit("implement")
    world.project()
    ours = [json.dumps(log_line(entry), ensure_ascii=False) for entry in world.store.history()]
    lines = world.log.read_bytes().split(b"\n")
    assert [lines.count(line.encode()) for line in ours] == [1, 1, 1]
    assert foreign.rstrip(b"\n") in world.log.read_bytes()


def test_a_foreign_log_that_was_there_before_is_kept(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.log.write_text('{"seq": 1, "kind": "created", "id": "of another task"}\n', encoding="utf-8")
    world.project()
    assert world.logged() == [1, 1]


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_log_that_lost_lines_gets_them_back(world: World, kept: int) -> None:
    for state in ("shape", "implement"):
        world.commit(state)
        world.project()
    whole = world.log.read_bytes().splitlines(keepends=True)
    world.log.write_bytes(b"".join(whole[:kept]))
    assert world.native.logged_seq() == 0
    world.project()
    assert world.log.read_bytes() == b"".join(whole)
    world.log.unlink()
    world.project()
    assert world.log.read_bytes() == b"".join(whole)


def test_a_lost_memory_costs_work_but_repeats_nothing(world: World) -> None:
    world.commit("shape")
    world.project()
    assert world.native.logged_seq() == 2
    world.projected.unlink()
    world.native.look_again()
    assert world.native.logged_seq() == 0
    world.project()
    assert world.logged() == [1, 2]
    assert world.native.logged_seq() == 2


def test_the_log_is_caught_up_without_vouching_for_the_document(world: World) -> None:
    """A person's edit that waits to be judged must not pass for bytes the engine wrote."""
    world.project()
    world.commit("shape")
    edited = world.native.parsed(STATE.replace("Phase: intake", "Phase: verify"))
    world.native.catch_up(world.memory, world.lines)
    assert world.logged() == [1, 2]
    assert world.native.projected_seq() == 2
    assert not world.native.was_projected(edited)


@pytest.mark.parametrize(
    ("kind", "refusal"),
    [
        ("link", disk_words.unreadable(disk_words.reason(errno.ELOOP, ""))),
        ("folder", disk_words.no_plain_file()),
        ("fifo", disk_words.not_a_file_of_its_own()),
    ],
)
def test_log_that_is_no_plain_file_names_its_path(world: World, tmp_path: Path, kind: str, refusal: str) -> None:
    if kind == "link":
        (tmp_path / "elsewhere").write_bytes(b"")
        world.log.symlink_to(tmp_path / "elsewhere")
    elif kind == "folder":
        world.log.mkdir()
    else:
        os.mkfifo(world.log)
    with pytest.raises((StorageError, UnreadableError), match=re.escape(refusal)) as caught:
        world.project()
    assert caught.value.where == str(world.log)
    if kind == "link":
        assert (tmp_path / "elsewhere").read_bytes() == b""


# --- what people say ---


def test_an_answer_is_written_once(world: World) -> None:
    world.project()
    world.commit(answer="take B,\nplease", name="Ann")
    world.project()
    world.commit("shape")
    text = world.project().text
    line = f"- {world.memory.answer.time} Ann: take B, please"
    assert text.count(line) == 1
    assert text.endswith(f"## Answers\n\n{line}\n")


def test_an_answer_that_a_crash_left_unmarked_is_not_repeated(world: World) -> None:
    world.project()
    mark = world.projected.read_bytes()
    world.commit(answer="take B", name="Ann")
    world.project()
    world.projected.write_bytes(mark)
    assert world.project().text.count("Ann: take B") == 1


def test_a_removed_answer_does_not_come_back(world: World) -> None:
    world.commit(answer="take B", name="Ann")
    text = world.project().text
    world.file.write_text(text.partition("\n## Answers")[0], encoding="utf-8")
    world.commit("shape")
    assert "take B" not in world.project().text


def test_later_answers_follow_earlier_ones(world: World) -> None:
    for text in ("one", "two"):
        world.commit(answer=text, name="Ann")
        world.project()
    written = world.file.read_text(encoding="utf-8")
    assert written.index("Ann: one") < written.index("Ann: two")
    assert written.count("## Answers") == 1


def test_a_name_with_line_ends_stays_on_its_line(world: World) -> None:
    world.commit(answer="x", name="Ann\nPhase: done")
    document = world.project()
    assert document.state == "intake"
    assert document.fields["Phase"].repeated == 0
