"""The steps that must work before a move is made: each may fail, and then the task stays where it is.

1. look    every step is asked whether it could be done, and what it starts from; a refusal costs no journal line
2. intend  one line with the whole move as it was decided, what the steps saw, and what was given with the command
3. act     each step in turn; one that fails has those before it undone, and a line says so
4. the move's own line carries what acting produced

A crash between 2 and 4 leaves the intent open, and the next command settles it: a step that finds its own work takes
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
from detent.store.disk.lock import Lock
from detent.store.journal.events import Intended, Unprepared, at_tree, move_of
from detent.store.journal.line import to_line
from detent.words.runner import step as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.runner.step.change import Change
    from detent.runner.step.registry import Results
    from detent.runner.task.open import Task
    from detent.store.journal.events import Moved

_CHECKOUT_WAIT_S = 600.0  # commit hooks of a person may be running


def prepare(change: Change, steps: tuple[str, ...], move: Moved, options: Mapping[str, str]) -> Results:
    """Do the steps of a decided move; refused, the task has not changed and nothing of them is left."""
    names = steps_of(steps)
    if not names:
        return {}
    task = change.task
    with Lock(task.project.checkout_lock(), _CHECKOUT_WAIT_S):
        seen: Results = {}
        for name in names:
            doing = Doing(task, "", move, options, {**task.memory.prepared, **seen}, {})
            seen[name] = load(step_named(name).look)(doing)
        # A commit holds what was approved; what the checkout holds by now is no part of it.
        trees = [seen[name]["tree"] for name in names if step_named(name).names_tree]
        move = at_tree(move, trees[-1] if trees else move.tree)
        change.write(Intended(edge=move.edge, prepare=seen, given=dict(options), move=to_line(move)))
        return _act(change)


def steps_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """The steps of a move that are done here; the others were done before (homes.py)."""
    return tuple(name for name in names if step_named(name).act)


def _act(change: Change) -> Results:
    task, intent = change.task, change.memory.intent
    done: Results = {}
    for name in intent.prepare:
        try:
            done |= load(step_named(name).act)(_doing(task, name, done))
        except RefusedError as error:
            _undo(task, name, done)
            _give_up(change, name, error.what)
            raise
    return done


def _doing(task: Task, name: str, done: Results) -> Doing:
    intent = task.memory.intent
    key = f"{intent.seq}:{name}"
    return Doing(task, key, move_of(intent), intent.given, {**task.memory.prepared, **done}, intent.prepare[name])


def _undo(task: Task, failed: str, done: Results) -> None:
    """Take back what the steps up to the failed one did, the last first."""
    names = list(task.memory.intent.prepare)
    for name in reversed(names[: names.index(failed) + 1]):
        if undo := step_named(name).undo:
            load(undo)(_doing(task, name, done))


def _is_begun(task: Task, name: str) -> bool:
    """Whether something of a step is there."""
    begun = step_named(name).begun
    return bool(begun) and bool(load(begun)(_doing(task, name, {})))


def _give_up(change: Change, name: str, why: str) -> None:
    intent = change.memory.intent
    change.write(Unprepared(step=f"{intent.seq}:{name}", edge=intent.edge, why=why))


def settle_intent(change: Change) -> None:
    """Bring a move whose steps a crash cut short to an end."""
    task, intent = change.task, change.memory.intent
    decided = move_of(intent)
    move = f"{decided.from_} -> {decided.to}"
    try:
        with Lock(task.project.checkout_lock(), _CHECKOUT_WAIT_S):
            if not any(_is_begun(task, name) for name in intent.prepare):
                why = say.cut_short_unbegun(move)
                _give_up(change, next(iter(intent.prepare)), why)
                change.notes += (why,)
                return
            done = _act(change)
    except RefusedError as error:
        change.notes += (say.cut_short_for_good(move, error.what),)
        return
    except DetentError as error:
        error.what = say.cut_short_for_now(move, error.what)
        raise
    # As it was decided: the task could not change since.
    seen = look(task, task.memory, change.document, "")
    commit_move(change, evidence_hashes(seen), decide_again(task, decided), decided, done)
    change.notes += (say.cut_short_and_made(move),)


def decide_again(task: Task, move: Moved) -> Advance:
    """The decision an intent was written for, from the facts it names."""
    facts = {name: Fact(name, fact["ok"] is True) for name, fact in move.facts.items()}
    signal = Signal(
        move.by,
        move.edge,
        name=move.name,
        reason=move.reason,
        exit=move.exit,
        override=move.override,
        verb=move.verb,
    )
    decision = decide(task.machine, task.memory.snapshot, facts, signal)
    if not isinstance(decision, Advance):
        raise UnreadableError(say.not_allowed_any_more(move.edge))
    return decision
