"""Finds the files that an agent run changed and may not, and restores them."""

from __future__ import annotations

import os
from functools import partial

from detent.effects.git.put_back import put_back as put_back_files
from detent.effects.git.tree.links import changes_between, links_of
from detent.effects.git.tree.touched import shows_protected
from detent.runner.step.look import current_tree
from detent.runner.task.layout import adds_of, writes_of
from detent.store.disk.patterns import matches, protects
from detent.words.runner import run as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.effects.git.tree.tree_id import Taken
    from detent.runner.task.open import Task

_MOST_NAMES = 50


def tainted_files(task: Task, taken: Taken) -> list[str]:
    """The files of the repository that the run changed and may not: a reading role none, any other none protected."""
    run = task.memory.run
    is_forbidden = partial(_is_forbidden, task, run.access, run.role)
    if not taken.id or taken.id == run.tree:
        return []
    is_known = taken.before == run.tree
    if is_known and not any(is_forbidden(name) or _may_be_link(task, name) for name in taken.changed):
        return []  # whatever of it really differs, none is among them
    private, deny = task.places.private_git(), task.memory.head.protect["deny"]
    changes = changes_between(private, run.tree, taken.id)
    links = links_of(private, taken.id, changes) if deny else None
    onto = links.changed_links() if links is not None else {}
    leading = {name for name, paths in onto.items() if any(shows_protected(seen, deny) for seen in paths)}
    return [change.name for change in changes if is_forbidden(change.name) or change.name in leading][:_MOST_NAMES]


def _may_be_link(task: Task, name: str) -> bool:
    """Whether a changed path is a link now, or is gone and may have been one."""
    path = os.path.join(task.tree_path, name)
    return os.path.islink(path) or not os.path.lexists(path)


def _is_forbidden(task: Task, access: str, role: str, name: str) -> bool:
    folders = writes_of(task.machine.store, role)
    is_outside = bool(folders) and not name.startswith(folders)
    is_kept = is_outside or _is_original(task, role, name)
    return access == "read" or is_kept or protects(name, task.memory.head.protect["deny"])


def _is_original(task: Task, role: str, name: str) -> bool:
    """Whether a file lies where a role may only add files of certain names, and is none of them."""
    store = task.machine.store
    adds = adds_of(store, role)
    return bool(adds) and name.startswith(writes_of(store, role)) and not matches(name, adds)


def is_put_back(task: Task, role: str, tainted: Sequence[str]) -> bool:
    """Whether all that a run of this role changed and may not is undone: in a clone, and originals anywhere."""
    return not task.memory.head.in_place or (bool(tainted) and all(_is_original(task, role, path) for path in tainted))


def hook_prints_of(task: Task) -> dict[str, str]:
    """What the user's git would run at a commit, for a task in their checkout; nothing for one in a clone."""
    if not task.memory.head.in_place or not task.project.common_dir or not os.path.isdir(task.tree_path):
        return {}
    from detent.effects.git.hooks import hook_prints  # few tasks work in place

    return hook_prints(task.tree_path)


def tainted_hooks(task: Task) -> list[str]:
    """The hooks that are not as they were when the run was planned; a plan of an older version does not say."""
    before = task.memory.run.hooks
    if not before:
        return []
    from detent.effects.git.hooks import changed_hooks

    return changed_hooks(before, hook_prints_of(task))[:_MOST_NAMES]


def put_tree_back(task: Task) -> None:
    """Undo in a clone the forbidden changes of a tainted run; only after its line, or a crash would hide the taint.

    In place the checkout is the user's, with perhaps their own work too: there changes are only reported, except
    for originals beside which a role was to add files. What the run made of the files stays in the private git folder,
    under the tree id of that line.
    """
    ended = task.memory.ended
    if ended.tainted and ended.put_back:
        links = frozenset(ended.tainted)  # a link that leads to protected paths need not be one itself

        def only(name: str) -> bool:
            if task.memory.head.in_place:
                return _is_original(task, ended.role, name)
            return name in links or _is_forbidden(task, ended.access, ended.role, name)

        put_back_files(task.places.private_git(), task.tree_path, current_tree(task), ended.before, only=only)


def taint_words(task: Task) -> str:
    """Why nothing follows from a run that changed what it may not."""
    ended = task.memory.ended
    store = task.machine.store
    folders = adds_of(store, ended.role) or writes_of(store, ended.role)
    bound = say.may_write_to(folders) if folders else say.files_are_protected()
    bound = say.may_only_read() if ended.access == "read" else bound
    return say.tainted(bound, ended.tainted, ended.hooks or ())
