"""The engine's own commits on the branch of a task that works in the person's checkout: exactly one tree each.

The person's git adds the files, because they may need its filters, but no hook runs, the identity is the engine's, and
no branch but the task's own is moved. A commit is found again by its trailer, so that a repetition makes none twice.
Files of the checkout are not touched; its index follows, where that branch is checked out.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.bring import wipe
from detent.effects.git.git import Git, check_object_id, tree_of
from detent.effects.git.merge import person_git
from detent.effects.git.person_checkout import Stand, branch_commit, make_safe, quiet_git
from detent.effects.git.person_commit import TRAILER, CommitRequest, follow, index_of
from detent.errors import RefusedError, ToolError
from detent.store.disk.atomic import make_folders
from detent.words.effects import git as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.effects.git.git import Repository

_MOST_COMMITS = 50
_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Detent"), ("EMAIL", "detent@localhost"))
}
_FILE = "100644"


class BranchCommit(Record):
    """One commit that is to be on a task's branch."""

    repository: Repository
    branch: str
    private_git: str
    tree: str  # of the private git: bytes as they are on disk
    key: str  # names this one step of this one move, for ever
    message: str
    scratch: str  # a folder of our own
    person_tree: str = ""  # the same as a tree of the person's repository, where that is known


def local_filters(repository: Repository) -> tuple[str, ...]:
    """Settings of this repository alone that name a program for git to run on files, or another file of settings."""
    found: list[str] = []
    for name in ("config", "config.worktree"):
        path = os.path.join(repository.common_dir, name)
        if os.path.exists(path):
            query = ("config", "--file", path, "--no-includes", "--name-only", "--list")
            found += Git(repository.common_dir).run(*query).decode("utf-8", "replace").splitlines()
    return tuple(dict.fromkeys(name for name in found if name.startswith(("filter.", "include.", "includeif."))))


def find_step(repository: Repository, branch: str, key: str) -> str:
    """The commit that this very step made on a branch; empty when there is none."""
    form = f"--format=%H%x00%(trailers:key={TRAILER},valueonly,separator=%x20)"
    options = (f"--max-count={_MOST_COMMITS}", form, f"refs/heads/{branch}", "--")
    listed = Git(repository.common_dir).run("log", *options).decode("utf-8", "replace")
    rows = (line.split("\0") for line in listed.splitlines())
    return next((row[0] for row in rows if len(row) == 2 and key in row[1].split()), "")


def commit_on_branch(wanted: BranchCommit) -> str:
    """Make the commit, or find it; its id. An empty one is made too: every gate has its own."""
    repository, branch = wanted.repository, wanted.branch
    tip = branch_commit(repository.common_dir, branch)
    if not tip:
        raise RefusedError(say.branch_of_task_gone(branch), where=repository.top)
    commit = find_step(repository, branch, wanted.key) or _commit(wanted, tip)
    if repository.branch == branch:
        follow(repository.top)
    make_safe()  # a line tells of it next
    return commit


def _commit(wanted: BranchCommit, tip: str) -> str:
    top = wanted.repository.top
    stand = Stand(wanted.repository, wanted.branch, tip)
    try:
        make_folders(wanted.scratch)
        taken = CommitRequest(wanted.private_git, wanted.tree, stand, wanted.key, wanted.message, wanted.scratch)
        tree = wanted.person_tree or index_of(taken)
    finally:
        wipe(wanted.scratch)
    message = f"{wanted.message.rstrip()}\n\n{TRAILER}: {wanted.key}\n".encode()
    options = ("-c", "commit.gpgSign=false", "-c", "core.fsmonitor=false", "commit-tree", "-p", tip, tree)
    finished = person_git(top, *options, input_bytes=message, more=_IDENTITY)
    if finished.exit != 0:
        said = " ".join(finished.stderr.decode("utf-8", "replace").split())
        raise ToolError(say.failed("commit-tree", said), where=top)
    commit = check_object_id(finished.stdout.decode().strip())
    if tree_of(wanted.repository.common_dir, commit) != tree:
        raise ToolError(say.commit_holds_other(commit), where=top)
    make_safe()  # a branch must not name what a power cut could still take: it would stop every git here
    quiet_git(top, "update-ref", "-m", f"detent: {wanted.key}", f"refs/heads/{wanted.branch}", commit, tip)
    return commit


def tree_with_files(private_git: str, tree: str, files: Mapping[str, bytes], scratch: str) -> str:
    """A tree of the private git with these files laid over it; they are what no tree id counts."""
    if not files:
        return tree
    index = os.path.join(scratch, "with-files")
    try:
        make_folders(scratch)
        git = Git(private_git, None, index)
        git.run("read-tree", check_object_id(tree))
        rows = []
        for name, data in files.items():
            blob = git.run("hash-object", "-w", "--stdin", "--no-filters", input_bytes=data).decode().strip()
            rows.append(f"{_FILE} {blob}\t{name}\0")
        git.run("update-index", "--add", "-z", "--index-info", input_bytes="".join(rows).encode())
        return git.run("write-tree").decode().strip()
    finally:
        wipe(scratch)
