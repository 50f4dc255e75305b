"""Tests of driving a task: what it starts, and why it rests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from detent.core.values import Advance
from detent.runner.drive.drive import UNDRIVEN, Happened, drive
from detent.runner.drive.mandate import let_drive, stop_and_wait
from detent.runner.step.step import Outcome
from detent.runner.task.open import Task
from detent.store.journal.run_events import Driven
from detent.words import core as core_words
from detent.words.runner import drive as say
from tests.unit.effects.host.keeper.keeper_runs import WAIT_S
from tests.unit.runner.conftest import AgentTask, begin
from tests.unit.runner.run.test_ending import CLAIM


def reply(outcome: Outcome) -> Mapping[str, Any]:
    return {}


def nothing(happened: Happened) -> None:
    """Print nothing."""


def runs(task: Task) -> int:
    return [entry.kind for entry in task.store.history()].count("run_planned")


@pytest.mark.parametrize(
    ("script", "why", "kind"),
    [("exit 3", "failed", say.run_ended(1, "failed")), ("true", "stopped", core_words.runs_changed_nothing(1))],
)
def test_single_run_is_awaited_and_its_end_reported(agent_task: AgentTask, script: str, why: str, kind: str) -> None:
    happened: list[Happened] = []
    rest = drive(agent_task(script), happened.append, reply, once=True)
    assert (rest.why, kind in rest.text, runs(rest.task)) == (why, True, 1), rest
    assert next(event.kind for event in happened) == "started"


def test_what_a_run_claims_is_told_as_a_move(agent_task: AgentTask) -> None:
    happened: list[Happened] = []
    rest = drive(agent_task(CLAIM), happened.append, reply, once=True)
    moved = [event.outcome.decision for event in happened if event.kind == "moved" and event.outcome is not None]
    assert next(decision.after.state for decision in moved if isinstance(decision, Advance)) == "verify", rest


def test_a_driver_that_may_not_start_starts_nothing(agent_task: AgentTask) -> None:
    rest = drive(agent_task("true"), nothing, reply, may_start=False)
    assert (rest.why, rest.text, runs(rest.task)) == ("running", UNDRIVEN, 0)


def test_a_driver_that_may_not_wait_leaves_a_living_run(agent_task: AgentTask) -> None:
    rest = drive(begin(agent_task("exec sleep 1000")), nothing, reply, may_wait=False)
    assert (rest.why, rest.text, runs(rest.task)) == ("running", say.run_under_way(1, "words"), 1)


def test_a_stop_ends_only_drivers_begun_before_it(agent_task: AgentTask) -> None:
    task = agent_task("exit 3")
    since = task.memory.snapshot.seq
    task = let_drive(task, "ann", on=False)
    rest = drive(task, nothing, reply, since=since)
    assert (rest.why, rest.text, runs(task)) == ("person", say.stopped_by("ann"), 0)
    assert drive(task.now(), nothing, reply, once=True).why == "failed"


def test_start_is_written_once_and_every_stop(agent_task: AgentTask) -> None:
    task = agent_task("true")
    for is_on in (True, True, False, False):
        task = let_drive(task, "ann", on=is_on)
    assert [entry.on for entry in task.store.history() if isinstance(entry, Driven)] == [True, False, False]


def test_stopping_waits_for_end_and_says_whether_there_was_run(agent_task: AgentTask) -> None:
    task = agent_task("exec sleep 1000")
    assert stop_and_wait(task, WAIT_S) == (task, False)
    left, was_ended = stop_and_wait(begin(task), WAIT_S)
    assert (was_ended, bool(left.memory.run)) == (True, False)
