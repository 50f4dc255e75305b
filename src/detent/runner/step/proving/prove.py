"""Runs the commands a gate asks for in a disposable checkout of the frozen tree, and keeps receipts of it."""

from __future__ import annotations

import os
from time import monotonic

from detent.core.record import Record
from detent.effects.host.last_lines import end_of, last_lines, quotable
from detent.effects.host.process_limits import WATCHED
from detent.effects.workspace.checkout import (
    FROM_TREE,
    Checkout,
    Running,
    SetupFailed,
    overlaid_tree,
    run_command,
    why_cut_short,
)
from detent.effects.workspace.prepared import prepared_checkout
from detent.gates.commands import WITHOUT_CHANGE, is_red, runs_of
from detent.gates.flaky import MOST_RETRIES
from detent.gates.registry import declared
from detent.machines.packs import load
from detent.runner.access.access import command_running, hold_command, limits_of
from detent.runner.access.environment import withheld_words
from detent.runner.step.changing import changing
from detent.runner.step.look import current_tree, look, needs_tree
from detent.runner.step.proving.counted import RunPlace, run_counted
from detent.runner.step.proving.plain import tests_of, with_tests
from detent.runner.step.proving.progress import BEGINS, COPIED, ENDED, SET_UP, Progress, quiet
from detent.runner.step.proving.retry import with_retries
from detent.runner.step.proving.turn import turn
from detent.runner.step.proving.wanted import build_lines, built, wanted_checkout
from detent.store.disk.atomic import sweep
from detent.store.journal.events import Proved
from detent.store.journal.memory import utc_now
from detent.store.journal.receipts import SETUP_FAILED, Receipt, ReceiptStore
from detent.words import assessed as of_assessed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from detent.core.machine import Gate
    from detent.gates.commands import Run
    from detent.gates.seen import Seen
    from detent.runner.step.proving.counted import Counted
    from detent.runner.step.proving.plain import Tests
    from detent.runner.step.proving.progress import Tells
    from detent.runner.task.open import Task

NO_SET_UP: Mapping[str, Any] = {}


class Proven(Record):
    """One command of one gate, and its receipt."""

    gate: str
    receipt: Receipt
    cached: bool
    before: bool = False  # run without the change, where it should fail
    exit: int = 0  # what it should end with

    @property
    def is_ok(self) -> bool:
        return is_red(self.receipt) if self.before else self.receipt.ended_with(self.exit)


def not_well(proven: Sequence[Proven]) -> tuple[Proven, ...]:
    """What keeps a gate closed; of the runs without the change one that fails is enough."""
    shown = {proof.gate for proof in proven if proof.before and proof.is_ok}
    return tuple(proof for proof in proven if not proof.is_ok and not (proof.before and proof.gate in shown))


class _Due(Record):
    """A run that has no receipt yet, or is wanted again."""

    gate: Gate
    run: Run


def _proven(gate: Gate, receipt: Receipt, run: Run, *, cached: bool) -> Proven:
    return Proven(gate.name, receipt, cached=cached, before=run.before, exit=run.exit)


def gates_here(task: Task) -> tuple[str, ...]:
    """Every gate of the current state's edges."""
    edges = task.machine.states[task.memory.snapshot.state].edges
    return tuple(dict.fromkeys(gate for edge in edges for way in edge.ways for gate in way.needs))


def prove_commands(
    task: Task,
    seen: Seen,
    gates: Iterable[str],
    *,
    again: bool = False,
    with_before: bool = True,
    progress: Callable[[Progress], None] = quiet,
) -> tuple[Proven, ...]:
    """Receipts for all commands of these gates; what is known for this tree is run again only if asked and not well.

    `with_before`: also the runs without the change that some gates ask for.
    """
    known: list[Proven] = []
    due: dict[str, _Due] = {}
    for gate in task.machine.parts(gates):
        for run in runs_of(gate, seen):
            if run.before and not with_before:
                continue
            receipt = seen.receipt(run.key)
            if receipt is None or receipt.is_unrun:
                due.setdefault(run.key, _Due(gate, run))
                continue
            proven = _proven(gate, receipt, run, cached=True)
            if again and not proven.is_ok:
                due.setdefault(run.key, _Due(gate, run))
            else:
                known.append(proven)

    # The change first: where it fails, the state without it does not matter.
    tests = tests_of(task, seen, [entry.run.command.line for entry in due.values() if _tells_tests(entry)], progress)
    now = [entry for entry in due.values() if not entry.run.before]
    done = _run(task, seen.tree, now, tests, again=again, progress=progress)
    done = [_retried(task, seen, proof, tests, progress) for proof in done]
    if all(proof.is_ok for proof in (*known, *done) if not proof.before):
        for gate in {entry.gate.name: entry.gate for entry in due.values() if entry.run.before}.values():
            ours = [entry for entry in due.values() if entry.run.before and entry.gate == gate]
            done += _run(task, _without_change(task, gate, seen.tree), ours, {}, again=again, progress=progress)
    return (*known, *done)


