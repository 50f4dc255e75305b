"""Checks the landing that the journal records against git: the work is on a branch, or the line is not true."""

from __future__ import annotations

from detent.effects.git.git import Git, is_object_id, tree_of
from detent.effects.git.landed_work import find_landed
from detent.errors import ToolError
from detent.runner.tell.landed import branches_of_tasks, work_of
from detent.store.journal.events import Landed
from detent.verify.replay.lines import Finding
from detent.words.verify import witness as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detent.runner.task.open import Task
    from detent.store.journal.line import Line


def check_landed(task: Task, entries: Sequence[Line]) -> Iterator[Finding]:
    """The last `landed` line, which is the one that counts; one that a person reset since is not true any more."""
    last = next((entry for entry in reversed(entries) if isinstance(entry, Landed)), None)
    if last is None or not task.project.common_dir:
        return
    number, commit, branch = last.seq, str(last.commit), str(last.branch)
    work = work_of(task, entries, {}, until=number)
    if not is_object_id(commit):
        yield Finding(number, "landed", say.no_commit(commit))
        return
    git = Git(task.project.common_dir)
    try:
        has_commit = git.finish("cat-file", "-e", f"{commit}^{{commit}}").exit == 0
        if has_commit and tree_of(task.project.common_dir, commit) != last.tree:
            yield Finding(number, "landed", say.other_tree(commit))
        ref = f"refs/heads/{branch}"
        has_branch = git.finish("rev-parse", "--verify", "--quiet", ref).exit == 0
        is_there = has_commit and git.finish("merge-base", "--is-ancestor", commit, ref).exit == 0
    except ToolError as error:
        yield Finding(number, "landed", say.repository_unreadable(error.what))
        return
    # A branch that a person deleted may have gone into another one.
    is_named = has_branch and ref not in work.of_task
    looked = work.replace(branch=ref) if is_named else work.replace(of_tasks=branches_of_tasks(task.project))
    shown = find_landed(looked)
    if not shown:
        what = say.no_landing_on(commit, branch) if has_commit else say.no_landing(commit)
        if is_there:
            what = say.landing_without_work(commit, branch)
        # A pushed pull request is decided elsewhere: this repository need not show how.
        yield Finding(number, "landed", what, is_warning=last.how == "pr" and commit == work.commit)
    elif not is_there:
        what = say.no_longer_on_branch(commit, branch, shown)
        yield Finding(number, "landed", what, is_warning=True)
