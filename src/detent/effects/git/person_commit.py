"""The person's own commit: exactly one tree, with the person's identity, filters and hooks, by the person's git.

1. the files in which the tree differs are written aside, and an index of our own takes them in through the person's
   filters;
2. `git commit` runs with that index: hooks see it, the checkout's files are not touched;
3. where an editor would come up, after the pre-commit hook, the index is checked once more: a hook that changed the
   files to commit ends it there, before any branch moves;
4. the checkout's own index follows; files that were edited since stay as they are, uncommitted.

A commit is found again by its trailer.
"""

from __future__ import annotations

import os
import shlex

from detent.core.record import Record
from detent.effects.git.bring import wipe
from detent.effects.git.git import Git, check_object_id, tree_of
from detent.effects.git.merge import person_git
from detent.effects.git.person_checkout import make_safe, quiet_git
from detent.effects.git.saved_work import ignored_by_person, kept_back_by_person
from detent.effects.git.tree.compare import joined_names
from detent.effects.git.tree.tree_id import changed_files
from detent.errors import RefusedError
from detent.store.disk.atomic import make_folders, write_atomic
from detent.words.effects import git as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.effects.git.person_checkout import Stand
    from detent.effects.host.process import Finished

TRAILER = "Detent-Step"
_LONGEST_DIFF = 4000
_MOST_COMMITS = 50
_GITLINK = "160000"


class CommitRequest(Record):
    """The commit that is to be made."""

    private_git: str
    tree: str  # of the private git: bytes as they are on disk
    stand: Stand
    key: str
    message: str
    scratch: str  # a folder of our own

    @property
    def trailer(self) -> str:
        return f"{TRAILER}: {self.key}"


def find_made(top: str, key: str) -> str:
    """The commit that this very step made, on the checked-out branch; empty when there is none."""
    form = f"--format=%H%x00%(trailers:key={TRAILER},valueonly,separator=%x20)"
    listed = quiet_git(top, "log", f"--max-count={_MOST_COMMITS}", form, "HEAD", "--").decode("utf-8", "replace")
    rows = (line.split("\0") for line in listed.splitlines())
    return next((row[0] for row in rows if len(row) == 2 and key in row[1].split()), "")


def commit_tree(wanted: CommitRequest) -> str:
    """The id of the new commit; refused when a hook refuses or would have another tree committed."""
    try:
        make_folders(wanted.scratch)
        expected = index_of(wanted)
        if expected == tree_of(wanted.stand.repository.common_dir, wanted.stand.commit):
            raise RefusedError(say.nothing_to_commit(), where=wanted.stand.repository.top)
        make_safe()  # a branch must not name what a power cut could still take: it would stop every git here
        finished = _commit(wanted, expected)
        is_failed = finished.exit != 0 or finished.timed_out
        # A git that was killed may have made the commit before it died.
        if is_failed and not find_made(wanted.stand.repository.top, wanted.key):
            raise _refusal(wanted, expected, finished)
    finally:
        wipe(wanted.scratch)
    return quiet_git(wanted.stand.repository.top, "rev-parse", "HEAD").decode().strip()


def holds_tree(wanted: CommitRequest, commit: str) -> bool:
    """Whether a commit holds the wanted tree as this person's git would have it."""
    try:
        make_folders(wanted.scratch)
        return tree_of(wanted.stand.repository.common_dir, commit) in (wanted.tree, index_of(wanted))
    finally:
        wipe(wanted.scratch)


def follow(top: str) -> None:
    """Let the checkout's own index say what was committed; no file is touched."""
    quiet_git(top, "reset", "--quiet", "--mixed")


