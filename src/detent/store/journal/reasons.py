"""Why a move that rests on a failure was taken: the first check that failed; and what the gates of a move note.

A gate that is open because something else is not has parts that are closed. A gate that was waived is no reason: who
waived it said why.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_LONGEST = 300  # characters of a reason that stands on a line with others


def because(entry: Mapping[str, Any]) -> str:
    """The gate that failed and why, on one line; empty for a line that is no such move."""
    facts = {} if entry.get("waived") else entry.get("facts", {})
    for name, fact in facts.items():
        if fact.get("ok") is True and (told := _failed_part(name, facts)):
            return _short(told)
    return ""


def noted(entry: Mapping[str, Any]) -> str:
    """What open gates of a move note besides, on one line."""
    found = (fact["note"] for fact in entry.get("facts", {}).values() if fact.get("ok") is True and fact.get("note"))
    return _short(" ".join("; ".join(dict.fromkeys(found)).split()))


def _short(told: str) -> str:
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST].rstrip()} ..."


def _failed_part(name: str, facts: Mapping[str, Any]) -> str:
    """Down from a gate to the first part that failed and is made of nothing else."""
    told, gate, seen = "", name, set[str]()
    while gate in facts and gate not in seen:
        seen.add(gate)
        for label, is_ok, why in facts[gate].get("parts", ()):
            if is_ok is False and not facts.get(label, {}).get("unknown"):
                words = f"{label}: {why}" if label in facts else f"{gate}: {label}: {why}"
                told, gate = " ".join(words.rstrip(": ").split()), label
                break
    return told
