"""The check `deployed`: the engine ran the deploy commands on exactly this tree, and each exited with 0.

It is pending only when a person has confirmed these very commands for these files and nobody has deployed in this
visit: what can't be recognised afterwards is never done twice unasked. Where a person must speak first, nothing is
known either way, so that waiting is no failed gate.
"""

from __future__ import annotations

from detent.gates.judged import judging_move, unjudged
from detent.gates.seen import Finding
from detent.packs.lights_out.deploy_plan import EXAMPLE, Plan, read_plan
from detent.store.text.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.core.machine import Gate
    from detent.core.values import Snapshot
    from detent.gates.seen import Seen

CHECK = "deployed"
NEVER_VERIFIED = "no file"
_FIX = 'look at the commands, then run: detent approve --reason "why they may run"'


def deploy_named(gate: Gate, seen: Seen) -> Finding:
    """A file names the commands for pre-flight, deploy, check and rollback; asked early, as only people write it."""
    file = gate.params["preferences"]
    plan, problem = read_plan(seen.files.text(file) or "")
    name = file.removeprefix("tree:")
    return Finding(ok=plan is not None, why=problem and f"{name}: {problem}", fix=f"write in {name}: {EXAMPLE}")


def deployed(gate: Gate, seen: Seen) -> Finding:
    """The engine ran pre-flight, deploy and check (and persistence, where it is named) on this tree, and all passed.

    A person confirmed it for a tree: files outside `besides` that changed since need another word. `edges` are the
    moves that verify what is deployed; `outputs` and `design` are those of `as_judged`.
    """
    plan, _ = read_plan(seen.files.text(gate.params["preferences"]) or "")
    if plan is None:
        return deploy_named(gate, seen)
    if not seen.tree:
        return Finding(ok=False, why="the tree has not been looked at since it changed", is_known=False)
    ended = seen.deploy.get("ended", {})
    is_done = bool(ended) and ended["plan"] == plan.digest and ended["ok"]
    if is_done and not _changed(gate, seen, ended["tree"]) and not _unknown_word(plan, seen):
        return Finding(ok=True, proof=ended["proof"], note=f"rollback: {plan.line('Rollback')}", by_engine=True)
    if word := wanted_word(gate, plan, seen):
        return Finding(ok=False, why=word, fix=_FIX, is_known=False)
    if changed_since_word(gate, seen) is None:
        return Finding(ok=False, why="whether the files are those that were confirmed is not known yet", is_known=False)
    if _is_of_visit(ended, seen.snapshot):
        return Finding(ok=False, why=f"{ended['why']}; to go back: {plan.line('Rollback')} (a person: detent rollback)")
    return Finding(ok=False, why="the deploy commands have not been run on this tree", pending=True)


def taken_back(gate: Gate, seen: Seen) -> Finding:
    """A person took the last deployment back: nothing of this version is live."""
    time = str(seen.deploy.get("taken_back", ""))
    why = "" if time else "no deployment was taken back"
    return Finding(ok=bool(time), why=why, fix=gate.fix, proof=time, by_engine=True)


def command_lines(gate: Gate, seen: Seen) -> tuple[tuple[str, str], ...]:
    """Label and line of each command that is run for real, where the file names them all."""
    plan, _ = read_plan(seen.files.text(gate.params["preferences"]) or "")
    return plan.commands if plan else ()


def wanted_word(gate: Gate, plan: Plan, seen: Seen) -> str:
    """What a person must be asked before these commands are run; empty when nothing."""
    if word := _unknown_word(plan, seen):
        return f"{word}{_unverified(gate, seen)}"
    if not seen.tree:  # nobody is asked about files that were not looked at
        return ""
    said, ended = seen.deploy["word"], seen.deploy.get("ended", {})
    if changed := changed_since_word(gate, seen):
        who = f"{said['name']} confirmed it unseen for" if said["unseen"] else f"{said['name']} confirmed deploying"
        return f"{name_some(changed)} changed since {who} {said['tree'][:12]}: look at it: {_look(said['tree'])}"
    if _is_of_visit(ended, seen.snapshot) and ended["ok"] and _changed(gate, seen, ended["tree"]):
        return "the files changed since they were deployed; deploying again needs a person's word"
    return ""


def changed_since_word(gate: Gate, seen: Seen) -> tuple[str, ...] | None:
    """What differs from the tree a person confirmed, outside the documents; None when that is not known."""
    return unjudged(gate.replace(params={"besides": gate.params.get("besides", ())}), seen, seen.deploy["word"]["tree"])


def unverified(gate: Gate, seen: Seen) -> tuple[str, ...]:
    """What differs from the tree that was verified last, as far as that is known."""
    edges = gate.params.get("edges", ())
    if not seen.tree or not edges:
        return ()
    last = judging_move(edges, seen)
    return (unjudged(gate, seen, seen.trees[last]["tree"]) or ()) if last else (NEVER_VERIFIED,)


def _unknown_word(plan: Plan, seen: Seen) -> str:
    """Why no word of a person covers these commands at all; empty when one does."""
    deploy = seen.deploy
    if deploy.get("confirmed") != plan.digest:
        lines = "; ".join(f"{label}: {line}" for label, line in plan.commands)
        return f"a person must confirm the deploy commands first, they run with your rights: {lines}"
    if begun := deploy.get("begun"):
        return f"a deployment began at {begun['time']} and its end is not known; it is not repeated unasked"
    if not deploy.get("word", {}).get("tree"):
        return "a person must confirm the deploy commands for the files as they are: the last word names no files"
    return ""


def _unverified(gate: Gate, seen: Seen) -> str:
    """The part of the sentence that tells a person what they would accept besides the commands."""
    changed = unverified(gate, seen)
    if not changed or changed == (NEVER_VERIFIED,):
        return f"; {NEVER_VERIFIED} was verified in this task" if changed else ""
    last = judging_move(gate.params["edges"], seen)
    look = _look(str(seen.trees[last]["tree"]))
    return f"; changed since {last} judged the files: {name_some(changed)}, look at it: {look}"


def _look(tree: str) -> str:
    return f"detent diff --since {tree[:12]}"


def _changed(gate: Gate, seen: Seen, before: str) -> bool:
    """Whether the tree differs from an earlier one, besides what deploying itself makes."""
    params = {key: gate.params[key] for key in ("outputs", "design") if key in gate.params}
    return before != seen.tree and unjudged(gate.replace(params=params), seen, before) != ()


def _is_of_visit(ended: Mapping[str, Any], snapshot: Snapshot) -> bool:
    return bool(ended) and ended["visit"] == f"{snapshot.state}:{snapshot.visits.get(snapshot.state, 1)}"
