"""Drives one task: makes open moves, starts the run its state wants, waits, and repeats until a person must act.

1. attend   what became of a planned run; an ended one is decided
2. move     what the file asks for, then every move the engine may take by itself
3. rest?    an end, a person's turn, stopped, out of quota: say which, and return
4. start    one run of the state's role
5. wait     for its end; meanwhile requests are answered and the budget is watched
"""

from __future__ import annotations

import os
from functools import partial

from detent.core.machine import ASKED, CRASH_CLASSES, IDLE, STOPPED
from detent.core.record import Record
from detent.core.values import Advance, Refuse, Signal
from detent.effects.agents.events import EventReader
from detent.effects.host.keeper import start as keeper
from detent.effects.host.keeper.process import EVENTS
from detent.effects.host.keeper.watch import Watch
from detent.errors import RefusedError, SetUpError
from detent.page.runs import EXITS
from detent.runner.drive.mandate import as_left
from detent.runner.run.drops import answer_drops
from detent.runner.run.ending import attend, load_for_ends
from detent.runner.run.launch import bounds_of
from detent.runner.run.ready import failure_words, make_ready
from detent.runner.run.run_result import BOUND
from detent.runner.run.runs import run_seen, start_run, stop_idle
from detent.runner.step.said_no import waits_for_answer
from detent.runner.step.step import Outcome, step
from detent.runner.task.agents import wakes_at
from detent.runner.task.asks import left_open, question, taken_back, why_here
from detent.runner.task.open import needs_word, waits_at_end
from detent.runner.tell.explain import deploy_word, explain, may_ask
from detent.runner.tell.foresee import engine_lacks
from detent.runner.tell.inbox import again_command, open_sign_offs
from detent.runner.tell.judging import is_judged_next
from detent.store.disk.atomic import write_atomic
from detent.store.journal.events import Moved, Proved, SetUp
from detent.store.journal.run_events import Claimed, RunEnded
from detent.store.text.sealed import MOST_FAILED
from detent.words.runner import drive as say
from detent.words.runner import task as of_task
from detent.words.sealed import not_passed_often

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from detent.core.machine import State
    from detent.runner.step.proving.progress import Progress
    from detent.runner.task.open import Task
    from detent.runner.tell.explain import PersonsWord

    Tell = Callable[["Happened"], None]
    Reply = Callable[[Outcome], Mapping[str, Any]]

UNDRIVEN = say.not_driven()
TICK_S = 0.2  # between two checks of requests and budget while a run lives


class Happened(Record):
    """One thing worth telling while a task is driven."""

    kind: str  # started | adopted | ended | moved | refused | claimed | unmoved | setting_up | set_up | noted | proving
    task: Task
    outcome: Outcome | None = None
    line: Claimed | None = None  # the journal line it is about, where a run asked for something
    said: Mapping[str, Any] = {}  # of a set-up: its command, or for which folder it was made, why and how large
    progress: Progress | None = None  # how far a proof has come


class Rest(Record):
    """Why a task does not go on by itself."""

    task: Task
    why: str  # done | person | stopped | quota | running | refused | failed
    text: str = ""
    next_step: str = ""  # where it is another one than the reason tells
    said: str = ""  # the last lines of what failed


def drive(
    task: Task,
    tell: Tell,
    reply: Reply,
    *,
    once: bool = False,
    is_requested: bool = False,
    may_wait: bool = True,
    may_start: bool = True,
    since: int | None = None,
) -> Rest:
    """Until the task rests; with `once` at most one run is started. `asked`: a person wants a run now.

    Without `may_wait` a living run is left to another driver, without `may_start` none is begun. A stop after the
    journal line `since` calls it off: it also means a driver started on another's behalf, whose process came later.
    """
    started, reported, read_to = False, 0, task.memory.size
    since = task.memory.snapshot.seq if since is None else since
    while True:
        try:
            task = advance(task, tell)
        except SetUpError as error:  # no agent is called in for a fault that no agent can repair
            return Rest(task.now(), "person", say.failed_with_remedy(error.kind, error.what, error.next_step))
        read_to = _tell_copies(task, tell, read_to)
        if task.memory.run and not may_wait:
            return Rest(task, "running", say.run_under_way(task.memory.run.run, task.id))
        if task.memory.run:
            if task.memory.run.run != reported:
                tell(Happened("adopted", task))
            wait(task, tell, reply)
            started = True
            continue
        rest = _called_off(task, since) or resting(task, is_requested=is_requested)
        if rest is None and started and once:
            rest = after_once(task, since)
        if rest is None and not may_start:
            rest = Rest(task, "running", UNDRIVEN)
        if rest is not None:
            return rest
        ready = make_ready(task, partial(tell_set_up, task, tell))
        read_to = _tell_copies(task, tell, read_to)
        if ready.copy:
            tell(Happened("set_up", task, said=ready.copy))
        if ready.failed is not None:
            why, _, said = failure_words(ready.failed).partition("\n")
            return Rest(task, "person", why, of_task.mend_set_up(task.id), said)
        task = start_run(task, ready)
        started, is_requested, reported = True, False, task.memory.run.run
        if reported:
            tell(Happened("started", task))


