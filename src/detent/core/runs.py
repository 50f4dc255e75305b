"""What the end of an agent run changes in what is remembered, besides the moves it may lead to."""

from __future__ import annotations

from detent.core.decide import count, spent
from detent.core.machine import IDLE, RUNS, STOPPED, Machine
from detent.core.values import Snapshot
from detent.words import core as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def run_over(
    machine: Machine,
    snapshot: Snapshot,
    exit_class: str,
    no: Mapping[str, str] | None = None,
    *,
    by_person: bool = False,
) -> Snapshot:
    """When no process of the run is left and nothing is decided yet; an interrupted or lost run has had no turn.

    `no` is what this run said against going on; it replaces what the run before it said.
    """
    if exit_class == "quota":  # no work was done, so nothing is counted; the task waits
        return snapshot.replace(exit=exit_class)
    counters, registers = dict(snapshot.counters), dict(snapshot.registers)
    for name in (RUNS, *(() if by_person or exit_class == "lost" else machine.states[snapshot.state].counts_run)):
        count(machine, snapshot, counters, registers, name)
    return snapshot.replace(counters=counters, registers=registers, exit=exit_class, no=no or {})


def stayed(machine: Machine, snapshot: Snapshot, *, made_progress: bool, refusal: str = "", times: int = 0) -> Snapshot:
    """The snapshot after a run that ended by itself and opened no move.

    Idle runs in a row stop the task, and so does the same `refusal` that ended so many runs of this visit (`times`).
    """
    counters = {name: value for name, value in snapshot.counters.items() if name != IDLE}
    most, often = machine.progress.get("idle_max", 0), machine.progress.get("same_max", 0)
    if not made_progress and most:
        counters[IDLE] = min(snapshot.counters.get(IDLE, 0) + 1, most)
    after = snapshot.replace(counters=counters)
    if often and refusal and times >= often:
        return stop(after, say.same_refusal(times, refusal))
    return stop(after, say.runs_changed_nothing(most)) if counters.get(IDLE, 0) >= most > 0 else after


def runs_spent(machine: Machine, snapshot: Snapshot) -> str:
    """Why no further run may be started until a person acts; empty when one may."""
    most = machine.limits[RUNS].most
    return say.runs_used_up(most) if spent(machine, snapshot, RUNS) >= most else ""


def stop(snapshot: Snapshot, why: str) -> Snapshot:
    return snapshot.replace(registers={**snapshot.registers, STOPPED: why})
