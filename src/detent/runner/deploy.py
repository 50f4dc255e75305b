"""Runs the deploy commands of a project: outside every sandbox, in the person's checkout, in their environment.

1. a person confirms these very commands, once; other commands need another word
2. a line says that it begins, with the commands and the way back; from here on it is never repeated unasked
3. pre-flight, deploy, check and persistence in turn, without the task's lock; the first that fails ends it
4. a line says how each of them ended; the receipts hold their output

A crash between 2 and 4 leaves a deployment whose end nobody knows: only a person can say that it may be tried again.
"""

from __future__ import annotations

import os

from detent.effects import process
from detent.effects.merge import person_environment
from detent.errors import RefusedError
from detent.gates.deployed import CHECK, deployed, wanted_word
from detent.gates.plan import receipt_key
from detent.runner.look import current_tree, known_tree, look
from detent.runner.promises import put_in_order
from detent.runner.settle import note
from detent.store.deploy_plan import RUN_IN_TURN, Plan, read_plan
from detent.store.lock import Lock
from detent.store.memory import utc_now
from detent.store.receipts import Receipt, ReceiptStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from detent.core.machine import Gate
    from detent.gates.seen import Seen
    from detent.runner.open import Task


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
    return wanted_word(plan, task.memory.deploy, task.memory.snapshot, known_tree(task)) if plan else ""


def _plan(task: Task, gate: Gate) -> Plan | None:
    from detent.effects.observe import TaskFiles

    text = TaskFiles(task.native.folder, task.tree_path, ()).text(gate.params["preferences"])
    return read_plan(text or "")[0]


def confirm(task: Task, name: str, reason: str) -> tuple[Task, Plan | None]:
    """Write down that a person wants these commands run, now and in later attempts; None: nothing waits for that."""
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        task = task.at(settled.memory)
        gate = deploy_gate(task)
        plan = _plan(task, gate) if gate else None
        if plan is None or not wanted_word(plan, task.memory.deploy, task.memory.snapshot, current_tree(task)):
            return task, None
        if not reason.strip():
            raise RefusedError(
                "deploy commands run with your rights: confirming them needs a reason",
                next_step=f'detent approve {task.id} --reason "why"',
            )
        memory = note(task, task.memory, "deploy", deploy_line("confirmed", plan, "person", name, reason=reason))
        return task.replace(memory=memory), plan


def deploy_line(stage: str, plan: Plan, by: str, name: str, **more: Any) -> dict[str, Any]:
    """The content of a journal line about these commands."""
    content = {"stage": stage, "plan": plan.digest, "commands": [list(pair) for pair in plan.commands]}
    empty = {"reason": "", "tree": "", "visit": "", "receipts": {}, "logs": {}, "ok": False, "why": ""}
    return {**content, "by": by, "name": name, **empty, **more}


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
        begun = deploy_line("begun", plan, "engine", "", tree=seen.tree, visit=visit)
        task = task.replace(memory=note(task, task.memory, "deploy", begun))
    results = _run(task, gate, plan, seen.tree, visit)
    failed = next((one for one in results if not one.is_green), None)
    why = f"{failed.where} failed ({how_ended(failed)}), see {failed.log}" if failed else ""
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        receipts = {one.key: one.digest for one in results}
        logs = ReceiptStore(task.places.receipts()).logs_of(results)
        told = {"tree": seen.tree, "visit": visit, "ok": failed is None, "why": why}
        line = deploy_line("ended", plan, "engine", "", receipts=receipts, logs=logs, **told)
        note(task, settled.memory, "deploy", line)


def how_ended(receipt: Receipt) -> str:
    return receipt.problem or f"exit {receipt.attempts[-1]}"


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
    environment = person_environment(os.environ)
    finished = process.run(
        ("/bin/sh", "-c", line), cwd=task.tree_path, env=environment, timeout_s=timeout_s, output=log, may_leave=True
    )
    problem = f"it took longer than {timeout_s:g} s" if finished.timed_out else ""
    return Receipt(key, line, tree, (*attempts, finished.exit), log, problem, utc_now(), label)
