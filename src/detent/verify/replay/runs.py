"""Checks the lines about agent runs against the rules: each run is planned, and ends or never began, exactly once."""

from __future__ import annotations

from detent.core.machine import ASKED, STOPPED, TAINTED
from detent.core.runs import run_over, stayed, stop
from detent.effects.host.keeper.look import look
from detent.runner.step.resolving import resolver_of
from detent.store.journal.events import Crashed
from detent.store.journal.fold import snapshot_after, times
from detent.store.journal.run_events import Claimed, Retitled, RunEnded, RunPlanned, RunVoid, Stopped, Unmoved
from detent.words.verify import lines as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.core.machine import Machine
    from detent.core.values import Snapshot
    from detent.runner.task.open import Task
    from detent.store.journal.line import Line
    from detent.store.journal.memory import Memory


def run_order_problems(entry: Line, memory: Memory) -> Iterator[str]:
    """While a run lives nothing else is written; what follows from a run comes after its end."""
    if memory.run and not (type(entry).is_quiet or isinstance(entry, RunEnded)):
        yield say.run_was_under_way(memory.run.run)
    if isinstance(entry, Crashed) and not memory.ended:
        yield say.no_run_had_ended()


def end_problems(task: Task, entry: RunEnded) -> Iterator[str]:
    """What the run's own directory says otherwise of its end; one that is gone says nothing."""
    seen = look(task.places.run(entry.run)).exit
    if seen is None:
        return
    if entry.how == "lost" or (entry.code, entry.signal) != (seen.code, seen.signal):
        yield say.other_exit(seen.code, seen.signal)


def run_problems(machine: Machine, entry: Line, memory: Memory) -> Iterator[str]:
    """What is wrong with a line about runs, given the moment before it."""
    before = memory.snapshot
    if isinstance(entry, RunPlanned):
        yield from _planned(machine, entry, memory)
    elif isinstance(entry, (Claimed, Retitled, RunVoid, RunEnded)):
        yield from _of_run(entry, memory)
    elif isinstance(entry, Unmoved) and memory.ended.run != entry.run:
        yield say.run_had_not_ended(entry.run)
    if isinstance(entry, (RunPlanned, RunEnded)) and entry.state != before.state:
        yield say.task_was_elsewhere(entry.state, before.state)


def _of_run(entry: Claimed | Retitled | RunVoid | RunEnded, memory: Memory) -> Iterator[str]:
    """What is wrong with a line about the run that is under way."""
    if memory.run.run != entry.run:
        yield say.run_was_not_under_way(entry.run)
    elif isinstance(entry, RunEnded) and memory.claim and entry.claim != memory.claim.want:
        yield say.other_claim(entry.claim, memory.claim.want)
    elif isinstance(entry, RunEnded) and (problem := _unheard(entry, memory)):
        yield problem
    elif isinstance(entry, RunVoid) and memory.claim:
        yield say.run_had_begun(entry.run)


def _unheard(entry: RunEnded, memory: Memory) -> str:
    """What the last request of the run was refused for must be its no; lines of an older format say nothing of it."""
    request, no = "" if memory.claim or entry.claim_by == "file" else memory.unheard, entry.no
    if no is None or entry.tainted or no.get(ASKED, "") == request:
        return ""
    return say.refused_other(request, no.get(ASKED, ""))


def _planned(machine: Machine, entry: RunPlanned, memory: Memory) -> Iterator[str]:
    state = machine.states[memory.snapshot.state]
    if entry.run != memory.runs + 1:
        yield say.run_out_of_order(entry.run, memory.runs)
    if memory.run:
        yield say.run_still_under_way(memory.run.run)
    if memory.snapshot.registers.get(STOPPED):
        yield say.task_was_stopped()
    judge = machine.states[state.judged_as or state.name]
    resolver = resolver_of(machine, memory.snapshot, memory.visit) or state
    wanted = ((state.role, state.access), (judge.role, judge.access), (resolver.role, resolver.access))
    if (entry.role, entry.access) not in wanted or not state.role:
        yield say.wrong_role(state.name, state.role or "no agent", state.access, entry.role, entry.access)


def after_run(machine: Machine, entry: Line, memory: Memory) -> Snapshot | None:
    """The snapshot the rules give after such a line; None where it changes nothing."""
    before, ended = memory.snapshot, memory.ended
    match entry:
        case RunEnded():
            ended_as = TAINTED if entry.tainted else entry.exit
            return run_over(machine, before, ended_as, entry.no, by_person=entry.by_person)
        case Unmoved() if before.exit == TAINTED and not ended.put_back:
            return stop(before, entry.why)
        case Unmoved():
            is_excused = entry.exit == "quota" or bool(ended.by_person)
            closed = entry.closed or ""
            made_progress = entry.progress or is_excused
            made = stayed(machine, before, made_progress=made_progress, refusal=closed, times=times(memory, closed))
            # The journal words the reason in the words of its time; the rules only say that it stopped.
            said = snapshot_after(entry).registers.get(STOPPED)
            return stop(made, said) if said and STOPPED in made.registers else made
        case Stopped():
            return stop(before, entry.why)
        case _:
            return None
