"""How far a task's loop of agent runs has come; from memory alone, so that a status can show it."""

from __future__ import annotations

from detent.core.decide import spent
from detent.core.record import Record
from detent.gates.registry import declared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from detent.core.machine import Machine
    from detent.core.values import Snapshot
    from detent.runner.task.open import Task

    Parts = Sequence[Sequence[Any]]  # label, result, reason


class Loop(Record):
    """How far a loop of agent runs has come; shown to a person after an interruption."""

    limit: str  # the name of what is counted
    used: int
    most: int
    agent: str  # the agent of the last run, with the model
    criteria: tuple[tuple[str, bool | None, str], ...] = ()  # as last verified; None: not judged


def loop_of(task: Task) -> Loop | None:
    """The loop the machine has; None when none of its states counts runs."""
    memory, machine = task.memory, task.machine
    names = [name for state in machine.states.values() for name in state.counts_run]
    if not names:
        return None
    name = names[0]
    last = memory.run or memory.last_run
    agent = f"{last.agent}:{last.model}" if last.model else str(last.agent)
    return Loop(name, reached(machine, memory.snapshot, name), machine.limits[name].most, agent, criteria_seen(task))


def reached(machine: Machine, snapshot: Snapshot, name: str) -> int:
    """How far a limit is used up; where the task's file names the one that is under way, so does everybody."""
    limit, used = machine.limits[name], spent(machine, snapshot, name)
    is_named = limit.field and snapshot.state in machine.store.only_in.get(limit.field, ())
    return min(used + limit.first, limit.most) if is_named else used


def criteria_seen(task: Task) -> tuple[tuple[str, bool | None, str], ...]:
    """How each criterion stood when they were last verified."""
    gates = {name for name, gate in task.machine.gates.items() if declared(gate.check).is_progress}
    found = [result for name, result in task.memory.results.items() if name in gates]
    latest = max(found, key=lambda result: int(result.seq), default=None)
    return _parts(latest.parts) if latest else ()


def failed_here(task: Task) -> tuple[tuple[str, bool | None, str], ...]:
    """Every part of what led to where the task stands, each with its reason, if one of them failed."""
    state = task.memory.snapshot.state
    gates = task.machine.gates
    # The opposite of a gate says nothing that this one does not say.
    known = {
        name: answers for name, answers in task.memory.results.items() if name in gates and gates[name].check != "not"
    }
    found = [_parts(answers.parts) for answers in known.values() if answers.to == state]
    failed = [parts for parts in found if any(ok is False for _, ok, _ in parts)]
    return failed[-1] if failed else ()


def _parts(rows: Parts) -> tuple[tuple[str, bool | None, str], ...]:
    return tuple((str(label), ok if ok is None else ok is True, str(why)) for label, ok, why in rows)
