"""Takes a deployment back by the command that was written down before it began; only ever because a person asks.

1. a line says who wants it and why; from here on nothing counts as deployed, and deploying again needs another word
2. the command runs as deploy commands do: in the person's checkout, with their rights and environment
3. a line says how it ended; the receipt holds its output

A crash between 1 and 3 leaves the end unknown, which is told by the journal; who asks again runs it again.
"""

from __future__ import annotations

from detent.errors import RefusedError
from detent.gates.judged import unjudged
from detent.gates.plan import receipt_key
from detent.gates.seen import told_in
from detent.packs.lights_out.checks.deployed import CHECK
from detent.packs.lights_out.deploy import run_command
from detent.packs.lights_out.deploy_plan import ROLLBACK, Plan
from detent.runner.step.look import current_tree, look, refuse_other_tree
from detent.runner.step.order import put_in_order
from detent.runner.step.settle import note, refuse_while_running
from detent.store.disk.lock import Lock
from detent.store.journal.events import Deploy
from detent.store.journal.native import Document
from detent.store.journal.receipts import ReceiptStore
from detent.store.text.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate
    from detent.runner.task.open import Task
    from detent.store.journal.receipts import Receipt


def roll_back(task: Task, name: str, reason: str, *, is_over: bool, shown: str = "") -> tuple[Task, Receipt]:
    """Run the way back of the last deployment; `is_over`: the person says that one without a known end has ended.

    The command may run files of the checkout. Where they are not those that were deployed, the person names the tree
    they looked at (`shown`), and it runs on no other.
    """
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        task = task.at(settled.memory)
        refuse_while_running(task, task.memory)
        plan = _last_plan(task, reason, is_over=is_over)
        tree, differs = _looked_at(task, shown)
        visit = f"rollback:{task.memory.snapshot.seq + 1}"
        begun = Deploy(
            stage="rolling_back",
            plan=plan.digest,
            commands=plan.pairs(),
            by="person",
            name=name,
            reason=reason,
            tree=tree,
            visit=visit,
            receipts={},
            logs={},
            ok=False,
            why="",
            differs=list(differs),
        )
        task = task.replace(memory=note(task, task.memory, begun))
    gate = _gate(task)
    store, line = ReceiptStore(task.places.receipts()), plan.line(ROLLBACK)
    key = receipt_key(visit, f"{ROLLBACK}: {line}", gate, "")
    receipt = store.save(run_command(task, store, key, ROLLBACK, line, tree))
    why = "" if receipt.is_green else f"{ROLLBACK} failed ({receipt.result}){told_in(receipt)}"
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        ended = Deploy(
            stage="rolled_back",
            plan=plan.digest,
            commands=plan.pairs(),
            by="engine",
            name="",
            reason="",
            tree=tree,
            visit=visit,
            receipts={receipt.key: receipt.digest},
            logs=store.logs_of((receipt,)),
            ok=receipt.is_green,
            why=why,
        )
        memory = note(task, settled.memory, ended)
    return task.replace(memory=memory), receipt


def _gate(task: Task) -> Gate:
    return next(gate for gate in task.machine.gates.values() if gate.check == CHECK)


def _looked_at(task: Task, shown: str) -> tuple[str, tuple[str, ...]]:
    """The tree the command will run on, and what of it differs from what was deployed; refused while not looked at."""
    tree, before = current_tree(task), str(task.memory.deploy["last"].get("tree", ""))
    refuse_other_tree(tree, shown)
    seen = look(task, task.memory, Document("", "", {}, task.memory.snapshot.state), tree)
    changed = unjudged(_gate(task), seen, before) if before else None
    if changed == () or shown:
        return tree, changed or ()
    words = f"changed since it was deployed: {name_some(changed)}" if changed else "it is not known what was deployed"
    look_at = f"detent diff --since {before[:12]} {task.id}" if changed else f"detent diff {task.id}"
    raise RefusedError(
        f"{words}; the rollback command would run with your rights on files that you have not confirmed",
        next_step=f'look at it: {look_at}; then: detent rollback {task.id} --tree {tree[:12]} --reason "why"',
    )


def _last_plan(task: Task, reason: str, *, is_over: bool) -> Plan:
    """The commands of the last deployment, as the journal has them: preferences may say something else by now."""
    last = task.memory.deploy.get("last")
    if not last:
        raise RefusedError("nothing was deployed that could be taken back", next_step=f"detent status {task.id}")
    if not reason.strip():
        raise RefusedError(
            "taking a deployment back needs a reason", next_step=f'detent rollback {task.id} --reason "why"'
        )
    if (begun := task.memory.deploy.get("begun")) and not is_over:
        raise RefusedError(
            f"a deployment began at {begun['time']} and its end is not known",
            next_step=f'make sure that none is under way, then: detent rollback {task.id} --reason "why" --yes',
        )
    return Plan(tuple((str(label), str(line)) for label, line in last["commands"]))
