"""The steps a move may have prepared in the person's checkout, each by the name a machine file gives it."""

from __future__ import annotations

from detent.effects.own_checkout import (
    Stand,
    branch_commit,
    make_branch,
    refuse_branch_name,
    stand_at,
    unmake_branch,
)
from detent.errors import RefusedError
from detent.runner.in_place import (
    dirty_checkout,
    made_branch,
    refuse_beside_run,
    refuse_branch_of_other,
    thread_branch,
)
from detent.runner.prepare_values import Doing, Step
from detent.store.tasks import utc_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.runner.prepare_values import Results

NO_GIT, NO_BRANCH = "no-git", "no-branch"  # options of a command, as a step is given them


def _stand(doing: Doing) -> Stand | None:
    """Where the checkout stands; None where the task goes without git, and a person said so."""
    stand = stand_at(doing.task.tree_path)
    if stand is None and NO_GIT not in doing.given:
        raise RefusedError(
            "this folder is no git repository, so nothing can be brought back",
            where=doing.task.tree_path,
            next_step="make it one (git init, then a first commit), or go on without: add --no-git",
        )
    return stand


def _look_baseline(doing: Doing) -> dict[str, str]:
    """Branch and commit to come back to; on the task's own branch those that were captured before."""
    stand, before = _stand(doing), doing.done.get("baseline", {})
    if stand is None:
        return {"branch": "", "commit_sha": "", "captured_at": utc_now()}
    if before and stand.branch == made_branch(doing.task):
        return dict(before)
    refuse_branch_of_other(doing.task, stand.branch)
    return {"branch": stand.branch, "commit_sha": stand.commit, "captured_at": utc_now()}


def _baseline(doing: Doing) -> Results:
    return {"baseline": dict(doing.seen)}


def _look_branch(doing: Doing) -> dict[str, str]:
    """Whether the task's branch can be made and checked out."""
    stand, name = _stand(doing), thread_branch(doing.task)
    if stand is None or NO_BRANCH in doing.given:
        return {}
    refuse_beside_run(doing.task)
    is_ours = made_branch(doing.task) == name
    if stand.branch == name and is_ours:
        return {"name": name, "found": "yes"}
    if is_ours and branch_commit(stand.repository.common_dir, name) == stand.commit:
        return {"name": name, "found": "yes"}  # made before, without work on it; it is checked out again
    refuse_branch_name(stand.repository.common_dir, name)
    if dirty := dirty_checkout(doing.task, stand.commit):
        # What a person has not committed stays theirs; whether the work may begin so is for a gate to say.
        return {"not_made": f"not committed: {dirty.words()}"}
    return {"name": name}


def _branch(doing: Doing) -> Results:
    stand, name = stand_at(doing.task.tree_path), doing.seen.get("name", "")
    if stand is None or not name:
        return {"branch": dict(doing.seen)}
    if stand.branch != name and stand.commit != doing.done["baseline"]["commit_sha"]:
        raise RefusedError("your checkout moved on meanwhile", where=stand.repository.top, next_step="try again")
    if stand.branch != name:
        make_branch(stand, name, f"detent: {doing.task.id} {doing.key}")
    return {"branch": {"name": name}}


def _has_branch(doing: Doing) -> bool:
    """It was not there when the move was intended, so that it is ours if it is there now."""
    stand, name = stand_at(doing.task.tree_path), doing.seen.get("name", "")
    return stand is not None and bool(name and branch_commit(stand.repository.common_dir, name))


def _undo_branch(doing: Doing) -> None:
    stand, name = stand_at(doing.task.tree_path), doing.seen.get("name", "")
    if stand is not None and name and not doing.seen.get("found"):
        base = doing.done["baseline"]
        before = Stand(stand.repository, base["branch"], base["commit_sha"])
        unmake_branch(stand, name, before, f"detent: {doing.task.id} undoes {doing.key}")


STEPS: Mapping[str, Step] = {
    "baseline": Step(_look_baseline, _baseline),
    "branch": Step(_look_branch, _branch, _has_branch, _undo_branch),
}
