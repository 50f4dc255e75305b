"""The check `as_judged`: what is delivered is what was judged, outside a few paths that no gate judges.

Which tree a move judged is taken from the journal. What else may differ, packs say by parameters of their own: see
`Excuse` in gates/registry.py.
"""

from __future__ import annotations

from detent.gates.registry import excuses_of
from detent.gates.seen import Finding
from detent.machines.packs import load
from detent.store.text.names import name_some

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
        return Finding(ok=False, why="the work tree changed since the last scan", is_known=False)
    names: list[str] = gate.params["edges"]
    last = judging_move(names, seen)
    if not last:
        why = f"{' or '.join(names)} was never taken in this task: nothing has judged these files"
        return _accepted(gate, seen) or Finding(ok=False, why=why)
    changed = unjudged(gate, seen, seen.trees[last]["tree"])
    if changed is None:
        why = f"whether the files are still those of {last} is not known until the move is requested"
        return Finding(ok=False, why=why, is_known=False)
    if not changed:
        return Finding(ok=True, proof=str(seen.trees[last]["tree"]), by_engine=True)
    why = f"changed since {last} judged the files: {name_some(changed)}"
    return _accepted(gate, seen) or Finding(ok=False, why=why, fix=_fix(seen, last))


def judging_move(names: Iterable[str], seen: Seen) -> str:
    """The move among these that was taken last with a tree; empty when none was."""
    known = (name for name in names if name in seen.trees)
    return max(known, key=lambda name: int(seen.trees[name]["seq"]), default="")


def unjudged(gate: Gate, seen: Seen, before: str) -> tuple[str, ...] | None:
    """The paths that differ from an earlier tree and that this gate does not except; None when that is not known."""
    found = seen.differences(before)
    if found is None:
        return None
    besides = gate.params.get("besides", ())
    left = [(status, path) for status, path in found if not any(lies_at(path, one) for one in besides)]
    for excuse in excuses_of(gate) if left else ():
        allowed = load(excuse)(gate, seen, {path for status, path in left if status == "A"})
        left = [(status, path) for status, path in left if path not in allowed]
    return tuple(path for _, path in left)


def lies_at(path: str, place: str) -> bool:
    """Whether a path is a place that a machine file names, or lies in one that ends with `/`."""
    return path.startswith(place) if place.endswith("/") else path == place


def _fix(seen: Seen, last: str) -> str:
    """What a person may do; the tree is named so that what they say is about these files alone."""
    short = str(seen.trees[last]["tree"])[:12]
    look = f"look at it: detent diff --since {short}"
    return f'{look}; bring the files back, or accept them as a person: detent approve --reason "why"'


def _accepted(gate: Gate, seen: Seen) -> Finding | None:
    """A person was shown the difference and accepted these very files."""
    said = seen.accepted
    if not said or unjudged(gate, seen, said["tree"]) != ():
        return None
    note = f"{said['name']} accepted what differs from the files that were judged: {said['reason']}"
    return Finding(ok=True, proof=seen.tree, note=note, by_engine=True)