def tell_set_up(task: Task, tell: Tell, command: str) -> None:
    """Say which command of set-up begins: it may take minutes."""
    tell(Happened("setting_up", task, said={"command": command}))


def tell_progress(task: Task, tell: Tell, progress: Progress) -> None:
    """Say what a proof does now: it may take minutes."""
    tell(Happened("proving", task, progress=progress))


def after_once(task: Task, since: int) -> Rest:
    """The one run that was asked for is over; it may have failed, gained nothing, or asked for something in vain.

    `since` is the journal line after which it began.
    """
    if task.machine.progress.get("same_max") and task.memory.snapshot.counters.get(IDLE):
        task = stop_idle(task)
        return Rest(task, "stopped", task.memory.snapshot.registers[STOPPED])
    if failed := _failed_run(task, since):
        return Rest(task, "failed", failed)
    refused = task.memory.snapshot.no.get(ASKED) if task.memory.visit else None
    if refused is None:
        return Rest(task, "running", say.one_run_asked_for())
    return Rest(task, "refused", say.run_refused(task.memory.visit.run, refused))


def _failed_run(task: Task, since: int) -> str:
    """How the last run failed, in words; empty where it ended by itself, or its work opened a move all the same."""
    later = [line for line in task.store.history() if line.seq > since]
    ended = next((line for line in reversed(later) if isinstance(line, RunEnded)), None)
    if ended is None or ended.exit not in CRASH_CLASSES or ended.by_person:
        return ""
    moved = (line for line in later if isinstance(line, Moved) and line.seq > ended.seq)
    if any(line.by != "crash" for line in moved):
        return ""
    return say.run_ended(ended.run, EXITS[ended.exit])


def _called_off(task: Task, since: int) -> Rest | None:
    """A person's stop while a task is driven means this driving, not only the run."""
    driven = task.memory.driven
    if not driven or driven.on or driven.seq <= since:
        return None
    task = as_left(task)
    if task.machine.states[task.memory.snapshot.state].is_end:  # cancelling a task stops it too
        return resting(task)
    return Rest(task, "person", say.stopped_by(driven.name))


def advance(task: Task, tell: Tell) -> Task:
    """Everything that can be done without starting a run; a living run is left alone."""
    try:
        return _advance(task, tell)
    except RefusedError:
        task = task.now()
        if not task.memory.run:
            raise
        return task  # another process that drives the task has started a run meanwhile


def _advance(task: Task, tell: Tell) -> Task:
    task, outcome = attend(task, partial(tell_progress, task, tell))
    if outcome is not None:
        tell(_happened(outcome))
    if task.memory.run:
        return task
    for _ in range(2 * len(task.machine.states)):
        outcome = step(task, None, otherwise=Signal("engine"), progress=partial(tell_progress, task, tell))
        task = outcome.task
        if not isinstance(outcome.decision, (Advance, Refuse)):
            if outcome.notes:  # restored files are reported, move or not
                tell(Happened("noted", task, said={"notes": outcome.notes}))
            break
        tell(_happened(outcome))
    return task


def _happened(outcome: Outcome) -> Happened:
    kind = {"Advance": "moved", "Refuse": "refused"}.get(type(outcome.decision).__name__, "unmoved")
    return Happened(kind, outcome.task, outcome)


def resting(task: Task, *, is_requested: bool = False) -> Rest | None:
    """Why no run is to be started now; None when one is."""
    snapshot, visit = task.memory.snapshot, task.memory.visit
    state = task.machine.states[snapshot.state]
    if stopped := snapshot.registers.get(STOPPED):
        return Rest(task, "stopped", stopped)
    if state.is_end:
        return Rest(task, "person" if waits_at_end(state) else "done", question(state, task.native) or state.name)
    if state.driver == "engine" and (lacks := engine_lacks(task)) and lacks.why:
        return Rest(task, "person", lacks.why, lacks.fix)
    if not state.role or (state.driver != "agent" and not is_requested):
        is_title_true = state.is_rest and not taken_back(task.memory)
        waits = question(state, task.native) or (state.title if is_title_true else "")
        waits = waits or say.waits_for_person(state.name)
        return Rest(task, "person", f"{waits}{why_here(task.memory)}")
    if not is_requested and (rest := _for_word(task, state)):
        return rest
    if visit and task.memory.out and not is_requested and (wake := wakes_at(task)):
        return Rest(task, "quota", wake)
    return None if is_requested else _after_visit(task)


