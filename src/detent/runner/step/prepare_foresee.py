"""What would keep a move from being prepared, for those who only look: nothing is written, and nothing is started."""

from __future__ import annotations

from detent.core.values import Missing
from detent.errors import RefusedError, UnreadableError, UsageError
from detent.runner.step.git_steps import STEPS
from detent.runner.step.homes import WORKSPACE, refuse_foreseen
from detent.runner.step.prepare_values import Doing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task


def foreseen(task: Task, names: tuple[str, ...]) -> tuple[Missing, ...]:
    """What the steps of these names would refuse now, as far as files tell."""
    found = []
    for name in names:
        try:
            if name == WORKSPACE:
                refuse_foreseen(task)
            elif name in STEPS:
                STEPS[name].foresee(Doing(task, "", {}, {}, task.memory.prepared, {}))
        except RefusedError as error:
            found.append(Missing("prepare", error.what, error.next_step))
        except (UnreadableError, UsageError):
            continue  # settings that can't be read are told where they count
    return tuple({one.why: one for one in found}.values())
