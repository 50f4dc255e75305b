"""What a task has in its project: the repository, what lies in the tree and is no work, the name of the active one."""

from __future__ import annotations

import os

from detent.effects.git.git import Repository, find_repository
from detent.runner.task.layout import is_tracked, moving_files, named_in, store_root
from detent.store.disk.atomic import make_folders, read_plain, write_atomic
from detent.store.journal.places import lies_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task


def repository_of(task: Task) -> Repository | None:
    """The user's repository, also where the tree is a clone: what an agent writes into its own `.git` is not asked."""
    if not task.project.common_dir:
        return None
    return find_repository(task.tree_path if task.memory.head.in_place else task.project.root)


def left_out(task: Task) -> tuple[str, ...]:
    """What lies in the tree but is no work: the tasks' own folders, a control plane without git, what set-up made."""
    root, store = os.path.realpath(task.tree_path), task.machine.store
    native = os.path.realpath(task.native.folder)
    outside = [native, os.path.realpath(task.project.control)]
    if is_tracked(store):
        outside[:1] = [os.path.join(native, name) for name in moving_files(store)]
    elif shared := store.root:
        outside.append(os.path.join(root, shared))
    inside = [os.path.relpath(path, root) for path in outside if path != root and lies_in(path, root)]
    return (*(path for path in inside if "/.git/" not in f"/{path}"), *task.memory.set_up.left_out)


def aside_folder(task: Task, *, is_in_tree: bool = False) -> str:
    """Where damaged files go: beside their place, which is what an empty answer means, unless that is part of the work.

    There they would be judged and committed with it.
    """
    return task.places.aside() if is_in_tree or is_tracked(task.machine.store) else ""


def choose_active(task: Task) -> str:
    """Remember the chosen task, where the machine keeps such a file; returns its path."""
    store = task.machine.store
    if not (store.root and store.active):
        return ""
    path = os.path.join(store_root(store, task.root), store.active)
    make_folders(os.path.dirname(path))
    if read_plain(path) != f"{task.id}\n".encode():
        write_atomic(path, f"{task.id}\n".encode(), durable=False)
    return path


def forget_active(task: Task) -> None:
    """Remove the file that names the chosen task, if it names this one: it is gone."""
    store = task.machine.store
    if store.root and store.active:
        path = os.path.join(store_root(store, task.root), store.active)
        if named_in(path) == task.id:
            os.unlink(path)
