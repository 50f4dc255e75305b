"""Brings the files of a task's tree back to a checkpoint, or to what a reset took away; the state stays where it is.

1. find the point; 2. keep what stands there now, new files too, as a commit under a private ref; 3. put the files back,
and with what a reset took away the branch it deleted; 4. one journal line. A crash on the way leaves the kept commit:
the same command does the rest, and its line names what stood there before the first of them. It is also a way out where
a reset was cut short and can't be settled.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.acts import keep_commit
from detent.effects.git.git import Git, find_repository, tree_of
from detent.effects.git.person_checkout import stand_at, stand_on
from detent.effects.git.put_back import PutBack, put_back
from detent.effects.git.saved_work import backup_ref, find_saved
from detent.effects.workspace.home import HomeSpec, is_born, make_home_tree
from detent.errors import RefusedError, UnreadableError, UsageError
from detent.runner.step.changing import changing, settle
from detent.runner.step.disorder import read_document
from detent.runner.step.in_place import adopted_branch, refuse_beside_run, refuse_branch_of_other
from detent.runner.step.look import current_tree
from detent.runner.step.promises import keep_promises
from detent.store.disk.lock import Lock
from detent.store.journal.events import Acted, Moved, RestoredTree, Unprepared
from detent.store.journal.line import FILE
from detent.store.journal.places import branch_of
from detent.words.runner import people as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.runner.step.change import Change
    from detent.runner.task.open import Task
    from detent.store.journal.line import Line


class Restored(Record):
    """What was done, and where the files are that stood there before."""

    seq: int  # the journal line whose checkpoint it is; 1 is the baseline
    tree: str
    kept: str  # a commit of the private git, "" when nothing differed
    files: PutBack


class _Point(Record):
    seq: int
    commit: str
    branch: str = ""  # that a reset led away from
    head: str = ""  # where it stood
    is_tasks: bool = True  # else the checkout stood on a branch that is not the task's


def restore(task: Task, name: str, seq: int | None) -> Restored:
    """The tree as it was at a checkpoint, by the line of its move; without one, at the last."""
    if not task.memory.head.baseline:
        raise RefusedError(say.no_checkpoints(), where=task.tree_path)
    with changing(task, settles=False) as change, Lock(task.project.checkout_lock()):
        settle(change)
        keep_promises(change)  # not what is being prepared: it may be what goes wrong
        task = change.task
        _refuse_final(task)
        _refuse_among_others(task)
        point = _point(task, task.store.history(), seq)
        if not os.path.isdir(task.tree_path):
            _remake(task)
        now = current_tree(task)
        private = task.places.private_git()
        wanted = tree_of(private, point.commit)
        ref = f"refs/detent/{task.id}/{change.memory.snapshot.seq + 1}-before-restore"
        kept = _begun(private, ref)
        done = PutBack()
        if now != wanted or _is_lost(task, point):
            new = keep_commit(private, ref, now, point.commit, f"{task.id}: before restore to line {point.seq}")
            kept = kept or new
            done = put_back(private, task.tree_path, now, wanted)
        if not kept:
            return Restored(point.seq, wanted, "", done)
        is_there = _has_branch_again(task, point)
        branch = {"branch": {"name": point.branch}} if is_there and point.is_tasks else {}
        line = RestoredTree(by="person", name=name, checkpoint=point.seq, tree=wanted, kept=kept, prepared=branch)
        _write_down(change, line)
    return Restored(point.seq, wanted, kept, done)


def _write_down(change: Change, line: RestoredTree) -> None:
    if line.prepared:  # the document may show the branch
        change.document = read_document(change.task)
        written = change.document.state
        change.write(line, request=written if written != change.memory.snapshot.state else "", reach=FILE)
    else:
        change.write(line)
    if intent := change.memory.intent:
        step = f"{intent.seq}:{next(iter(intent.prepare))}"
        change.write(Unprepared(step=step, edge=intent.edge, why=say.brought_back_instead()))


def _refuse_final(task: Task) -> None:
    state = task.memory.snapshot.state
    if state in task.machine.store.final:
        raise RefusedError(say.is_final(state), where=task.tree_path)


def _refuse_among_others(task: Task) -> None:
    """In a shared checkout the files may be another task's work, and its agent may be in the midst of them."""
    refuse_beside_run(task)
    repository = find_repository(task.tree_path)
    if repository is not None and repository.branch:
        refuse_branch_of_other(task, repository.branch)


def _begun(private: str, ref: str) -> str:
    """What a restore that died before its line had kept; empty when there was none."""
    listed = Git(private).run("for-each-ref", "--format=%(objectname)", "--sort=refname", ref, f"{ref}+*").decode()
    return next(iter(listed.split()), "")


def _point(task: Task, entries: Sequence[Line], seq: int | None) -> _Point:
    points = [_Point(1, task.memory.head.baseline)]
    for entry in entries:
        if isinstance(entry, Acted) and "commit" in entry.result:
            points.append(_Point(int(entry.step.partition(":")[0]), entry.result["commit"]))
        reset = (entry.prepared or {}).get("reset", {}) if isinstance(entry, Moved) else {}
        if reset.get("saved"):
            points.append(_left_by(task, entry.seq, reset["saved"], reset))
    points += _cut_short(task)
    found = [point for point in points if seq in (None, point.seq)]
    if not found:
        raise UsageError(say.no_checkpoint_there(seq, [point.seq for point in points], task.id))
    return found[-1]


def _cut_short(task: Task) -> list[_Point]:
    """What a reset saved whose move was not made."""
    intent = task.memory.intent
    seen = intent.prepare.get("reset", {}) if intent else {}
    if not seen:
        return []
    saved = find_saved(task.project.common_dir, backup_ref(task.id, f"{intent.seq}:reset"))
    return [_left_by(task, intent.seq, saved[0].commit, seen)] if saved else []


def _left_by(task: Task, seq: int, commit: str, reset: Mapping[str, str]) -> _Point:
    """Where a reset began."""
    branch = reset["branch"] if reset["branch"] != reset["to"] else ""
    is_tasks = reset.get("left", "") in ("", adopted_branch(task))
    return _Point(seq, commit, branch, reset["head"], is_tasks)


def _is_lost(task: Task, point: _Point) -> bool:
    """Whether the branch of a point is not the one that is checked out."""
    repository = find_repository(task.tree_path) if point.branch else None
    return repository is not None and repository.branch != point.branch


def _has_branch_again(task: Task, point: _Point) -> bool:
    if not point.branch:
        return False
    stand = stand_at(task.tree_path)
    if stand is None:
        return False
    stand_on(stand, point.branch, point.head, f"detent: {task.id} restored line {point.seq}")
    return True


def _remake(task: Task) -> None:
    """The clone is gone; a new one starts at the baseline."""
    head = task.memory.head
    repository = find_repository(task.project.root)
    if head.in_place or repository is None:
        raise UnreadableError(say.checkout_gone(task.id), where=task.tree_path)
    branch = branch_of(head.machine, head.id)
    make_home_tree(HomeSpec(folder=head.home, source=repository, commit=head.baseline, branch=branch))
    is_born(head.home)
