"""Drives many tasks at once: one supervisor per project, woken by ends of runs, by the bell, and every 30 s.

The supervisor itself only waits, writes down ends, answers requests and keeps budgets. All that can take long
(proof, set-up, starting a run) is done by one short-lived process per task, so that no task waits for another's tests.

An end comes before everything else: whatever has to look at many tasks does so a few at a time, and listens in between.
"""

from __future__ import annotations

import os
import time

from detent.core.machine import STOPPED
from detent.core.record import Record
from detent.effects.agents.events import EventReader
from detent.effects.host.children import Child, Children
from detent.effects.host.keeper.process import EVENTS
from detent.effects.host.keeper.watch import Watch
from detent.errors import DetentError, LockedError, RefusedError, TakesLong
from detent.runner.drive.drive import UNDRIVEN, Rest, after_once, keep_budget, resting
from detent.runner.run.drops import answer_drops, drop_folder
from detent.runner.run.end_run import end_run, tidy_up
from detent.runner.run.ending import load_for_ends
from detent.runner.task.bell import Bell, ring
from detent.runner.task.open import load_all, load_task
from detent.store.disk.atomic import make_folders
from detent.store.disk.lock import Lock
from detent.store.journal.memory import NO_RUN
from detent.words.runner import drive as say
from detent.words.runner import task as of_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from detent.core.machine import Machine
    from detent.runner.drive.drive import Reply
    from detent.runner.run.end_run import Left
    from detent.runner.task.open import Listed, Task
    from detent.store.journal.places import Project

POLL_S = 30.0  # the safety net: every driven task is checked this often, with or without a signal
TICK_S = 0.25  # between two checks of requests and budget of one living run
FEW = 20  # living runs that are checked in one go
DEFAULT_JOBS = 4


class Notice(Record):
    """What the supervisor says of one task."""

    id: str
    text: str
    rest: Rest | None = None


