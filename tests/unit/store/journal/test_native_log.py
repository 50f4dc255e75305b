"""Tests of the native log in a machine's own words, and that each of its lines is written exactly once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from detent.core.values import Snapshot
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.store.journal.events import KINDS, from_line
from detent.store.journal.head import head_of
from detent.store.journal.line import Line
from detent.store.journal.memory import Memory
from detent.store.journal.native import Native
from detent.store.journal.native_log import log_line, log_lines
from detent.store.journal.places import TaskPlaces, make_task_folder
from detent.store.journal.tasks import TaskStore
from detent.store_spec import store_of
from detent.view import content_of
from tests.lines import made

MACHINE = load("tests/data/machines/ticket.toml", vocabulary())[0]
TIME = "2026-01-02T03:04:05Z"


def test_a_machine_may_name_every_kind_of_line() -> None:
    assert vocabulary().kinds == tuple(KINDS)


@pytest.mark.parametrize(
    ("entry", "lines"),
    [
        (
            {
                "kind": "crashed",
                "by": "crash",
                "exit": "killed",
                "after": {"state": "working", "counters": {"crash_count": 1}},
            },
            [
                {
                    "type": "agent.crashed",
                    "timestamp": TIME,
                    "status": "working",
                    "crash_count": 1,
                    "reason": "it ended as killed",
                }
            ],
        ),
        (
            {
                "kind": "moved",
                "by": "crash",
                "exit": "lost",
                "from": "working",
                "to": "stuck",
                "facts": {},
                "after": {},
            },
            [
                {
                    "type": "agent.crashed",
                    "timestamp": TIME,
                    "status": "working",
                    "crash_count": 2,
                    "reason": "it ended as lost",
                },
                {"type": "auto.advanced", "timestamp": TIME, "from": "working", "to": "stuck", "reason": "open: "},
            ],
        ),
        (
            {
                "kind": "moved",
                "by": "engine",
                "from": "working",
                "to": "agent-review",
                "facts": {"handoff": {}, "x": {}},
            },
            [
                {
                    "type": "auto.advanced",
                    "timestamp": TIME,
                    "from": "working",
                    "to": "agent-review",
                    "reason": "open: handoff, x",
                }
            ],
        ),
        (
            {"kind": "moved", "by": "agent", "name": "worker", "from": "a", "to": "b"},
            [{"type": "status.changed", "timestamp": TIME, "from": "a", "to": "b", "by": "worker"}],
        ),
        (
            {"kind": "crashed", "after": {"state": "working", "counters": {}}},
            [
                {
                    "type": "agent.crashed",
                    "timestamp": TIME,
                    "status": "working",
                    "crash_count": 0,
                    "reason": "it ended as ",
                }
            ],
        ),
        ({"kind": "proved"}, []),
    ],
)
def test_journal_line_is_told_in_the_words_of_the_machine(entry: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    line = from_line({"seq": 7, "time": TIME, "facts": {}, "waived": [], **entry})
    assert log_lines(MACHINE, line) == lines
    for shown, wanted in zip(log_lines(MACHINE, line), lines, strict=True):
        assert list(shown) == list(wanted), "in the order of the machine file"


class World:
    def __init__(self, base: Path) -> None:
        self.log = base / "history.jsonl"
        (base / "TASK.md").write_text("---\nstatus: pending\n---\n")
        places = TaskPlaces("t", str(base / "control"))
        make_task_folder(places)
        self.store = TaskStore(places)
        self.native = Native(MACHINE, str(base), places)
        self.marks = Path(places.projected())
        self.memory = self.store.commit(None, made("created", title="x"), Snapshot(state="pending"))

    def crash(self) -> None:
        self.memory = self.store.commit(
            self.memory, made("crashed", by="crash", exit="killed"), self.memory.snapshot.replace(state="working")
        )

    def project(self) -> None:
        self.native.look_again()
        self.native.project(self.native.read(), self.memory, {}, self.lines)

    def lines(self, logged: int) -> list[Line]:
        return [line for line in self.store.history() if line.seq > logged]

    def types(self) -> list[str]:
        return [json.loads(line)["type"] for line in self.log.read_text().splitlines()]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_events_that_look_the_same_are_all_told_once(world: World) -> None:
    world.project()
    marks = world.marks.read_bytes()
    world.crash()
    world.project()
    log = world.log.read_bytes()
    # A crash after the line and before its mark; then the same happens again, in words that may be the same.
    world.marks.write_bytes(marks)
    world.project()
    assert world.log.read_bytes() == log
    world.marks.write_bytes(marks)
    world.crash()
    world.project()
    world.project()
    assert world.types() == ["task.created", "agent.crashed", "agent.crashed"]


def test_a_torn_event_is_completed(world: World) -> None:
    world.project()
    marks = world.marks.read_bytes()
    world.crash()
    world.project()
    whole = world.log.read_bytes()
    world.log.write_bytes(whole[:-9])
    world.marks.write_bytes(marks)
    world.project()
    assert world.log.read_bytes() == whole


@pytest.mark.parametrize("theirs", ['{"type": "task.created"}\n', '{"type": "task.created"}', "not json\n\n"])
def test_a_log_that_was_there_before_is_only_appended_to(world: World, theirs: str) -> None:
    world.log.write_text(theirs)
    world.project()
    world.crash()
    world.project()
    log = world.log.read_text()
    assert log.startswith(theirs)
    ours = [json.loads(line)["type"] for line in log[len(theirs) :].split("\n") if line]
    assert ours == ["task.created", "agent.crashed"]


# --- the Markdown form ---


class Book:
    """A Markdown log in a folder of its own, written through the native folder as the engine does."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.places = folder / "task", TaskPlaces("t", str(folder / "control"))
        self.folder.mkdir()
        make_task_folder(self.places)
        self.path = self.folder / "log.md"
        store = store_of({**content_of(MACHINE.store), "log": "log.md", "log_form": "markdown", "events": BOOK_EVENTS})
        self.machine = MACHINE.replace(store=store)
        self.entries: list[Line] = []

    def tell(self, **content: Any) -> None:
        self.entries.append(made("moved", content, seq=len(self.entries) + 1, time=TIME))

    def project(self) -> None:
        """As a new process would."""
        native = Native(self.machine, str(self.folder), self.places)
        memory = Memory(head_of({}), Snapshot("A", seq=len(self.entries)), 0, b"", 0, TIME)
        native.catch_up(memory, lambda logged: [line for line in self.entries if line.seq > logged])

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")


