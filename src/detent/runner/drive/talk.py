"""Talks: the state's agent in this terminal, with a person; a run like any other, and judged like any other."""

from __future__ import annotations

from functools import partial

from detent.effects.host.keeper.terminal import Attended
from detent.errors import RefusedError
from detent.runner.drive.drive import TICK_S, advance, tell_set_up
from detent.runner.run.drops import answer_drops
from detent.runner.run.ready import failure_words, make_ready
from detent.runner.run.runs import start_run
from detent.words.runner import drive as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.drive.drive import Reply, Tell
    from detent.runner.task.open import Task


def talk(task: Task, tell: Tell, reply: Reply) -> Task:
    """Let a person and the agent of the current state work until one of them ends it; then decide what follows."""
    task = advance(task, tell)
    if task.memory.run:
        number = task.memory.run.run
        raise RefusedError(say.run_under_way(number, task.id))
    ready = make_ready(task, partial(tell_set_up, task, tell))
    if ready.failed is not None:
        raise RefusedError(
            say.set_up_failed(failure_words(ready.failed)),
            where=ready.failed.log,
        )
    attended = Attended()
    task = start_run(task, ready, attended.begin, is_talk=True)
    if not task.memory.run or not attended.has_begun:
        return task  # a limit is used up, or another process was faster
    try:
        while not attended.wait(TICK_S):
            answer_drops(task, reply)
    finally:
        attended.finish()
    return advance(task, tell)
