"""Reads what a document says about a machine; what kind of document it is, its content tells.

JSON is a relation file; a text with a MODULE line is TLA+; any other text may hold Mermaid state diagrams, maps of
states and transition tables. A text may describe a machine several times: the diagram and the map that share most
states with the machine are read, and tables add what they say to it. The notes list the parts that were left aside.
"""

from __future__ import annotations

import json
import re

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.store.disk.atomic import read_text
from detent.verify.documents.diagram import Lines, is_diagram, read_diagram
from detent.verify.documents.tables import ANY, END, START, Table, read_map, read_tables
from detent.verify.relation import Relation, Row, ends_of, from_json, slug, states_of
from detent.words.verify import documents as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detent.core.machine import Machine

MOST_MOVES = 5_000  # of one document; the largest machine that ships has 112
_MODULE = re.compile(r"^-{4,}\s*MODULE\s+\w+\s*-{4,}", re.MULTILINE)
_FENCE = re.compile(r"```([A-Za-z]\w*)?")
_MAP_KINDS = ("", "text", "txt", "plain")


class _Block(Record):
    kind: str
    text: str
    line: int  # of its first line
    is_closed: bool


def read_document(path: str, machine: Machine) -> Relation:
    """The relation of a file, or an error that says why it has none."""
    text = read_text(path)
    relation = None if text is None else _relation(text.removeprefix("\ufeff"), machine, path)
    if relation is None:
        raise UnreadableError(say.no_file(), where=path)
    if len(relation.rows) > MOST_MOVES:
        raise UnreadableError(say.too_many_moves(MOST_MOVES), where=path)
    return relation


def _relation(text: str, machine: Machine, path: str) -> Relation:
    if path.endswith(".json") or text.lstrip()[:1] in ("{", "["):
        return _from_json(text, path)
    if _MODULE.search(text):
        from detent.verify.documents.tla import read_module  # it loads a parser

        return read_module(text, path)
    return _from_text(text, machine, path)


def _from_json(text: str, path: str) -> Relation:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = say.no_json(error)
        raise UnreadableError(problem, where=path) from error
    return from_json(content, path)


def _from_text(text: str, machine: Machine, path: str) -> Relation:
    blocks = list(_blocks(text))
    diagrams = [read_diagram(part, machine.states, path) for part in _diagrams(text, blocks)]
    maps = [_of_map(rows) for block in blocks if block.kind in _MAP_KINDS if (rows := read_map(block.text, block.line))]
    tables = list(read_tables(text.splitlines()))
    chosen, notes = [], []
    for found in (diagrams, maps):
        best, others = _best(found, machine)
        chosen += best
        notes += [say.about_other_states(relation.source) for relation in others]
    about = [table for table in tables if not {*states_of(table.rows)}.isdisjoint(machine.states)]
    lines = [say.table_about_other_states(table.line) for table in tables]
    notes += [line for line, table in zip(lines, tables, strict=True) if table not in about]
    if not chosen and not about:
        raise UnreadableError(say.no_relation(machine.name), where=path)
    base = chosen[0] if chosen else None
    for other in chosen[1:]:
        base = _merged(chosen[0], other.rows).replace(source=f"{chosen[0].source}; {other.source}", notes=other.notes)
    relation = _with_tables(base, about)
    chosen_notes = [note for relation in chosen for note in relation.notes]
    return relation.replace(notes=(*chosen_notes, *notes, *(note for table in about for note in table.notes)))


