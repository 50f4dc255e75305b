"""What a task has changed so far: its baseline against the tree as it is now, new files included."""

from __future__ import annotations

from detent.core.record import Record
from detent.effects.evidence_diff import patch_text
from detent.effects.tree import changed_files
from detent.errors import RefusedError
from detent.runner.look import current_tree
from detent.store.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.open import Task


class Changes(Record):
    baseline: str
    tree: str
    files: tuple[tuple[str, str], ...]  # status letter and path
    text: str  # a patch, or how much of each file changed


def changes(task: Task, *, stat: bool) -> Changes:
    baseline = str(task.memory.head["baseline"])
    if not baseline:
        raise RefusedError(
            "a folder without git has no baseline to compare with",
            where=task.tree_path,
            next_step="make it a git repository before the next task: git init",
        )
    with Lock(task.places.lock()):
        tree = current_tree(task)
    private = task.places.private_git()
    return Changes(
        baseline, tree, changed_files(private, baseline, tree), patch_text(private, baseline, tree, stat=stat)
    )


def stat_of(task: Task, commit: str) -> str:
    """How much of each file a checkpoint changed since the baseline."""
    return patch_text(task.places.private_git(), task.memory.head["baseline"], commit, stat=True)
