"""`task update` and `task complete`: the words of a document in which a task has a status, over the one step."""

from __future__ import annotations

from detent.errors import UsageError
from detent.faces.cli.act import ask, ask_by_drop, is_run_held
from detent.runner.open import open_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments

COMPLETE = "complete"


def update(arguments: Arguments) -> int:
    """Other words first: a refused move leaves them in place, and an agent mends and asks again."""
    status, summary = arguments.text("--status"), arguments.text("--summary")
    if not status and not summary:
        raise UsageError("nothing to update", next_step='detent task update --status STATE, or --summary "TEXT"')
    if is_run_held():
        return ask_by_drop(arguments, {"move": status})
    return ask(arguments, open_task(arguments.text("TASK"), arguments.text("--repo")), status)


def complete(arguments: Arguments) -> int:
    if is_run_held():
        return ask_by_drop(arguments, {"verb": COMPLETE})
    return ask(arguments, open_task(arguments.text("TASK"), arguments.text("--repo")), "", COMPLETE)
