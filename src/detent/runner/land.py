"""Takes the work of a finished task over into the user's own branch; only people ask for it, nothing is pushed.

1. look     (lock)     the task stands where work lands; the checkout is on a branch, clean, with nothing under way
2. merge    (no lock)  in memory: the last checkpoint into the branch; a conflict is named and left to the person
3. prove    (no lock)  the task's commands on the merged tree, unless their receipts for it are there
4. commit              one commit in the person's name, synced; then the branch and the files go forward to it
5. record   (lock)     all that is synced too, then one journal line

A crash after 4 is found by the next `land`: the commit it made is part of the branch already.
"""

from __future__ import annotations

import os
import shlex

from detent.core.machine import Gate
from detent.core.record import Record
from detent.effects.bring import wipe
from detent.effects.dirty import uncommitted
from detent.effects.git import Git, find_repository, tree_of
from detent.effects.merge import (
    Message,
    advance,
    commit_merged,
    merge_in_memory,
    moved_submodules,
    other_line_ends,
    person_identity,
    under_way,
)
from detent.effects.own_checkout import make_safe
from detent.effects.tree import changed_files
from detent.errors import RefusedError
from detent.gates.commands import runs_commands
from detent.runner.look import look, touched_now
from detent.runner.open import waits_at_end
from detent.runner.promises import put_in_order
from detent.runner.prove import prove_commands
from detent.runner.settle import note
from detent.store.lock import Lock
from detent.store.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.effects.dirty import Dirty
    from detent.effects.git import Repository
    from detent.runner.open import Task

# For machines none of whose gates runs commands: what the project wants run is run at the latest when work lands.
_LAST = Gate("land", "commands", {})


class Landed(Record):
    how: str  # merge, squash, or found: it was there already
    commit: str
    branch: str
    touched: tuple[str, ...] = ()  # protected files that come with it
    submodules: tuple[str, ...] = ()  # those that stand at another commit now
    unconverted: tuple[str, ...] = ()  # files with other line ends than .gitattributes wants in commits


class _Ground(Record):
    """Where the work is to land."""

    repository: Repository
    head: str
    branch: str


def land(task: Task, name: str, *, squash: bool) -> Landed:
    """Merge the work into the branch that is checked out, once its commands pass on the merged tree."""
    task = _in_order(task)
    work = checkpoint_to_land(task)
    ground = _ground(task)
    if found := _already(task, ground, work):
        return record_landing(task, name, Landed("found", found, ground.branch))
    _refuse_dirty(task, ground)
    merged = merge_in_memory(task.places.private_git(), ground.head, work)
    branch = task.memory.checkpoint["branch"]
    if merged.conflicts:
        raise RefusedError(
            f"{branch} and {ground.branch} both changed {name_some(merged.conflicts)}",
            where=ground.repository.top,
            next_step=f"merge by hand: git merge {branch}; then: detent land {task.id}",
        )
    _refuse_overwriting(task, ground, merged.tree)
    _prove(task, merged.tree)
    if _ground(task).head != ground.head:
        raise RefusedError(f"{ground.branch} moved meanwhile", next_step=f"run it again: detent land {task.id}")
    commit = commit_merged(
        task.places.private_git(),
        task.project.common_dir,
        merged.tree,
        (ground.head,) if squash else (ground.head, work),
        _message(task, ground, squash=squash),
    )
    Git(task.places.private_git()).run("update-ref", _landing(task, work), commit)
    make_safe()  # a branch must not name what a power cut could still take, nor move before the landing is known
    advance(ground.repository.top, commit)
    touched = touched_now(task, work)
    changed = [
        path for status, path in changed_files(task.places.private_git(), ground.head, merged.tree) if status != "D"
    ]
    landed = Landed(
        "squash" if squash else "merge",
        commit,
        ground.branch,
        touched=tuple(sorted({*touched.ask, *touched.report})),
        submodules=moved_submodules(task.project.common_dir, ground.head, commit),
        unconverted=other_line_ends(ground.repository.top, changed),
    )
    return record_landing(task, name, landed)


def _in_order(task: Task) -> Task:
    with Lock(task.places.lock()):
        return task.replace(memory=put_in_order(task).memory)


def checkpoint_to_land(task: Task) -> str:
    """The commit that holds the work, if this task may land at all."""
    state = task.memory.snapshot.state
    if task.memory.head["in_place"]:
        raise RefusedError(
            "this task worked in your checkout: its files are there already",
            where=task.tree_path,
            next_step="look at them and commit them: git status",
        )
    if not task.machine.states[state].lands:
        if task.machine.states[state].is_end and not waits_at_end(task.machine.states[state]):
            raise RefusedError(
                f"{state} is an end of {task.machine.name} whose work does not land",
                next_step=f"take what you want of it by hand, from: detent dir --tree {task.id}",
            )
        raise RefusedError(
            f"{state} is no state to land from: the work is not accepted yet", next_step=f"detent next {task.id}"
        )
    if not task.memory.checkpoint.get("branch"):
        raise RefusedError("there is no checkpoint to land", next_step=f"detent history {task.id}")
    return str(task.memory.checkpoint["commit"])


