"""Which commands failed last, with the last lines each wrote: quoted to people and to the next agent run.

A receipt holds the lines already without secrets, and the journal vouches for the receipt. Agents can't open the logs
themselves: the control folder is hidden from them.
"""

from __future__ import annotations

from detent.gates.commands import WITHOUT_CHANGE, shown_command, standing_runs
from detent.store.journal.receipts import ReceiptStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.gates.seen import Seen
    from detent.runner.task.open import Task
    from detent.store.journal.receipts import Receipt


def standing_failures(task: Task, seen: Seen) -> tuple[tuple[str, Receipt], ...]:
    """Name and receipt of every command a gate asks for, or a deployment ran, whose last result is red.

    A result on the files as they are wins over a later one on other files.
    """
    newest = {receipt.command: receipt for receipt in _receipts(task)}
    found: dict[str, Receipt] = {}
    for gate in task.machine.gates.values():
        for run in standing_runs(gate, seen):
            receipt = None if run.before else seen.receipt(run.key) or newest.get(run.command.line)
            if receipt is not None and not receipt.is_green:
                found[shown_command(run.command.line)] = receipt
    if not task.memory.deploy.ended.ok:
        labels = {label for label, _ in task.memory.deploy.last.commands}
        last = [receipt for receipt in _receipts(task) if receipt.where in labels][-1:]
        found.update({f"{receipt.where}: {receipt.command}": receipt for receipt in last if not receipt.is_green})
    return tuple(found.items())


def failures_on(task: Task, tree: str) -> tuple[Receipt, ...]:
    """The receipts of the commands that failed on one tree."""
    return tuple(receipt for receipt in _receipts(task) if receipt.tree == tree and not receipt.is_green)


def _receipts(task: Task) -> Iterator[Receipt]:
    """What the journal vouches for, oldest first, without runs that may fail: on the first commit, or as recorded."""
    store = ReceiptStore(task.places.receipts())
    found = [(store.find(key), digest) for key, digest in task.memory.proved.items()]
    vouched = [receipt for receipt, digest in found if receipt is not None and receipt.digest == digest]
    of_task = [receipt for receipt in vouched if WITHOUT_CHANGE not in receipt.where and not receipt.output]
    yield from sorted(of_task, key=lambda receipt: receipt.time)
