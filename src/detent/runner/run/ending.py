"""Decides which move follows from an agent run that has ended.

1. the end is written down first (end_run.py): exit class, tree, usage, restored files, and the run's request
2. a run with forbidden changes is tainted: its request is not even considered
3. the claim is decided as the agent's
4. no claim: decided as the engine's. A run that said no, or whose claim was refused, is not overruled: then the engine
   takes only what `decide` lets it take after a no
5. nothing open: the exit class decides: a crash, or a run that left the task where it is (`unmoved`)

Every stage is remembered, so that an engine that died in the middle goes on where it stopped.
"""

from __future__ import annotations

import re

from detent.core.machine import ASKED
from detent.core.runs import stayed, stop
from detent.core.values import Advance, Refuse, Signal, Wait
from detent.runner.run.end_run import end_run, tree_left
from detent.runner.run.left_behind import left_words
from detent.runner.run.runs import fingerprint, has_gained
from detent.runner.run.taint import put_tree_back, taint_words
from detent.runner.step.changing import changing
from detent.runner.step.promises import keep_promises
from detent.runner.step.resolving import resolving
from detent.runner.step.step import Outcome, step
from detent.store.journal.fold import times
from detent.store.journal.memory import TALKED
from detent.store.journal.run_events import Unmoved
from detent.words.runner import run as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from detent.core.values import Decision, Missing
    from detent.runner.step.proving.progress import Progress
    from detent.runner.task.open import Task
    from detent.store.journal.native import Document

_LOG = re.compile(r", see \S+")  # where a command says more
_LOADED_LATE = ("hashlib", "subprocess", "detent.effects.host.process")


def load_for_ends() -> None:
    """Load what only the end of a run needs; called before the first end, which else waits for that."""
    from importlib import import_module

    for name in _LOADED_LATE:
        import_module(name)


def attend(task: Task, progress: Callable[[Progress], None] | None = None) -> tuple[Task, Outcome | None]:
    """Bring what is remembered of runs up to what is real; a living run is left alone.

    The outcome is that of a run which ended and was decided now.
    """
    if task.memory.run:
        task = end_run(task)
    if task.memory.ended and not task.memory.run:
        number, noted = task.memory.ended.run, tuple(task.memory.visit.restored)
        noted += tuple(filter(None, [left_words(task.memory.last_run)]))
        outcome = decide_end(task, progress)
        if isinstance(outcome.decision, Advance):  # the next state remembers nothing of this run
            outcome = outcome.replace(notes=(*noted, *outcome.notes))
        is_ours = isinstance(outcome.decision, Advance) or outcome.task.memory.visit.run == number
        return outcome.task, outcome if is_ours else None  # else another process decided it, and tells it
    return task, None


def decide_end(task: Task, progress: Callable[[Progress], None] | None = None) -> Outcome:
    """Take the move that follows from an ended run, or write down that none did."""
    ended, refusal = task.memory.ended, ""
    why = ended.problem
    if ended.tainted:
        why = taint_words(task)
        must_open = task.machine.states[task.memory.snapshot.state].must_open
        if not (must_open and ended.put_back):
            return _stays(task, why)
    if not why:
        claimed = [Signal("agent", ended.claim, name=ended.role, reason=f"run {ended.run}")]
        monitor = Signal("engine", reason=say.run_ended_as(ended.run, ended.exit))
        was_refused = ASKED in ended.no  # it was refused while the run lived
        for signal in (*(claimed if ended.claim else ()), monitor):
            outcome = step(task, signal, of_run=ended.run, progress=progress)
            if isinstance(outcome.decision, Advance) or not outcome.task.memory.ended:
                notes = (say.of_run(ended.run, why),) if why and not was_refused else ()
                return outcome.replace(notes=(*notes, *outcome.notes))  # it moved, now or by another process
            task, decision = outcome.task, outcome.decision
            why, refusal = why or _closed(decision), refusal or _gates(decision)
    if not _is_crash(task):
        # After a talk the person gets the missing parts; after a stop they know why the run opened nothing.
        is_cut = ended.by_person and ended.how != TALKED
        return _stays(task, say.ended_by_person() if is_cut else _of_resolver(task) or why, refusal)
    if ended.tainted:
        with changing(task, settles=False) as change:
            # Else another process decided it, and the tree is not ours.
            if change.memory.ended.run == ended.run:
                put_tree_back(change.task)
    return step(task, Signal("crash", exit=ended.exit, reason=why), of_run=ended.run)


