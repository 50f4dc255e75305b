"""The form of a journal line in the native log, for readers of the task folder alone.

A machine may name events of its own: each row of `events` makes one line of every journal line of its kind whose values
are as `when` says. Its type and the texts of its fields hold places in braces, paths into the journal line such as
`{after.state}`; one that is nothing but a place keeps the kind of its value. `{limits.NAME}` is how far a limit goes,
`{because}` the gate that failed and why, for a move that rests on a failure; `{noted}` what its open gates note.
"""

from __future__ import annotations

import re

from detent.store.journal.events import Moved
from detent.store.journal.head import Adopted, Created
from detent.store.journal.line import to_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.core.machine import Machine
    from detent.store.journal.events import FactSaid
    from detent.store.journal.line import Line

_KEPT = (
    *("seq", "time", "kind", "edge", "from", "to", "by", "name", "reason", "answer", "problem", "want", "file", "why"),
)
_LONGEST_REASON = 300  # characters of a reason that stands on a line with others
_PLACE = r"\{([\w. -]+)\}"


def log_lines(machine: Machine, line: Line) -> list[dict[str, object]]:
    """The lines of the native log that tell one journal line; a machine with events of its own may tell none."""
    events = machine.store.events
    if events is None:
        return [log_line(line)]
    limits = {name: limit.most for name, limit in machine.limits.items()}
    values = {**to_line(line), "limits": limits, "because": because(line), "noted": noted(line)}
    return [
        {
            "type": _filled(row.type, values),
            **{name: _filled(text, values) for name, text in row.fields.items()},
        }
        for row in events
        if row.kind == line.kind and _fits(row.when, values)
    ]


def log_line(line: Line) -> dict[str, object]:
    """The line of a machine that names no events."""
    said = to_line(line)
    shown = {key: value for key in _KEPT if (value := said.get(key)) not in (None, "")}
    if isinstance(line, (Created, Adopted)):
        shown["to"] = said["after"]["state"]
    if reason := because(line):
        shown["because"] = reason
    return shown


def _fits(when: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    return all(
        str(_value(path, values)) in ([allowed] if isinstance(allowed, str) else allowed)
        for path, allowed in when.items()
    )


def _filled(text: str, values: Mapping[str, Any]) -> object:
    if match := re.fullmatch(_PLACE, text):
        found = _value(match[1], values)
        return found if isinstance(found, (int, float)) else _as_text(found)
    return re.sub(_PLACE, lambda place: _as_text(_value(place[1], values)), text)


def _value(path: str, values: Mapping[str, Any]) -> Any:
    """What stands at a path; nothing where it leads nowhere, zero for what was not counted yet."""
    found: Any = values
    for part in path.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    if found is None:
        return 0 if path.startswith("after.counters.") else ""
    return found


def _as_text(value: object) -> str:
    """Lists and tables as the names in them."""
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple, dict)) else str(value)


def because(line: Line) -> str:
    """The gate that failed and why, on one line; empty for a line that is no such move.

    A gate that is open because something else is not has parts that are closed. A waived gate is no reason: the
    override has its own.
    """
    facts = line.facts if isinstance(line, Moved) and not line.waived else {}
    for name, fact in facts.items():
        if fact.get("ok") is True and (reason := _failed_part(name, facts)):
            return _short(reason)
    return ""


def noted(line: Line) -> str:
    """What open gates of a move note besides, on one line."""
    facts = line.facts if isinstance(line, Moved) else {}
    found = (note for fact in facts.values() if fact.get("ok") is True and (note := fact.get("note")))
    return _short(" ".join("; ".join(dict.fromkeys(found)).split()))


def _short(reason: str) -> str:
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON].rstrip()} ..."


def _failed_part(name: str, facts: Mapping[str, FactSaid]) -> str:
    """Down from a gate to the first part that failed and is made of nothing else."""
    reason, gate, seen = "", name, set[str]()
    while gate in facts and gate not in seen:
        seen.add(gate)
        for label, is_ok, why in facts[gate].get("parts", ()):
            if is_ok is False and not (label in facts and facts[label].get("unknown")):
                words = f"{label}: {why}" if label in facts else f"{gate}: {label}: {why}"
                reason, gate = " ".join(words.rstrip(": ").split()), label
                break
    return reason