BOOK_EVENTS = [
    {"type": "{from} -> {to}", "kind": "moved", "fields": {"By": "{by}", "Why": "{reason}"}},
    {"type": "Twice", "kind": "moved", "when": {"to": ["B"]}, "fields": {}},
]


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path)


def test_markdown_log_has_a_heading_and_fields_per_event(book: Book) -> None:
    book.tell(**{"from": "A", "to": "B", "by": "engine", "reason": "## one\n\nand more"})
    book.project()
    assert book.text == (
        f"# Log\n\n## {TIME} A -> B <!-- detent:t:1 -->\n\n- By: engine\n- Why:\n  > ## one\n  >\n  > and more\n"
        f"\n## {TIME} Twice <!-- detent:t:1.2 -->\n\n"
    )


def test_words_of_others_bear_no_mark_of_the_engine(book: Book) -> None:
    book.tell(**{"from": "A", "to": "C", "by": "<!-- detent:t:7 -->", "reason": "one\n<!-- detent:t:8 -->"})
    book.project()
    assert "<! -- detent:t:7 -->" in book.text
    assert book.text.count("<!-- detent:t:") == 1


@pytest.mark.requirement("S2.28")
def test_what_people_write_into_markdown_log_stays_byte_for_byte(book: Book) -> None:
    book.path.write_bytes(b"**Log**, mine \r\nno end of line")
    book.tell(**{"from": "A", "to": "C", "by": "person", "reason": ""})
    book.project()
    first = book.path.read_bytes()
    assert first.startswith(b"**Log**, mine \r\nno end of line\n\n## ")
    edited = first.replace(b"By: person", b"By: me, really  ") + b"\ttrailing words"
    book.path.write_bytes(edited)
    book.tell(**{"from": "C", "to": "A", "by": "person", "reason": ""})
    book.project()
    assert book.path.read_bytes().startswith(edited + b"\n\n## ")
    assert book.path.read_bytes().count(b"detent:t:") == 2


def test_markdown_piece_is_written_once_wherever_a_crash_cuts_it(book: Book) -> None:
    book.tell(**{"from": "A", "to": "C", "by": "person", "reason": "first"})
    book.project()
    before = book.path.read_bytes()
    marks = Path(book.places.projected()).read_bytes()
    book.tell(**{"from": "C", "to": "B", "by": "engine", "reason": "two\nlines"})
    book.project()
    whole = book.path.read_bytes()
    for cut in range(len(before), len(whole) + 1):
        book.path.write_bytes(whole[:cut])
        Path(book.places.projected()).write_bytes(marks)
        book.project()
        assert book.path.read_bytes().startswith(whole[:cut]), cut
        assert book.path.read_bytes().replace(b"\n\n\n", b"\n\n") == whole, cut  # an empty line may stand twice


def test_piece_that_was_taken_out_of_shortened_log_comes_back(book: Book) -> None:
    for target in ("C", "B", "C"):
        book.tell(**{"from": "A", "to": target, "by": "engine", "reason": ""})
    book.project()
    book.path.write_bytes(b"# Log\n" + book.path.read_bytes().partition(b"detent:t:1 -->\n")[2])
    book.project()
    assert [book.text.count(f"detent:t:{number} -->") for number in (1, 2, 3)] == [1, 1, 1]


def test_without_events_a_moved_line_names_the_failed_gate() -> None:
    facts = {
        "failed": {"ok": True, "parts": [["build_ok", False, "exit 1"]]},
        "build_ok": {"ok": False, "why": "exit 1"},
    }
    moved = {"seq": 2, "time": TIME, "kind": "moved", "from": "verify", "to": "repair"}
    assert log_line(made("moved", moved, facts=facts)) == {**moved, "because": "build_ok: exit 1"}
    assert "because" not in log_line(made("moved", moved, facts={"build_ok": {"ok": True}}))
