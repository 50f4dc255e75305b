"""Checks over what the engine itself filed or saw: made in this visit, from the tree as it is now."""

from __future__ import annotations

from detent.gates.judged import judging_move
from detent.gates.seen import Finding
from detent.words import proof as say
from detent.words.gates import together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.core.machine import Gate
    from detent.gates.seen import Seen


def same_tree(gate: Gate, seen: Seen) -> Finding:
    """The tree is the one that the move which led here saw: no file has changed since.

    With `waived`: and a person waived this gate for that move.
    """
    waived = gate.params.get("waived", "")
    if waived and waived not in _waived_on_entry(seen):
        return Finding(ok=False, why=say.not_waived(waived))
    if not seen.tree:
        return Finding(ok=False, why=say.tree_not_scanned(), is_known=False)
    if not seen.entry_tree:
        return Finding(ok=False, why=say.move_saw_no_tree(), is_known=False)
    if seen.entry_tree != seen.tree:
        return Finding(ok=False, why=say.tree_differs(seen.tree, seen.entry_tree))
    return Finding(ok=True, proof=seen.tree, by_engine=True)


def _waived_on_entry(seen: Seen) -> Sequence[str]:
    """The gates that a person waived for the last move into this state that looked at the tree."""
    entries = [edge.name for edge in seen.machine.edges() if edge.target == seen.snapshot.state]
    last = judging_move(entries, seen)
    return seen.trees[last].waived if last else ()


def filed(gate: Gate, seen: Seen) -> Finding:
    """The engine filed this place from the change of the tree as it is, over any other text there.

    Since entry: and it differs from the place's content when the state was entered, so there was work on it since. A
    folder may rightly be empty, where files were only removed; the patch beside it shows whether it is new.
    """
    place = gate.params["file"]
    there = None if place.endswith("/") else seen.files.path(place, as_proof=False)
    evidence = {} if place.endswith("/") else {f"filed:{place}": there.digest if there else ""}
    if not seen.tree:
        return Finding(ok=False, why=say.tree_not_scanned(), evidence=evidence, is_known=False)
    if seen.filing.tree != seen.tree:
        return Finding(ok=False, why=say.not_filed(place), evidence=evidence)
    if digest := seen.filing.files.get(place):
        return Finding(ok=True, proof=digest, evidence=evidence)
    refused = together(seen.filing.refused)
    return Finding(ok=False, why=refused or say.nothing_to_file(place), evidence=evidence)


def renewed(gate: Gate, seen: Seen) -> Finding:
    """One of these files at least has changed since the state was entered, by any writer."""
    places: list[str] = gate.params["files"]
    there = {place: seen.files.path(place, as_proof=False) for place in places}
    evidence = {f"filed:{place}": found.digest if found else "" for place, found in there.items()}
    if any(seen.snapshot.entry.get(key, "") != digest for key, digest in evidence.items()):
        return Finding(ok=True, evidence=evidence, by_engine=True)
    return Finding(ok=False, why=say.not_renewed(places, seen.snapshot.state), evidence=evidence)