def _without_change(task: Task, gate: Gate, tree: str) -> str:
    """The first commit, with the test files of this tree laid over it."""
    protect = task.memory.head.protect
    tests = gate.params.get("tests") or protect["report"]
    return overlaid_tree(task.places.private_git(), task.memory.head.baseline, tree, tests, protect["deny"])


def _retried(task: Task, seen: Seen, proof: Proven, tests: Mapping[str, Tests], progress: Tells) -> Proven:
    """The result of a command after its flaky tests had another chance."""
    line, of_line = proof.receipt.command, tests.get(proof.receipt.command)
    if of_line is None or proof.cached:
        return proof

    def run(number: int, log: str) -> Counted | None:
        begins = Progress(BEGINS, of_assessed.again_for_flaky(line, number, MOST_RETRIES))
        progress(begins)
        timeout_s = of_line.known.bound_s(task.memory.head.command_timeout_s)
        with prepared_checkout(wanted_checkout(task, seen.tree)) as made:
            ready = made if isinstance(made, SetupFailed) else built(task, made, seen.tree)
            if isinstance(ready, SetupFailed):
                return None
            ran = run_counted(task, line, RunPlace(ready.folder, ready.laid, log, timeout_s), of_line.junit, progress)
        progress(begins.replace(stage=ENDED, is_ok=ran.finished.exit == 0, seconds=ran.finished.seconds))
        is_cut = why_cut_short(ran.finished, timeout_s, command_running(task).limits)
        return None if is_cut else ran

    receipt = with_retries(task, seen.workspace, proof.receipt, of_line, run, progress)
    if receipt == proof.receipt:
        return proof
    receipt = ReceiptStore(task.places.receipts()).save(receipt)
    vouch(task, seen.tree, [receipt])
    return proof.replace(receipt=receipt)


def vouch(
    task: Task, tree: str, ran: Sequence[Receipt], set_up: Mapping[str, Any] = NO_SET_UP, sealed: str = ""
) -> None:
    """Journal the hashes of receipts and logs: a receipt that was edited or planted counts for nothing."""
    receipts = {receipt.key: receipt.digest for receipt in ran}
    with changing(task) as change:
        limits = limits_of(task.memory.head.command_limits)
        bound = {"by": WATCHED, "memory_mb": limits.memory_bytes >> 20, "processes": limits.processes}
        logs = ReceiptStore(task.places.receipts()).logs_of(ran)
        held = hold_command(task, (), task.home)
        line = Proved(
            tree=tree,
            receipts=receipts,
            logs=logs,
            limits=bound,
            sandbox=held.level,
            network=held.network,
            set_up=set_up,
            sealed=sealed,
        )
        change.write(line)


def _tells_tests(due: _Due) -> bool:
    """Whether the command's test runners are asked what they ran; not a scanner, nor a recorded run."""
    return not (due.run.before or due.run.is_recorded or declared(due.gate.check).goes_first)


def _run(
    task: Task,
    tree: str,
    due: list[_Due],
    tests: Mapping[str, Tests],
    *,
    again: bool,
    progress: Callable[[Progress], None],
) -> list[Proven]:
    if not due:
        return []
    store = ReceiptStore(task.places.receipts())
    done: list[Proven] = []
    wanted = wanted_checkout(task, tree)
    due = sorted(due, key=lambda entry: _order(task, entry))
    progress(Progress(SET_UP, "; ".join(wanted.workspace.setup)))
    with prepared_checkout(wanted) as made:
        if isinstance(made, Checkout) and made.made_now:
            progress(Progress(COPIED, made.why, size=made.size))
        checkout = _built(task, made, due, tree)
        sweep(task.places.receipts())  # one proof of a task runs at a time, so no other process writes there
        # The holder of the checkout before us may have proven the same: that stands, and its receipt is vouched for.
        proved = {} if again else task.store.load().proved
        for number, entry in enumerate(due, 1):
            standing = store.find(entry.run.key)
            if standing is not None and proved.get(entry.run.key) == standing.digest:
                found = _proven(entry.gate, standing, entry.run, cached=True)
                if found.is_ok:
                    done.append(found)
                    continue
            begins = Progress(BEGINS, entry.run.command.line, number, len(due))
            progress(begins)
            since = monotonic()
            of_line = tests.get(entry.run.command.line)
            receipt = store.save(_attempt(task, store, checkout, entry.run, tree, wanted.running, of_line, progress))
            done.append(_proven(entry.gate, receipt, entry.run, cached=False))
            progress(begins.replace(stage=ENDED, is_ok=done[-1].is_ok, seconds=monotonic() - since))
        # Before the checkout is given away: the next one must find these receipts vouched for, not run them again.
        if fresh := [proof for proof in done if not proof.cached]:
            vouch(task, tree, [proof.receipt for proof in fresh], set_up_used(made))
    return done


