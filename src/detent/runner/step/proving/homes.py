"""Says when a task gets its home, and how many homes a project has in use; the project's lock is held for both.

Most machines get the clone when a task is made. One whose moves prepare a `workspace` gets it when work begins: until
then a task costs nothing but its folder, and only the baseline is kept for it.
"""

from __future__ import annotations

import os

from detent.effects.git.git import find_repository
from detent.effects.workspace.home import HomeSpec, dirty_notes, expect_home, is_born, make_home_tree
from detent.errors import RefusedError, StorageError, ToolError, UnreadableError, UsageError
from detent.machines.packs import load
from detent.runner.step.registry import step_named
from detent.runner.task.open import is_over, load_all
from detent.store.disk.atomic import make_folders, read_plain
from detent.store.disk.lock import Lock
from detent.store.journal.places import branch_of, write_pointer
from detent.words.runner import step as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.core.machine import Machine, Way
    from detent.effects.git.git import Repository
    from detent.runner.step.registry import Doing
    from detent.runner.task.open import Task
    from detent.store.journal.head import Head
    from detent.store.journal.places import Project

WORKSPACE = "workspace"
LOCK_WAIT_S = 900.0  # another task may be cloning a large repository


def make_home(folder: str, *, is_named: bool) -> None:
    """Make a folder below the task home or one that was asked for; when that fails, say which setting to change."""
    if not os.path.isabs(folder):
        raise UsageError(say.no_home_folder(), where=folder)
    try:
        make_folders(folder)
    except (StorageError, UnreadableError) as error:
        error.next_step = say.give_another_folder() if is_named else say.set_state_home()
        raise


def home_problem(project: Project) -> str:
    """Why no task can be made here: the folder for task homes can't be written. Empty when it can."""
    from tempfile import TemporaryFile

    folder = project.home()
    while not os.path.lexists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    try:
        with TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return f"{folder}: {error.strerror}"


def begin_home(
    project: Project, repository: Repository, head: Head, machine: Machine, *, include_dirty: bool
) -> tuple[str, ...]:
    """What a new task needs of its home now; returns what a person should know about it.

    What is not committed can only be carried over as it is now, so that such a clone is made at once.
    """
    top = os.path.realpath(repository.top)
    if os.path.isabs(project.home()) and os.path.realpath(project.home()).startswith(top + os.sep):
        raise RefusedError(say.home_inside_repository(), where=project.home())
    make_home(project.home(), is_named=False)
    wanted = _home_spec(repository, head).replace(include_dirty=include_dirty)
    if is_made_late(machine) and not include_dirty:
        expect_home(wanted)
        notes = dirty_notes(wanted)
    else:
        _refuse_full(project)
        notes = make_home_tree(wanted)
    write_pointer(head.home, project.task(head.id))  # so that commands work from inside the clone too
    return notes


def _home_spec(repository: Repository, head: Head) -> HomeSpec:
    inside = os.path.relpath(head.dir, os.path.realpath(repository.top))
    return HomeSpec(
        folder=head.home,
        source=repository,
        commit=head.baseline,
        branch=branch_of(head.machine, head.id),
        left_out=() if inside.startswith("..") else (inside,),
    )


def is_made_late(machine: Machine) -> bool:
    return any(WORKSPACE in way.prepare for edge in machine.edges() for way in edge.ways)


def make_workspace(task: Task) -> tuple[str, ...]:
    """The clone of a task whose work begins; where every home is in use, the task stays where it is."""
    with Lock(task.project.lock_path(), LOCK_WAIT_S):
        repository = find_repository(task.project.root)
        if has_workspace(task) or repository is None:
            return ()
        _refuse_full(task.project)
        # `new` reported the uncommitted files; since then the branch may have new commits.
        notes = make_home_tree(_home_spec(repository, task.memory.head).replace(tells_dirty=False))
        is_born(task.home)
        return notes


def has_workspace(task: Task) -> bool:
    return bool(task.memory.head.in_place) or os.path.isdir(task.tree_path)


def unprovided(task: Task, way: Way) -> tuple[str, ...]:
    """What a move still needs before it may be committed."""
    found = ((name, step_named(name)) for name in way.prepare)
    return tuple(name for name, step in found if step.provide and not load(step.provided)(task))


def provide(task: Task, names: tuple[str, ...]) -> tuple[str, ...]:
    """Make what is needed, without the task's lock; what can't be made keeps the task where it is."""
    return tuple(note for name in names for note in load(step_named(name).provide)(task))


def refuse_unworkable(task: Task, state: str) -> None:
    """Nothing is made for a state whose agent no run could open; one that is not installed yet may come."""
    from detent.runner.access.access import refuse_unseen
    from detent.runner.task.agents import agent_for

    reached = task.machine.states[state]
    if reached.driver != "agent":
        return
    try:
        agent, _choice = agent_for(task, reached.role)
    except ToolError:
        return
    refuse_unseen(task, agent)


def _refuse_full(project: Project) -> None:
    from detent.runner.task.committed import committed_settings  # only the making of a home needs the settings of today

    _refuse_beyond(project, committed_settings(project.root).pool_size)


def foresee_workspace(doing: Doing) -> None:
    """The same for readers: no git is asked, so the settings are those of the checkout, committed or not."""
    task = doing.task
    if not is_made_late(task.machine) or has_workspace(task):
        return
    from detent.store.journal.settings import FILE, parse_settings

    data = read_plain(os.path.join(task.project.root, FILE))
    _refuse_beyond(task.project, parse_settings(data, FILE).pool_size if data else 0)


def _refuse_beyond(project: Project, most: int) -> None:
    holders = tuple(_holders(project)) if most else ()
    if most and len(holders) >= most:
        raise RefusedError(say.no_home_free(most, holders), where=project.home())


def _holders(project: Project) -> Iterator[str]:
    """The tasks that have a clone and are not over."""
    for listed in load_all(project):
        if listed.memory is None or is_over(listed):
            continue
        head = listed.memory.head
        if not head.in_place and os.path.isdir(head.tree_path):
            yield listed.id
