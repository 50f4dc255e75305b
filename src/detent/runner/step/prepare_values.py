"""What a step is that must work before a move is made: prepare.py does them, git_steps.py lists them."""

from __future__ import annotations

from detent.core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from detent.runner.task.open import Task

    Results = dict[str, dict[str, str]]  # what steps came to, by their names


class Doing(Record):
    """One step of one move."""

    task: Task
    key: str  # names this one step of this one move, for ever; empty while it is only looked at
    move: Mapping[str, Any]  # the move's line as it was decided
    given: Mapping[str, str]  # what came with the command, by the option's name
    done: Mapping[str, Mapping[str, str]]  # what every step came to last, of this move and of those before it
    seen: Mapping[str, str]  # what `look` saw, as the intent has it; empty while it is only looked at


class Step(Record):
    look: Callable[[Doing], dict[str, str]]  # refuses what can be known beforehand; what the step starts from
    act: Callable[[Doing], Results]  # does it, or finds it done; may also say what became of another step's result
    begun: Callable[[Doing], bool] = lambda _doing: False  # whether something of it is there
    undo: Callable[[Doing], None] = lambda _doing: None  # safe whatever was done of it
    foresee: Callable[[Doing], object] = lambda _doing: None  # what of `look` can be told by reading files alone
