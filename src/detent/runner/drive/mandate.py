"""Whether a task is to be driven: start asks for it, stop takes that back and ends the run. Both are journaled."""

from __future__ import annotations

import time

from detent.core.values import Signal
from detent.effects.host.keeper.watch import wait_for_end
from detent.runner.run.ending import attend
from detent.runner.run.runs import stop_run
from detent.runner.step.changing import changing
from detent.runner.step.step import step
from detent.runner.task.bell import ring
from detent.store.journal.run_events import Driven

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.step.step import Outcome
    from detent.runner.task.open import Task

INTERRUPT = "interrupt"  # the verb of a move that is made by breaking off what runs
CANCEL = "cancel"  # the reason that a cancel gives for the stop it begins with
_LONGEST_MOVE_S = 10.0  # between a stop and the move of the same command
_PAUSE_S = 0.05


def let_drive(task: Task, name: str, *, on: bool, reason: str = "") -> Task:
    """Write down that a task is, or is no longer, to be driven; saying it twice says nothing new."""
    with changing(task, settles=False) as change:
        # Stop also ends a `run` that drives the task, which began without a start.
        if not on or not change.memory.driven.on:
            change.write(Driven(on=on, by="person", name=name, reason=reason))
    ring(task.project)
    return change.task


def stop_and_wait(task: Task, longest_s: float) -> tuple[Task, bool]:
    """End a living run and decide what follows; whether there was one and it has ended."""
    number = task.memory.run.run
    if not number:
        return task, False
    stop_run(task)
    wait_for_end([task.places.run(number)], longest_s)
    task, _ = attend(task)
    return task, task.memory.run.run != number


def as_left(task: Task) -> Task:
    """The task after the command that stopped it: a cancel, and a stop where it pauses the task, also make a move."""
    verb = CANCEL if task.memory.driven.reason == CANCEL else INTERRUPT
    if not any(verb in edge.verbs for edge in task.machine.states[task.memory.snapshot.state].edges):
        return task
    state, ends = task.memory.snapshot.state, time.monotonic() + _LONGEST_MOVE_S
    while task.memory.snapshot.state == state and time.monotonic() < ends:
        time.sleep(_PAUSE_S)
        task = task.now()
    return task


def interrupt(task: Task, name: str, reason: str = "") -> Outcome | None:
    """Make the move a state has for being broken off, once no run lives; None where it has none."""
    edges = task.machine.states[task.memory.snapshot.state].edges
    if task.memory.run or not any(INTERRUPT in edge.verbs for edge in edges):
        return None
    return step(task, Signal("person", name=name, reason=reason, verb=INTERRUPT))
