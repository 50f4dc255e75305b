"""Runs the commands a gate asks for in a disposable checkout of the frozen tree, and keeps receipts of it."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.checkout import Checkout, FrozenTree, SetupFailed, prepared_checkout, run_command
from detent.gates.checks import commands_of
from detent.gates.plan import receipt_key
from detent.runner.access import command_environment, command_wrap
from detent.runner.create import make_home
from detent.runner.look import current_tree, look, needs_tree
from detent.runner.promises import put_in_order
from detent.runner.settle import note
from detent.runner.workspace import workspace_of
from detent.store.atomic import sweep
from detent.store.lock import Lock
from detent.store.receipts import SETUP_FAILED, Receipt, ReceiptStore
from detent.store.tasks import utc_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from detent.core.values import Command
    from detent.gates.seen import Seen
    from detent.runner.open import Task


class Proven(Record):
    """One command of one gate, and its receipt."""

    gate: str
    receipt: Receipt
    cached: bool


def gates_here(task: Task) -> tuple[str, ...]:
    """Every gate of the current state's edges."""
    edges = task.machine.states[task.memory.snapshot.state].edges
    return tuple(dict.fromkeys(gate for edge in edges for way in edge.ways for gate in way.needs))


def prove_commands(task: Task, seen: Seen, gates: Iterable[str], *, again: bool = False) -> tuple[Proven, ...]:
    """Receipts for all commands of these gates; what is known for this tree is run again only if red and asked."""
    store = ReceiptStore(task.places.receipts())
    known: list[Proven] = []
    wanted: list[tuple[str, str, Command]] = []
    asked: set[str] = set()  # two gates may rest on the same receipt
    for gate in task.machine.parts(gates):
        for command in commands_of(gate, seen):
            key = receipt_key(seen.tree, command.line, gate, seen.workspace)
            receipt = seen.receipt(key)
            if key in asked:
                continue
            asked.add(key)
            if receipt is None or receipt.is_unrun or (again and not receipt.is_green):
                wanted.append((gate.name, key, command))
            else:
                known.append(Proven(gate.name, receipt, cached=True))
    return (*known, *_run(task, seen.tree, store, wanted, again=again)) if wanted else tuple(known)


def _vouch(task: Task, tree: str, ran: list[Proven]) -> None:
    """Journal the hashes of the receipts: one that was edited or put there by somebody else counts for nothing."""
    receipts = {one.receipt.key: one.receipt.digest for one in ran}
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        note(task, settled.memory, "proved", {"tree": tree, "receipts": receipts})


def _run(
    task: Task, tree: str, store: ReceiptStore, wanted: list[tuple[str, str, Command]], *, again: bool
) -> list[Proven]:
    head = task.memory.head
    home = os.path.join(task.project.home(), task.id)
    make_home(home, is_given=False)
    frozen = FrozenTree(task.places.private_git(), tree, head["baseline"] or None, tuple(head["protect"]["deny"]))
    done: list[Proven] = []
    with prepared_checkout(
        os.path.join(home, "proof"),
        frozen,
        workspace_of(head),
        work_tree=task.root,
        cache_dir=os.path.join(home, "setup"),
        log_path=os.path.join(task.places.receipts(), f"setup-{tree[:16]}.log"),
        env=command_environment(task),
        wrap=command_wrap(task),
    ) as checkout:
        sweep(task.places.receipts())  # one proof of a task runs at a time, so nobody else is writing there
        # Whoever held the checkout before us may have proven the same: that stands, and its receipt is vouched for.
        proved = {} if again else task.store.load().proved
        for gate, key, command in wanted:
            standing = store.find(key)
            if standing is not None and standing.is_green and proved.get(key) == standing.digest:
                done.append(Proven(gate, standing, cached=True))
                continue
            receipt = _attempt(task, store, checkout, key, command, tree)
            done.append(Proven(gate, store.save(receipt), cached=False))
        # Before the checkout is given away: the next one must find these receipts vouched for, not run them again.
        if fresh := [one for one in done if not one.cached]:
            _vouch(task, tree, fresh)
    return done


def _attempt(
    task: Task, store: ReceiptStore, checkout: Checkout | SetupFailed, key: str, command: Command, tree: str
) -> Receipt:
    timeout_s = task.memory.head["command_timeout_s"]
    before = store.find(key)
    attempts = before.attempts if before else ()
    if isinstance(checkout, SetupFailed):
        problem = f"{SETUP_FAILED}: {checkout.why}"
        return Receipt(key, command.line, tree, attempts, checkout.log, problem, utc_now())
    log = store.log_path(key, len(attempts) + 1)
    environment, wrap = command_environment(task), command_wrap(task)
    finished = run_command(command.line, checkout.folder, environment, timeout_s, log, wrap)
    problem = ""
    if finished.timed_out:
        problem = f"timed out after {timeout_s} s"
    elif finished.truncated:
        problem = "wrote more output than is allowed"
    return Receipt(key, command.line, tree, (*attempts, finished.exit), log, problem, utc_now())


def prove_state(task: Task, *, again: bool) -> tuple[str, tuple[Proven, ...]]:
    """Run every command of the current state's edges on the tree as it is; the task does not move."""
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        task = task.replace(memory=settled.memory)
        gates = gates_here(task)
        tree = current_tree(task) if needs_tree(task, gates) else ""
        seen = look(task, task.memory, settled.document, tree)
    return tree, prove_commands(task, seen, gates, again=again)
