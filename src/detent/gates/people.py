"""Checks that look for a person's word: given about exactly this tree, or not given."""

from __future__ import annotations

from detent.gates.seen import Finding, Seen
from detent.store.digest import hash_text
from detent.store.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from detent.core.machine import Gate, Machine
    from detent.core.values import Missing

WORD_CHECKS = ("protected_ok",)  # a closed gate of these is opened by nothing but a person's word


def is_word(machine: Machine, gate: str) -> bool:
    """Whether a gate waits for a person; `gate` may also be the name of a guard."""
    return gate in machine.gates and all(part.check in (*WORD_CHECKS, "all") for part in machine.parts((gate,)))


def lacks_only_word(machine: Machine, missing: Iterable[Missing]) -> bool:
    """Whether something is missing, and all of it is a person's word."""
    gates = [one.gate for one in missing]
    return bool(gates) and all(is_word(machine, gate) for gate in gates)


def protected_ok(_gate: Gate, seen: Seen) -> Finding:
    """No file was touched that a person must be asked about, or a person approved exactly this tree."""
    touched = seen.touched()
    if touched is None:
        why = "whether this tree touches protected files has not been looked at"
        return Finding(ok=False, why=why, fix="look at the changes: detent diff", by_engine=True)
    if not touched:
        return Finding(ok=True, by_engine=True)
    said = seen.approved
    if seen.tree and (said.get("tree"), said.get("files")) == (seen.tree, touched):
        proof = hash_text("\0".join((seen.tree, *(f"{name} {digest}" for name, digest in touched.items()))))
        note = f"{said['name']} approved {name_some(touched)}"
        return Finding(ok=True, proof=proof, note=note, by_engine=True)
    changed = f"; what {said['name']} approved has changed since" if said else ""
    return Finding(ok=False, why=f"a person must look at {name_some(touched)} first{changed}", by_engine=True)
