"""Asks gates: turns what a check found into a fact, and refuses proof that is older than the visit it is for."""

from __future__ import annotations

from detent.core.machine import ENTRY
from detent.core.values import Fact
from detent.errors import UnreadableError
from detent.gates.checks import CHECKS
from detent.gates.seen import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from detent.core.machine import Gate
    from detent.gates.seen import Seen

_DEEPEST = 5  # how far `not` and `all` may be nested


def judge(seen: Seen, names: Iterable[str]) -> dict[str, Fact]:
    """The facts for these gates."""
    return {name: _fact(seen.machine.gates[name], seen, 0) for name in dict.fromkeys(names)}


def evidence_hashes(seen: Seen) -> dict[str, str]:
    """What all fresh-proof gates look at, as it is now; stored on entry, compared later."""
    hashes: dict[str, str] = {}
    for gate in seen.machine.gates.values():
        if gate.since == "entry" and gate.check in CHECKS:
            hashes.update(_find(gate, seen).evidence)
    return {key: value for key, value in hashes.items() if value}


def _fact(gate: Gate, seen: Seen, depth: int) -> Fact:
    if gate.check in ("not", "all"):
        return _combined(gate, seen, depth)
    found = _find(gate, seen)
    if found.ok and gate.since == "entry" and not found.by_engine:
        stale = [key for key, value in found.evidence.items() if seen.snapshot.entry.get(key, "") == value]
        if stale:
            return _stale(gate, seen, stale)
    # Evidence that changed while no agent run lived was changed by hand; it counts, and says so.
    by_hand = found.ok and gate.since == "entry" and not found.by_engine and seen.snapshot.exit == ENTRY
    proof = found.proof or next(iter(found.evidence.values()), "")
    return Fact(gate.name, found.ok, found.why, gate.fix, proof, by_hand, found.pending, found.note)


def _find(gate: Gate, seen: Seen) -> Finding:
    try:
        return CHECKS[gate.check][0](gate, seen)
    except UnreadableError as error:
        return Finding(ok=False, why=f"{error.where}: {error.what}")


def _stale(gate: Gate, seen: Seen, keys: list[str]) -> Fact:
    state = seen.snapshot.state
    visit = seen.snapshot.visits.get(state, 1)
    shown = ", ".join(key.partition(":")[2].replace(":", " ## ") for key in keys)
    why = f"{shown} is unchanged since {state} was entered: proof from earlier does not count"
    fix = f"{gate.fix}; where the same words are still right, add a line: Round: {visit}"
    return Fact(gate.name, ok=False, why=why, fix=fix)


def _combined(gate: Gate, seen: Seen, depth: int) -> Fact:
    if depth >= _DEEPEST:
        return Fact(gate.name, ok=False, why="gates are nested too deeply", fix=gate.fix)
    inner = [_fact(seen.machine.gates[name], seen, depth + 1) for name in gate.params["of"]]
    pending = any(fact.pending for fact in inner)
    closed = [fact for fact in inner if not fact.ok]
    if gate.check == "all":
        why = "; ".join(fact.why for fact in closed)
        return Fact(gate.name, not closed, why, gate.fix, pending=pending)
    # What was never looked at does not prove its opposite.
    ok = bool(closed) and not pending
    return Fact(gate.name, ok, "" if ok else "what would have to fail has not failed", gate.fix, pending=pending)