def _order(task: Task, due: _Due) -> int:
    """Scanners first: the work's own commands change what they would see. Then what builds, then what uses it."""
    return 0 if declared(due.gate.check).goes_first else 1 if due.run.command.line in build_lines(task) else 2


def _built(task: Task, checkout: Checkout | SetupFailed, due: Sequence[_Due], tree: str) -> Checkout | SetupFailed:
    """The checkout with everything built, also where the build itself is proven already; scanners need none."""
    lines = {entry.run.command.line for entry in due if not declared(entry.gate.check).goes_first}
    return checkout if isinstance(checkout, SetupFailed) or not lines else built(task, checkout, tree, lines)


def set_up_used(checkout: Checkout | SetupFailed) -> Mapping[str, Any]:
    """How a checkout was set up, as the journal has it."""
    if isinstance(checkout, SetupFailed) or not checkout.key:
        return NO_SET_UP
    made = {"how": checkout.setup, "why": checkout.why, "key": checkout.key}
    made |= {"digest": checkout.digest} if checkout.digest else {}
    return made | ({"made_bytes": checkout.size} if checkout.made_now else {})


def _attempt(
    task: Task,
    store: ReceiptStore,
    checkout: Checkout | SetupFailed,
    run: Run,
    tree: str,
    running: Running,
    tests: Tests | None,
    progress: Tells,
) -> Receipt:
    timeout_s = task.memory.head.command_timeout_s
    key, line = run.key, run.command.line
    where = WITHOUT_CHANGE if run.before else ""
    before = store.find(key)
    attempts = before.attempts if before else ()
    if isinstance(checkout, SetupFailed):
        problem = f"{SETUP_FAILED}: {checkout.why}"
        said = last_lines(checkout.log, os.environ)
        return Receipt(key, line, tree, attempts, checkout.log, problem, utc_now(), where, said=said)
    if checkout.setup == FROM_TREE:
        where = "; ".join(filter(None, (where, f"set-up {FROM_TREE} ({checkout.why})")))
    log = store.log_path(key, len(attempts) + 1)
    laid = checkout.laid_for_build if line in build_lines(task) else checkout.laid
    if tests is None:
        with turn(task, progress):
            finished, reported = run_command(line, checkout.folder, timeout_s, log, running, laid), None
    else:
        ran = run_counted(task, line, RunPlace(checkout.folder, laid, log, timeout_s), tests.junit, progress)
        finished, reported = ran.finished, ran.reported
    problem = why_cut_short(finished, timeout_s, running.limits)
    output = end_of(log)
    receipt = Receipt(key, line, tree, (*attempts, finished.exit), log, problem, utc_now(), where)
    if run.is_recorded:
        receipt = receipt.replace(output=output)
    if tests is not None and reported is not None:
        receipt = with_tests(task, store, receipt, tests, reported)
    if receipt.is_green:
        return receipt
    # A command that is green in itself lacks nothing.
    held_back = "" if receipt.doubt else withheld_words(running.withheld, f"{line}\n{output}")
    said = quotable(output, os.environ, checkout.folder, laid.seat)
    return receipt.replace(withheld=held_back, said=said)


def assess_gates(
    task: Task, seen: Seen, gates: Iterable[str], progress: Callable[[Progress], None] = quiet, *, again: bool = False
) -> None:
    """Work out what these gates ask for besides commands; every command is green."""
    for gate in task.machine.parts(gates):
        if at := declared(gate.check).assess:
            load(at)(task, seen, gate, again=again, progress=progress)


def prove_state(
    task: Task, *, again: bool, by_person: bool = False, progress: Callable[[Progress], None] = quiet
) -> tuple[str, tuple[Proven, ...]]:
    """Run every command of the current state's edges on the tree as it is; the task does not move.

    `again`: also those that are red; a refused full proof only if a person asks for it.
    """
    with changing(task) as change:
        task = change.task
        gates = gates_here(task)
        tree = current_tree(task) if needs_tree(task, gates) else ""
        seen = look(task, task.memory, change.document, tree)
    proven = prove_commands(task, seen, gates, again=again, progress=progress)
    if all(proof.is_ok for proof in proven):
        assess_gates(task, seen, gates, progress, again=again and by_person)
    return tree, proven
