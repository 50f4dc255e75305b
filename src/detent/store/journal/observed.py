"""Small values in which what was observed is handed from the rooms that look to those that judge."""

from __future__ import annotations

from detent.core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

REPORT = "report:"  # how the key of evidence begins that is a judgement of a tree


class Command(Record):
    """One command line that must exit with 0."""

    name: str
    line: str


class TreeFile(Record):
    """One file of a tree, as git has it."""

    size_bytes: int
    lines: int


class PathSeen(Record):
    """A file or folder named as proof, as it was found."""

    path: str
    size_bytes: int
    digest: str
    parts: Mapping[str, str] = {}  # its files inside the task folder, by path from there, with their hashes
