"""Leaves the branch of a task that was given up: back to where the work began, if the checkout is clean."""

from __future__ import annotations

from detent.effects.git.person_checkout import branch_commit, stand_at, switch
from detent.errors import RefusedError, ToolError
from detent.packs.ralf import words as say
from detent.runner.step.in_place import dirty_checkout, made_branch, overwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.step.registry import Done
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Promised


def leave_branch(task: Task, _key: str, _promised: Promised) -> Done:
    """Back to the branch the work began on, if nothing is uncommitted; branch and changes stay in any case."""
    return _left(task), {}


def _left(task: Task) -> dict[str, str]:
    """Where the checkout stands then, or why it stays where it is; the task's branch is kept in any case."""
    base, task_branch = task.memory.prepared.get("baseline", {}), made_branch(task)
    if not task_branch or not base.get("branch"):
        return {"stays": say.no_branch_of_its_own()}
    try:
        stand = stand_at(task.tree_path)
        if stand is None or stand.branch != task_branch:
            return {"stays": say.not_on_branch(task_branch)}
        if dirty := dirty_checkout(task, stand.commit):
            return {"stays": say.not_committed(dirty.words())}
        target = branch_commit(stand.repository.common_dir, base["branch"])
        if not target:
            return {"stays": say.branch_gone(base["branch"])}
        if found := overwritten(task, stand.repository.top, stand.commit, target):
            return {"stays": say.in_the_way(found)}
        switch(stand.repository.top, base["branch"])
    except (RefusedError, ToolError) as problem:
        return {"stays": problem.what}  # a checkout is its user's; giving a task up must not depend on it
    return {"left": task_branch, "to": base["branch"]}
