"""Says when a task gets its home, and how many homes a project has in use; the project's lock is held for both.

Most machines get the clone when a task is made. One whose moves prepare a `workspace` gets it when work begins: until
then a task costs nothing but its folder, and only the baseline is kept for it.
"""

from __future__ import annotations

import os

from detent.effects.git.git import find_repository
from detent.effects.workspace.home import Wanted, dirty_notes, expect_home, is_born, make_home_tree
from detent.errors import RefusedError, StorageError, UnreadableError, UsageError
from detent.machines.packs import load
from detent.runner.step.registry import step_named
from detent.runner.task.open import is_over, load_all
from detent.store.disk.atomic import make_folders, read_plain
from detent.store.disk.lock import Lock
from detent.store.journal.places import branch_of, write_pointer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from detent.core.machine import Machine, Way
    from detent.effects.git.git import Repository
    from detent.runner.step.registry import Doing
    from detent.runner.task.open import Task
    from detent.store.journal.places import Project

WORKSPACE = "workspace"
LOCK_WAIT_S = 900.0  # somebody else may be cloning a large repository


def make_home(folder: str, *, is_given: bool) -> None:
    """Make a folder below the task home or one that was asked for; when that fails, say which setting to change."""
    if not os.path.isabs(folder):
        raise UsageError(
            "there is no home folder for this user, so tasks have no place",
            where=folder,
            next_step="set HOME, or XDG_STATE_HOME to a folder you can write to, then run the same command again",
        )
    try:
        make_folders(folder)
    except (StorageError, UnreadableError) as error:
        error.next_step = (
            "give another folder with --dir"
            if is_given
            else "set XDG_STATE_HOME to a folder you can write to, then run the same command again"
        )
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
    project: Project, repository: Repository, head: Mapping[str, Any], machine: Machine, *, include_dirty: bool
) -> tuple[str, ...]:
    """What a new task needs of its home now; returns what a person should know about it.

    What is not committed can only be carried over as it is now, so that such a clone is made at once.
    """
    top = os.path.realpath(repository.top)
    if os.path.isabs(project.home()) and os.path.realpath(project.home()).startswith(top + os.sep):
        raise RefusedError(
            "the task's home would lie inside the repository",
            where=project.home(),
            next_step="set XDG_STATE_HOME to a folder outside of it, or work in place: detent new --in-place",
        )
    make_home(project.home(), is_given=False)
    wanted = _wanted(repository, head).replace(include_dirty=include_dirty)
    if is_made_late(machine) and not include_dirty:
        expect_home(wanted)
        notes = dirty_notes(wanted)
    else:
        _refuse_full(project)
        notes = make_home_tree(wanted)
    write_pointer(head["home"], project.task(head["id"]))  # so that commands work from inside the clone too
    return notes


def _wanted(repository: Repository, head: Mapping[str, Any]) -> Wanted:
    inside = os.path.relpath(head["dir"], os.path.realpath(repository.top))
    return Wanted(
        folder=head["home"],
        source=repository,
        commit=head["baseline"],
        branch=branch_of(head),
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
        # What is uncommitted now was told when the task was made; since then the branch may have gone on.
        notes = make_home_tree(_wanted(repository, task.memory.head).replace(tells_dirty=False))
        is_born(task.home)
        return notes


def has_workspace(task: Task) -> bool:
    return bool(task.memory.head["in_place"]) or os.path.isdir(task.tree_path)


def unprovided(task: Task, way: Way) -> tuple[str, ...]:
    """What a move still needs before it may be committed."""
    found = ((name, step_named(name)) for name in way.prepare)
    return tuple(name for name, step in found if step.provide and not load(step.provided)(task))


def provide(task: Task, names: tuple[str, ...]) -> tuple[str, ...]:
    """Make what is needed, without the task's lock; what can't be made keeps the task where it is."""
    return tuple(note for name in names for note in load(step_named(name).provide)(task))


def _refuse_full(project: Project) -> None:
    from detent.runner.task.committed import committed_settings  # only who makes a home asks for the settings of today

    _refuse_beyond(project, committed_settings(project.root).pool_size)


def foresee_workspace(doing: Doing) -> None:
    """The same for who only looks: no git is asked, so the settings are those of the checkout, committed or not."""
    task = doing.task
    if not is_made_late(task.machine) or has_workspace(task):
        return
    from detent.store.journal.settings import FILE, parse_settings

    data = read_plain(os.path.join(task.project.root, FILE))
    _refuse_beyond(task.project, parse_settings(data, FILE).pool_size if data else 0)


def _refuse_beyond(project: Project, most: int) -> None:
    holders = tuple(_holders(project)) if most else ()
    if most and len(holders) >= most:
        raise RefusedError(
            f"no task home is free: this project may have {most}, in use by: {', '.join(holders)}",
            where=project.home(),
            next_step="finish or cancel one of them, or commit a larger [pool] size in detent.toml",
        )


def _holders(project: Project) -> Iterator[str]:
    """The tasks that have a clone and are not over."""
    for listed in load_all(project):
        if listed.memory is None or is_over(listed):
            continue
        head = listed.memory.head
        if not head["in_place"] and os.path.isdir(head["tree_path"]):
            yield listed.id
