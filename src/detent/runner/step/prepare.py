"""What must work before a move is made: each step may fail, and then the task stays where it is.

1. look    every step is asked whether it could be done, and what it starts from; a refusal costs no journal line
2. intend  one line with the whole move as it was decided, what the steps saw, and what was given with the command
3. act     each step in turn; one that fails has those before it undone, and a line says so
4. the move's own line carries what acting produced

A crash between 2 and 4 leaves the intent open, and whoever comes next settles it: a step that finds its own doing takes
it for done and never does it twice. Where nothing of any step is found the intent is given up; where something is, the
rest is done and the move is made as it was decided. An error that is no refusal (a full disk, a git that dies) leaves
it open: until it is settled only the same again, `stop` and `restore` do anything.
"""

from __future__ import annotations

from detent.core.decide import decide
from detent.core.values import Advance, Fact, Signal
from detent.errors import DetentError, RefusedError, UnreadableError
from detent.gates.judge import evidence_hashes
from detent.machines.packs import load
from detent.runner.step.commit_move import commit_move
from detent.runner.step.look import look
from detent.runner.step.registry import Doing, step_named
from detent.runner.step.settle import note
from detent.store.disk.lock import Lock
from detent.store.journal.events import Intended, Unprepared, at_tree, move_of
from detent.store.journal.line import to_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.runner.step.disorder import Settled
    from detent.runner.step.registry import Results
    from detent.runner.task.open import Task
    from detent.store.journal.events import Moved
    from detent.store.journal.memory import Memory

_CHECKOUT_WAIT_S = 600.0  # somebody's commit hooks may be running


def prepare(task: Task, steps: tuple[str, ...], move: Moved, given: Mapping[str, str]) -> tuple[Task, Results]:
    """Do the steps of a decided move; refused, the task has not changed and nothing of them is left."""
    names = steps_of(steps)
    if not names:
        return task, {}
    with Lock(task.project.checkout_lock(), _CHECKOUT_WAIT_S):
        seen: Results = {}
        for name in names:
            doing = Doing(task, "", move, given, {**task.memory.prepared, **seen}, {})
            seen[name] = load(step_named(name).look)(doing)
        # A commit holds what was approved; what the checkout holds by now is no part of it.
        trees = [seen[name]["tree"] for name in names if step_named(name).names_tree]
        move = at_tree(move, trees[-1] if trees else move.tree)
        line = Intended(edge=move.edge, prepare=seen, given=dict(given), move=to_line(move))
        return _act(task.replace(memory=note(task, task.memory, line)))


def steps_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """What of a move's wishes is done here; the rest was provided before (homes.py)."""
    return tuple(name for name in names if step_named(name).act)


def _act(task: Task) -> tuple[Task, Results]:
    intent = task.memory.intent
    done: Results = {}
    for name in intent["prepare"]:
        try:
            done |= load(step_named(name).act)(_doing(task, name, done))
        except RefusedError as error:
            _undo(task, name, done)
            _give_up(task, name, error.what)
            raise
    return task, done


def _doing(task: Task, name: str, done: Results) -> Doing:
    intent = task.memory.intent
    key = f"{intent['seq']}:{name}"
    return Doing(task, key, move_of(intent), intent["given"], {**task.memory.prepared, **done}, intent["prepare"][name])


def _undo(task: Task, failed: str, done: Results) -> None:
    """Take back what the steps up to the failed one did, the last first."""
    names = list(task.memory.intent["prepare"])
    for name in reversed(names[: names.index(failed) + 1]):
        if undo := step_named(name).undo:
            load(undo)(_doing(task, name, done))


def _is_begun(task: Task, name: str) -> bool:
    """Whether something of a step is there."""
    begun = step_named(name).begun
    return bool(begun) and bool(load(begun)(_doing(task, name, {})))


def _give_up(task: Task, name: str, why: str) -> Memory:
    intent = task.memory.intent
    return note(task, task.memory, Unprepared(step=f"{intent['seq']}:{name}", edge=intent["edge"], why=why))


def settle_intent(task: Task, settled: Settled) -> Settled:
    """Bring a move whose steps a crash cut short to an end; the task's lock is held."""
    memory = settled.memory
    task, intent = task.replace(memory=memory), memory.intent
    if not intent:
        return settled
    decided = move_of(intent)
    move = f"{decided.from_} -> {decided.to}"
    try:
        with Lock(task.project.checkout_lock(), _CHECKOUT_WAIT_S):
            if not any(_is_begun(task, name) for name in intent["prepare"]):
                why = f"{move} was cut short before anything was done"
                memory = _give_up(task, next(iter(intent["prepare"])), why)
                return settled.replace(memory=memory, notes=(*settled.notes, why))
            task, done = _act(task)
    except RefusedError as error:
        why = f"{move} was cut short and can't be made: {error.what}"
        return settled.replace(memory=task.store.load(), notes=(*settled.notes, why))
    except DetentError as error:
        error.what = f"{move} was cut short and can't be settled yet: {error.what}"
        raise
    return _go_on(task, settled, done)


def _go_on(task: Task, settled: Settled, done: Results) -> Settled:
    """Make the move as it was decided: nobody could change the task since."""
    move = move_of(task.memory.intent)
    taken = decide_again(task, move)
    seen = look(task, task.memory, settled.document, "")
    made = commit_move(task, settled.document, evidence_hashes(seen), taken, move, done)
    return made.replace(notes=(*settled.notes, f"{move.from_} -> {move.to} was cut short and is made now"))


def decide_again(task: Task, move: Moved) -> Advance:
    """The decision an intent was written for, from the facts it names."""
    facts = {name: Fact(name, fact["ok"] is True) for name, fact in move.facts.items()}
    asked = Signal(
        move.by,
        move.edge,
        name=move.name,
        reason=move.reason,
        exit=move.exit,
        override=move.override,
        verb=move.verb,
    )
    decision = decide(task.machine, task.memory.snapshot, facts, asked)
    if not isinstance(decision, Advance):
        raise UnreadableError(f"{move.edge} was intended and is not allowed", next_step="detent audit")
    return decision
