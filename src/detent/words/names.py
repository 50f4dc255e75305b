"""Names and numbers in a sentence: each name on one line, a few of them, and how many more there are."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_NAMED = 5


def on_one_line(name: str) -> str:
    """A line break in a file's name, which an agent may choose, could pass for a line of the engine."""
    return "\\n".join(name.split("\n")) if "\n" in name else name


def count_of(number: int, noun: str) -> str:
    """How many of a thing: `1 problem`, `2 problems`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def name_some(names: Iterable[str]) -> str:
    found = [on_one_line(name) for name in sorted(names)]
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return ", ".join(found[:_MOST_NAMED]) + more
