"""Runs the deploy commands of a project: outside every sandbox, in the person's checkout, in their environment.

1. a person confirms these very commands for the files as they are; other commands, and files outside the documents
   that changed since, need another word. A word given ahead (`--unseen`) is about the next tree that is verified
2. a line says that it begins, with the commands and the way back; from here on it is never repeated unasked
3. pre-flight, deploy, check and persistence in turn, without the task's lock; the first that fails ends it
4. a line says how each of them ended; the receipts hold their output

A crash between 2 and 4 leaves a deployment whose end nobody knows: only a person can say that it may be tried again.
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
from detent.gates.seen import told_in
from detent.packs.lights_out.checks.deployed import CHECK, deployed, unverified, wanted_word
from detent.packs.lights_out.deploy_plan import RUN_IN_TURN, Plan, read_plan
from detent.runner.step.look import current_tree, known_tree, look, refuse_other_tree
from detent.runner.step.order import put_in_order
from detent.runner.step.settle import note
from detent.store.disk.lock import Lock
from detent.store.journal.events import Deploy
from detent.store.journal.memory import utc_now
from detent.store.journal.native import Document
from detent.store.journal.receipts import Receipt, ReceiptStore
from detent.store.text.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from detent.core.machine import Gate
    from detent.gates.seen import Seen
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

    `shown` is the beginning of the tree id that person looked at, if they say so.
    """
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        task = task.at(settled.memory)
        gate = deploy_gate(task)
        plan = _plan(task, gate) if gate else None
        if gate is None or plan is None:
            return task, None
        seen = _seen(task, current_tree(task))
        if not wanted_word(gate, plan, seen):
            return task, None
        refuse_other_tree(seen.tree, shown)
        differs = unverified(gate, seen)
        _refuse_unreasoned(task, reason, f"; it also accepts {name_some(differs)} as not verified" if differs else "")
        line = Deploy(
            stage="confirmed",
            plan=plan.digest,
            commands=plan.pairs(),
            by="person",
            name=name,
            reason=reason,
            tree=seen.tree,
            visit="",
            receipts={},
            logs={},
            ok=False,
            why="",
            unseen=False,
            differs=list(differs),
        )
        return task.replace(memory=note(task, task.memory, line)), Confirmed(plan, seen.tree, differs)


def confirm_unseen(task: Task, name: str, reason: str) -> tuple[Task, Confirmed]:
    """Write down a person's word given before there is anything to see: it covers one verified tree, and no other."""
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        task = task.at(settled.memory)
        gates = [one for one in task.machine.gates.values() if one.check == CHECK and one.params.get("edges")]
        gate = gates[0] if gates else None
        if gate is None:
            raise RefusedError(
                f"{task.machine.name} deploys nothing that could be confirmed ahead",
                next_step=f"see what waits for you: detent next {task.id}",
            )
        plan = _plan(task, gate)
        if plan is None:
            file = gate.params["preferences"].removeprefix("tree:")
            raise RefusedError(f"{file} names no deploy commands to confirm", next_step=f"name them in {file} first")
        _refuse_unreasoned(task, reason, "", unseen=" --unseen")
        edges = list(gate.params["edges"])
        is_verified = deploy_gate(task) is not None
        tree = task.memory.trees.get(judging_move(edges, _seen(task, "")), {}).get("tree", "") if is_verified else ""
        line = Deploy(
            stage="confirmed",
            plan=plan.digest,
            commands=plan.pairs(),
            by="person",
            name=name,
            reason=reason,
            tree=tree,
            visit="",
            receipts={},
            logs={},
            ok=False,
            why="",
            unseen=True,
            edges=edges,
            differs=[],
        )
        return task.replace(memory=note(task, task.memory, line)), Confirmed(plan, tree)


def _refuse_unreasoned(task: Task, reason: str, more: str, unseen: str = "") -> None:
    if not reason.strip():
        raise RefusedError(
            f"deploy commands run with your rights: confirming them needs a reason{more}",
            next_step=f'detent approve {task.id}{unseen} --reason "why"',
        )


def _begun(plan: Plan, tree: str, visit: str) -> Deploy:
    return Deploy(
        stage="begun",
        plan=plan.digest,
        commands=plan.pairs(),
        by="engine",
        name="",
        reason="",
        tree=tree,
        visit=visit,
        receipts={},
        logs={},
        ok=False,
        why="",
    )


def deploy(task: Task, seen: Seen, gates: Iterable[str]) -> None:
    """Deploy the tree that was seen, if that is what these gates lack; who comes second finds it begun."""
    gate = deploy_gate(task, gates)
    if gate is None:
        return
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        task = task.at(settled.memory)
        again = look(task, task.memory, settled.document, seen.tree)
        if not deployed(gate, again).pending or current_tree(task) != seen.tree:
            return
        plan = _plan(task, gate)
        if plan is None:
            return
        snapshot = task.memory.snapshot
        visit = f"{snapshot.state}:{snapshot.visits.get(snapshot.state, 1)}"
        task = task.replace(memory=note(task, task.memory, _begun(plan, seen.tree, visit)))
    results = _run(task, gate, plan, seen.tree, visit)
    failed = next((one for one in results if not one.is_green), None)
    why = f"{failed.where} failed ({failed.result}){told_in(failed)}" if failed else ""
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        receipts = {one.key: one.digest for one in results}
        logs = ReceiptStore(task.places.receipts()).logs_of(results)
        line = Deploy(
            stage="ended",
            plan=plan.digest,
            commands=plan.pairs(),
            by="engine",
            name="",
            reason="",
            tree=seen.tree,
            visit=visit,
            receipts=receipts,
            logs=logs,
            ok=failed is None,
            why=why,
            left=current_tree(task),  # the commands run in the checkout, and may have made something there
        )
        note(task, settled.memory, line)


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
    log, timeout_s = store.log_path(key, len(attempts) + 1), task.memory.head["command_timeout_s"]
    environment = person_environment(os.environ) | {"PYTHONPYCACHEPREFIX": _no_compiled_files(task)}
    finished = process.run(
        ("/bin/sh", "-c", line), cwd=task.tree_path, env=environment, timeout_s=timeout_s, output=log, may_leave=True
    )
    problem = f"it took longer than {timeout_s:g} s" if finished.timed_out else ""
    receipt = Receipt(key, line, tree, (*attempts, finished.exit), log, problem, utc_now(), label)
    return receipt if receipt.is_green else receipt.replace(said=last_lines(log, environment, task.tree_path))


def _no_compiled_files(task: Task) -> str:
    """An empty place for Python's compiled files: those in the checkout are no part of the tree that was confirmed."""
    folder = os.path.join(task.home, "deploy-pycache")
    wipe(folder)
    return folder
