"""Tells why a loop could not finish, from what was kept: spec, iterations, criteria, the nearest miss, the diff.

Everything comes from the journal, the kept last words of runs and the checkpoint that was made when the loop ended;
what happened to the files since does not change it.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.packs.ralf.criteria import named_by_visits
from detent.page.diff import patch_text
from detent.runner.task.loop import Loop, loop_of
from detent.store.disk.atomic import read_plain
from detent.store.journal.events import Moved
from detent.store.journal.run_events import RunEnded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.core.machine import Machine
    from detent.runner.task.open import Task
    from detent.store.journal.line import Line
    from detent.store.journal.memory import Memory


class Diagnosis(Record):
    spec: str  # the file that was attempted
    loop: Loop
    total: int  # agent runs of the loop's state there ever were
    closest_run: int  # the run whose work met most criteria, else the last one
    closest_passed: int
    closest_said: str  # its last words
    stat: str  # how much of each file differs from the baseline
    has_stat: bool  # whether a checkpoint was made that could be compared with it
    why: str  # why the engine ended the loop


def diagnose(task: Task) -> Diagnosis | None:
    """What came of the loop; None for a machine without one."""
    loop = loop_of(task)
    if loop is None:
        return None
    gates = {name: gate for name, gate in task.machine.gates.items() if gate.check == "criteria"}
    entries = task.store.history()
    states = {state.name for state in task.machine.states.values() if state.counts_run}
    ended = [line for line in entries if isinstance(line, RunEnded) and line.state in states]
    begun = next((entry.seq for entry in reversed(entries) if _begins(task.machine, entry, loop.limit)), 0)
    run, passed = _closest([entry for entry in entries if entry.seq > begun], ended, set(gates))
    return Diagnosis(
        spec=next((named_by_visits(gate.params["file"], task.memory.snapshot.visits) for gate in gates.values()), ""),
        loop=loop,
        total=len(ended),
        closest_run=run.run if run else 0,
        closest_passed=passed,
        closest_said=_said(task, run) if run else "",
        stat=_stat(task.memory, task.places.private_git()),
        has_stat=bool(task.memory.began_at() and task.memory.checkpoint.commit),
        why=task.memory.led,
    )


def _begins(machine: Machine, entry: Line, limit: str) -> bool:
    """Whether a line is a move that restarts the loop."""
    if not isinstance(entry, Moved):
        return False
    edges = [edge for edge in machine.states[entry.from_].edges if edge.name == entry.edge]
    return any(way.number == entry.way and limit in way.resets for edge in edges for way in edge.ways)


def _closest(entries: Sequence[Line], ended: Sequence[RunEnded], gates: set[str]) -> tuple[RunEnded | None, int]:
    """The run whose work was nearest, and how many criteria it met; of several the last."""
    best, most = (ended[-1] if ended else None), 0
    for entry in entries:
        if not isinstance(entry, Moved):
            continue
        for name in gates & set(entry.facts):
            passed = sum(ok is True for _, ok, _ in entry.facts[name].get("parts", ()))
            before = [run for run in ended if run.seq < entry.seq]
            if passed >= max(most, 1) and before:
                best, most = before[-1], passed
    return best, most


def _said(task: Task, run: RunEnded) -> str:
    data = read_plain(os.path.join(task.places.objects(), run.said)) if run.said else None
    return (data or b"").decode("utf-8", "replace")


def _stat(memory: Memory, private_git: str) -> str:
    base, commit = memory.began_at(), memory.checkpoint.commit
    return patch_text(private_git, base, commit, stat=True) if base and commit else ""
