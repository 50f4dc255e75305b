"""What the beginning of a line may become: the task's own words and moves, and the words every task understands."""

from __future__ import annotations

from detent.core.record import Record
from detent.machines.lines import HELP, NEXT, OVERRIDE, PLACE, QUIT, REDO, SLASH, STATUS, normal
from detent.runner.tell.said import understood

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.runner.task.open import Task


class Suggestion(Record):
    line: str  # the whole line, as far as it can be foretold
    leads: str = ""  # to which states


def suggestions(task: Task) -> tuple[Suggestion, ...]:
    """Every line that can be foretold where a task stands, `/next` first, then its moves."""
    found: dict[str, Suggestion] = {}
    for suggestion in _all(task):
        found.setdefault(suggestion.line, suggestion)
    return tuple(found.values())


def _all(task: Task) -> Iterator[Suggestion]:
    lines = dict(understood(task))
    yield Suggestion(NEXT, lines.get(NEXT, ""))
    for words, targets in lines.items():
        if words == REDO:
            yield from (Suggestion(f"{REDO} {target} ", target) for target in targets.split(", "))
        else:
            yield Suggestion(words.removesuffix(PLACE), targets)
        if words == NEXT and task.machine.may_override:
            yield Suggestion(f'{NEXT} {OVERRIDE} "', targets)
    yield from (Suggestion(words) for words in (STATUS, HELP, QUIT))


def fitting(task_lines: tuple[Suggestion, ...], typed: str) -> tuple[Suggestion, ...]:
    """Those that go on from what was typed; nothing for an empty line, and nothing for text that begins with `//`."""
    begun = normal(typed).casefold() + (" " if typed[-1:].isspace() else "")
    if not begun.strip() or begun.startswith(SLASH * 2):
        return ()
    return tuple(
        suggestion
        for suggestion in task_lines
        if suggestion.line.casefold().startswith(begun) and suggestion.line.rstrip() != typed
    )
