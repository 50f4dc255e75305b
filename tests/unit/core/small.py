"""Small machines for tests, written as a person would write them, and short words to ask them something."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from detent.core.decide import decide, enter
from detent.core.machine import Machine
from detent.core.values import Advance, Crash, Fact, Refuse, Signal, Snapshot, Wait
from detent.machines.parse import parse

if TYPE_CHECKING:
    from detent.core.values import Decision

# Two agent states, one that waits for a person, and an end; tests add the edges they are about.
STATES = """
format  = 1
name    = "small"
initial = "work"

[role.builder]
access = "write"

[gate.ready]
check = "file"
fix   = "write ready.txt"
[gate.seen]
check = "file"
fix   = "write seen.txt"

[state.work]
role = "builder"
[state.look]
role = "builder"
[state.wait]
[state.over]
end = true
"""


def machine(text: str, *, limits: Mapping[str, int] | None = None, options: Sequence[str] = ()) -> Machine:
    """The machine of a whole document."""
    return parse(tomllib.loads(text), None, limits=limits, options=options)


def small(
    edges: str, *, top: str = "", limits: Mapping[str, int] | None = None, options: Sequence[str] = ()
) -> Machine:
    """The small machine with these edges; `top` goes before its tables."""
    return machine(f"{top}\n{STATES}\n{edges}", limits=limits, options=options)


def facts(made: Machine, *opened: str, pending: Iterable[str] = ()) -> dict[str, Fact]:
    """What a look at all gates found: these open, these not yet run, the rest closed."""
    waiting = frozenset(pending)
    return {
        name: Fact(name, ok=name in opened, why=f"{name} is closed", fix=gate.fix, pending=name in waiting)
        for name, gate in made.gates.items()
    }


def ask(made: Machine, signal: Signal, *opened: str, at: Snapshot | None = None) -> Decision:
    """What is decided, with these gates open, from this snapshot or the start."""
    return decide(made, at or enter(made), facts(made, *opened), signal)


def advanced(decision: Decision) -> Advance:
    assert isinstance(decision, Advance), decision
    return decision


def refused(decision: Decision) -> Refuse:
    assert isinstance(decision, Refuse), decision
    return decision


def crashed(decision: Decision) -> Crash:
    assert isinstance(decision, Crash), decision
    return decision


def waited(decision: Decision) -> Wait:
    assert isinstance(decision, Wait), decision
    return decision


def missing(decision: Decision) -> tuple[str, ...]:
    """The names of all gates and guards that a refusal says are missing."""
    return tuple(need.gate for need in refused(decision).missing)
