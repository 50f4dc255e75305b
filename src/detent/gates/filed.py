"""The check over what the engine itself filed: made in this visit, from the tree as it is now."""

from __future__ import annotations

from detent.gates.seen import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate
    from detent.gates.seen import Seen


def filed(gate: Gate, seen: Seen) -> Finding:
    """The engine filed this place from the change of the tree as it is; whatever anybody else wrote there is gone."""
    place = gate.params["file"]
    if not seen.tree:
        return Finding(ok=False, why="the tree has not been looked at since it changed")
    if seen.filing.get("tree") != seen.tree:
        return Finding(ok=False, why=f"{place} is not made from the tree as it is; asking for the move makes it")
    if digest := seen.filing["files"].get(place):
        return Finding(ok=True, proof=digest, by_engine=True)
    refused = "; ".join(seen.filing["refused"])
    return Finding(ok=False, why=refused or f"{place} would be empty: nothing has changed since the work began")
