"""Runs the deploy commands of a project: outside every sandbox, in the person's checkout, in their environment.

1. a person confirms these very commands for the files as they are; other commands, and files outside the documents
   that changed since, need another one. A confirmation ahead (`--unseen`) is for the next tree that is verified
2. a line says that it begins, with the commands and the way back; from here on it is never repeated unasked
3. pre-flight, deploy, check and persistence in turn, without the task's lock; the first that fails ends it
4. a line says how each of them ended; the receipts hold their output

A crash between 2 and 4 leaves a deployment with an unknown end: only a person can say that it may be tried again.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.bring import wipe
from detent.effects.git.merge import person_environment
from detent.effects.host import process
from detent.effects.host.last_lines import last_lines
from detent.errors import RefusedError
from detent.gates.judged import judging_move
from detent.gates.plan import receipt_key
from detent.packs.lights_out.checks.deployed import CHECK, deployed, unverified, wanted_word
from detent.packs.lights_out.deploy_line import deploy_line
from detent.packs.lights_out.deploy_plan import RUN_IN_TURN, Plan, read_plan
from detent.packs.lights_out.words import deploying as say
from detent.runner.step.changing import changing
from detent.runner.step.look import current_tree, known_tree, look, refuse_other_tree
from detent.store.journal.memory import UNSEEN, utc_now
from detent.store.journal.native import Document
from detent.store.journal.receipts import Receipt, ReceiptStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detent.core.machine import Gate
    from detent.gates.seen import Seen
    from detent.packs.lights_out.deploy_line import Said
    from detent.runner.task.open import Task


def deploy_gate(task: Task, gates: Iterable[str] | None = None) -> Gate | None:
    """The gate among these, or among those of the state's moves, that rests on deploy commands."""
    if all(gate.check != CHECK for gate in task.machine.gates.values()):
        return None
    edges = task.machine.states[task.memory.snapshot.state].edges
    wanted = gates if gates is not None else [gate for edge in edges for way in edge.ways for gate in way.needs]
    return next((gate for gate in task.machine.parts(wanted) if gate.check == CHECK), None)


def word_wanted(task: Task) -> str:
    """What a person must be asked before the task can deploy; empty when nothing, or not yet. Looks only."""
    gate = deploy_gate(task)
    if gate is None or not task.memory.visit:
        return ""
    plan = _plan(task, gate)
    return wanted_word(gate, plan, _seen(task, known_tree(task), is_reader=True)) if plan else ""


def _seen(task: Task, tree: str, *, is_reader: bool = False) -> Seen:
    """What the checks about deploying look at; none of them asks the native file."""
    document = Document("", "", {}, task.memory.snapshot.state)
    return look(task, task.memory, document, tree, is_reader=is_reader)


def _plan(task: Task, gate: Gate) -> Plan | None:
    from detent.effects.workspace.observe import TaskFiles

    text = TaskFiles(task.native.folder, task.tree_path, ()).text(gate.params["preferences"])
    return read_plan(text or "")[0]


class Confirmed(Record):
    """A person's word about deploying: what may run, for which files, and what of these was not verified."""

    plan: Plan
    tree: str  # empty: the next tree that is verified
    differs: tuple[str, ...] = ()


def confirm(task: Task, name: str, reason: str, shown: str = "") -> tuple[Task, Confirmed | None]:
    """Write down that a person wants these commands run for the files as they are; None: nothing waits for that.

    `shown` is the beginning of the tree id that the person reviewed, if they name it.
    """
    with changing(task) as change:
        task = change.task
        gate = deploy_gate(task)
        plan = _plan(task, gate) if gate else None
        if gate is None or plan is None:
            return task, None
        seen = _seen(task, current_tree(task))
        if not wanted_word(gate, plan, seen):
            return task, None
        refuse_other_tree(seen.tree, shown)
        differs = unverified(gate, seen)
        _refuse_unreasoned(task, reason, differs)
        said: Said = {"name": name, "reason": reason, "unseen": False, "differs": list(differs)}
        change.write(deploy_line(task, "confirmed", plan, seen.tree, **said))
        return change.task, Confirmed(plan, seen.tree, differs)


