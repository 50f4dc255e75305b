"""Asks git whether a task's work is on a branch that is no task's. Reads only; every search has a bound.

Git shows that work has landed by one of:
1. a branch contains the commit of the work;
2. a branch contains the commit that the landing made, and that commit holds the work: it merges it, or merging the work
   into its first parent gives its tree (a squash);
3. a recent commit of a branch has the tree of the work or of that landing, or every change of the task is in it.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.git import Git, is_object_id, tree_of
from detent.effects.git.merge import merge_in_memory
from detent.effects.git.tree.tree_id import changed_files
from detent.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

MOST_TIPS = 50  # branches, newest first, whose commits are read
MOST_COMMITS = 300  # since the baseline, newest first, whose trees are compared
MOST_COMPARED = 50  # of them that are compared file by file
_FORMAT = "--format=%(objectname) %(refname)"


class Work(Record):
    """The work of one task, as its last checkpoint has it."""

    private_git: str  # knows the objects of the user's repository too
    common_dir: str
    baseline: str
    commit: str
    of_task: Collection[str]  # the task's own branches, as full names of refs
    landing: str = ""  # the commit through which it landed, as the journal says
    branch: str = ""  # look at this ref alone; empty: at every branch that is no task's
    of_tasks: Mapping[str, str] = {}  # branches of other tasks, by ref; each shows nothing while at this commit of ours

    def counts(self, ref: str, commit: str) -> bool:
        """Whether work on a branch counts as landed: not on the engine's own branches, unless a person moved one."""
        return ref not in self.of_task and self.of_tasks.get(ref) != commit


def find_landed(work: Work, most_commits: int = MOST_COMMITS) -> str:
    """The branch or commit by which git shows that the work has landed; empty where it does not."""
    if not is_object_id(work.commit):
        return ""
    try:
        if found := _containing(work, work.commit):
            return found
        is_real = is_object_id(work.landing) and holds_work(work, work.landing)
        if is_real and (found := _containing(work, work.landing)):
            return found
        return _find_among_recent(work, most_commits, is_real=is_real)
    except ToolError:
        return ""  # git that can't answer shows nothing


def holds_work(work: Work, commit: str) -> bool:
    """Whether a commit holds the work: it comes from it, has its tree or all its changes, or is a squash of it."""
    git = Git(work.private_git)
    if git.finish("merge-base", "--is-ancestor", work.commit, commit).exit == 0:
        return True
    if git.finish("cat-file", "-e", f"{commit}^{{commit}}").exit != 0:
        return False
    tree = tree_of(work.private_git, commit)
    if tree == tree_of(work.private_git, work.commit) or _has_changes(work, _changes(work), tree):
        return True
    parents = git.run("rev-list", "--parents", "--max-count=1", commit).decode().split()[1:]
    if not parents:
        return False
    merged = merge_in_memory(work.private_git, parents[0], work.commit)
    return not merged.conflicts and merged.tree == tree


def _containing(work: Work, commit: str) -> str:
    """The first branch other than a task's that contains a commit."""
    query = ("for-each-ref", _FORMAT, f"--contains={commit}", *_looked_at(work))
    finished = Git(work.common_dir).finish(*query)
    return next((_shown(name) for _, name in _counted(work, finished.stdout if finished.exit == 0 else b"")), "")


def _find_among_recent(work: Work, most_commits: int, *, is_real: bool) -> str:
    """A commit, not far from the tip of a branch, that has the tree of the work or all of its changes."""
    trees = {tree_of(work.private_git, work.commit)}
    if is_real:
        trees.add(tree_of(work.private_git, work.landing))
    changes, compared = _changes(work), 0
    for commit, tree in _recent(work, most_commits):
        if tree in trees:
            return commit[:12]
        if compared < MOST_COMPARED:
            compared += 1
            if _has_changes(work, changes, tree):
                return commit[:12]
    return ""


def _recent(work: Work, most: int) -> Iterator[tuple[str, str]]:
    git = Git(work.common_dir)
    listed_refs = git.run("for-each-ref", "--sort=-committerdate", _FORMAT, *_looked_at(work))
    tips = dict.fromkeys(commit for commit, _ in _counted(work, listed_refs))
    if not tips:
        return
    known = (f"^{work.baseline}",) if is_object_id(work.baseline) else ()
    bound = (f"--max-count={most}", "--no-commit-header", "--format=%H %T")
    listed = git.run("rev-list", *bound, *list(tips)[:MOST_TIPS], *known).decode()
    for line in listed.splitlines():
        commit, _, tree = line.partition(" ")
        yield commit, tree


def _changes(work: Work) -> frozenset[str]:
    """The files that the task changed; none where its baseline is unknown."""
    if not is_object_id(work.baseline):
        return frozenset()
    before, after = (tree_of(work.private_git, commit) for commit in (work.baseline, work.commit))
    return frozenset(path for _, path in changed_files(work.private_git, before, after))


def _has_changes(work: Work, changes: frozenset[str], tree: str) -> bool:
    """Whether a tree has every file that the task changed as the task left it; a task without changes shows nothing."""
    if not changes:
        return False
    left = tree_of(work.private_git, work.commit)
    return changes.isdisjoint(path for _, path in changed_files(work.private_git, left, tree))


def _counted(work: Work, listed: bytes) -> Iterator[tuple[str, str]]:
    """Commit and name of each listed branch on which work counts as landed."""
    rows = (line.partition(" ") for line in os.fsdecode(listed).splitlines())
    return ((commit, name) for commit, _, name in rows if work.counts(name, commit))


def _looked_at(work: Work) -> tuple[str, ...]:
    return (work.branch,) if work.branch else ("refs/heads", "refs/remotes")


def _shown(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
