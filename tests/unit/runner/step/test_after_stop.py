"""Tests of the first step after the computer stopped: the file may be older than the journal, or a person's work."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from detent.core.values import Advance, Refuse, Signal, Wait
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.step.step import step, tidy
from detent.runner.task.open import Task, load_task
from detent.runner.tell.explain import explain
from detent.store.disk.boot import boot_id
from detent.store.text.fields import write_fields
from detent.words.runner import step as step_words
from detent.words.runner import tell as say

FRAME = {"Objective": "o", "Done gate": "g", "Not doing": "n", "Reality constraints": "r"}


class World:
    """A task that was moved once, on a computer that has started again since."""

    def __init__(self, folder: Path) -> None:
        task = create(NewTask("phase", "count", "t", str(folder), str(folder / "task"), by="me"))
        self.file = folder / "task" / "STATE.md"
        self.before = write_fields(self.file.read_text(encoding="utf-8"), task.native.labels, FRAME)
        self.file.write_text(self.before, encoding="utf-8")
        outcome = step(task, Signal("engine", "shape"))
        assert isinstance(outcome.decision, Advance), outcome.decision
        self.project = task.project
        self.after = self.file.read_text(encoding="utf-8")
        self.lines = len(self.journal())
        marks = Path(task.places.projected())
        marks.write_text(marks.read_text(encoding="utf-8").replace(boot_id(), "another boot"), encoding="utf-8")

    def task(self) -> Task:
        return load_task(self.project, "t")

    def journal(self) -> list[dict[str, Any]]:
        path = self.project.task("t").journal()
        return [json.loads(line) for line in Path(path).read_bytes().splitlines()]

    def show(self, text: str, seconds: int) -> None:
        self.file.write_text(text, encoding="utf-8")
        now = self.file.stat().st_mtime
        os.utime(self.file, (now + seconds, now + seconds))


@pytest.fixture
def world(tmp_path: Path) -> World:
    folder = tmp_path / "project"
    folder.mkdir()
    return World(folder)


@pytest.mark.parametrize("shown", ["before", "nothing", "half"])
def test_text_of_the_last_line_is_restored_without_a_line(world: World, shown: str) -> None:
    text = {"before": world.before, "nothing": "", "half": world.after[: len(world.after) // 2]}[shown]
    world.show(text, -60)
    assert say.file_behind("STATE.md") in explain(world.task(), with_moves=False).problems
    tidy(world.task())
    assert world.file.read_text(encoding="utf-8") == world.after
    assert len(world.journal()) == world.lines
    assert explain(world.task(), with_moves=False).problems == ()


def test_an_unknown_older_text_is_kept_and_journaled(world: World) -> None:
    older = world.before.replace("Phase: intake", "Phase: done") + "\nwords nobody has seen\n"
    world.show(older, -60)
    task, notes = tidy(world.task())
    assert world.file.read_text(encoding="utf-8") == world.after
    assert notes[0] == step_words.older_than_journal("STATE.md")
    restored = world.journal()[-1]
    assert restored["kind"] == "restored"
    assert Path(task.places.objects(), restored["kept"]).read_text(encoding="utf-8") == older
    tidy(world.task())
    assert len(world.journal()) == world.lines + 1, "it is told once"


def test_what_was_asked_for_after_line_is_judged_as_ever(world: World) -> None:
    world.show(world.after.replace("Phase: shape", "Phase: done") + "\nmore words\n", 60)
    assert explain(world.task(), with_moves=False).request == "done"
    step(world.task(), None)
    assert world.journal()[-1]["kind"] == "refused"
    assert world.file.read_text(encoding="utf-8").endswith("\nmore words\n")


def test_log_that_lost_its_lines_gets_all_again(world: World) -> None:
    log = world.file.with_name("history.jsonl")
    log_lines = log.read_bytes().splitlines()
    log.write_bytes(b"")
    outcome = step(world.task(), Signal("engine", "implement"))
    assert isinstance(outcome.decision, (Advance, Wait, Refuse))
    assert log.read_bytes().splitlines()[: len(log_lines)] == log_lines
