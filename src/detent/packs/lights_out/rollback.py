"""Takes a deployment back by the command that was written down before it began; only ever because a person asks.

1. a line names the person and the reason; from here on nothing counts as deployed, and deploying again needs another
   confirmation
2. the command runs as deploy commands do: in the person's checkout, with their rights and environment
3. a line says how it ended; the receipt holds its output

A crash between 1 and 3 leaves the end unknown, as the journal shows; another request runs it again.
"""

from __future__ import annotations

from detent.errors import RefusedError
from detent.gates.judged import unjudged
from detent.gates.plan import receipt_key
from detent.packs.lights_out.checks.deployed import CHECK
from detent.packs.lights_out.deploy import run_command
from detent.packs.lights_out.deploy_line import deploy_line
from detent.packs.lights_out.deploy_plan import ROLLBACK, Plan
from detent.packs.lights_out.words import deploying as say
from detent.runner.step.changing import changing
from detent.runner.step.look import current_tree, look, refuse_other_tree
from detent.store.journal.native import Document
from detent.store.journal.receipts import ReceiptStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate
    from detent.packs.lights_out.deploy_line import Said
    from detent.runner.task.open import Task
    from detent.store.journal.receipts import Receipt


def roll_back(task: Task, name: str, reason: str, *, is_over: bool, shown: str = "") -> tuple[Task, Receipt]:
    """Run the way back of the last deployment; `is_over`: the person says that one without a known end has ended.

    The command may run files of the checkout. Where they are not those that were deployed, the person names the
    reviewed tree (`shown`), and it runs on no other.
    """
    with changing(task) as change:
        task = change.task
        plan = _last_plan(task, reason, is_over=is_over)
        tree, differs = _looked_at(task, shown)
        visit = f"rollback:{task.memory.snapshot.seq + 1}"
        said: Said = {"name": name, "reason": reason, "differs": list(differs)}
        change.write(deploy_line(task, "rolling_back", plan, tree, visit=visit, **said))
        task = change.task
    gate = _gate(task)
    store, line = ReceiptStore(task.places.receipts()), plan.line(ROLLBACK)
    key = receipt_key(visit, f"{ROLLBACK}: {line}", gate, "")
    receipt = store.save(run_command(task, store, key, ROLLBACK, line, tree))
    why = "" if receipt.is_green else say.command_failed(ROLLBACK, receipt.result, receipt.said)
    with changing(task) as change:
        change.write(deploy_line(task, "rolled_back", plan, tree, visit=visit, results=(receipt,), why=why))
    return change.task, receipt


def _gate(task: Task) -> Gate:
    return next(gate for gate in task.machine.gates.values() if gate.check == CHECK)


def _looked_at(task: Task, shown: str) -> tuple[str, tuple[str, ...]]:
    """The tree the command will run on, and its differences from the deployed one; refused until they are reviewed."""
    tree, before = current_tree(task), str(task.memory.deploy.last.tree)
    refuse_other_tree(tree, shown)
    seen = look(task, task.memory, Document("", "", {}, task.memory.snapshot.state), tree)
    changed = unjudged(_gate(task), seen, before) if before else None
    if changed == () or shown:
        return tree, changed or ()
    raise RefusedError(say.look_before_rollback(task.id, changed or (), before, tree))


def _last_plan(task: Task, reason: str, *, is_over: bool) -> Plan:
    """The commands of the last deployment, as the journal has them: preferences may say something else by now."""
    last = task.memory.deploy.last
    if not last:
        raise RefusedError(say.nothing_deployed(task.id))
    if not reason.strip():
        raise RefusedError(say.rollback_needs_reason(task.id))
    if (begun := task.memory.deploy.begun) and not is_over:
        raise RefusedError(say.deployment_under_way(begun.time, task.id))
    return Plan(tuple((str(label), str(line)) for label, line in last.commands))
