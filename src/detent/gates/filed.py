"""Checks over what the engine itself filed or saw: made in this visit, from the tree as it is now."""

from __future__ import annotations

from detent.gates.seen import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate
    from detent.gates.seen import Seen


def same_tree(_gate: Gate, seen: Seen) -> Finding:
    """The tree is the one that the move which led here saw: nobody has changed a file since."""
    if not seen.tree:
        return Finding(ok=False, why="the tree has not been looked at since it changed", is_known=False)
    if not seen.came_with:
        return Finding(ok=False, why="the move that led here did not look at the tree", is_known=False)
    if seen.came_with != seen.tree:
        return Finding(
            ok=False, why=f"the tree is {seen.tree[:12]} now, it was {seen.came_with[:12]} when it came here"
        )
    return Finding(ok=True, proof=seen.tree, by_engine=True)


def filed(gate: Gate, seen: Seen) -> Finding:
    """The engine filed this place from the change of the tree as it is; whatever anybody else wrote there is gone.

    Since entry: and it is not what lay there when the state was entered, so somebody has worked on it since. A folder
    may rightly be empty, where files were only removed; whether it is new is said by the patch beside it.
    """
    place = gate.params["file"]
    there = None if place.endswith("/") else seen.files.path(place, as_proof=False)
    evidence = {} if place.endswith("/") else {f"filed:{place}": there.digest if there else ""}
    if not seen.tree:
        why = "the tree has not been looked at since it changed"
        return Finding(ok=False, why=why, evidence=evidence, is_known=False)
    if seen.filing.get("tree") != seen.tree:
        why = f"{place} is not there for the tree as it is: nothing has changed, or nobody has asked for the move"
        return Finding(ok=False, why=why, evidence=evidence)
    if digest := seen.filing["files"].get(place):
        return Finding(ok=True, proof=digest, evidence=evidence)
    refused = "; ".join(seen.filing["refused"])
    why = refused or f"{place} would be empty: nothing has changed since the work began"
    return Finding(ok=False, why=why, evidence=evidence)


def renewed(gate: Gate, seen: Seen) -> Finding:
    """One of these files at least is not what lay there when the state was entered, whoever wrote it again since."""
    places: list[str] = gate.params["files"]
    there = {place: seen.files.path(place, as_proof=False) for place in places}
    evidence = {f"filed:{place}": found.digest if found else "" for place, found in there.items()}
    if any(seen.snapshot.entry.get(key, "") != digest for key, digest in evidence.items()):
        return Finding(ok=True, evidence=evidence, by_engine=True)
    why = f"{' and '.join(places)}: the same as when {seen.snapshot.state} was entered"
    return Finding(ok=False, why=why, evidence=evidence)