def index_of(wanted: CommitRequest) -> str:
    """Fill an index of our own with the wanted tree; the tree it makes in the person's repository."""
    stand, work = wanted.stand, os.path.join(wanted.scratch, "work")
    top = stand.repository.top
    wipe(work)
    make_folders(work)
    changes = changed_files(wanted.private_git, tree_of(stand.repository.common_dir, stand.commit), wanted.tree)
    # What only this person's own rules pass over was never meant for others, although it is part of the tree.
    theirs = ignored_by_person(top, [name for status, name in changes if status == "A"]) | kept_back_by_person(top)
    private = Git(wanted.private_git, work, os.path.join(wanted.scratch, "private-index"))
    private.run("read-tree", check_object_id(wanted.tree))
    links = _links(private)
    present = [name for status, name in changes if status != "D" and name not in theirs and name not in links]
    private.run("checkout-index", "--force", "-z", "--stdin", input_bytes=joined_names(present))
    _index_git(wanted, "read-tree", stand.commit)
    # First what goes: a file may stand where a folder was, and a folder where a file was.
    gone = [name for status, name in changes if status == "D" and name not in theirs]
    _index_git(wanted, "update-index", "--force-remove", "-z", "--stdin", data=joined_names(gone))
    _index_git(wanted, f"--work-tree={work}", "update-index", "--add", "-z", "--stdin", data=joined_names(present))
    moved = [f"{_GITLINK} {links[name]}\t{name}" for _, name in changes if name in links and name not in theirs]
    if moved:
        _index_git(wanted, "update-index", "--add", "-z", "--index-info", data=joined_names(moved))
    return _index_git(wanted, "write-tree").decode().strip()


def _links(private: Git) -> dict[str, str]:
    """The submodules of the tree, with their commits."""
    lines = private.run("ls-files", "-s", "-z").split(b"\0")[:-1]
    rows = (os.fsdecode(line).partition("\t") for line in lines)
    return {name: entry.split()[1] for entry, _, name in rows if entry.startswith(_GITLINK)}


def _index_git(wanted: CommitRequest, *arguments: str, data: bytes = b"") -> bytes:
    """The person's git on the index of our own."""
    top = wanted.stand.repository.top
    quiet = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
    finished = person_git(top, *quiet, *arguments, input_bytes=data, more=_apart(wanted))
    if finished.exit != 0:
        said = " ".join(finished.stderr.decode("utf-8", "replace").split())
        raise RefusedError(say.approved_not_taken(said), where=top)
    return finished.stdout


def _apart(wanted: CommitRequest) -> dict[str, str]:
    """An index of our own, and an empty place for Python's compiled files.

    Hooks and filters run outside the sandbox; compiled files of the checkout are no part of the tree that was approved.
    """
    names = {"GIT_INDEX_FILE": "index", "PYTHONPYCACHEPREFIX": "compiled"}
    return {variable: os.path.join(wanted.scratch, name) for variable, name in names.items()}


def _commit(wanted: CommitRequest, expected: str) -> Finished:
    message, seen = (os.path.join(wanted.scratch, name) for name in ("message", "seen"))
    write_atomic(message, with_trailer(wanted.message, wanted.trailer).encode(), durable=False)
    look = f'git write-tree > {shlex.quote(seen)} && test "$(cat {shlex.quote(seen)})" = {expected}; #'
    more = _apart(wanted) | {"GIT_EDITOR": look}
    options = ("--quiet", "--edit", "--no-status", "--cleanup=whitespace", f"--file={message}")
    # By itself git syncs no object: after a power cut the branch could name a commit that is empty.
    how = ("-c", "core.fsmonitor=false", "-c", "core.fsync=all")
    return person_git(wanted.stand.repository.top, *how, "commit", *options, more=more)


def with_trailer(message: str, trailer: str) -> str:
    """The message with one more trailer."""
    text = message.rstrip()
    return f"{text}\n{trailer}\n" if _ends_in_trailers(text) else f"{text}\n\n{trailer}\n"


def _ends_in_trailers(text: str) -> bool:
    last = text.rpartition("\n\n")[2]
    return "\n\n" in text and all(": " in line and " " not in line.partition(": ")[0] for line in last.splitlines())


def _refusal(wanted: CommitRequest, expected: str, finished: Finished) -> RefusedError:
    top, seen = wanted.stand.repository.top, os.path.join(wanted.scratch, "seen")
    tree = ""
    if os.path.exists(seen):
        with open(seen, encoding="ascii") as file:
            tree = file.read().strip()
    if tree and tree != expected:
        diff = quiet_git(top, "diff", "--no-color", "--no-ext-diff", expected, tree).decode("utf-8", "replace")
        return RefusedError(say.hook_changes_approved(diff[:_LONGEST_DIFF].rstrip()), where=top)
    said = (finished.stderr + finished.stdout).decode("utf-8", "replace").strip() or f"exit {finished.exit}"
    return RefusedError(say.nothing_committed(said[:_LONGEST_DIFF]), where=top)
