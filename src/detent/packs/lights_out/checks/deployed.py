"""The check `deployed`: the engine ran the deploy commands on exactly this tree, and each exited with 0.

It is pending only when a person has confirmed these very commands for these files and no deployment began in this
visit: an act that can't be recognised afterwards is never done twice unasked. Where a person must confirm first,
nothing is known either way, so that waiting is no failed gate.
"""

from __future__ import annotations

from detent.gates.judged import judging_move, unjudged
from detent.gates.seen import Finding
from detent.packs.lights_out.deploy_plan import EXAMPLE, ROLLBACK, Plan, read_plan
from detent.packs.lights_out.words import deploying as say
from detent.words.proof import tree_not_scanned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate
    from detent.core.values import Snapshot
    from detent.gates.seen import Seen
    from detent.store.journal.memory import Stage

CHECK = "deployed"
NEVER_VERIFIED = "no file"


def deploy_named(gate: Gate, seen: Seen) -> Finding:
    """A file names the commands for pre-flight, deploy, check and rollback; asked early, as only people write it."""
    file = gate.params["preferences"]
    plan, problem = read_plan(seen.files.text(file) or "")
    name = file.removeprefix("tree:")
    why = say.plan_problem(name, problem, EXAMPLE)
    return Finding(ok=plan is not None, why=why if problem else "", fix=why.next_step)


def deployed(gate: Gate, seen: Seen) -> Finding:
    """The engine ran pre-flight, deploy and check (and persistence, where it is named) on this tree, and all passed.

    A person confirmed it for a tree: files outside `besides` that changed since need another word. `edges` are the
    moves that verify what is deployed; `outputs` and `design` are those of `as_judged`.
    """
    plan, _ = read_plan(seen.files.text(gate.params["preferences"]) or "")
    if plan is None:
        return deploy_named(gate, seen)
    if not seen.tree:
        return Finding(ok=False, why=tree_not_scanned(), is_known=False)
    ended = seen.deploy.ended
    is_done = bool(ended) and ended.plan == plan.digest and ended.ok
    if is_done and not _changed(gate, seen, ended.tree) and not _unknown_word(plan, seen):
        return Finding(ok=True, proof=ended.proof, note=say.rollback_is(plan.line(ROLLBACK)), by_engine=True)
    if word := wanted_word(gate, plan, seen):
        return Finding(ok=False, why=word, fix=say.look_and_approve(), is_known=False)
    if changed_since_word(gate, seen) is None:
        return Finding(ok=False, why=say.unknown_whether_confirmed(), is_known=False)
    if _is_of_visit(ended, seen.snapshot):
        return Finding(ok=False, why=say.deploy_failed(ended.why, plan.line(ROLLBACK)))
    return Finding(ok=False, why=say.not_deployed(), pending=True)


def taken_back(gate: Gate, seen: Seen) -> Finding:
    """A person took the last deployment back: nothing of this version is live."""
    time = seen.deploy.taken_back
    why = "" if time else say.not_taken_back()
    return Finding(ok=bool(time), why=why, fix=gate.fix, proof=time, by_engine=True)


def command_lines(gate: Gate, seen: Seen) -> tuple[tuple[str, str], ...]:
    """Label and line of each command that is run for real, where the file names them all."""
    plan, _ = read_plan(seen.files.text(gate.params["preferences"]) or "")
    return plan.commands if plan else ()


def wanted_word(gate: Gate, plan: Plan, seen: Seen) -> str:
    """What a person must be asked before these commands are run; empty when nothing."""
    if word := _unknown_word(plan, seen):
        return _unverified(word, gate, seen)
    if not seen.tree:  # no person is asked about unscanned files
        return ""
    said, ended = seen.deploy.word, seen.deploy.ended
    if changed := changed_since_word(gate, seen):
        return say.changed_since_word(changed, said.name, said.tree, unseen=bool(said.unseen))
    if _is_of_visit(ended, seen.snapshot) and ended.ok and _changed(gate, seen, ended.tree):
        return say.changed_since_deployed()
    return ""


def changed_since_word(gate: Gate, seen: Seen) -> tuple[str, ...] | None:
    """What differs from the tree a person confirmed, outside the documents; None when that is not known."""
    return unjudged(gate.replace(params={"besides": gate.params.get("besides", ())}), seen, seen.deploy.word.tree)


def unverified(gate: Gate, seen: Seen) -> tuple[str, ...]:
    """What differs from the tree that was verified last, as far as that is known."""
    edges = gate.params.get("edges", ())
    if not seen.tree or not edges:
        return ()
    last = judging_move(edges, seen)
    return (unjudged(gate, seen, seen.trees[last].tree) or ()) if last else (NEVER_VERIFIED,)


def _unknown_word(plan: Plan, seen: Seen) -> str:
    """Why no word of a person covers these commands at all; empty when one does."""
    deploy = seen.deploy
    if deploy.confirmed != plan.digest:
        return say.confirm_first(plan.commands)
    if begun := deploy.begun:
        return say.end_unknown(begun.time)
    if not deploy.word.tree:
        return say.word_names_no_files()
    return ""


def _unverified(word: str, gate: Gate, seen: Seen) -> str:
    """Why a person is asked, and what they would accept besides the commands."""
    changed = unverified(gate, seen)
    if not changed or changed == (NEVER_VERIFIED,):
        return say.never_verified(word, NEVER_VERIFIED) if changed else word
    last = judging_move(gate.params["edges"], seen)
    return say.changed_since_judged(word, last, changed, seen.trees[last].tree)


def _changed(gate: Gate, seen: Seen, before: str) -> bool:
    """Whether the tree differs from an earlier one, besides what deploying itself makes."""
    params = {key: gate.params[key] for key in ("outputs", "design") if key in gate.params}
    return before != seen.tree and unjudged(gate.replace(params=params), seen, before) != ()


def _is_of_visit(ended: Stage, snapshot: Snapshot) -> bool:
    return bool(ended) and ended.visit == f"{snapshot.state}:{snapshot.visits.get(snapshot.state, 1)}"
