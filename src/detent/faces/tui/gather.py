"""Gathers what the dashboard shows: every task as a row, the chosen one in full. Reads only, in a thread of its own.

A task is read again only when its journal has changed or an agent run of it may have ended. So many idle tasks cost no
more than reading the times of their files.
"""

from __future__ import annotations

import os
import time

from detent.core.machine import CRASHES, RUNS, STOPPED
from detent.core.record import Record
from detent.effects.agents.events import EventReader, Usage
from detent.effects.host.keeper.process import ERRORS, EVENTS
from detent.errors import DetentError
from detent.faces.cli.commands.logs import GrowingText
from detent.runner.drive.notify import wants_bell
from detent.runner.task.loop import reached
from detent.runner.task.open import Listed, is_over, load_listed, load_task
from detent.runner.tell.explain import explain, life
from detent.runner.tell.inbox import letter_of
from detent.runner.tell.title import follows_hand, title_now
from detent.store.journal.native import Native
from detent.store.journal.run_events import RunPlanned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Machine, State
    from detent.core.values import Snapshot
    from detent.runner.task.open import Task
    from detent.runner.tell.explain import Explain
    from detent.store.journal.memory import Memory
    from detent.store.journal.places import Project

    Stamp = tuple[int, int, int] | None

LAST_BYTES = 4096  # of a run's complaints, where it said nothing else
# First what needs a person, then what goes on, then what could, then what is finished.
KINDS = ("unreadable", "dead", "waits", "unknown", "works", "due", "ready", "done")


class Count(Record):
    """How much of a limit is used up."""

    name: str
    used: int
    most: int


class Row(Record):
    """One task in the list."""

    id: str
    kind: str  # one of KINDS
    state: str
    title: str = ""
    machine: str = ""
    turn: str = ""  # whose: a role, "engine", "person", or empty
    rounds: tuple[Count, ...] = ()
    crashes: tuple[Count, ...] = ()
    since: str = ""
    why: str = ""  # what a person is asked
    command: str = ""  # and what answers it
    is_driven: bool = False
    rings: bool = True
    run: int = 0  # the agent run that is under way
    runs: int = 0  # how many there were
    is_called_by_hand: bool = False  # whether a person may call it something else by writing its file


class Detail(Record):
    """The chosen task: the explain object, or why there is none, and the last words of its last agent run."""

    id: str
    explained: Explain | None = None
    problem: DetentError | None = None
    run: int = 0
    usage: Usage = Usage()
    complaints: str = ""


class View(Record):
    rows: tuple[Row, ...]
    detail: Detail | None


