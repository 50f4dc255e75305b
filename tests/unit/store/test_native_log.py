"""Tests of the native log in a machine's own words, and that each of its lines is written exactly once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from detent.core.values import Snapshot
from detent.machines.load import load
from detent.proof.replay import KINDS as REPLAYED
from detent.runner.vocabulary import vocabulary
from detent.store.native import Native
from detent.store.native_log import KINDS, log_lines
from detent.store.places import TaskPlaces, make_task_folder
from detent.store.tasks import TaskStore

MACHINE = load("tests/data/machines/ticket.toml", vocabulary())[0]
TIME = "2026-01-02T03:04:05Z"


def test_a_machine_may_name_every_kind_of_line() -> None:
    assert set(KINDS) == set(REPLAYED)


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
def test_a_journal_line_is_told_in_the_words_of_the_machine(entry: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    assert log_lines(MACHINE, {"seq": 7, "time": TIME, **entry}) == lines
    for told, wanted in zip(log_lines(MACHINE, {"seq": 7, "time": TIME, **entry}), lines, strict=True):
        assert list(told) == list(wanted), "in the order of the machine file"


class World:
    def __init__(self, base: Path) -> None:
        self.log = base / "history.jsonl"
        (base / "TASK.md").write_text("---\nstatus: pending\n---\n")
        places = TaskPlaces("t", str(base / "control"))
        make_task_folder(places)
        self.store = TaskStore(places)
        self.native = Native(MACHINE, str(base), places)
        self.marks = Path(places.projected())
        self.memory = self.store.commit(None, "created", {"title": "x"}, Snapshot(state="pending"))

    def crash(self) -> None:
        self.memory = self.store.commit(
            self.memory, "crashed", {"by": "crash", "exit": "killed"}, self.memory.snapshot.replace(state="working")
        )

    def project(self) -> None:
        self.native.look_again()
        logged = self.native.logged_seq()
        entries = [entry for entry in self.store.history() if entry["seq"] > logged]
        self.native.project(self.native.read(), self.memory, {}, entries)

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
    told = world.log.read_bytes()
    # A crash after the line and before its mark; then the same happens again, in words that may be the same.
    world.marks.write_bytes(marks)
    world.project()
    assert world.log.read_bytes() == told
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
    told = world.log.read_text()
    assert told.startswith(theirs)
    ours = [json.loads(line)["type"] for line in told[len(theirs) :].split("\n") if line]
    assert ours == ["task.created", "agent.crashed"]
