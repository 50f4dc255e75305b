"""Reads transition tables (From, To, and Name, By, Gate where they are there) and map blocks (`a -> b, c`)."""

from __future__ import annotations

import re

from detent.core.machine import ACTORS
from detent.core.record import Record
from detent.verify.relation import Row
from detent.words.verify import documents as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

START, END, ANY = "(start)", "(end)", "(any)"  # what a cell may stand for besides a state

_ARROW = r"(?:->|-->|=>|→|⟶|⇒)"
_COLUMNS = {
    "source": ("from", "source", "from state"),
    "target": ("to", "target", "to state", "next"),
    "pair": ("transition", "transitions", "move"),
    "name": ("name", "edge", "action"),
    "by": ("by", "actor", "actors", "who"),
    "needs": ("gate", "gates", "needs", "guard", "required artifact", "requires"),
}
_SPECIAL = {
    **dict.fromkeys(("(new)", "(start)", "[*]", "new", "start"), START),
    **dict.fromkeys(("(end)", "(terminal)", "(none)", "end", "terminal"), END),
    **dict.fromkeys(("any", "(any)", "*", "any state", "all"), ANY),
}
_WHO = {
    **{actor: actor for actor in ACTORS},
    **dict.fromkeys(("human", "user", "people", "humans"), "person"),
    **dict.fromkeys(("model", "ai", "worker", "reviewer", "agents"), "agent"),
    **dict.fromkeys(("orchestrator", "runner", "system"), "engine"),
}
_NOTHING = ("", "-", "\u2013", "\u2014", "none", "no", "n/a")  # also the longer dashes
_RULE = re.compile(r"\|?(\s*:?-+:?\s*\|)+\s*:?-*:?\s*")
_TOKENS = re.compile(rf"\s*({_ARROW}|\||,|\((?:terminal|end|none)\)|[A-Za-z_][\w-]*)")


class Table(Record):
    rows: tuple[Row, ...]
    line: int
    notes: tuple[str, ...] = ()


def read_map(text: str, line: int) -> tuple[Row, ...]:
    """The rows of a block that is nothing but a map of states to their next states; else none.

    Line breaks mean nothing: a name before an arrow begins the next row. A state that leads nowhere leads to END.
    """
    tokens: list[str] = []
    at, text = 0, text.strip()
    while at < len(text):
        found = _TOKENS.match(text, at)
        if found is None:
            return ()
        tokens.append(found[1])
        at = found.end()
    rows: list[Row] = []
    at = count = 0
    while at < len(tokens):
        source = tokens[at]
        if not _is_name(source) or not re.fullmatch(_ARROW, "".join(tokens[at + 1 : at + 2])):
            return ()
        targets = _targets(tokens, at + 2)
        if not targets:
            return ()
        rows += [Row(source, END if target.startswith("(") else target, line=line) for target in targets]
        at += 1 + 2 * len(targets)  # each name has an arrow or a separator before it
        count += 1
    return tuple(rows) if count > 1 else ()  # one arrow alone may be anything


def _targets(tokens: Sequence[str], at: int) -> list[str]:
    """The names from a place up to the next row; none where a separator has no name behind it."""
    targets: list[str] = []
    while at < len(tokens) and (_is_name(tokens[at]) or tokens[at].startswith("(")):
        targets.append(tokens[at])
        if tokens[at + 1 : at + 2] not in ([","], ["|"]):
            return targets
        at += 2
    return []


def _is_name(token: str) -> bool:
    return token[0].isalpha() or token[0] == "_"


def read_tables(lines: Sequence[str]) -> Iterator[Table]:
    """Every Markdown table that has the two states of a move in each row."""
    for number, line in enumerate(lines, 1):
        if number < 2 or not _RULE.fullmatch(line.strip()) or "|" not in lines[number - 2]:
            continue
        columns = _columns(_cells(lines[number - 2]))
        if "pair" in columns or {"source", "target"} <= set(columns):
            yield _table(lines, number, columns)


def _table(lines: Sequence[str], rule: int, columns: dict[str, int]) -> Table:
    rows: list[Row] = []
    notes: list[str] = []
    for number, line in enumerate(lines[rule:], rule + 1):
        if not line.strip().startswith("|"):
            break
        cells = _cells(line)
        found = {column: cells[at] for column, at in columns.items() if at < len(cells)}
        states = _pair_of(found)
        if states is None:
            notes.append(say.no_two_states(number))
            continue
        by, problem = _actors(found.get("by"))
        notes += [f"line {number}: {problem}"] if problem else []
        rows.append(Row(*states, _cell_text(found.get("name", "")) or None, by, _gates(found.get("needs")), number))
    return Table(tuple(rows), rule - 1, tuple(notes))


def _columns(header: list[str]) -> dict[str, int]:
    titles = [_cell_text(cell).lower() for cell in header]
    return {
        column: next(at for at, title in enumerate(titles) if title in known)
        for column, known in _COLUMNS.items()
        if any(title in known for title in titles)
    }


def _cells(line: str) -> list[str]:
    """The cells of a row; a bar behind a backslash, or between backticks, separates nothing."""
    parts = re.findall(r"(?:`[^`]*`|\\\||[^|])+|(?<=\|)(?=\|)", line.strip().strip("|"))
    return [part.replace("\\|", "|").strip() for part in parts]


def _cell_text(cell: str) -> str:
    return cell.strip().strip("*`_ ").replace("`", "").strip()


def _pair_of(found: dict[str, str]) -> tuple[str, str] | None:
    if "source" in found and "target" in found:
        names = [found["source"], found["target"]]
    else:
        names = re.split(_ARROW, found.get("pair", ""))
    states = [_SPECIAL.get(_cell_text(name).lower(), _cell_text(name)) for name in names]
    return (states[0], states[1]) if len(states) == 2 and all(states) else None


def _actors(cell: str | None) -> tuple[tuple[str, ...] | None, str]:
    if cell is None:
        return None, ""
    words = [word.strip().lower() for word in re.split(r",|;|/|\||\bor\b|\band\b", _cell_text(cell)) if word.strip()]
    if not words:
        return None, ""
    if unknown := [word for word in words if word not in _WHO]:
        return None, say.no_actor(unknown[0], ACTORS)
    return tuple(actor for actor in ACTORS if actor in {_WHO[word] for word in words}), ""


def _gates(cell: str | None) -> tuple[str, ...] | None:
    """The gates of a cell: by name where it is a list of names, else the whole sentence as one."""
    if cell is None:
        return None
    if _cell_text(cell).lower() in _NOTHING:
        return ()
    names = [_cell_text(name) for name in re.split(r",|\band\b|\+", cell)]
    return tuple(names) if all(re.fullmatch(r"[\w-]+", name) for name in names) else (" ".join(cell.split()),)
