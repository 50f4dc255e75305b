"""What a journal line looks like in the native log, to somebody who reads only the task folder.

A machine may name events of its own: each row of `events` makes one line of every journal line of its kind whose values
are as `when` says. Its type and the texts of its fields hold places in braces, paths into the journal line such as
`{after.state}`; one that is nothing but a place keeps the kind of its value. `{limits.NAME}` is how far a limit goes,
`{because}` the gate that failed and why, for a move that rests on a failure; `{noted}` what its open gates note.
"""

from __future__ import annotations

import re

from detent.store.journal.reasons import because, noted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.core.machine import Machine
    from detent.store.journal.chain import Entry

_KEPT = (
    *("seq", "time", "kind", "edge", "from", "to", "by", "name", "reason", "answer", "problem", "want", "file", "why"),
)
_PLACE = r"\{([\w. -]+)\}"


def log_lines(machine: Machine, entry: Entry) -> list[dict[str, object]]:
    """The lines of the native log that tell one journal line; a machine with events of its own may tell none."""
    events = machine.store.get("events")
    if events is None:
        return [log_line(entry)]
    limits = {name: limit.most for name, limit in machine.limits.items()}
    values = {**entry, "limits": limits, "because": because(entry), "noted": noted(entry)}
    return [
        {
            "type": _filled(row["type"], values),
            **{name: _filled(text, values) for name, text in row.get("fields", {}).items()},
        }
        for row in events
        if row["kind"] == entry["kind"] and _fits(row.get("when", {}), values)
    ]


def log_line(entry: Entry) -> dict[str, object]:
    """The line of a machine that names no events."""
    shown = {key: value for key in _KEPT if (value := entry.get(key)) not in (None, "")}
    if entry["kind"] in ("created", "adopted"):
        shown["to"] = entry["after"]["state"]
    if told := because(entry):
        shown["because"] = told
    return shown


def _fits(when: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    return all(
        str(_value(path, values)) in ([allowed] if isinstance(allowed, str) else allowed)
        for path, allowed in when.items()
    )


def _filled(text: str, values: Mapping[str, Any]) -> object:
    if match := re.fullmatch(_PLACE, text):
        found = _value(match[1], values)
        return found if isinstance(found, (int, float)) else _text(found)
    return re.sub(_PLACE, lambda place: _text(_value(place[1], values)), text)


def _value(path: str, values: Mapping[str, Any]) -> Any:
    """What stands at a path; nothing where it leads nowhere, zero for what was not counted yet."""
    found: Any = values
    for part in path.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    if found is None:
        return 0 if path.startswith("after.counters.") else ""
    return found


def _text(value: object) -> str:
    """Lists and tables as the names in them."""
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple, dict)) else str(value)