def _is_crash(task: Task) -> bool:
    """Whether a run that opened nothing counts as one that crashed: its state says so."""
    ended, state = task.memory.ended, task.machine.states[task.memory.snapshot.state]
    return state.can_crash() and not ended.by_person and state.is_crash(ended.exit)


def _of_resolver(task: Task) -> str:
    """Why a run that carried out a person's decision opened no move: that is for the role which looks next."""
    ended, snapshot = task.memory.ended, task.memory.snapshot
    found = resolving(task.machine, snapshot)
    is_resolver = found is not None and ended.exit == "finished" and ended.role == found.role
    role = task.machine.states[snapshot.state].role
    return say.decision_was_task(role) if is_resolver and not ended.claim else ""


def _closed(decision: Decision) -> str:
    """What kept a move from being made, in words."""
    if isinstance(decision, Refuse):
        parts = (say.refused(decision.problem), "; ".join(gap.why for gap in _reasons(decision)))
        return ": ".join(part for part in parts if part)
    missing = _reasons(decision) if isinstance(decision, Wait) else ()
    # Where nothing was the engine's to do, nothing kept it from doing it.
    return "" if any(gap.gate == "by" for gap in missing) else "; ".join(dict.fromkeys(gap.why for gap in missing))


def _reasons(decision: Refuse | Wait) -> tuple[Missing, ...]:
    """What is missing; a command that was not run yet is no reason where something else is one."""
    return tuple(gap for gap in decision.missing if not gap.pending) or decision.missing


def _gates(decision: Decision) -> str:
    """The same as it is known again: gates and reasons, without the log of a command, which is another every time."""
    missing = decision.missing if isinstance(decision, (Refuse, Wait)) else ()
    if isinstance(decision, Refuse) and not missing:
        return decision.problem
    if isinstance(decision, Wait) and any(gap.gate == "by" for gap in missing):
        return ""
    return "; ".join(dict.fromkeys(f"{gap.gate}: {_LOG.sub('', gap.why)}" for gap in missing))


def _stays(task: Task, why: str, refusal: str = "") -> Outcome:
    ended = task.memory.ended
    with changing(task) as change:
        task, memory, snapshot = change.task, change.memory, change.memory.snapshot
        if memory.ended.run != ended.run:
            return Outcome(Wait(say.decided_elsewhere()), task, {}, Signal("engine"), "")
        put_tree_back(task)
        is_excused = ended.exit == "quota" or ended.by_person
        made_progress = is_excused or _has_changed(task, change.document)
        closed = "" if is_excused else refusal
        count = times(memory, closed)
        after = stayed(task.machine, snapshot, made_progress=made_progress, refusal=closed, times=count)
        if ended.tainted and not ended.put_back:
            # What it changed is still there, and the next run would be measured from it.
            after = stop(snapshot, why)
        line = Unmoved(run=ended.run, exit=ended.exit, progress=made_progress, why=why, closed=closed)
        change.write(line, after=after)
        keep_promises(change)
    return Outcome(Wait(why or say.no_move_open()), change.task, {}, Signal("engine"), snapshot.state)


def _has_changed(task: Task, document: Document) -> bool:
    ended = task.memory.ended
    # The forbidden changes of a tainted run were undone; the rest of its work counts.
    tree = tree_left(task)[0].id if ended.tainted else ended.tree
    return bool(tree) and has_gained(ended.seen, fingerprint(task, task.memory, document, tree))
