"""The step `commit`: the person's own commit of the tree that was signed off, or one that is there already."""

from __future__ import annotations

import os

from detent.effects.git.git import Git, is_object_id, tree_of
from detent.effects.git.merge import person_identity
from detent.effects.git.person_checkout import Stand, make_safe, stand_at
from detent.effects.git.person_commit import CommitRequest, commit_tree, find_made, follow, holds_tree
from detent.effects.git.tree.tree_id import changed_files
from detent.errors import RefusedError
from detent.packs.ralf import words as say
from detent.packs.ralf.commit_message import message_of, write_message
from detent.runner.step.in_place import NO_GIT, dirty_checkout, refuse_beside_run, refuse_elsewhere
from detent.store.journal.memory import UNSIGNED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.step.registry import Doing, Done, Results
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Promised

MESSAGE, SHA = "message", "sha"  # options of the command


WITHOUT = "without git"  # how a task ends that a person began so


def signed_tree(task: Task) -> str:
    """The tree of the last sign-off, reviewed and approved by a person."""
    newest = max(task.memory.signed.values(), key=lambda signed: signed.seq, default=UNSIGNED)
    return newest.tree


def message_signed(task: Task, _key: str, _promised: Promised) -> Done:
    """The words for the person's commit, where they can be read and changed before it is made."""
    base, tree = task.memory.prepared.get("baseline", {}).get("commit_sha", ""), signed_tree(task)
    names = [name for _, name in changed_files(task.places.private_git(), base, tree)] if base and tree else []
    return write_message(task, names), {}


def foresee_commit(doing: Doing) -> Stand | None:
    """Where the commit would be made, None without git; refused where no tree was approved or it stands elsewhere."""
    task = doing.task
    stand = stand_at(task.tree_path)
    if not signed_tree(task):
        raise RefusedError(say.nothing_approved(task.id))
    if stand is None and NO_GIT in doing.options:
        return None
    if stand is None:
        raise RefusedError(say.no_git(task.id), where=task.tree_path)
    refuse_beside_run(task)
    refuse_elsewhere(task)
    base = doing.done.get("baseline", {})
    if not doing.done.get("branch") and base.get("branch") not in (None, stand.branch):
        raise RefusedError(say.other_branch(stand.branch, base["branch"]), where=stand.repository.top)
    return stand


def look_commit(doing: Doing) -> dict[str, str]:
    """What is to be committed, and where; refused too where git does not know the person."""
    task, stand = doing.task, foresee_commit(doing)
    tree = signed_tree(task)
    if stand is None:
        return {"tree": tree, "how": WITHOUT}
    seen = {"tree": tree, "branch": stand.branch, "head": stand.commit}
    if sha := doing.options.get(SHA):
        return {**seen, "sha": _checked(task, stand, sha)}
    person_identity(stand.repository.top)
    return {**seen, "message": doing.options.get(MESSAGE) or message_of(task, changed_names(task, stand, tree))}


def changed_names(task: Task, stand: Stand, tree: str) -> list[str]:
    """The files a commit of this tree would change."""
    private, before = task.places.private_git(), tree_of(stand.repository.common_dir, stand.commit)
    return [name for _, name in changed_files(private, before, tree)]


def _checked(task: Task, stand: Stand, sha: str) -> str:
    """A commit that is on the branch and holds the approved tree."""
    git = Git(stand.repository.common_dir)
    found = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{sha}^{{commit}}", ok=(0, 1, 128))
    commit = found.decode().strip()
    if not is_object_id(commit):
        raise RefusedError(say.no_commit(sha), where=stand.repository.top)
    if git.finish("merge-base", "--is-ancestor", commit, stand.commit).exit != 0:
        raise RefusedError(say.commit_elsewhere(commit, stand.branch), where=stand.repository.top)
    if not holds_tree(_commit_request(task, stand, signed_tree(task), "", ""), commit):
        mine, theirs = signed_tree(task), tree_of(stand.repository.common_dir, commit)
        names = [name for _, name in changed_files(task.places.private_git(), mine, theirs)[:5]]
        raise RefusedError(say.commit_of_other_tree(commit, names, task.id), where=stand.repository.top)
    return commit


def _commit_request(task: Task, stand: Stand, tree: str, key: str, message: str) -> CommitRequest:
    scratch = os.path.join(task.places.folder, "committing")  # the task's lock is held
    return CommitRequest(task.places.private_git(), tree, stand, key, message, scratch)


def do_commit(doing: Doing) -> Results:
    """Make the commit, or find the one this step made; later edits stay in the checkout and are named."""
    task, seen = doing.task, doing.seen
    if seen.get("how") == WITHOUT:
        return {"commit": dict(seen)}
    stand = stand_at(task.tree_path)
    if stand is None or stand.branch != seen["branch"]:
        raise RefusedError(say.checkout_moved(), where=task.tree_path)
    key, commit, how = f"{task.id}/{doing.key}", seen.get("sha", ""), "recorded"
    if not commit:
        how, commit = "made", find_made(stand.repository.top, key)
        commit = commit or commit_tree(_commit_request(task, stand, seen["tree"], key, seen["message"]))
        follow(stand.repository.top)
        make_safe()
    left = dirty_checkout(task, commit)
    result = {"sha": commit, "tree": seen["tree"], "branch": seen["branch"], "how": how}
    return {"commit": {**result, "left": left.words()} if left else result}


def has_commit(doing: Doing) -> bool:
    stand = stand_at(doing.task.tree_path)
    return stand is not None and bool(find_made(stand.repository.top, f"{doing.task.id}/{doing.key}"))
