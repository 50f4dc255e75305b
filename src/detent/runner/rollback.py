"""Takes a deployment back by the command that was written down before it began; only ever because a person asks.

1. a line says who wants it and why; from here on nothing counts as deployed, and deploying again needs another word
2. the command runs as deploy commands do: in the person's checkout, with their rights and environment
3. a line says how it ended; the receipt holds its output

A crash between 1 and 3 leaves the end unknown, which is told by the journal; who asks again runs it again.
"""

from __future__ import annotations

from detent.errors import RefusedError
from detent.gates.plan import receipt_key
from detent.runner.deploy import deploy_line, how_ended, run_command
from detent.runner.promises import put_in_order
from detent.runner.settle import note, refuse_while_running
from detent.store.deploy_plan import ROLLBACK, Plan
from detent.store.lock import Lock
from detent.store.receipts import ReceiptStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.open import Task
    from detent.store.receipts import Receipt


def roll_back(task: Task, name: str, reason: str, *, is_over: bool) -> tuple[Task, Receipt]:
    """Run the way back of the last deployment; `is_over`: the person says that one without a known end has ended."""
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        task = task.at(settled.memory)
        refuse_while_running(task, task.memory)
        plan = _last_plan(task, reason, is_over=is_over)
        visit = f"rollback:{task.memory.snapshot.seq + 1}"
        begun = deploy_line("rolling_back", plan, "person", name, reason=reason, visit=visit)
        task = task.replace(memory=note(task, task.memory, "deploy", begun))
    gate = next(gate for gate in task.machine.gates.values() if gate.check == "deployed")
    store, line = ReceiptStore(task.places.receipts()), plan.line(ROLLBACK)
    key = receipt_key(visit, f"{ROLLBACK}: {line}", gate, "")
    receipt = store.save(run_command(task, store, key, ROLLBACK, line, ""))
    why = "" if receipt.is_green else f"{ROLLBACK} failed ({how_ended(receipt)}), see {receipt.log}"
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        told = {"visit": visit, "receipts": {receipt.key: receipt.digest}, "ok": receipt.is_green, "why": why}
        told["logs"] = store.logs_of((receipt,))
        memory = note(task, settled.memory, "deploy", deploy_line("rolled_back", plan, "engine", "", **told))
    return task.replace(memory=memory), receipt


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
