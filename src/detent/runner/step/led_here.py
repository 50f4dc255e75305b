"""Says why the engine made a move: what failed, which limit is spent, which run was lost, else what opened it.

The words go into the move's own line as `led`, so that every face, the native file and its log tell the same reason.
"""

from __future__ import annotations

from detent.core.machine import CRASH_CLASSES
from detent.page.runs import EXITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from detent.core.machine import Gate, Machine
    from detent.core.values import Advance
    from detent.store.journal.memory import Memory

_LONGEST = 2000  # characters; a line has a bound


def led_here(machine: Machine, memory: Memory, taken: Advance, content: Mapping[str, Any]) -> str:
    """The reason of a move of the engine's own, on one line; empty for a move that somebody asked for."""
    if content["by"] not in ("engine", "crash"):
        return ""
    way, facts = taken.way, content["facts"]
    told = [*_failed(way.needs, facts), *_notes(way.needs, facts)]
    if way.spent:
        told.insert(0, f"{way.spent} {taken.after.counters.get(way.spent) or machine.limits[way.spent].most}")
        told[0] += f" of {machine.limits[way.spent].most}"
    exit_name = content["exit"] or memory.visit.get("exit", "")
    if content["by"] == "crash" or (way.spent and exit_name in CRASH_CLASSES):
        told.insert(0, f"agent run #{memory.last_run.get('run', 0)} {EXITS.get(exit_name, exit_name)}")
    if content["by"] == "crash":
        told += [content["reason"]] if content["reason"] else []
    told = told or [words for name in way.needs if (words := _opened(machine.gates[name]))]
    return " ".join("; ".join(dict.fromkeys(told)).split())[:_LONGEST]


def _failed(needs: tuple[str, ...], facts: Mapping[str, Any]) -> Iterator[str]:
    """Every part that failed and is made of nothing else, below a gate that is open because something failed."""
    waiting = [name for name in needs if facts.get(name, {}).get("ok") is True]
    for gate in waiting:  # grows while it is read
        for label, is_ok, why in facts[gate].get("parts", ()):
            if is_ok is not False or facts.get(label, {}).get("unknown"):
                continue
            if "parts" in facts.get(label, {}) and label not in waiting:
                waiting.append(label)
            elif label not in waiting:
                yield f"{label}: {why}".rstrip(": ")


def _notes(needs: tuple[str, ...], facts: Mapping[str, Any]) -> Iterator[str]:
    return (facts[name]["note"] for name in needs if facts.get(name, {}).get("note"))


def _opened(gate: Gate) -> str:
    """The artifact that a gate asks for, as found."""
    section, value = gate.params.get("section", ""), gate.params.get("value", "")
    return {"section_filled": f"## {section} found", "verdict": f"## {section} says {value}"}.get(gate.check, "")
