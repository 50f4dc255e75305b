"""The result of an agent run: how it ended and by which actor, its exit class, and its usage."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.agents.events import classify, read_usage
from detent.effects.host.access import BUBBLEWRAP
from detent.effects.host.keeper.look import exit_class
from detent.effects.host.keeper.process import EVENTS
from detent.store.disk.atomic import read_plain
from detent.store.journal.memory import TALKED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.effects.agents.events import Usage
    from detent.effects.host.keeper.look import RunSeen
    from detent.runner.task.open import Task

BOUND = "bound"  # in a run's directory: which bound of the budget it was ended for
_SIGNALLED = 128  # an exit code above it is a signal


def usage_and_exit(task: Task, seen: RunSeen) -> tuple[Usage, str]:
    """What the agent said it used, and the class its end is of."""
    import time

    run = task.memory.run
    usage = read_usage(os.path.join(task.places.run(run.run), EVENTS), run.events, time.time())
    if _bound(task):
        return usage, "timeout"
    if seen.exit is not None and seen.exit.reason == "claimed":
        return usage, "finished"  # it was ended because it had got what it wanted, whatever it was saying
    return usage, classify(_class_of(seen, run.sandbox), usage)


def _class_of(seen: RunSeen, level: str) -> str:
    """How the program ended; bubblewrap stands between it and the keeper, and tells a signal as shells do."""
    found = exit_class(seen.exit)
    code = seen.exit.code if seen.exit is not None else None
    if level == BUBBLEWRAP and found == "failed" and code is not None and code > _SIGNALLED:
        return "killed"
    return found


def _bound(task: Task) -> str:
    data = read_plain(os.path.join(task.places.run(task.memory.run.run), BOUND))
    return (data or b"").decode("utf-8", "replace")


class HowEnded(Record):
    """What ended a run, with which code or signal, and how many processes it left behind."""

    how: str
    code: int | None = None
    signal: int | None = None
    survivors: int = 0


def how_ended(seen: RunSeen, task: Task) -> HowEnded:
    ended = seen.exit
    if ended is None:
        return HowEnded("lost")
    return HowEnded(_bound(task) or ended.reason, ended.code, ended.signal, ended.survivors)


def is_by_person(task: Task, seen: RunSeen) -> bool:
    """Whether a person ended the run: that is no crash. In a talk the person was there all the time."""
    if seen.exit is not None and seen.exit.reason == TALKED:
        return True
    driven = task.memory.driven
    is_off = bool(driven) and not driven.on and driven.seq > task.memory.run.seq
    return is_off and seen.exit is not None and seen.exit.reason == "stopped" and not _bound(task)


def used(seen: RunSeen, usage: Usage, exit_name: str) -> dict[str, float]:
    """What counts towards the budget of its task."""
    return {
        "runs": int(exit_name != "quota"),  # no work was done, so it is none of the runs a budget allows
        "seconds": round(seen.exit.ended - seen.exit.started, 3) if seen.exit else 0,
        "turns": usage.turns,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
    }
