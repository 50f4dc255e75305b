"""Reads Mermaid state diagrams (`stateDiagram` and `stateDiagram-v2`), our own export among them."""

from __future__ import annotations

import re

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.verify.relation import Relation, Row, ends_of, states_of
from detent.words.verify import documents as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

_HEAD = re.compile(r"\s*stateDiagram(-v2)?\s*")
_ID = r"(\[\*\]|[^\s:{}\"]+?)(?::::\w+)?"
_ARROW = re.compile(rf"{_ID}\s*-->\s*{_ID}\s*(?::\s*(.*))?")
_STATE = re.compile(r'state\s+(?:"([^"]*)"\s+as\s+)?([^\s{}"]+)\s*(<<\w+>>)?\s*(\{)?\s*')
_DESCRIBED = re.compile(r"([^\s:{}]+)\s*:\s*(.*)")
_ALONE = re.compile(r"[\w.-]+(?::::\w+)?")
_IGNORED = re.compile(
    r"(direction|note|classDef|class|style|hide|scale|accTitle|accDescr|click|skinparam)\b.*|--|\}|end note"
)
_POINT = "[*]"


class Lines(Record):
    """The part of a document that holds one diagram; `start` is the number of its first line."""

    lines: tuple[str, ...]
    start: int
    is_closed: bool  # False: its fence is never closed, so that prose may follow


def is_diagram(line: str) -> bool:
    return _HEAD.fullmatch(line) is not None


def read_diagram(part: Lines, known: Container[str], where: str) -> Relation:
    """The relation of a diagram; `known` are the machine's states, which distinguish an alias from a title."""
    reader = _Reader(where)
    last = part.start
    for number, raw in enumerate(part.lines[1:], part.start + 1):
        line = re.sub(r"%%.*", "", raw).strip()
        if reader.is_in_note:
            reader.is_in_note = line != "end note"
        elif line and not reader.take(line, number):
            if part.is_closed:
                problem = say.no_statement(number, line)
                raise UnreadableError(problem, where=where)
            break
        last = number if line else last
    unclosed = say.fence_open(part.start, last)
    return reader.relation(part.start, known).replace(notes=() if part.is_closed else (unclosed,))


class _Reader:
    def __init__(self, where: str) -> None:
        self.where = where
        self.arrows: list[tuple[str, str, str | None, int]] = []
        self.titles: dict[str, str] = {}
        self.alone: list[str] = []
        self.is_in_note = False

    def take(self, line: str, number: int) -> bool:
        """Whether a line is part of the diagram."""
        if arrow := _ARROW.fullmatch(line):
            self.arrows.append((arrow[1], arrow[2], arrow[3], number))
        elif state := _STATE.fullmatch(line):
            title, name, is_group = state[1], state[2], state[4]
            if title:
                self.titles[name] = title
            if not is_group:
                self.alone.append(name)
        elif _IGNORED.fullmatch(line):
            self.is_in_note = line.startswith("note ") and ":" not in line
        elif described := _DESCRIBED.fullmatch(line):
            self.alone.append(described[1])
        elif _ALONE.fullmatch(line):
            self.alone.append(line.partition(":::")[0])
        else:
            return False
        return True

    def relation(self, start: int, known: Container[str]) -> Relation:
        def name(shown: str) -> str:
            title = self.titles.get(shown, shown)
            return shown if title not in known and shown in known else title

        rows = tuple(
            Row(name(source), name(target), _label(label), line=line)
            for source, target, label, line in self.arrows
            if _POINT not in (source, target)
        )
        starts = [name(target) for source, target, *_ in self.arrows if source == _POINT]
        ends = tuple(dict.fromkeys(name(source) for source, target, *_ in self.arrows if target == _POINT))
        states = states_of(rows, *starts[:1], *ends, *map(name, self.alone))
        initial = starts[0] if starts else None
        return Relation(f"state diagram, line {start}", states, rows, initial, ends_of(states, rows, ends))


def _label(text: str | None) -> str | None:
    """The name of a move; our own export marks the ones that are never taken."""
    words = " ".join((text or "").replace("\\n", " ").split()).removesuffix("(never)").strip()
    return words or None
