"""What a task has changed so far: its baseline against the tree as it is now, new files included."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.bring import wipe
from detent.effects.git.git import find_repository
from detent.effects.git.tree.line_ends import as_committed
from detent.effects.git.tree.tree_id import changed_files
from detent.errors import RefusedError, UsageError
from detent.page.diff import patch_text
from detent.runner.step.look import take_current_tree
from detent.store.journal.events import trees_of
from detent.words.runner import tell as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task


_SHORTEST_ID = 7  # characters, as git wants them


class Changes(Record):
    baseline: str
    tree: str
    files: tuple[tuple[str, str], ...]  # status letter and path
    text: str  # a patch, or how much of each file changed
    caches: tuple[str, ...] = ()  # folders that don't count: caches of tools


def changes(task: Task, *, stat: bool, since: str = "") -> Changes:
    """The baseline against the tree as it is, or (`since`) a tree that the task's journal names by its beginning."""
    baseline = _tree_named(task, since) if since else task.memory.began_at()
    if not baseline:
        raise RefusedError(say.no_baseline(), where=task.tree_path)
    with task.held():
        taken = take_current_tree(task)
    private, tree = task.places.private_git(), taken.id
    repository = find_repository(task.project.root) if task.memory.head.in_place and not since else None
    if repository is None:  # a clone has the very bytes of its commits
        return Changes(baseline, tree, *_between(private, baseline, tree, stat=stat), taken.caches)
    scratch = os.path.join(task.places.folder, f"look-{os.getpid()}")
    try:
        shown = as_committed(repository, private, baseline, tree, scratch)
        return Changes(baseline, tree, *_between(scratch, baseline, shown, stat=stat), taken.caches)
    finally:
        wipe(scratch)


def _tree_named(task: Task, start: str) -> str:
    """The one tree of the journal whose id begins so."""
    known = {tree for line in task.store.history() for tree in trees_of(line)}
    found = sorted(tree for tree in known if tree.startswith(start))
    if len(start) < _SHORTEST_ID or len(found) != 1:
        raise UsageError(say.no_one_tree(len(found), task.id, start, _SHORTEST_ID))
    return found[0]


def _between(git_dir: str, baseline: str, tree: str, *, stat: bool) -> tuple[tuple[tuple[str, str], ...], str]:
    return changed_files(git_dir, baseline, tree), patch_text(git_dir, baseline, tree, stat=stat)


def stat_of(task: Task, commit: str) -> str:
    """How much of each file a checkpoint changed since the baseline."""
    return patch_text(task.places.private_git(), task.memory.head.baseline, commit, stat=True)
