"""Says whether an id and a folder are free for a new task; looks only, except for what a killed `new` left."""

from __future__ import annotations

import os

from detent.effects.git.git import Git
from detent.effects.workspace.home import is_taken, sweep_homes
from detent.errors import RefusedError, UnreadableError, UsageError
from detent.store.disk.atomic import read_plain
from detent.store.journal.places import Project, TaskPlaces, check_task_id, lies_in, read_pointer
from detent.store.journal.tasks import TaskStore
from detent.words.runner import make as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.core.machine import Machine
    from detent.words.message import Message

_LONGEST_SLUG = 40


def free_id(project: Project, wanted: str, title: str) -> str:
    """The wanted id, if no task has it; without one, a free id made from the title."""
    # A lost journal does not free its id: the files of that task are still there.
    taken = {*project.task_ids(), *_lost_ids(project)}
    sweep_homes(project.home(), taken, project.common_dir)
    if wanted:
        if check_task_id(wanted) in taken:
            raise UsageError(say.id_taken(wanted))
        if is_taken(home := os.path.join(project.home(), wanted)):
            raise RefusedError(say.tree_of_another_time(wanted), where=home)
        return wanted
    words = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in title.lower())
    slug = "-".join(part for part in words.split("-") if part)[:_LONGEST_SLUG].strip("-") or "task"
    number = 1
    while (name := slug if number == 1 else f"{slug}-{number}") in taken or is_taken(
        os.path.join(project.home(), name)
    ):
        number += 1
    return name


def _lost_ids(project: Project) -> tuple[str, ...]:
    folder = project.tasks_folder()
    return tuple(name for name in os.listdir(folder) if os.path.exists(project.task(name).snapshot()))


def refuse_place(folder: str, project: Project, baseline: str) -> None:
    """A task folder is left out of the tree, so it may hold nothing of it, nor lie where git or detent keep theirs."""
    root = os.path.realpath(project.root)
    why: Message | None = None
    if lies_in(root, folder):
        why = say.holds_project(project.root)
    elif any(lies_in(folder, os.path.realpath(place)) for place in (project.common_dir, project.control) if place):
        why = say.inside_git()
    elif baseline and lies_in(folder, root):
        inside = os.path.relpath(folder, root)
        if Git(project.common_dir).run("ls-tree", "-z", "--name-only", f"{baseline}", "--", f"{inside}/"):
            why = say.holds_files()
    if why:
        raise RefusedError(why, where=folder)


def refuse_second(folder: str, project: Project) -> None:
    """No two tasks of a project share a folder, whatever has become of the pointer in it."""
    for task_id in project.task_ids():
        try:
            taken = os.path.realpath(str(TaskStore(project.task(task_id)).load().head.dir)) == folder
        except UnreadableError:
            continue  # it says nothing of its folder any more; `doctor` shows it
        if taken:
            raise RefusedError(say.folder_of_task(task_id, task_id), where=folder)


def _belongs_to(folder: str, control: str) -> bool:
    """Whether a task's journal names this folder; in a copy of a task folder the pointer means nothing."""
    store = TaskStore(TaskPlaces(os.path.basename(control), control))
    try:
        return os.path.realpath(str(store.load().head.dir)) == os.path.realpath(folder)
    except UnreadableError:
        # Without a journal it is what a killed `new` left, or its repository is gone; a damaged one still counts.
        return any(os.path.exists(path) for path in (store.places.journal(), store.places.snapshot()))


def refuse_taken(folder: str, machine: Machine, texts: Mapping[str, bytes]) -> None:
    """A file that holds just what we would write is what a killed `new` left; any other is never touched."""
    pointer = read_pointer(folder) if os.path.isdir(folder) else None
    if pointer and _belongs_to(folder, pointer):
        raise RefusedError(say.folder_of_task(os.path.basename(pointer), folder), where=folder)
    names = [name for name, text in texts.items() if _holds_else(os.path.join(folder, name), text)]
    if names:
        raise RefusedError(say.folder_holds(names, folder, machine.name), where=folder)


def _holds_else(path: str, text: bytes) -> bool:
    try:
        return os.path.lexists(path) and read_plain(path) != text
    except UnreadableError:
        return True