class Gatherer:
    """Keeps what it has read; `look` is called again and again, never twice at a time."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._machines: dict[str, Machine] = {}
        self._rows: dict[str, tuple[Stamp, Row]] = {}
        self._reader: tuple[tuple[str, int], EventReader] | None = None

    def look(self, chosen: str) -> View:
        """All rows, and the chosen task in full; without a choice the first row's."""
        rows: dict[str, tuple[Stamp, Row]] = {}
        for task_id in self.project.task_ids():
            stamp = _stamp(self.project.task(task_id).journal())
            known = self._rows.get(task_id)
            # A run ends, and a title is written by hand, without a word in the journal; only looking tells.
            is_known = known is not None and known[0] == stamp and not known[1].run
            if known is None or not is_known or known[1].kind == "unreadable" or known[1].is_called_by_hand:
                known = stamp, self._row(task_id)
            rows[task_id] = known
        self._rows = rows
        ordered = sorted((row for _, row in rows.values()), key=_order)
        if chosen not in rows:
            chosen = ordered[0].id if ordered else ""
        return View(tuple(ordered), self.look_at(chosen) if chosen else None)

    def _row(self, task_id: str) -> Row:
        listed = load_listed(self.project, task_id, self._machines)
        letter = letter_of(self.project, listed)
        if listed.memory is None or listed.machine is None:
            why, command = (letter.why, letter.command) if letter else ("", "")
            return Row(task_id, "unreadable", "unreadable", why=why, command=command, turn="person")
        memory, snapshot = listed.memory, listed.memory.snapshot
        state = listed.machine.states[snapshot.state]
        kind = _kind(listed, memory, state, self._life(memory, task_id), waits=letter is not None)
        rounds, crashes = counts(listed.machine, snapshot) if kind != "done" else ((), ())
        return Row(
            task_id,
            kind,
            snapshot.state,
            title=title_now(
                listed.machine, memory, Native(listed.machine, memory.head.dir, self.project.task(task_id))
            ),
            machine=memory.head.machine,
            turn="person" if letter else "" if kind == "done" else state.role or state.driver,
            rounds=rounds,
            crashes=crashes,
            since=memory.entered_time,
            why=letter.why if letter else "",
            command=letter.command if letter else "",
            is_driven=bool(memory.driven.on),
            rings=wants_bell(memory),
            run=memory.run.run,
            runs=memory.runs,
            is_called_by_hand=follows_hand(listed.machine, memory),
        )

    def _life(self, memory: Memory, task_id: str) -> tuple[bool | None, bool]:
        return life(memory, self.project.task(task_id))

    def look_at(self, task_id: str) -> Detail:
        """One task in full."""
        try:
            explained = explain_now(self.project, task_id)
            number = explained.task.memory.runs
            return Detail(task_id, explained, None, number, *(self._said(explained.task, number) if number else ()))
        except DetentError as error:
            return Detail(task_id, problem=error)

    def _said(self, task: Task, number: int) -> tuple[Usage, str]:
        """What an agent run said last; where it said nothing, what it complained about."""
        folder, key = task.places.run(number), (task.id, number)
        if self._reader is None or self._reader[0] != key:
            plans = (line for line in task.store.history() if isinstance(line, RunPlanned))
            planned = [plan for plan in plans if plan.run == number]
            if not planned:
                return Usage(), ""
            self._reader = key, EventReader(os.path.join(folder, EVENTS), planned[-1].events)
        usage = self._reader[1].read(time.time())
        if usage.last_text:
            return usage, ""
        return usage, "".join(GrowingText(os.path.join(folder, ERRORS), LAST_BYTES).new_parts())


def explain_now(project: Project, task_id: str) -> Explain:
    return explain(load_task(project, task_id), with_moves=True)


def _stamp(path: str) -> Stamp:
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_size, seen.st_ino


def _kind(listed: Listed, memory: Memory, state: State, lives: tuple[bool | None, bool], *, waits: bool) -> str:
    alive, is_dead = lives
    is_driven = memory.driven.on
    if is_dead:
        return "due" if is_driven else "dead"  # the process that drives it judges what the run left
    if memory.run:
        return "works" if alive else "unknown"
    if is_over(listed) or state.is_rest:
        return "done"
    if state.role and memory.visit and not memory.snapshot.registers.get(STOPPED) and (waits or not is_driven):
        return "dead"  # its agent is gone and no other one is started unasked
    if waits:
        return "waits"
    return "due" if is_driven else "ready"


def counts(machine: Machine, snapshot: Snapshot) -> tuple[tuple[Count, ...], tuple[Count, ...]]:
    """The rounds and the crashes of a task, each towards its limit; which limits those are the machine says."""
    counted = dict.fromkeys(name for state in machine.states.values() for name in state.counts_crash)
    crash_names = [name for name in counted if name != CRASHES] or [CRASHES]
    rounds = [name for name in machine.limits if name not in (RUNS, CRASHES, *crash_names)]

    def count(name: str) -> Count:
        return Count(name, reached(machine, snapshot, name), machine.limits[name].most)

    return tuple(map(count, rounds)), tuple(map(count, crash_names))


def _order(row: Row) -> tuple[int, str, str]:
    return KINDS.index(row.kind), row.since, row.id
