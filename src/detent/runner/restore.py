"""Brings the files of a task's tree back to a checkpoint; files only, the state of the task stays where it is.

1. find the checkpoint; 2. keep what stands there now, new files too, as a commit under a private ref; 3. put the files
back; 4. one journal line. A crash on the way leaves the kept commit: the same command does the rest, and its line names
what stood there before the first of them.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.acts import keep_commit
from detent.effects.git import Git, find_repository
from detent.effects.home import Wanted, is_born, make_home_tree
from detent.effects.put_back import PutBack, put_back
from detent.errors import RefusedError, UnreadableError, UsageError
from detent.runner.look import current_tree
from detent.runner.promises import put_in_order
from detent.runner.settle import note
from detent.store.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.runner.open import Task
    from detent.store.journal import Entry


class Restored(Record):
    """What was done, and where the files are that stood there before."""

    seq: int  # the journal line whose checkpoint it is; 1 is the baseline
    tree: str
    kept: str  # a commit of the private git, "" when nothing differed
    files: PutBack


class _Point(Record):
    seq: int
    commit: str


def restore(task: Task, name: str, seq: int | None) -> Restored:
    """The tree as it was at a checkpoint, by the line of its move; without one, at the last."""
    if not task.memory.head["baseline"]:
        raise RefusedError("a folder without git has no checkpoints to go back to", where=task.tree_path)
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        task = task.replace(memory=settled.memory)
        point = _point(task, task.store.history(), seq)
        if not os.path.isdir(task.tree_path):
            _remake(task)
        now = current_tree(task)
        private = task.places.private_git()
        wanted = Git(private).run("rev-parse", "--verify", f"{point.commit}^{{tree}}").decode().strip()
        ref = f"refs/detent/{task.id}/{settled.memory.snapshot.seq + 1}-before-restore"
        kept = _begun(private, ref)
        done = PutBack()
        if now != wanted:
            new = keep_commit(private, ref, now, point.commit, f"{task.id}: before restore to line {point.seq}")
            kept = kept or new
            done = put_back(private, task.tree_path, now, wanted)
        if not kept:
            return Restored(point.seq, wanted, "", done)
        content = {"by": "person", "name": name, "checkpoint": point.seq, "tree": wanted, "kept": kept}
        note(task, settled.memory, "restored_tree", content)
    return Restored(point.seq, wanted, kept, done)


def _begun(private: str, ref: str) -> str:
    """What a restore that died before its line had kept; empty when there was none."""
    listed = Git(private).run("for-each-ref", "--format=%(objectname)", "--sort=refname", ref, f"{ref}+*").decode()
    return next(iter(listed.split()), "")


def _point(task: Task, entries: Sequence[Entry], seq: int | None) -> _Point:
    points = [_Point(1, task.memory.head["baseline"])]
    points += [
        _Point(int(entry["step"].partition(":")[0]), entry["result"]["commit"])
        for entry in entries
        if entry["kind"] == "acted" and "commit" in entry["result"]
    ]
    found = [point for point in points if seq in (None, point.seq)]
    if not found:
        known = ", ".join(str(point.seq) for point in points)
        raise UsageError(
            f"line {seq} has no checkpoint", next_step=f"one of these: {known}; see: detent history {task.id}"
        )
    return found[-1]


def _remake(task: Task) -> None:
    """The clone is gone; a new one starts at the baseline."""
    head = task.memory.head
    repository = find_repository(task.project.root)
    if head["in_place"] or repository is None:
        raise UnreadableError("the checkout this task works on is not there", where=task.tree_path)
    branch = f"{head['machine']}/{task.id}"
    make_home_tree(Wanted(folder=head["home"], source=repository, commit=head["baseline"], branch=branch))
    is_born(head["home"])
