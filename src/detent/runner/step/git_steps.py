"""The steps a move may have prepared in the person's checkout, each by the name a machine file gives it."""

from __future__ import annotations

import os

from detent.effects.git.bring import wipe
from detent.effects.git.git import tree_of
from detent.effects.git.person_checkout import (
    Stand,
    branch_commit,
    delete_branch,
    make_branch,
    make_safe,
    refuse_branch_name,
    refuse_known_branch,
    refuse_target,
    remove_files,
    stand_at,
    switch,
    unmake_branch,
)
from detent.effects.git.saved_work import (
    Saved,
    backup_ref,
    find_saved,
    find_staged,
    ignored_by_person,
    save,
    save_staged,
)
from detent.effects.git.tree.tree_id import changed_files
from detent.errors import RefusedError, ToolError
from detent.runner.step.in_place import (
    NO_GIT,
    adopted_branch,
    dirty_checkout,
    made_branch,
    overwritten,
    refuse_beside_run,
    refuse_branch_of_other,
    refuse_elsewhere,
)
from detent.runner.step.look import current_tree
from detent.store.journal.memory import utc_now
from detent.store.journal.places import branch_of
from detent.words.runner import step as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from detent.runner.step.registry import Doing, Results
    from detent.runner.task.open import Task

    Look = Callable[[Doing], dict[str, str]]
    Act = Callable[[Doing], Results]

PROBLEM = "problem"
NO_BRANCH = "no-branch"  # an option of a command, as a step is given it


def _stand(doing: Doing) -> Stand | None:
    """Where the checkout stands; None where the task goes without git, and a person said so."""
    stand = stand_at(doing.task.tree_path)
    if stand is None and NO_GIT not in doing.options:
        raise RefusedError(say.no_repository(), where=doing.task.tree_path)
    return stand


def foresee_baseline(doing: Doing) -> None:
    stand, before = _stand(doing), doing.done.get("baseline", {})
    if stand is not None and not (before and stand.branch == made_branch(doing.task)):
        refuse_branch_of_other(doing.task, stand.branch)


def look_baseline(doing: Doing) -> dict[str, str]:
    """Branch and commit to come back to; on the task's own branch those that were captured before."""
    foresee_baseline(doing)
    stand, before = _stand(doing), doing.done.get("baseline", {})
    if stand is None:
        return {"branch": "", "commit_sha": "", "captured_at": utc_now()}
    if before and stand.branch == made_branch(doing.task):
        return dict(before)
    return {"branch": stand.branch, "commit_sha": stand.commit, "captured_at": utc_now()}


def do_baseline(doing: Doing) -> Results:
    return {"baseline": dict(doing.seen)}


def foresee_branch(doing: Doing) -> None:
    stand, name = _stand(doing), branch_of(doing.task.memory.head.machine, doing.task.id)
    if stand is None or NO_BRANCH in doing.options:
        return
    refuse_beside_run(doing.task)
    if made_branch(doing.task) != name:
        refuse_known_branch(stand.repository.common_dir, name)


def look_branch(doing: Doing) -> dict[str, str]:
    """Whether the task's branch can be made and checked out."""
    foresee_branch(doing)
    stand, name = _stand(doing), branch_of(doing.task.memory.head.machine, doing.task.id)
    if stand is None or NO_BRANCH in doing.options:
        return {}
    is_ours = made_branch(doing.task) == name
    if stand.branch == name and is_ours:
        return {"name": name, "found": "yes"}
    if is_ours and branch_commit(stand.repository.common_dir, name) == stand.commit:
        return {"name": name, "found": "yes"}  # made before, without work on it; it is checked out again
    refuse_branch_name(stand.repository.common_dir, name)
    if dirty := dirty_checkout(doing.task, stand.commit):
        # What a person has not committed stays theirs; whether the work may begin so is for a gate to say.
        return {"not_made": say.not_committed(dirty.words())}
    return {"name": name}


def do_branch(doing: Doing) -> Results:
    stand, name = stand_at(doing.task.tree_path), doing.seen.get("name", "")
    if stand is None or not name:
        return {"branch": dict(doing.seen)}
    if stand.branch != name and stand.commit != doing.done["baseline"]["commit_sha"]:
        raise RefusedError(say.checkout_moved(), where=stand.repository.top)
    if stand.branch != name:
        make_branch(stand, name, f"detent: {doing.task.id} {doing.key}")
        make_safe()
    return {"branch": {"name": name}}


def has_branch(doing: Doing) -> bool:
    """It was not there when the move was intended, so that it is ours if it is there now."""
    stand, name = stand_at(doing.task.tree_path), doing.seen.get("name", "")
    return stand is not None and bool(name and branch_commit(stand.repository.common_dir, name))


def undo_branch(doing: Doing) -> None:
    stand, name = stand_at(doing.task.tree_path), doing.seen.get("name", "")
    if stand is not None and name and not doing.seen.get("found"):
        base = doing.done["baseline"]
        before = Stand(stand.repository, base["branch"], base["commit_sha"])
        unmake_branch(stand, name, before, f"detent: {doing.task.id} undoes {doing.key}")


