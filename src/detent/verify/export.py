"""Shows a machine to other programs: as plain JSON data, and as a Mermaid state diagram.

Both hold the relation and nothing else: switched-off options are not in it, edges that may never be taken are.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from detent.core.machine import Edge, Machine

# Words a state diagram reads as its own, in any case; a state called so gets another id and keeps its name on screen.
_RESERVED = frozenset(
    {
        *("acctitle", "accdescr", "as", "class", "classdef", "click", "default", "direction", "end", "fork", "hide"),
        *("join", "note", "root", "scale", "state", "statediagram", "style"),
    }
)
_PLAIN_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNSAFE = re.compile(r'[:;#%"{}<>\s]+')


def export_json(machine: Machine) -> dict[str, Any]:
    """The machine as data, in the order of its file."""
    return {
        "name": machine.name,
        "states": list(machine.states),
        "initial": machine.initial,
        "terminal": list(machine.ends()),
        "transitions": [_edge(edge) for edge in machine.edges()],
        "reopen": [_edge(edge) for state in machine.states.values() for edge in state.edges if edge.reopen],
    }


def _edge(edge: Edge) -> dict[str, Any]:
    return {
        "from": edge.source,
        "to": edge.target,
        "name": edge.name,
        "label": edge.label,
        "by": list(edge.by()),
        "needs": list(dict.fromkeys(gate for way in edge.ways for gate in way.needs)),
    }


def export_mermaid(machine: Machine) -> str:
    """A `stateDiagram-v2` with every edge under its own name; re-openings lie outside the relation and outside it."""
    ids = _ids(machine)
    lines = ["stateDiagram-v2"]
    lines += [f'    state "{_words(name)}" as {ids[name]}' for name in machine.states if ids[name] != name]
    lines.append(f"    [*] --> {ids[machine.initial]}")
    for edge in machine.edges():
        never = " (never)" if edge.never else ""
        lines.append(f"    {ids[edge.source]} --> {ids[edge.target]} : {_words(edge.name)}{never}")
    lines += [f"    {ids[name]} --> [*]" for name in machine.ends()]
    return "\n".join(lines) + "\n"


def _ids(machine: Machine) -> dict[str, str]:
    """An id for each state that no other has: its own name where a diagram can spell it."""
    ids = {name: name for name in machine.states if _PLAIN_ID.fullmatch(name) and name.lower() not in _RESERVED}
    taken = set(ids.values())
    for name in machine.states:
        if name in ids:
            continue
        wanted = found = "s_" + re.sub(r"[^A-Za-z0-9_]", "_", name)
        number = 2
        while found in taken:
            found = f"{wanted}_{number}"
            number += 1
        ids[name] = found
        taken.add(found)
    return ids


def _words(text: str) -> str:
    return _UNSAFE.sub(" ", text).strip()
