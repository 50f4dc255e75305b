"""Holds a machine's relation against one that somebody wrote down elsewhere, edge by edge and name by name.

A relation file is JSON with `states`, `initial`, `terminal` and `transitions` (`from`, `to`, `name`); all else it holds
(gates, actors, notes, moves outside the relation) is commentary and is not compared.
"""

from __future__ import annotations

import json
import re
from collections import Counter

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.store.atomic import read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.core.machine import Machine

    Triple = tuple[str, str, str]  # from, to, name


class Comparison(Record):
    """What differs; `missing` is in the relation only, `extra` in the machine only."""

    equal: bool
    missing_states: tuple[str, ...] = ()
    extra_states: tuple[str, ...] = ()
    missing_edges: tuple[Triple, ...] = ()
    extra_edges: tuple[Triple, ...] = ()
    renamed: tuple[tuple[str, str, str, str], ...] = ()  # from, to, the relation's name, the machine's name
    initial: tuple[str, str] | None = None  # the relation's and the machine's, where they differ
    missing_terminal: tuple[str, ...] = ()
    extra_terminal: tuple[str, ...] = ()


def read_relation(path: str) -> Mapping[str, Any]:
    """The relation in a file, or an error that says what it lacks."""
    text = read_text(path)
    if text is None:
        raise UnreadableError("there is no such relation file", where=path, next_step="give the path of a JSON file")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"relation file is not valid JSON: {error}", where=path) from error
    return check_relation(content, path)


def check_relation(content: Any, where: str = "") -> Mapping[str, Any]:
    """The same content, if it is a relation; `compare` asks too, so that no face can forget it."""
    problem = _problem(content)
    if problem:
        raise UnreadableError(f"this is no relation: {problem}", where=where, next_step="see docs/reference/formats.md")
    relation: Mapping[str, Any] = content
    return relation


def _problem(content: object) -> str:
    if not isinstance(content, dict):
        return "it is not a table"
    for key, kind in (("states", list), ("initial", str), ("terminal", list), ("transitions", list)):
        if not isinstance(content.get(key), kind):
            return f"{key!r} is missing or of another kind"
    if not all(isinstance(name, str) for name in (*content["states"], *content["terminal"])):
        return "a state is not a text"
    for number, row in enumerate(content["transitions"], 1):
        if not isinstance(row, dict) or not isinstance(row.get("from"), str) or not isinstance(row.get("to"), str):
            return f"transition {number} lacks 'from' or 'to'"
        if not isinstance(row.get("name"), (str, type(None))):
            return f"transition {number} has a name that is no text"
    return ""


def edge_name(row: Mapping[str, Any]) -> str:
    """The name a machine gives to a row: the row's own if it is an identifier, else its slug, else from-to-to."""
    name = row.get("name") or f"{row['from']} -> {row['to']}"
    if name.isidentifier():
        return str(name)
    return re.sub(r"[^a-z0-9_]+", "-", name.replace("->", " to ").lower()).strip("-")


def compare(machine: Machine, relation: Mapping[str, Any]) -> Comparison:
    """Both relations as multisets of (from, to, name): a row that stands twice must be there twice."""
    relation = check_relation(relation)
    wanted = Counter((row["from"], row["to"], edge_name(row)) for row in relation["transitions"])
    found = Counter((edge.source, edge.target, edge.name) for edge in machine.edges())
    missing, extra = list((wanted - found).elements()), list((found - wanted).elements())
    renamed: list[tuple[str, str, str, str]] = []
    for edge in tuple(missing):
        twin = next((other for other in extra if other[:2] == edge[:2]), None)
        if twin is not None:
            renamed.append((*edge, twin[2]))
            missing.remove(edge)
            extra.remove(twin)
    differences: dict[str, tuple[Any, ...] | None] = {
        "missing_states": _without(relation["states"], machine.states),
        "extra_states": _without(machine.states, relation["states"]),
        "missing_edges": tuple(missing),
        "extra_edges": tuple(extra),
        "renamed": tuple(renamed),
        "initial": None if relation["initial"] == machine.initial else (relation["initial"], machine.initial),
        "missing_terminal": _without(relation["terminal"], machine.ends()),
        "extra_terminal": _without(machine.ends(), relation["terminal"]),
    }
    return Comparison(equal=not any(differences.values()), **differences)  # type: ignore[arg-type]  # one type per key


def _without(names: Any, others: Any) -> tuple[str, ...]:
    known = set(others)
    return tuple(name for name in names if name not in known)
