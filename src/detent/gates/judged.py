"""The check `as_judged`: what is delivered is what was judged, outside a few paths that no gate judges.

Which tree a move judged is taken from the journal. What else may differ, packs say by parameters of their own: see
`Excuse` in gates/registry.py.
"""

from __future__ import annotations

from detent.gates.registry import excuses_of
from detent.gates.seen import Finding
from detent.machines.packs import load
from detent.words import proof as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from detent.core.machine import Gate
    from detent.gates.seen import Seen


def as_judged(gate: Gate, seen: Seen) -> Finding:
    """Outside `besides` the tree is the one that the last of these moves (`edges`) judged, or a person accepted it.

    `outputs` names the file whose "## Deploy Outputs" lists paths that deploying may make: they were in no judged tree,
    `design` does not draw them, they are no tests, and no command runs anything in them.
    """
    if not seen.tree:
        return Finding(ok=False, why=say.tree_not_scanned(), is_known=False)
    names: list[str] = gate.params["edges"]
    last = judging_move(names, seen)
    if not last:
        return _accepted(gate, seen) or Finding(ok=False, why=say.nothing_judged(names))
    changed = unjudged(gate, seen, seen.trees[last].tree)
    if changed is None:
        return Finding(ok=False, why=say.unknown_whether_judged(last), is_known=False)
    if not changed:
        return Finding(ok=True, proof=seen.trees[last].tree, by_engine=True)
    why = say.changed_since_judged(last, changed, seen.trees[last].tree)
    return _accepted(gate, seen) or Finding(ok=False, why=why, fix=why.next_step)


def judging_move(names: Iterable[str], seen: Seen) -> str:
    """The move among these that was taken last with a tree; empty when none was."""
    known = (name for name in names if name in seen.trees)
    return max(known, key=lambda name: seen.trees[name].seq, default="")


def unjudged(gate: Gate, seen: Seen, before: str) -> tuple[str, ...] | None:
    """The paths that differ from an earlier tree and that this gate does not except; None when that is not known."""
    found = seen.differences(before)
    if found is None:
        return None
    besides = gate.params.get("besides", ())
    left = [(status, path) for status, path in found if not any(lies_at(path, place) for place in besides)]
    for excuse in excuses_of(gate) if left else ():
        allowed = load(excuse)(gate, seen, {path for status, path in left if status == "A"})
        left = [(status, path) for status, path in left if path not in allowed]
    return tuple(path for _, path in left)


def lies_at(path: str, place: str) -> bool:
    """Whether a path is a place that a machine file names, or lies in one that ends with `/`."""
    return path.startswith(place) if place.endswith("/") else path == place


def _accepted(gate: Gate, seen: Seen) -> Finding | None:
    """A person was shown the difference and accepted these very files."""
    said = seen.accepted
    if not said or unjudged(gate, seen, said.tree) != ():
        return None
    note = say.accepted(said.name, said.reason)
    return Finding(ok=True, proof=seen.tree, note=note, by_engine=True)