def _blocks(text: str) -> Iterator[_Block]:
    """Every fenced block; one whose closing fence is missing ends where the next one begins."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is not None:
            is_closed = fence[1] is None
            yield _block(text, opened, fence.start(), is_closed=is_closed)
            opened = None if is_closed else fence
        else:
            opened = fence
    if opened is not None:
        yield _block(text, opened, len(text), is_closed=False)


def _block(text: str, fence: re.Match[str], end: int, *, is_closed: bool) -> _Block:
    start = fence.end() + 1 if text[fence.end() : fence.end() + 1] == "\n" else fence.end()
    return _Block(fence[1] or "", text[start:end], text.count("\n", 0, start) + 1, is_closed)


def _diagrams(text: str, blocks: Sequence[_Block]) -> Iterator[Lines]:
    pieces = [(block.text, block.line, block.is_closed) for block in blocks] or [(text, 1, True)]
    for content, first, is_closed in pieces:
        lines = content.splitlines()
        for at in (number for number, line in enumerate(lines) if is_diagram(line)):
            yield Lines(tuple(lines[at:]), first + at, is_closed)
            break


def _of_map(rows: tuple[Row, ...]) -> Relation:
    moves, ends = _split_ends(rows)
    states = states_of(moves, *(row.source for row in rows))
    named = tuple(dict.fromkeys(ends))
    return Relation(f"map of states, line {rows[0].line}", states, moves, None, ends_of(states, moves, named))


def _split_ends(rows: tuple[Row, ...]) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    return tuple(row for row in rows if row.target != END), tuple(row.source for row in rows if row.target == END)


def _best(found: list[Relation], machine: Machine) -> tuple[list[Relation], list[Relation]]:
    """The description that shares most states with the machine, and the ones that were left aside."""
    ranked = sorted(found, key=lambda relation: -len(set(relation.states) & set(machine.states)))
    return ranked[:1], ranked[1:]


def _with_tables(base: Relation | None, tables: Sequence[Table]) -> Relation:
    if not tables:
        assert base is not None  # noqa: S101  # the caller refused a document that has neither
        return base
    rows = tuple(row for table in tables for row in table.rows)
    starts = [row.target for row in rows if row.source == START]
    moves, ends = _split_ends(tuple(row for row in rows if row.source != START))
    plain = tuple(row for row in moves if row.source != ANY)
    if base is None:
        states = states_of(plain, *starts, *(row.target for row in moves), *ends)
        base = Relation("", states, (), None, ends_of(states, plain, ends) if ends else None)
    spread = [row.replace(source=state) for row in moves if row.source == ANY for state in _others(base, row)]
    lines = ", ".join(str(table.line) for table in tables)
    where = f"tables of lines {lines}" if len(tables) > 1 else f"table of line {lines}"
    merged = _merged(base, (*plain, *spread))
    initial = base.initial if base.initial is not None else starts[0] if starts else None
    terminal = base.terminal if base.terminal is not None else ends_of(merged.states, merged.rows, ())
    return merged.replace(source="; ".join(filter(None, (base.source, where))), initial=initial, terminal=terminal)


def _others(base: Relation, row: Row) -> Iterator[str]:
    """The states from which "any" leads somewhere: all but the ends and the target itself."""
    return (state for state in base.states if state != row.target and state not in (base.terminal or ()))


def _merged(base: Relation, rows: Sequence[Row]) -> Relation:
    """What more rows say about the moves of a relation, and the moves that only they have."""
    merged = list(base.rows)
    between: dict[tuple[str, str], list[int]] = {}
    for at, old in enumerate(merged):
        between.setdefault((old.source, old.target), []).append(at)
    for row in rows:
        places = all_places = between.setdefault((row.source, row.target), [])
        if row.name is not None:  # it is about the move of that name, or about one that has none so far
            alike = [at for at in places if slug(merged[at].name or "") == slug(row.name)]
            places = alike or [at for at in places if merged[at].name is None][:1]
        for at in places:
            old = merged[at]
            by, needs = old.by if row.by is None else row.by, old.needs if row.needs is None else row.needs
            merged[at] = old.replace(name=old.name if old.name is not None else row.name, by=by, needs=needs)
        if not places:
            all_places.append(len(merged))
            merged.append(row)
    return base.replace(rows=tuple(merged), states=states_of(tuple(merged), *base.states))