def _for_word(task: Task, state: State) -> Rest | None:
    """Whether no run may start before a person says something: about sealed checks, about the work, about deploying."""
    if (failed := task.memory.sealed_failed) >= MOST_FAILED:
        problem = not_passed_often(failed, task.id)
        return Rest(task, "person", problem, problem.next_step)
    if may_ask(task.memory.head, task.machine, state) and (word := explain(task, with_moves=False).word):
        return Rest(task, "person", *_to_accept(task, word))
    if task.memory.visit and (deploys := deploy_word(task)):
        return Rest(task, "person", say.say_so(deploys, task.id))
    return None


def _to_accept(task: Task, word: PersonsWord) -> tuple[str, str]:
    """What a person must accept, and the command where the reason does not tell it."""
    return (say.protected_touched(word.files), "") if word.files else (word.proof, of_task.accept_tests(task.id))


def _after_visit(task: Task) -> Rest | None:
    """Whether the last run of this visit left something to a person: a question, or the word for another run."""
    state = task.machine.states[task.memory.snapshot.state]
    if waits_for_answer(task.machine, task.memory) and (asks := question(state, task.native)):
        return Rest(task, "person", asks, of_task.answer(task.id))
    if needs_word(task.memory, state) and not is_judged_next(task):
        return Rest(task, "person", _after_run(task))
    return None


def _after_run(task: Task) -> str:
    """What a person is asked for where an agent has done its part; a sign-off that is open is no run without a move."""
    state, visit = task.machine.states[task.memory.snapshot.state], task.memory.visit
    waits = open_sign_offs(explain(task, with_moves=True).moves)
    if not waits:
        ended = say.ended_without_move(state.name, left_open(task.memory))
        if visit.exit != "finished":
            ended = say.run_ended(visit.run, EXITS.get(visit.exit, visit.exit))
        confirmation = question(state, task.native)
        return say.another_needs_word(ended, confirmation, again_command(task.id, state))
    commands = [(move.verbs[0] if move.verbs else f"move {move.to}", move.to) for move in waits]
    return say.sign_off_is_next(task.id, commands)


def wait(task: Task, tell: Tell, reply: Reply) -> None:
    """Until the living run has ended or was lost; requests are answered and the budget is kept meanwhile."""
    number = task.memory.run.run
    folder = task.places.run(number)
    reader = EventReader(os.path.join(folder, EVENTS), task.memory.run.events)
    since = task.memory.size
    with Watch([folder]) as watch:
        load_for_ends()
        while watch.wait(TICK_S) is None:
            seen = run_seen(task)
            if seen is not None and seen.phase == "unborn":
                return  # planned by a process that died before it began; `attend` makes it void
            answer_drops(task, reply)
            keep_budget(task, reader)
            since = _tell_claims(task, tell, since)
    _tell_claims(task, tell, since)


def _tell_claims(task: Task, tell: Tell, since: int) -> int:
    """Tell what the run asked for since the journal had this size; the size it has now."""
    lines, size = task.store.lines_after(since)
    for line in lines:
        if isinstance(line, Claimed):
            tell(Happened("claimed", task, line=line))
    return size


def _tell_copies(task: Task, tell: Tell, since: int) -> int:
    """Tell which set-ups were made for one folder alone since the journal had this size; the size it has now."""
    lines, size = task.store.lines_after(since)
    for line in lines:
        if isinstance(line, SetUp) and line.made_bytes:
            made = {"for": say.tasks_tree(), "why": line.why, "made_bytes": line.made_bytes}
            tell(Happened("set_up", task, said=made))
        elif isinstance(line, Proved) and line.set_up.get("made_bytes"):
            tell(Happened("set_up", task, said={**line.set_up, "for": say.checkout_for_commands()}))
    return size


def keep_budget(task: Task, reader: EventReader) -> None:
    """End a run that has used up a bound; the record of its end names the bound."""
    import time

    bounds = bounds_of(task)
    if not (bounds.usd or bounds.tokens or bounds.turns):
        return
    usage = reader.read(time.time())
    used = (
        ("turns", usage.turns, bounds.turns),
        ("tokens", usage.input_tokens + usage.output_tokens, bounds.tokens),
        ("usd", usage.cost_usd, bounds.usd),
    )
    for name, value, most in used:
        if most and value > most:
            folder = task.places.run(task.memory.run.run)
            write_atomic(os.path.join(folder, BOUND), f"{name} {value:g} of {most:g}".encode(), durable=False)
            keeper.stop(folder)
            return
