"""Every command as an interpreter of its own: it says and does what it does as a fork, in the same world."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.faces.cli.table import COMMANDS
from tests.conftest import Completed, Detent
from tests.e2e.phase_task import ID, PhaseTask

At = Callable[[str], PhaseTask]
RELATION = Path(__file__).resolve().parents[1] / "data" / "relations" / "000_phase.json"
# The stage a command is given in and what is said behind its name; the others look at the task in verify.
GIVEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "demo": ("verify", ("--keep", ".")),
    "new": ("verify", ("another", "--id", "other")),
    "adopt": ("verify", ("../task", "phase")),
    "run": ("done", (ID,)),
    "watch": ("done", ("--once",)),
    "talk": ("done", (ID,)),
    "respawn": ("done", (ID,)),
    "move": ("verify", ("review", ID)),
    "answer": ("blocked", ("here is the key", ID)),
    "resume": ("blocked", (ID,)),
    "choose": ("verify", ("x", ID)),
    "say": ("verify", ("/review", ID)),
    "land": ("done", (ID,)),
    "configure": ("verify", ("--runs", "7", ID)),
    "machine show": ("verify", ("phase",)),
    "machine check": ("verify", ("phase",)),
    "machine export": ("verify", ("phase",)),
    "machine compare": ("verify", ("phase", str(RELATION))),
    "attack": ("verify", ("--list",)),
}
_NO_TASK = ("init", "list", "inbox", "machine list", "tui", "gc")
# What differs from run to run: times, ids of commits and of other things that hold a time, how long something took.
_CHANGING = re.compile(r'\d{4}-\d\d-\d\d[T ][\d:]+(\.\d+)?Z?|\b[0-9a-f]{12,64}\b|\b\d+(\.\d+)? (s|ms)\b|"us":"\d+"')


def said(done: Completed) -> tuple[int, str, str]:
    return done.code, _CHANGING.sub("CHANGING", done.out), _CHANGING.sub("CHANGING", done.err)


def journal(task: PhaseTask) -> list[str]:
    return _CHANGING.sub("CHANGING", (task.control / "journal.jsonl").read_text(encoding="utf-8")).splitlines()


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_a_cold_start_does_what_a_fork_does(at: At, name: str) -> None:
    stage, words = GIVEN.get(name, ("verify", () if name in _NO_TASK else (ID,)))
    task = at(stage)
    forked = task.detent(*name.split(), *words, cwd=task.repo)
    after = journal(task)
    task = at(stage)
    cold = Detent(task.detent.directory, task.detent.environment, is_cold=True)
    done = cold(*name.split(), *words, cwd=task.repo)
    assert said(done) == said(forked)
    assert journal(task) == after
    assert done.code in (0, 1, 2, 4), done


def test_a_cold_start_is_given_what_a_fork_is_given(detent: Detent, tmp_path: Path) -> None:
    """Standard input, environment, folder, and letters beyond ASCII in and out."""
    answers = []
    for is_cold in (False, True):
        folder = tmp_path / "größe"
        folder.mkdir()
        command = Detent(folder, {**detent.environment, "XDG_STATE_HOME": str(folder / "state")}, is_cold=is_cold)
        answers.append(said(command("new", "--from", "-", "--id", "t", stdin="zähle\n")))
        shutil.rmtree(folder)
    assert answers[0] == answers[1]
    assert answers[0][0] == 0, answers
    assert "zähle" in answers[0][1]
    assert str(folder / "state") in answers[0][1]
