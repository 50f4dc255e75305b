"""Runs the commands a gate asks for in a disposable checkout of the frozen tree, and keeps receipts of it."""

from __future__ import annotations

import os
from time import monotonic

from detent.core.record import Record
from detent.effects.host.last_lines import end_of, last_lines, quotable
from detent.effects.host.process_limits import WATCHED
from detent.effects.workspace.checkout import (
    BUILD,
    OWN,
    Checkout,
    FrozenTree,
    Running,
    SetupFailed,
    Wanted,
    overlaid_tree,
    run_command,
    why_cut_short,
)
from detent.effects.workspace.prepared import prepared_checkout
from detent.gates.commands import WITHOUT_CHANGE, is_red, runs_of
from detent.gates.registry import declared
from detent.runner.access.access import command_running, hold_command, limits_of, setups_in
from detent.runner.access.command_place import place_of
from detent.runner.access.environment import withheld_words
from detent.runner.step.look import current_tree, look, needs_tree
from detent.runner.step.order import put_in_order
from detent.runner.step.proving.homes import make_home
from detent.runner.step.proving.workspace import workspace_of
from detent.runner.step.settle import note
from detent.store.disk.atomic import sweep
from detent.store.disk.lock import Lock
from detent.store.journal.events import Proved
from detent.store.journal.memory import utc_now
from detent.store.journal.receipts import SETUP_FAILED, Receipt, ReceiptStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from detent.core.machine import Gate
    from detent.gates.commands import Run
    from detent.gates.seen import Seen
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


class Progress(Record):
    """How far a proof has come: it sets up, has made a set-up for itself, or a command begins or has ended."""

    stage: str  # SET_UP, COPIED, BEGINS or ENDED
    line: str = ""
    number: int = 0
    total: int = 0
    is_ok: bool = False
    seconds: float = 0.0
    size: int = 0  # of the set-up, in bytes


SET_UP, COPIED, BEGINS, ENDED = "set-up", "copied", "begins", "ended"


def quiet(_progress: Progress) -> None:
    """For callers without anybody to tell."""


def not_well(proven: Sequence[Proven]) -> tuple[Proven, ...]:
    """What keeps a gate closed; of the runs without the change one that fails is enough."""
    shown = {one.gate for one in proven if one.before and one.is_ok}
    return tuple(one for one in proven if not one.is_ok and not (one.before and one.gate in shown))


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
    # The change first: where it fails, nobody needs to know how things were without it.
    done = _run(task, seen.tree, [one for one in due.values() if not one.run.before], again=again, progress=progress)
    if all(one.is_ok for one in (*known, *done) if not one.before):
        for gate in {one.gate.name: one.gate for one in due.values() if one.run.before}.values():
            ours = [one for one in due.values() if one.run.before and one.gate == gate]
            done += _run(task, _without_change(task, gate, seen.tree), ours, again=again, progress=progress)
    return (*known, *done)


def is_last(task: Task) -> bool:
    """Whether a proof may open the last move, or lets work land: then nothing of an earlier one is taken on trust."""
    here = task.machine.states[task.memory.snapshot.state]
    states = (here, *(task.machine.states[edge.target] for edge in here.edges))
    return any(state.is_end or state.lands for state in states)


def _without_change(task: Task, gate: Gate, tree: str) -> str:
    """The first commit, with the test files of this tree laid over it."""
    protect = task.memory.head["protect"]
    tests = gate.params.get("tests") or protect["report"]
    return overlaid_tree(task.places.private_git(), task.memory.head["baseline"], tree, tests, protect["deny"])


def vouch(task: Task, tree: str, ran: Sequence[Receipt], set_up: Mapping[str, Any] = NO_SET_UP) -> None:
    """Journal the hashes of receipts and logs: a receipt that was edited or planted counts for nothing."""
    receipts = {receipt.key: receipt.digest for receipt in ran}
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        given = limits_of(task.memory.head["command_limits"])
        bound = {"by": WATCHED, "memory_mb": given.memory_bytes >> 20, "processes": given.processes}
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
        )
        note(task, settled.memory, line)


