"""Tests of what is foreseen for a task at rest, and for runs whose end says nothing about a move."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.core.values import Advance, Wait
from detent.effects.host.keeper.start import stop
from detent.runner.drive.drive import drive
from detent.runner.drive.mandate import let_drive
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.run.end_run import end_run
from detent.runner.run.ending import decide_end
from detent.runner.task.open import Task
from detent.runner.tell.foresee import Foreseen, foresee
from tests.unit.runner.conftest import AgentTask, begin, wait_for_run
from tests.unit.runner.run.test_ending import CLAIM

TAINT = "mkdir .circleci && echo weak > .circleci/config.yml"


def foreseen(task: Task) -> Foreseen:
    return foresee(task, task.native.read())


def test_an_agent_state_is_given_to_an_agent(agent_task: AgentTask) -> None:
    assert foreseen(agent_task("true")) == Foreseen("respawn")


def test_a_state_of_a_person_waits_for_the_person(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    task = create(NewTask("ralf", "count", "t", str(folder), str(folder / "task"), by="me"))
    assert task.machine.states[task.memory.snapshot.state].driver == "person"
    assert foreseen(task) == Foreseen("person")


def test_a_task_stopped_by_the_engine_stays_stopped(agent_task: AgentTask) -> None:
    rest = drive(agent_task("true"), lambda _happened: None, lambda _outcome: {})
    assert rest.why == "stopped"
    assert foreseen(rest.task) == Foreseen("stopped")


def test_a_run_that_a_person_ended_is_no_crash(agent_task: AgentTask) -> None:
    task = let_drive(begin(agent_task("exec sleep 1000")), "ann", on=False)
    stop(task.places.run(task.memory.run.run))
    wait_for_run(task)
    ended = end_run(task)
    assert ended.memory.ended.by_person
    assert foreseen(ended) == Foreseen("stays")
    assert isinstance(decide_end(ended).decision, Wait)


@pytest.mark.parametrize("more", ["", "; exit 3"])
def test_a_tainted_run_leads_nowhere_whatever_it_asks(agent_task: AgentTask, more: str) -> None:
    task = begin(agent_task(TAINT + CLAIM + more))
    wait_for_run(task)
    ended = end_run(task)
    assert (ended.memory.ended.tainted, ended.memory.ended.claim) == ([".circleci/config.yml"], "verify")
    assert foreseen(ended) == Foreseen("stays")
    assert isinstance(decide_end(ended).decision, Wait)


def test_commands_that_were_not_run_yet_are_run_first(agent_task: AgentTask) -> None:
    task = begin(agent_task(f"if test $DETENT_RUN_NUMBER = 1; then :\n{CLAIM}\nfi"))
    wait_for_run(task)
    moved = decide_end(end_run(task))
    assert isinstance(moved.decision, Advance)
    task = begin(moved.task)
    wait_for_run(task)
    assert foreseen(task) == foreseen(end_run(task)) == Foreseen("proves")
