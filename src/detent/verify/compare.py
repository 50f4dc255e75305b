"""Compares a machine with what a document says: states, moves, names, and actors and gates where it has them."""

from __future__ import annotations

from detent.core.machine import ACTORS
from detent.core.record import Record
from detent.verify.relation import Relation, Row, from_json, slug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from detent.core.machine import Edge, Machine

    Triple = tuple[str, str, str]  # from, to, name
    Words = tuple[str, ...]
    Differing = tuple[str, str, str, Words, Words]  # from, to, name, the document's words, the machine's


class Comparison(Record):
    """What differs; `missing` is in the document only, `extra` in the machine only."""

    equal: bool
    missing_states: tuple[str, ...] = ()
    extra_states: tuple[str, ...] = ()
    missing_edges: tuple[Triple, ...] = ()
    extra_edges: tuple[Triple, ...] = ()
    renamed: tuple[tuple[str, str, str, str], ...] = ()  # from, to, the document's name, the machine's name
    initial: tuple[str, str] | None = None  # the document's and the machine's, where they differ
    missing_terminal: tuple[str, ...] = ()
    extra_terminal: tuple[str, ...] = ()
    actors: tuple[Differing, ...] = ()
    gates: tuple[Differing, ...] = ()
    problems: tuple[str, ...] = ()  # faults of the document itself


def compared_parts(relation: Relation) -> tuple[str, ...]:
    """What the document has, and so what was compared."""
    rows = relation.rows
    has = {
        "initial state": relation.initial is not None,
        "ends": relation.terminal is not None,
        "names": any(row.name is not None for row in rows),
        "actors": any(row.by is not None for row in rows),
        "gates": any(row.needs is not None for row in rows),
    }
    return ("states", "moves", *(part for part, is_there in has.items() if is_there))


def compare(machine: Machine, document: Relation | Mapping[str, Any]) -> Comparison:
    """Each named row stands for one move; a row without a name stands for all moves between its two states."""
    relation = document if isinstance(document, Relation) else from_json(document)
    pairs, missing, extra = _pair(relation.rows, list(machine.edges()))
    renamed = [(row.source, row.target, row.name, edge.name) for row, edge in pairs if not _is_named(row, edge)]
    terminal, ends = relation.terminal, machine.ends()
    initial = relation.initial
    differences: dict[str, tuple[Any, ...] | None] = {
        "missing_states": _without(relation.states, machine.states),
        "extra_states": _without(machine.states, relation.states),
        "missing_edges": tuple((row.source, row.target, row.name or "") for row in missing),
        "extra_edges": tuple((edge.source, edge.target, edge.name) for edge in extra),
        "renamed": tuple(renamed),
        "initial": None if initial in (None, machine.initial) else (initial, machine.initial),
        "missing_terminal": () if terminal is None else _without(terminal, ends),
        "extra_terminal": () if terminal is None else _without(ends, terminal),
        "actors": tuple(_actors(pairs)),
        "gates": tuple(_gates(machine, pairs)),
        "problems": relation.problems,
    }
    return Comparison(equal=not any(differences.values()), **differences)  # type: ignore[arg-type]  # one type per key


def _pair(rows: Iterable[Row], edges: list[Edge]) -> tuple[list[tuple[Row, Edge]], list[Row], list[Edge]]:
    """Which row stands for which edge, and what is left of both: first by name, then by the two states alone."""
    pairs: list[tuple[Row, Edge]] = []
    left: list[Row] = []
    free = list(edges)
    for row in rows:
        edge = next(
            (edge for edge in free if _joins(row, edge) and row.name is not None and _is_named(row, edge)), None
        )
        if edge is None:
            left.append(row)
        else:
            pairs.append((row, edge))
            free.remove(edge)
    missing: list[Row] = []
    for row in left:
        found = [edge for edge in free if _joins(row, edge)][: 1 if row.name is not None else None]
        if row.name is None and not found:  # another row already stands for the moves between these states
            found = [edge for edge in edges if _joins(row, edge)]
        pairs += [(row, edge) for edge in found]
        free = [edge for edge in free if edge not in found]
        missing += [] if found else [row]
    return pairs, missing, free


def _joins(row: Row, edge: Edge) -> bool:
    return (row.source, row.target) == (edge.source, edge.target)


def _is_named(row: Row, edge: Edge) -> bool:
    return row.name is None or slug(row.name) == slug(edge.name)


def _actors(pairs: list[tuple[Row, Edge]]) -> Iterable[Differing]:
    for row, edge in pairs:
        if row.by is not None and set(row.by) != set(edge.by()):
            wanted = tuple(actor for actor in ACTORS if actor in row.by)
            yield (edge.source, edge.target, edge.name, wanted, edge.by())


def _gates(machine: Machine, pairs: list[tuple[Row, Edge]]) -> Iterable[Differing]:
    """Gates by name are compared one by one; of gates in words only whether the move has any."""
    for row, edge in pairs:
        if row.needs is None:
            continue
        needed = tuple(dict.fromkeys(gate for way in edge.ways for gate in way.needs))
        is_named = all(gate in machine.gates for gate in row.needs)
        if set(row.needs) != set(needed) if is_named else not needed:
            yield (edge.source, edge.target, edge.name, row.needs, needed)


def _without(names: Any, others: Any) -> tuple[str, ...]:
    known = set(others)
    return tuple(name for name in names if name not in known)
