"""Finds what would keep a move from being prepared, for readers: nothing is written, and nothing is started."""

from __future__ import annotations

from detent.core.values import Missing
from detent.errors import RefusedError, UnreadableError, UsageError
from detent.machines.packs import load
from detent.runner.step.registry import Doing, step_named
from detent.store.journal.events import UNDECIDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task


def foreseen(task: Task, names: tuple[str, ...]) -> tuple[Missing, ...]:
    """What the steps of these names would refuse now, as far as files tell."""
    found = []
    for name in names:
        try:
            if foresee := step_named(name).foresee:
                load(foresee)(Doing(task, "", UNDECIDED, {}, task.memory.prepared, {}))
        except RefusedError as error:
            found.append(Missing("prepare", error.what, error.next_step))
        except (UnreadableError, UsageError):
            continue  # commands that need the settings report their error
    return tuple({gap.why: gap for gap in found}.values())
