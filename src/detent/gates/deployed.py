"""The check `deployed`: the engine ran the deploy commands on exactly this tree, and each exited with 0.

It is pending only when a person has confirmed these very commands and nobody has deployed in this visit: what can't be
recognised afterwards is never done twice unasked. Where a person must speak first, nothing is known either way, so that
waiting is no failed gate.
"""

from __future__ import annotations

from detent.gates.seen import Finding
from detent.store.deploy_plan import EXAMPLE, Plan, read_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.core.machine import Gate
    from detent.core.values import Snapshot
    from detent.gates.seen import Seen

CHECK = "deployed"
_FIX = 'look at the commands, then run: detent approve --reason "why they may run"'


def deploy_named(gate: Gate, seen: Seen) -> Finding:
    """A file names the commands for pre-flight, deploy, check and rollback; asked early, as only people write it."""
    file = gate.params["preferences"]
    plan, problem = read_plan(seen.files.text(file) or "")
    name = file.removeprefix("tree:")
    return Finding(ok=plan is not None, why=problem and f"{name}: {problem}", fix=f"write in {name}: {EXAMPLE}")


def deployed(gate: Gate, seen: Seen) -> Finding:
    """The engine ran pre-flight, deploy and check (and persistence, where it is named) on this tree, and all passed."""
    plan, _ = read_plan(seen.files.text(gate.params["preferences"]) or "")
    if plan is None:
        return deploy_named(gate, seen)
    if not seen.tree:
        return Finding(ok=False, why="the tree has not been looked at since it changed", is_known=False)
    if word := wanted_word(plan, seen.deploy, seen.snapshot, seen.tree):
        return Finding(ok=False, why=word, fix=_FIX, is_known=False)
    ended = seen.deploy.get("ended", {})
    if ended and ended["plan"] == plan.digest and ended["tree"] == seen.tree and ended["ok"]:
        return Finding(ok=True, proof=ended["proof"], note=f"rollback: {plan.line('Rollback')}", by_engine=True)
    if _is_of_visit(ended, seen.snapshot):
        return Finding(ok=False, why=f"{ended['why']}; to go back: {plan.line('Rollback')} (a person: detent rollback)")
    return Finding(ok=False, why="the deploy commands have not been run on this tree", pending=True)


def wanted_word(plan: Plan, deploy: Mapping[str, Any], snapshot: Snapshot, tree: str) -> str:
    """What a person must be asked before these commands are run; empty when nothing."""
    if deploy.get("confirmed") != plan.digest:
        lines = "; ".join(f"{label}: {line}" for label, line in plan.commands)
        return f"a person must confirm the deploy commands first, they run with your rights: {lines}"
    if begun := deploy.get("begun"):
        return f"a deployment began at {begun['time']} and its end is not known; it is not repeated unasked"
    ended = deploy.get("ended", {})
    if _is_of_visit(ended, snapshot) and ended["ok"] and tree and ended["tree"] != tree:
        return "the files changed since they were deployed; deploying again needs a person's word"
    return ""


def _is_of_visit(ended: Mapping[str, Any], snapshot: Snapshot) -> bool:
    return bool(ended) and ended["visit"] == f"{snapshot.state}:{snapshot.visits.get(snapshot.state, 1)}"