class Supervisor:
    """`wanted` says which tasks are driven; without it, those a person has started."""

    def __init__(
        self,
        project: Project,
        tell: Callable[[Notice], None],
        reply: Reply,
        *,
        jobs: int,
        wanted: Iterable[str] | None = None,
        once: bool = False,
    ) -> None:
        self.project = project
        self.tell = tell
        self.reply = reply
        self.jobs = jobs
        self.wanted = None if wanted is None else set(wanted)
        self.once = once
        self.tasks: dict[str, Task] = {}
        self.machines: dict[str, Machine] = {}  # hundreds of tasks share a few; what is held once is also swept once
        self.readers: dict[str, EventReader] = {}
        self.rests: dict[str, Rest] = {}
        self.begun: dict[str, tuple[int, int]] = {}  # runs and journal lines there were when we began
        self.tried: dict[str, int] = {}  # engine's states we let a process try to leave, with the journal line then
        self.slow: set[str] = set()  # whose run has left so much that a process of its own writes down its end
        self.held: set[str] = set()  # refused for what others do; tried again when one of them has ended
        self.watch = Watch()
        self.watched: dict[str, str] = {}  # run folder -> task
        self.drops: dict[str, str] = {}  # where the run of a task lays its requests
        self.left: list[Left] = []  # what is to be done about ends that are written down
        self.children = Children()
        self.unseen: Iterator[Listed] | None = None  # the rest of a scan of all tasks
        self.tended, self.tend_due = 0, 0.0  # whose turn it is among the living runs, and when
        self.is_called_off = False

    def stop(self) -> None:
        """Let `run` end soon; for another thread than the one it works in. What was started goes on by itself."""
        self.is_called_off = True
        ring(self.project)

    def run(self, *, until_rest: bool) -> Mapping[str, Rest]:
        """Drive until everything rests, or for ever; a second supervisor of the same project is refused."""
        make_folders(self.project.control)  # the first watch may be there before the first task
        try:
            with Lock(self.project.watch_lock(), wait_s=0.0):
                return self._run(until_rest=until_rest)
        except LockedError as error:
            raise RefusedError(say.watched_already(), where=self.project.watch_lock()) from error

    def _run(self, *, until_rest: bool) -> Mapping[str, Rest]:
        load_for_ends()
        bell = Bell(self.project.bell())
        due = 0.0
        try:
            while not self.is_called_off:
                if bell.was_rung() or time.monotonic() >= due:
                    self.held.clear()
                    self.tried.clear()
                    self.unseen = load_all(self.project)
                    due = time.monotonic() + POLL_S
                self._look_on()
                if until_rest and not (self.unseen or self.children or self.watched) and self._all_rest():
                    return self.rests
                self._wait(bell)
            return self.rests
        finally:
            while self.left:
                self._tidy_up()
            bell.close()
            self.watch.close()

    def _all_rest(self) -> bool:
        return all(name in self.rests for name in self.tasks)

    def _look_on(self) -> None:
        """The next task of a scan of all of them."""
        listed = next(self.unseen, None) if self.unseen is not None else None
        if listed is None:
            self.unseen = None
            return
        if listed.memory is None or listed.machine is None or self._is_watched(listed):
            return
        is_wanted = listed.memory.driven.on if self.wanted is None else listed.id in self.wanted
        # A run that lives is seen to its end, also one of another process.
        if is_wanted or listed.id in self.tasks or (self.wanted is None and listed.memory.run):
            self.look_at(listed.id)

    def _is_watched(self, listed: Listed) -> bool:
        """Whether the kernel will tell of this task's run: then there is nothing to look for."""
        run = listed.memory.run if listed.memory is not None else NO_RUN
        return bool(run) and self.project.task(listed.id).run(run.run) in self.watched

    def look_at(self, name: str) -> None:
        """Bring one task on as far as it goes without waiting."""
        if name in self.children:
            return
        task = self._write_down(name)
        while self.left:
            self._tidy_up()
        if task is None:
            return
        if name in self.slow:
            self._send(task)
            return
        if task.memory.run:
            self._watch_run(task)
            return
        rest = None if task.memory.ended else self._rest(task)
        if rest is None:
            self._send(task)
        elif name not in self.rests or self.rests[name].task.memory.snapshot.seq != task.memory.snapshot.seq:
            self.rests[name] = rest
            self.tell(Notice(name, rest.text, rest))

    def _write_down(self, name: str) -> Task | None:
        """The task as it stands now, with the end of its run if that is over; None when it can't be read."""
        known = self.tasks.get(name)
        try:
            task = known or load_task(self.project, name, self.machines)
            if known and not known.memory.run:  # else `end_run` reads what there is now, under the lock
                task = known.now()
            self.tasks[name] = task
            self.begun.setdefault(name, (task.memory.runs, task.memory.snapshot.seq))
            if task.memory.run and name not in self.slow:
                task = self.tasks[name] = end_run(task, self.left)
        except TakesLong:
            self.slow.add(name)
        except DetentError as error:
            self._give_up(name, say.failed(error.kind, error.what))
            return None
        return task

    def _rest(self, task: Task) -> Rest | None:
        driven, (runs, seq) = task.memory.driven, self.begun[task.id]
        # A task that is named now is meant, whatever was said of it before.
        is_over = task.machine.states[task.memory.snapshot.state].is_end
        if driven and not driven.on and not is_over and (self.wanted is None or driven.seq > seq):
            return Rest(task, "person", say.stopped_by(driven.name))
        if self.once and task.memory.runs > runs:
            return resting(task) or after_once(task, seq)
        snapshot = task.memory.snapshot
        is_engine_s = task.machine.states[snapshot.state].driver == "engine" and not snapshot.registers.get(STOPPED)
        if is_engine_s and self.tried.get(task.id) != snapshot.seq:
            return None  # a move may be open that only the engine takes; the worker that is sent finds out
        return resting(task) or (None if self._may_start(task) else Rest(task, "running", UNDRIVEN))

    def _may_start(self, task: Task) -> bool:
        """A run that another process began is seen to its end; that is no word for the next one. Nor is `once`."""
        if self.once and task.memory.runs > self.begun[task.id][0]:
            return False
        return self.wanted is not None or bool(task.memory.driven.on)

    def _watch_run(self, task: Task) -> None:
        folder = task.places.run(task.memory.run.run)
        if folder not in self.watched:
            self.watched[folder] = task.id
            self.watch.add(folder)
            self.readers[task.id] = EventReader(os.path.join(folder, EVENTS), task.memory.run.events)
            self.drops[task.id] = drop_folder(task)  # to find it takes longer than to look into it
            self.tell(Notice(task.id, say.run_of_agent(task.memory.run.run, task.memory.run.agent)))

    def _send(self, task: Task) -> None:
        """Let a process of its own decide what ended, take open moves and, if it may, start the next run."""
        if task.id in self.held or not self._has_room():
            return  # the next end makes room, and then everything is checked again
        self.rests.pop(task.id, None)
        self.tried[task.id] = task.memory.snapshot.seq
        since = 0 if self.wanted is None else self.begun[task.id][1]
        words = ["run", "--no-wait", *([] if self._may_start(task) else ["--no-start"]), "--since", str(since)]
        words += ["--json", "--repo", self.project.root, task.id]
        try:
            self.children.start(task.id, words, os.path.join(task.places.folder, "drive.log"))
        except DetentError as error:
            self._give_up(task.id, say.failed(error.kind, error.what))

    def _has_room(self) -> bool:
        return len(self.children) + len(self.watched) < self.jobs

    def _wait(self, bell: Bell) -> None:
        over = self._ends((*self.children.handles(), bell.descriptor))
        for name in over:
            self.look_at(name)
        ended = self.children.ended()
        for child in ended:
            self._after(child)
        if over or any(child.name not in self.held for child in ended):
            self.held.clear()
        if over or ended:
            self._look_for_room()
        if self.watched and time.monotonic() >= self.tend_due:
            self._tend()

    def _ends(self, also: Iterable[int]) -> list[str]:
        """Wait, and write down every run that is over before anything is done about any of them."""
        pause_s = POLL_S
        if self.unseen is not None:
            pause_s = 0.0
        elif self.watched:  # else there is nothing to look at
            pause_s = max(0.0, self.tend_due - time.monotonic())
        over: list[str] = []
        folder = self.watch.wait(pause_s, also=also)
        while folder is not None or self.left:
            if folder is not None:
                name = self.watched.pop(folder)
                self.readers.pop(name, None)
                self.drops.pop(name, None)
                self._write_down(name)
                over.append(name)
            else:
                self._tidy_up()
            folder = self.watch.wait(0.0)
        return over

    def _tidy_up(self) -> None:
        """See to one end that is written down."""
        left = self.left.pop(0)
        try:
            tidy_up(left)
        except DetentError as error:
            self._give_up(left.task.id, say.failed(error.kind, error.what))

    def _tend(self) -> None:
        """Answer requests and keep the budgets of a few living runs; everyone's turn comes once in TICK_S."""
        names = list(self.watched.values())
        if self.tended >= len(names):
            self.tended = 0
        for name in names[self.tended : self.tended + FEW]:
            answer_drops(self.tasks[name], self.reply, self.drops[name])
            keep_budget(self.tasks[name], self.readers[name])
        self.tended += FEW
        self.tend_due = time.monotonic() + TICK_S * min(1.0, FEW / len(names))

    def _after(self, child: Child) -> None:
        self.slow.discard(child.name)
        if child.code == 1 and (self.watched or self.children):
            self.held.add(child.name)
        elif child.code not in (0, 4, 6):
            what, next_step = _complaint(child.last_line)
            self._give_up(child.name, say.not_drivable(what), next_step)
        else:
            self.look_at(child.name)

    def _give_up(self, name: str, why: str, next_step: str = "") -> None:
        """One task that can't be driven keeps no other from it; a later look tries it again."""
        task = self.tasks.get(name)
        rest = None if task is None else Rest(task, "stopped", why, next_step or of_task.run(name))
        if rest is not None:
            self.rests[name] = rest
        self.tell(Notice(name, why, rest))

    def _look_for_room(self) -> None:
        watched = set(self.watched.values())
        for name in [name for name in self.tasks if name not in self.rests and name not in watched]:
            if not self._has_room():
                return
            self.look_at(name)


def _complaint(last_line: str) -> tuple[str, str]:
    """What a process of ours said in JSON when it failed, and what to do; one that died before it could says less."""
    import json

    try:
        error = json.loads(last_line)["error"]
        return say.failed(error["kind"], error["what"]), str(error["next"])
    except (ValueError, KeyError, TypeError):
        return last_line, ""
