"""The content of a document about a machine, whatever its form: states, moves, their drivers and their gates.

Only the content of the document is filled in. `None` means that it says nothing, so nothing is compared there.
"""

from __future__ import annotations

import re

from detent.core.machine import ACTORS
from detent.core.record import Record
from detent.errors import UnreadableError
from detent.words.verify import documents as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Row(Record):
    """One move of a document."""

    source: str
    target: str
    name: str | None = None
    by: tuple[str, ...] | None = None  # actors, in the fixed order
    needs: tuple[str, ...] | None = None  # gates by name, or in words; empty: it says that the move has none
    line: int = 0


class Relation(Record):
    source: str  # the kind of document, with the place in it
    states: tuple[str, ...]
    rows: tuple[Row, ...]
    initial: str | None = None
    terminal: tuple[str, ...] | None = None
    problems: tuple[str, ...] = ()  # faults of the document itself, each with its repair
    notes: tuple[str, ...] = ()  # parts that were not compared, with the reason


def ends_of(states: tuple[str, ...], rows: tuple[Row, ...], named: tuple[str, ...]) -> tuple[str, ...]:
    """The ends that a document names, or else the states that it lets no move leave."""
    leaving = {row.source for row in rows}
    return named or tuple(state for state in states if state not in leaving)


def states_of(rows: tuple[Row, ...], *more: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*more, *(name for row in rows for name in (row.source, row.target)))))


def slug(name: str) -> str:
    """The name a machine gives to a move: an identifier stays, other words are joined by dashes."""
    if name.isidentifier():
        return name
    return re.sub(r"[^a-z0-9_]+", "-", name.replace("->", " to ").lower()).strip("-")


def edge_name(row: Mapping[str, Any]) -> str:
    """The name a machine gives to a row of a relation file: the row's own, else from-to-to."""
    return slug(str(row.get("name") or f"{row['from']} -> {row['to']}"))


def from_json(content: Any, where: str = "") -> Relation:
    """The relation of a JSON file; all else it holds (notes, prose, moves outside the relation) is not read."""
    problem = _problem(content)
    if problem:
        raise UnreadableError(say.no_relation_file(problem), where=where)
    rows = tuple(
        Row(row["from"], row["to"], edge_name(row), _texts(row.get("by")), _texts(row.get("needs")))
        for row in content["transitions"]
    )
    states, terminal = tuple(content["states"]), tuple(content["terminal"])
    return Relation("relation file", states, rows, content["initial"], terminal)


def _problem(content: Any) -> str:
    if not isinstance(content, dict):
        return say.no_table()
    for key, kind in (("states", list), ("initial", str), ("terminal", list), ("transitions", list)):
        if not isinstance(content.get(key), kind):
            return say.key_missing(key)
    if not all(isinstance(name, str) for name in (*content["states"], *content["terminal"])):
        return say.state_no_text()
    for number, row in enumerate(content["transitions"], 1):
        if not isinstance(row, dict) or not isinstance(row.get("from"), str) or not isinstance(row.get("to"), str):
            return say.lacks_from_or_to(number)
        if not isinstance(row.get("name"), (str, type(None))):
            return say.name_no_text(number)
        for key in ("by", "needs"):
            if row.get(key) is not None and _texts(row[key]) is None:
                return say.no_texts(number, key)
        if unknown := set(row.get("by") or ()) - set(ACTORS):
            return say.unknown_actor(number, min(unknown), ACTORS)
    return ""


def _texts(value: Any) -> tuple[str, ...] | None:
    return tuple(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else None
