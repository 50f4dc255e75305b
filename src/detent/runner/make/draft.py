"""The task that settings would make now, for what is tried before there is one: it has no journal and no folder."""

from __future__ import annotations

import os

from detent.core.decide import enter
from detent.effects.git.bring import wipe
from detent.effects.git.git import end_where, find_repository, tree_of, write_git_dir
from detent.effects.git.tree.tool_caches import CACHES
from detent.effects.git.tree.tree_id import LeftOut, tree_id
from detent.runner.make.begin import NewTask, Site, head_of
from detent.runner.step.proving.counted import REPORTS
from detent.runner.task.open import Task
from detent.store.journal.head import Created
from detent.store.journal.memory import Memory
from detent.store.journal.native import Native
from detent.store.journal.places import TaskPlaces
from detent.store.journal.tasks import TaskStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Machine
    from detent.runner.task.pinned import Pinned
    from detent.store.journal.places import Project
    from detent.store.journal.settings import Settings

HOME = ".doctor"  # no task id begins with a dot


class _NoJournal(TaskStore):
    """Nothing was written, and nothing is: the memory stays what it was made from."""

    def __init__(self, places: TaskPlaces, memory: Memory) -> None:
        super().__init__(places)
        self._memory = memory

    def load(self) -> Memory:
        return self._memory


def draft_of(project: Project, commit: str, settings: Settings, machine: Machine, kept: Pinned) -> Task:
    """Its control folder is its home, which `doctor` keeps; `commit` is empty without git."""
    home = os.path.join(project.home(), HOME)
    places, site = TaskPlaces(HOME, home), Site(project, commit, find_repository(project.root))
    new_task = NewTask(title=HOME, task_id=HOME, folder=os.path.join(home, "task"))
    head = head_of(Created, site, settings, machine, b"", new_task, kept, "")
    memory = Memory(head, enter(machine, ""), 0, b"", 0, "")
    return Task(project, places, _NoJournal(places, memory), memory, machine, Native(machine, head.dir, places))


def clear(task: Task) -> None:
    """Remove what its commands fetched and reported: that is of no use to any task."""
    for name in ("cache", REPORTS):
        wipe(os.path.join(task.home, name))


def frozen_tree(task: Task) -> str:
    """The tree of the commit, or of the folder as it is, in a git folder of our own: nothing touches the user's."""
    project, private, commit = task.project, task.places.private_git(), task.memory.head.baseline
    if not commit:
        inside = os.path.relpath(os.path.realpath(project.control), os.path.realpath(project.root))
        return tree_id(private, project.root, None, None, LeftOut((inside,), CACHES))
    objects = os.path.join(project.common_dir, "objects")
    write_git_dir(private, alternates=(objects,), is_sha256=len(commit) == 64, is_bare=True, durable=False)
    end_where(private, project.common_dir, durable=False)
    os.makedirs(os.path.join(private, "cache"), exist_ok=True)
    return tree_of(private, commit)