def confirm_unseen(task: Task, name: str, reason: str) -> tuple[Task, Confirmed]:
    """Write down a person's word given before there is anything to see: it covers one verified tree, and no other."""
    with changing(task) as change:
        task = change.task
        gates = [gate for gate in task.machine.gates.values() if gate.check == CHECK and gate.params.get("edges")]
        gate = gates[0] if gates else None
        if gate is None:
            raise RefusedError(say.nothing_to_confirm(task.machine.name, task.id))
        plan = _plan(task, gate)
        if plan is None:
            file = gate.params["preferences"].removeprefix("tree:")
            raise RefusedError(say.no_commands_to_confirm(file))
        _refuse_unreasoned(task, reason, (), unseen=True)
        edges = list(gate.params["edges"])
        is_verified = deploy_gate(task) is not None
        tree = task.memory.trees.get(judging_move(edges, _seen(task, "")), UNSEEN).tree if is_verified else ""
        said: Said = {"name": name, "reason": reason, "unseen": True, "edges": edges, "differs": []}
        change.write(deploy_line(task, "confirmed", plan, tree, **said))
        return change.task, Confirmed(plan, tree)


def _refuse_unreasoned(task: Task, reason: str, differs: Sequence[str], *, unseen: bool = False) -> None:
    if not reason.strip():
        raise RefusedError(say.confirming_needs_reason(task.id, differs, unseen=unseen))


def deploy(task: Task, seen: Seen, gates: Iterable[str]) -> None:
    """Deploy the tree that was seen, if that is what these gates lack; a second process finds it begun."""
    gate = deploy_gate(task, gates)
    if gate is None:
        return
    with changing(task) as change:
        task = change.task
        again = look(task, task.memory, change.document, seen.tree)
        if not deployed(gate, again).pending or current_tree(task) != seen.tree:
            return
        plan = _plan(task, gate)
        if plan is None:
            return
        snapshot = task.memory.snapshot
        visit = f"{snapshot.state}:{snapshot.visits.get(snapshot.state, 1)}"
        change.write(deploy_line(task, "begun", plan, seen.tree, visit=visit))
        task = change.task
    results = _run(task, gate, plan, seen.tree, visit)
    failed = next((receipt for receipt in results if not receipt.is_green), None)
    why = say.command_failed(failed.where, failed.result, failed.said) if failed else ""
    with changing(task) as change:
        left = current_tree(task)  # the commands run in the checkout, and may have made something there
        line = deploy_line(task, "ended", plan, seen.tree, visit=visit, results=results, why=why, left=left)
        change.write(line)


def _run(task: Task, gate: Gate, plan: Plan, tree: str, visit: str) -> list[Receipt]:
    """Each command in turn, until one fails."""
    store, done = ReceiptStore(task.places.receipts()), []
    for label in RUN_IN_TURN:
        if not (line := plan.line(label)):
            continue
        key = receipt_key(f"{tree} {visit}", f"{label}: {line}", gate, "")
        receipt = store.save(run_command(task, store, key, label, line, tree))
        done.append(receipt)
        if not receipt.is_green:
            break
    return done


def run_command(task: Task, store: ReceiptStore, key: str, label: str, line: str, tree: str) -> Receipt:
    """One command with the person's rights, in their checkout; every attempt is kept, and so is what it starts."""
    before = store.find(key)
    attempts = before.attempts if before else ()
    log, timeout_s = store.log_path(key, len(attempts) + 1), task.memory.head.command_timeout_s
    environment = person_environment(os.environ) | {"PYTHONPYCACHEPREFIX": _no_compiled_files(task)}
    finished = process.run(
        ("/bin/sh", "-c", line), cwd=task.tree_path, env=environment, timeout_s=timeout_s, output=log, may_leave=True
    )
    problem = say.took_too_long(timeout_s) if finished.timed_out else ""
    receipt = Receipt(key, line, tree, (*attempts, finished.exit), log, problem, utc_now(), label)
    return receipt if receipt.is_green else receipt.replace(said=last_lines(log, environment, task.tree_path))


def _no_compiled_files(task: Task) -> str:
    """An empty place for Python's compiled files: those in the checkout are no part of the tree that was confirmed."""
    folder = os.path.join(task.home, "deploy-pycache")
    wipe(folder)
    return folder