def foresee_reset(doing: Doing) -> Stand | None:
    """Refused while the checkout is not where the work was left; None where nothing is reset."""
    base = doing.done.get("baseline")
    if not base:
        raise RefusedError(say.no_baseline(doing.task.id), where=doing.task.tree_path)
    if not base["commit_sha"]:
        if NO_GIT not in doing.options:
            raise RefusedError(say.nothing_to_reset(), where=doing.task.tree_path)
        return None
    refuse_beside_run(doing.task)
    refuse_elsewhere(doing.task)
    stand = _stand(doing)
    if stand is None:
        raise RefusedError(say.repository_gone(), where=doing.task.tree_path)
    return stand


def look_reset(doing: Doing) -> dict[str, str]:
    """What a reset starts from and leads to."""
    stand = foresee_reset(doing)
    if stand is None:
        return {}
    base = doing.done["baseline"]
    refuse_target(stand, base["branch"], base["commit_sha"])
    tree = current_tree(doing.task)  # an unreadable tree can't be saved: reported before anything is intended
    _refuse_overwriting(doing.task, stand, branch_commit(stand.repository.common_dir, base["branch"]), tree)
    is_ours = stand.branch == made_branch(doing.task) != adopted_branch(doing.task)
    left = {} if is_ours or stand.branch == base["branch"] else {"left": stand.branch}
    return {"branch": stand.branch, "head": stand.commit, "to": base["branch"], **left}


def _refuse_overwriting(task: Task, stand: Stand, target: str, tree: str) -> None:
    top = stand.repository.top
    if found := overwritten(task, top, stand.commit, target, saved=tree):
        raise RefusedError(say.ignored_in_the_way(found), where=top)


def do_reset(doing: Doing) -> Results:
    """Save all that is there, go back to the branch the work began on, and only then delete what the engine made."""
    if not doing.seen:
        return {"reset": {"kept": "all files"}}
    task, seen = doing.task, doing.seen
    stand = stand_at(task.tree_path)
    if stand is None or stand.branch not in (seen["branch"], seen["to"]):
        raise RefusedError(say.checkout_moved(), where=task.tree_path)
    top, common_dir, private = stand.repository.top, stand.repository.common_dir, task.places.private_git()
    tree = current_tree(task)
    target = branch_commit(common_dir, seen["to"])
    new = [name for status, name in changed_files(private, tree_of(common_dir, target), tree) if status == "A"]
    ref = backup_ref(task.id, doing.key)
    saved = find_saved(common_dir, ref)
    if not saved:  # else the way back may have begun, and its own files are there already
        _refuse_overwriting(task, stand, target, tree)
    if not saved or (tree != tree_of(common_dir, target) and tree not in [work.tree for work in saved]):
        saved = (*saved, _save(doing, stand, ref, tree))
        save_staged(top, common_dir, ref, (tree, tree_of(common_dir, stand.commit)), stand.commit)
        make_safe()  # nothing is taken away that a power cut could take here too
    switch(top, seen["to"], force=True)
    ours = ignored_by_person(top, new)
    remove_files(top, [name for name in new if name not in ours])
    is_engines = seen["branch"] != seen["to"] and "left" not in seen
    if is_engines and branch_commit(common_dir, seen["branch"]) == seen["head"]:
        make_safe()  # else the checkout might stand on a branch that is gone
        delete_branch(top, seen["branch"], seen["head"])
    make_safe()
    result = {**seen, "backup": saved[0].ref, "saved": saved[0].commit}
    if staged := find_staged(common_dir, ref):
        result["staged"] = staged
    return {"reset": result, "branch": {}}


def _save(doing: Doing, stand: Stand, ref: str, tree: str) -> Saved:
    private, common_dir = doing.task.places.private_git(), stand.repository.common_dir
    try:
        return save(private, common_dir, ref, tree, stand.commit)
    except ToolError:
        # A power cut may have taken objects that our memory says are there: without it they are made again.
        wipe(os.path.join(private, "cache"))
        return save(private, common_dir, ref, current_tree(doing.task), stand.commit)


def has_saved(doing: Doing) -> bool:
    stand = stand_at(doing.task.tree_path)
    return stand is not None and bool(find_saved(stand.repository.common_dir, backup_ref(doing.task.id, doing.key)))


def _tried(name: str, look: Look, act: Act) -> tuple[Look, Act]:
    """The same step, which records why it can't be done where the other refuses: a gate of the next state tells it."""

    def try_look(doing: Doing) -> dict[str, str]:
        if any(PROBLEM in seen for seen in doing.done.values()):
            return {"skipped": "yes"}  # an earlier step of this move can't be done: nothing is built on it
        try:
            return look(doing)
        except RefusedError as error:
            return {PROBLEM: error.what, "fix": error.next_step}

    def try_act(doing: Doing) -> Results:
        if PROBLEM in doing.seen:
            return {f"try_{name}": {"why": doing.seen[PROBLEM], "fix": doing.seen["fix"]}}
        return {f"try_{name}": {}, **({} if "skipped" in doing.seen else act(doing))}

    return try_look, try_act


try_look_baseline, try_baseline = _tried("baseline", look_baseline, do_baseline)
try_look_branch, try_branch = _tried("branch", look_branch, do_branch)
