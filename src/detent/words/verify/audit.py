"""What an audit finds in a journal, its cache and its anchor."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def last_line_torn() -> str:
    return "the last line is torn; it never happened"


@message
def line_changed(line: int) -> str:
    return f"line {line} was changed after it was written"


@message
def cache_torn() -> str:
    return "the cache is torn; it will be made again"


@message
def lines_removed(memory: str, seq: int) -> str:
    return f"lines were removed from the end: {memory} knows line {seq}"


@message
def lines_removed_by_anchor(seq: int) -> str:
    return f"lines were removed from the end: git's anchor names line {seq}"


@message
def not_the_anchored_line(seq: int) -> str:
    return f"line {seq} is not the one that was anchored in git"


@message
def describes_no_task(kind: str, problem: Exception) -> str:
    return f"the first line describes no task: {kind} {problem}"


@message
def cache_names_no_line() -> str:
    return "the cache names no line"


@message
def cache_differs(fields: Iterable[str], seq: int) -> str:
    return f"the cache tells {', '.join(fields)} otherwise than the journal at line {seq}"


@message
def at_place(problem: str, where: str) -> str:
    return f"{problem} ({where})"


@message
def the_cache() -> str:
    return "the cache"


@message
def the_projection_memory() -> str:
    return "the projection memory"