def _run(task: Task, tree: str, due: list[_Due], *, again: bool, progress: Callable[[Progress], None]) -> list[Proven]:
    if not due:
        return []
    store = ReceiptStore(task.places.receipts())
    head = task.memory.head
    home = os.path.join(task.project.home(), task.id)
    make_home(home, is_given=False)
    frozen = FrozenTree(task.places.private_git(), tree, head["baseline"] or None, tuple(head["protect"]["deny"]))
    done: list[Proven] = []
    running = command_running(task)
    wanted_checkout = Wanted(
        os.path.join(home, "proof"),
        frozen,
        workspace_of(head),
        work_tree=task.root,
        cache_dir=os.path.join(home, "setup"),
        log_path=os.path.join(task.places.receipts(), f"setup-{tree[:16]}.log"),
        running=running,
        setups=setups_in(place_of(task), head["command_limits"]) if head["workspace"]["setup"] else None,
        build=os.path.join(home, "build-deps") if _build_lines(task) else "",
        task_cache=place_of(task).cache,
        by_content=is_last(task),
        vouched=task.store.load().set_ups,
    )
    due = sorted(due, key=lambda one: _order(task, one))
    progress(Progress(SET_UP, "; ".join(wanted_checkout.workspace.setup)))
    with prepared_checkout(wanted_checkout) as made:
        if isinstance(made, Checkout) and made.made_now:
            progress(Progress(COPIED, made.why, size=made.size))
        checkout = _built(task, made, due, tree, running)
        sweep(task.places.receipts())  # one proof of a task runs at a time, so nobody else is writing there
        # Whoever held the checkout before us may have proven the same: that stands, and its receipt is vouched for.
        proved = {} if again else task.store.load().proved
        for number, one in enumerate(due, 1):
            standing = store.find(one.run.key)
            if standing is not None and proved.get(one.run.key) == standing.digest:
                found = _proven(one.gate, standing, one.run, cached=True)
                if found.is_ok:
                    done.append(found)
                    continue
            begins = Progress(BEGINS, one.run.command.line, number, len(due))
            progress(begins)
            since = monotonic()
            receipt = store.save(_attempt(task, store, checkout, one.run, tree, running))
            done.append(_proven(one.gate, receipt, one.run, cached=False))
            progress(begins.replace(stage=ENDED, is_ok=done[-1].is_ok, seconds=monotonic() - since))
        # Before the checkout is given away: the next one must find these receipts vouched for, not run them again.
        if fresh := [one for one in done if not one.cached]:
            vouch(task, tree, [one.receipt for one in fresh], set_up_used(made))
    return done


def _order(task: Task, due: _Due) -> int:
    """Scanners first: the work's own commands change what they would see. Then what builds, then what uses it."""
    return 0 if declared(due.gate.check).goes_first else 1 if due.run.command.line in _build_lines(task) else 2


def _build_lines(task: Task) -> tuple[str, ...]:
    return tuple(line for name, line in task.memory.head["commands"] if name == BUILD)


def _built(
    task: Task, checkout: Checkout | SetupFailed, due: Sequence[_Due], tree: str, running: Running
) -> Checkout | SetupFailed:
    """The checkout with what `[commands] build` makes of its own source, also where the build itself is proven already.

    Set-up holds dependencies only, so that the other commands would find nothing built, or what the baseline built.
    """
    lines = {one.run.command.line for one in due if not declared(one.gate.check).goes_first}
    if isinstance(checkout, SetupFailed) or not lines:
        return checkout
    timeout_s, log = (
        task.memory.head["command_timeout_s"],
        os.path.join(task.places.receipts(), f"build-{tree[:16]}.log"),
    )
    for line in _build_lines(task):
        if line in lines:
            continue
        finished = run_command(line, checkout.folder, timeout_s, log, running, checkout.laid_for_build)
        why = why_cut_short(finished, timeout_s, running.limits) or (f"exit {finished.exit}" if finished.exit else "")
        if why:
            return SetupFailed(line, finished.exit, log, f"[commands] build: {line}: {why}")
    return checkout


def set_up_used(checkout: Checkout | SetupFailed) -> Mapping[str, Any]:
    """How a checkout was set up, as the journal has it."""
    if isinstance(checkout, SetupFailed) or not checkout.key:
        return NO_SET_UP
    told = {"how": checkout.setup, "why": checkout.why, "key": checkout.key}
    told |= {"digest": checkout.digest} if checkout.digest else {}
    return told | ({"made_bytes": checkout.size} if checkout.made_now else {})


def _attempt(
    task: Task, store: ReceiptStore, checkout: Checkout | SetupFailed, run: Run, tree: str, running: Running
) -> Receipt:
    timeout_s = task.memory.head["command_timeout_s"]
    key, line = run.key, run.command.line
    where = WITHOUT_CHANGE if run.before else ""
    before = store.find(key)
    attempts = before.attempts if before else ()
    if isinstance(checkout, SetupFailed):
        problem = f"{SETUP_FAILED}: {checkout.why}"
        said = last_lines(checkout.log, os.environ)
        return Receipt(key, line, tree, attempts, checkout.log, problem, utc_now(), where, said=said)
    if checkout.setup == OWN:
        where = "; ".join(filter(None, (where, f"set-up {OWN} ({checkout.why})")))
    log = store.log_path(key, len(attempts) + 1)
    laid = checkout.laid_for_build if line in _build_lines(task) else checkout.laid
    finished = run_command(line, checkout.folder, timeout_s, log, running, laid)
    problem = why_cut_short(finished, timeout_s, running.limits)
    output = end_of(log)
    receipt = Receipt(key, line, tree, (*attempts, finished.exit), log, problem, utc_now(), where)
    if run.is_recorded:
        receipt = receipt.replace(output=output)
    if receipt.is_green:
        return receipt
    held_back = withheld_words(running.withheld, f"{line}\n{output}")
    said = quotable(output, os.environ, checkout.folder, laid.seat)
    return receipt.replace(withheld=held_back, said=said)


def prove_state(task: Task, *, again: bool) -> tuple[str, tuple[Proven, ...]]:
    """Run every command of the current state's edges on the tree as it is; the task does not move."""
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        task = task.at(settled.memory)
        gates = gates_here(task)
        tree = current_tree(task) if needs_tree(task, gates) else ""
        seen = look(task, task.memory, settled.document, tree)
    return tree, prove_commands(task, seen, gates, again=again)
