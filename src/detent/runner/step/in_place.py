"""Tasks that work in the person's own checkout: their branch, uncommitted files, and other tasks there."""

from __future__ import annotations

import os

from detent.effects.git.bring import wipe
from detent.effects.git.dirty import Dirty, in_the_way, uncommitted
from detent.effects.git.git import find_repository, tree_of
from detent.effects.git.saved_work import ignored_by_person
from detent.effects.git.tree.tree_id import changed_files
from detent.errors import RefusedError
from detent.runner.task.in_project import left_out
from detent.runner.task.open import load_all
from detent.store.journal.head import branch_before
from detent.words.runner import step as say

NO_GIT = "no-git"  # an option of a command: the move goes on without git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.runner.task.open import Listed, Task


def made_branch(task: Task) -> str:
    """The branch that was made for the task and not given up since; empty when there is none."""
    return str(task.memory.prepared.get("branch", {}).get("name", ""))


def adopted_branch(task: Task) -> str:
    """The branch that the file of another tool named when the task was adopted: its maker is unknown."""
    return branch_before(task.memory.head)


def dirty_checkout(task: Task, commit: str) -> Dirty:
    """What of the checkout differs from a commit, new files too; the tasks' own folders are no work."""
    repository = find_repository(task.tree_path)
    if repository is None:
        return Dirty()
    scratch = os.path.join(task.places.folder, f"look-{os.getpid()}")
    try:
        return uncommitted(repository, commit, scratch, left_out(task))
    finally:
        wipe(scratch)


def overwritten(task: Task, top: str, commit: str, target: str, *, saved: str = "") -> tuple[str, ...]:
    """What would be lost if the checkout, at `commit`, is led to the target: ignored files too, which git overwrites.

    Of files that stand in the `saved` tree only those may not give way that a person ignores for themselves.
    """
    git_dir = task.places.private_git() if saved else task.project.common_dir
    made = changed_files(git_dir, tree_of(git_dir, commit), saved) if saved else ()
    mine = ignored_by_person(top, [name for status, name in made if status == "A"])
    changes = changed_files(git_dir, saved or commit, target)
    added = [name for status, name in changes if status == "A" or (status != "D" and name in mine)]
    return in_the_way(top, added, [name for status, name in changes if status == "D" and name not in mine])


def refuse_beside_run(task: Task) -> None:
    """Two agents in one checkout would each be blamed for what the other does; nor is a branch changed below one."""
    for listed in _others_here(task):
        if listed.memory is not None and listed.memory.run:
            raise RefusedError(say.run_in_checkout(listed.memory.run.run, listed.id), where=task.tree_path)


def refuse_branch_of_other(task: Task, branch: str) -> None:
    """What one task begins on the branch of another would be mixed up with that one's work."""
    for listed in _others_here(task):
        if listed.memory is not None and listed.memory.prepared.get("branch", {}).get("name", "") == branch:
            raise RefusedError(say.branch_of_other_task(branch, listed.id), where=task.tree_path)


def refuse_elsewhere(task: Task) -> None:
    """A task that has a branch of its own works nowhere else."""
    name = made_branch(task)
    repository = find_repository(task.tree_path) if name else None
    if repository is not None and repository.branch != name:
        branch = repository.branch
        problem = say.on_branch_elsewhere(branch, name) if branch else say.on_no_branch(name)
        raise RefusedError(problem, where=repository.top)


def _others_here(task: Task) -> Iterator[Listed]:
    if not task.memory.head.in_place:
        return
    for listed in load_all(task.project):
        if listed.memory is None or listed.id == task.id:
            continue
        if listed.memory.head.tree_path == task.tree_path and listed.memory.head.in_place:
            yield listed
