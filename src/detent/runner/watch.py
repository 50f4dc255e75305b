"""Drives many tasks at once: one supervisor per project, woken by ends of runs, by the bell, and every 30 s.

The supervisor itself only waits, writes down ends, answers requests and keeps budgets. All that can take long
(proof, set-up, starting a run) is done by one short-lived process per task, so that no task waits for another's tests.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from detent.core.record import Record
from detent.effects.agents.events import EventReader
from detent.effects.children import Child, Children
from detent.effects.keeper_process import EVENTS
from detent.effects.keeper_watch import Watch
from detent.errors import DetentError, LockedError, RefusedError
from detent.runner.drive import Rest, keep_budget, resting
from detent.runner.drops import answer_drops
from detent.runner.ending import end_run
from detent.runner.mandate import ring
from detent.runner.open import load_all, load_task
from detent.store.atomic import make_folders
from detent.store.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from detent.runner.drive import Reply
    from detent.runner.open import Task
    from detent.store.places import Project

POLL_S = 30.0  # the safety net: every driven task is looked at this often whatever was or was not heard
TICK_S = 0.25  # between two looks at requests and budgets of living runs
DEFAULT_JOBS = 4


class Told(Record):
    """What the supervisor says of one task."""

    id: str
    text: str
    rest: Rest | None = None


class Supervisor:
    """`wanted` says which tasks are driven; without it, those a person has started."""

    def __init__(
        self,
        project: Project,
        tell: Callable[[Told], None],
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
        self.readers: dict[str, EventReader] = {}
        self.rests: dict[str, Rest] = {}
        self.begun: dict[str, tuple[int, int]] = {}  # runs and journal lines there were when we began
        self.held: set[str] = set()  # refused for what others do; tried again when one of them has ended
        self.watch = Watch()
        self.watched: dict[str, str] = {}  # run folder -> task
        self.children = Children()
        self.is_called_off = False

    def stop(self) -> None:
        """Let `run` end soon; for another thread than the one it works in. What was started goes on by itself."""
        self.is_called_off = True
        ring(self.project)

    def run(self, *, until_rest: bool) -> Mapping[str, Rest]:
        """Drive until everything rests, or for ever; a second supervisor of the same project is refused."""
        make_folders(self.project.control)  # who watches first may be there before the first task
        try:
            with Lock(self.project.watch_lock(), wait_s=0.0):
                return self._run(until_rest=until_rest)
        except LockedError as error:
            raise RefusedError(
                "this project is being watched already",
                where=self.project.watch_lock(),
                next_step="give tasks to it with: detent start TASK",
            ) from error

    def _run(self, *, until_rest: bool) -> Mapping[str, Rest]:
        bell = _Bell(self.project.bell())
        due = 0.0
        try:
            while not self.is_called_off:
                rung = bell.was_rung()
                if rung or time.monotonic() >= due:
                    self.look_at_all()
                    due = time.monotonic() + POLL_S
                if until_rest and not self.children and not self.watched and self._all_rest():
                    return self.rests
                self._wait(bell)
            return self.rests
        finally:
            bell.close()
            self.watch.close()

    def _all_rest(self) -> bool:
        return all(name in self.rests for name in self.tasks)

    def look_at_all(self) -> None:
        self.held.clear()
        for listed in load_all(self.project):
            if listed.memory is None or listed.machine is None:
                continue
            is_wanted = listed.memory.driven.get("on", False) if self.wanted is None else listed.id in self.wanted
            # A run that lives is seen to its end, whoever started it.
            if is_wanted or listed.id in self.tasks or (self.wanted is None and listed.memory.run):
                self.look_at(listed.id)

    def look_at(self, name: str) -> None:
        """Bring one task on as far as it goes without waiting."""
        if name in self.children:
            return
        try:
            task = self.tasks[name] = load_task(self.project, name)
            self.begun.setdefault(name, (task.memory.runs, task.memory.snapshot.seq))
            if task.memory.run:
                task = self.tasks[name] = end_run(task)
        except DetentError as error:
            self._give_up(name, f"{error.kind}: {error.what}")
            return
        if task.memory.run:
            self._watch_run(task)
            return
        rest = None if task.memory.ended else self._rest(task)
        if rest is None:
            self._send(task)
        elif name not in self.rests or self.rests[name].task.memory.snapshot.seq != task.memory.snapshot.seq:
            self.rests[name] = rest
            self.tell(Told(name, rest.text, rest))

    def _rest(self, task: Task) -> Rest | None:
        driven, (runs, seq) = task.memory.driven, self.begun[task.id]
        # Who names a task now means it, whatever was said of it before.
        if driven and not driven["on"] and (self.wanted is None or driven["seq"] > seq):
            return Rest(task, "person", f"stopped by {driven['name']}")
        if self.once and task.memory.runs > runs:
            return Rest(task, "running", "one run was asked for")
        return resting(task)

    def _watch_run(self, task: Task) -> None:
        folder = task.places.run(task.memory.run["run"])
        if folder not in self.watched:
            self.watched[folder] = task.id
            self.watch.add(folder)
            self.readers[task.id] = EventReader(os.path.join(folder, EVENTS), task.memory.run["events"])
            self.tell(Told(task.id, f"agent run #{task.memory.run['run']}: {task.memory.run['agent']}"))

    def _send(self, task: Task) -> None:
        """Let a process of its own decide what ended, take open moves and start the next run."""
        if task.id in self.held or len(self.children) + len(self.watched) >= self.jobs:
            return  # the next end makes room, and then everything is looked at again
        self.rests.pop(task.id, None)
        since = 0 if self.wanted is None else self.begun[task.id][1]
        words = ["run", "--no-wait", "--since", str(since), "--json", "--repo", self.project.root, task.id]
        self.children.start(task.id, words, os.path.join(task.places.folder, "drive.log"))

    def _wait(self, bell: _Bell) -> None:
        # Living runs are looked at between two ticks; while none lives there is nothing to look at.
        folder = self.watch.wait(TICK_S if self.watched else POLL_S, also=(*self.children.handles(), bell.descriptor))
        if folder is not None:
            name = self.watched.pop(folder)
            self.readers.pop(name, None)
            self.look_at(name)
        ended = self.children.ended()
        for child in ended:
            self._after(child)
        if folder is not None or any(child.name not in self.held for child in ended):
            self.held.clear()
        if folder is not None or ended:
            self._look_for_room()
        for name in self.watched.values():
            answer_drops(self.tasks[name], self.reply)
            keep_budget(self.tasks[name], self.readers[name])

    def _after(self, child: Child) -> None:
        if child.code == 1 and (self.watched or self.children):
            self.held.add(child.name)
        elif child.code not in (0, 4, 6):
            self._give_up(child.name, f"it can't be driven: {child.last_line}")
        else:
            self.look_at(child.name)

    def _give_up(self, name: str, why: str) -> None:
        """One task that can't be driven keeps no other from it; a later look tries it again."""
        task = self.tasks.get(name)
        rest = None if task is None else Rest(task, "stopped", why)
        if rest is not None:
            self.rests[name] = rest
        self.tell(Told(name, why, rest))

    def _look_for_room(self) -> None:
        for name in list(self.tasks):
            if name not in self.rests and name not in self.watched.values():
                self.look_at(name)


class _Bell:
    """The named pipe that `start`, `stop` and friends write to."""

    def __init__(self, path: str) -> None:
        with suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        # Opened for both, so that it never ends when the last one who rang closes it.
        self.descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def was_rung(self) -> bool:
        try:
            return bool(os.read(self.descriptor, 4096))
        except BlockingIOError:
            return False

    def close(self) -> None:
        os.close(self.descriptor)