def _ground(task: Task) -> _Ground:
    repository = find_repository(task.project.root)
    if repository is None or repository.head is None:
        raise RefusedError("the repository this task came from is not there", where=task.project.root)
    if repository.branch is None:
        raise RefusedError(
            "your checkout is on no branch (detached HEAD)",
            where=repository.top,
            next_step=f"check out the branch to land on: git switch BRANCH; then: detent land {task.id}",
        )
    if begun := under_way(repository):
        raise RefusedError(
            f"a {begun} is under way in your checkout", where=repository.top, next_step=f"end it: git {begun} --abort"
        )
    return _Ground(repository, repository.head, repository.branch)


def _landing(task: Task, work: str) -> str:
    """Named by what it lands: work that came after a first landing is not there yet."""
    return f"refs/detent/{task.id}/landing/{work}"


def _already(task: Task, ground: _Ground, work: str) -> str:
    """The commit through which the work is part of the branch, or an empty text."""
    git = Git(task.project.common_dir)
    private = Git(task.places.private_git())
    begun = private.run("for-each-ref", "--format=%(objectname)", _landing(task, work)).decode().strip()
    for commit in (begun, task.memory.landed.get("commit", ""), work):
        if commit and git.finish("merge-base", "--is-ancestor", commit, ground.head).exit == 0:
            return commit
    return ""


def _refuse_dirty(task: Task, ground: _Ground) -> None:
    dirty = _dirty(task, ground)
    if dirty.changed or dirty.gone:
        raise RefusedError(
            f"your checkout has changes that are not committed: {name_some((*dirty.changed, *dirty.gone))}",
            where=ground.repository.top,
            next_step=f"commit them (git commit -a) or put them aside (git stash); then: detent land {task.id}",
        )


def _dirty(task: Task, ground: _Ground) -> Dirty:
    """What a person has not committed; the task's own folder is no work of theirs."""
    scratch = os.path.join(task.places.folder, f"look-{os.getpid()}")
    inside = os.path.relpath(os.path.realpath(task.native.folder), os.path.realpath(ground.repository.top))
    try:
        return uncommitted(ground.repository, ground.head, scratch, () if inside.startswith("..") else (inside,))
    finally:
        wipe(scratch)


def _refuse_overwriting(task: Task, ground: _Ground, tree: str) -> None:
    added = {path for status, path in changed_files(task.places.private_git(), ground.head, tree) if status == "A"}
    in_the_way = added.intersection(_dirty(task, ground).new)
    if in_the_way:
        raise RefusedError(
            f"files that are not committed stand in the way: {name_some(in_the_way)}",
            where=ground.repository.top,
            next_step=f"move them away; then: detent land {task.id}",
        )


def _prove(task: Task, tree: str) -> None:
    """The task's own commands, all of them, on the tree that would land."""
    if not runs_commands(task.machine):
        gates = {**task.machine.gates, _LAST.name: _LAST}
        task = task.replace(machine=task.machine.replace(gates=gates))
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        seen = look(task, settled.memory, settled.document, tree)
    for one in prove_commands(task, seen, task.machine.gates, again=True, with_before=False):
        if not one.receipt.is_green:
            told = one.receipt.problem or f"exit {one.receipt.attempts[-1]}"
            raise RefusedError(
                f"{one.receipt.command!r} fails on the merged tree ({told})",
                where=one.receipt.log,
                next_step=f"mend the branch and commit, then: detent land {task.id}",
            )


def _message(task: Task, ground: _Ground, *, squash: bool) -> Message:
    head = task.memory.head
    branch = task.memory.checkpoint["branch"]
    first = head["title"] if squash else f"Merge branch '{branch}' into {ground.branch}\n\n{head['title']}"
    name, email = person_identity(ground.repository.top)
    return Message(f"{first}\n\nDetent-Task: {task.id}\n", name, email)


def record_landing(task: Task, name: str, landed: Landed) -> Landed:
    if landed.how == "found" and task.memory.landed.get("commit") == landed.commit:
        return landed  # nothing new
    tree = tree_of(task.project.common_dir, landed.commit)
    make_safe()  # also what was found: the person's git may have made it just now, or a landing that was killed
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        content = {"by": "person", "name": name, "how": landed.how, "commit": landed.commit, "branch": landed.branch}
        note(task, settled.memory, "landed", {**content, "tree": tree})
    return landed


def commands_to_land(task: Task, *, squash: bool) -> tuple[str, ...]:
    """What a person would run to do the same by hand."""
    checkpoint_to_land(task)
    branch = shlex.quote(task.memory.checkpoint["branch"])
    title = shlex.quote(task.memory.head["title"])
    lines = [f"cd {shlex.quote(task.project.root)}"]
    if squash:
        lines += [f"git merge --squash {branch}", f"git commit -m {title}"]
    else:
        lines.append(f"git merge --no-ff {branch}")
    return tuple(lines)
