"""Merges in memory, and hands the result to the user's own checkout as the user's own git would.

The merge itself is made in the private git folder, which knows no merge driver and no setting of the person. Only
the last step, on a person's request, runs the person's git with the person's settings: their files may need filters.
"""

from __future__ import annotations

import os
import re

from detent.core.record import Record
from detent.effects.git.clone import GITLINK
from detent.effects.git.git import Git, at_home, check_object_id, find_git
from detent.effects.host import process
from detent.errors import RefusedError, ToolError
from detent.words.effects import git as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.effects.git.git import Repository
    from detent.effects.host.process import Finished

OLDEST_GIT = (2, 38)  # the first whose merge-tree writes a tree
_TIMEOUT_S = 600.0
_MOST_NAMES = 1000  # that fit into one command line
_UNDER_WAY = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
}


class Merged(Record):
    tree: str
    conflicts: tuple[str, ...]


class Message(Record):
    """A commit that is to be made in a person's name."""

    text: str
    name: str
    email: str


def merge_in_memory(private_git: str, ours: str, theirs: str) -> Merged:
    """The tree of a merge, or the paths at which it needs a person."""
    git = Git(private_git)
    version = git.run("--version").decode().split()[2]
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < OLDEST_GIT:
        wanted = ".".join(str(number) for number in OLDEST_GIT)
        raise ToolError(say.merge_needs_newer_git(version, wanted))
    arguments = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages")
    finished = git.finish(*arguments, check_object_id(ours), check_object_id(theirs))
    if finished.exit not in (0, 1):
        raise git.failure("merge-tree", finished)
    tree, *names = [os.fsdecode(field) for field in finished.stdout.split(b"\0") if field]
    return Merged(check_object_id(tree.strip()), tuple(dict.fromkeys(names)) if finished.exit else ())


def moved_submodules(git_dir: str, before: str, after: str) -> tuple[str, ...]:
    """The submodules that stand at another commit in the second commit; git leaves their files as they are."""
    options = ("-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none")
    listed = Git(git_dir).run("diff-tree", *options, check_object_id(before), check_object_id(after), "--")
    fields = listed.split(b"\0")[:-1]
    pairs = zip(fields[::2], fields[1::2], strict=True)
    return tuple(os.fsdecode(path) for facts, path in pairs if facts.split(b" ")[1] == GITLINK)


def other_line_ends(root: str, names: Sequence[str]) -> tuple[str, ...]:
    """Which of these committed files hold CRLF although .gitattributes has them converted: git calls them changed."""
    shown = person_git(root, "ls-files", "--eol", "-z", "--", *names[:_MOST_NAMES], more={"GIT_LITERAL_PATHSPECS": "1"})
    rows = (os.fsdecode(line).partition("\t") for line in shown.stdout.split(b"\0")[:-1])
    facts = ((path, *entry.split(maxsplit=2)) for entry, _, path in rows)
    return tuple(
        path
        for path, inside, _, attributes in facts
        # `text=auto` leaves a file alone that was committed with CRLF.
        if inside in ("i/crlf", "i/mixed") and re.match(r"attr/text(?!=)|attr/eol=", attributes)
    )


def under_way(repository: Repository) -> str:
    """What a person has begun in the checkout and not ended, such as a rebase; empty when nothing."""
    found = (word for name, word in _UNDER_WAY.items() if os.path.lexists(os.path.join(repository.git_dir, name)))
    return next(found, "")


def person_identity(root: str) -> tuple[str, str]:
    """Name and address the person's git would commit with."""
    finished = person_git(root, "var", "GIT_COMMITTER_IDENT")
    name, _, rest = finished.stdout.decode("utf-8", "replace").rpartition(" <")
    if finished.exit != 0 or not name.strip():
        raise RefusedError(say.git_knows_no_user(), where=root)
    return name.strip(), rest.partition(">")[0]


def commit_merged(private_git: str, common_dir: str, tree: str, parents: tuple[str, ...], message: Message) -> str:
    """A commit of the merged tree in the user's repository, under no name yet; its first parent is their branch."""
    git = Git(private_git)
    identity = ("-c", f"user.name={message.name}", "-c", f"user.email={message.email}", "-c", "commit.gpgSign=false")
    arguments = [word for parent in parents for word in ("-p", check_object_id(parent))]
    made = git.run(*identity, "commit-tree", *arguments, tree, input_bytes=message.text.encode())
    commit = made.decode().strip()
    # All that the person's branch lacks, the work too: its own branch may be gone from there.
    tips = f"{commit}\n^{parents[0]}\n".encode()
    pack = git.run("pack-objects", "--revs", "--stdout", "--quiet", input_bytes=tips)
    Git(common_dir).run("index-pack", "--stdin", input_bytes=pack)
    return commit


def person_git(root: str, *arguments: str, input_bytes: bytes = b"", more: Mapping[str, str] | None = None) -> Finished:
    """The person's git in the person's checkout, with all their settings; only for what a person asked for.

    Only upkeep is left to what the person runs: it would outlive us, and move objects that were just made safe.
    """
    return process.run(
        [find_git(), "-C", root, "-c", "gc.auto=0", "-c", "maintenance.auto=false", *arguments],
        cwd=root,
        env=person_environment(os.environ) | dict(more or {}),
        timeout_s=_TIMEOUT_S,
        input_bytes=input_bytes,
    )


def person_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The person's own, without what would lead git to another repository or wait for a keyboard."""
    kept = {name: value for name, value in at_home(environment).items() if not name.startswith("DETENT_")}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"}


def advance(root: str, commit: str) -> None:
    """Lead the checked-out branch and its files forward to a commit that has the branch for its parent."""
    # By itself git does not sync a branch: after a power cut it could be there without its bytes.
    # And it takes ignored files for worthless: an uncommitted file is never overwritten, ignored or not.
    how = ("--ff-only", "--no-overwrite-ignore", "--quiet")
    finished = person_git(root, "-c", "core.fsync=all", "merge", *how, check_object_id(commit))
    if finished.exit != 0:
        said = finished.stderr.decode("utf-8", "replace").strip() or f"exit {finished.exit}"
        raise RefusedError(say.checkout_not_updated(said), where=root)


def run_as_person(command: str, root: str) -> str:
    """What a person's own command says, run in their checkout with their environment."""
    environment = person_environment(os.environ)
    finished = process.run(("/bin/sh", "-c", command), cwd=root, env=environment, timeout_s=_TIMEOUT_S)
    if finished.exit != 0 or finished.timed_out:
        said = (finished.stderr or finished.stdout).decode("utf-8", "replace").strip() or f"exit {finished.exit}"
        raise ToolError(say.request_failed(said, command), where=root)
    return finished.stdout.decode("utf-8", "replace").strip()


def push_branch(root: str, branch: str) -> None:
    """The one push there is: the task's branch to `origin`, because a person asked for it."""
    finished = person_git(root, "push", "--quiet", "origin", f"refs/heads/{branch}:refs/heads/{branch}")
    if finished.exit != 0:
        said = finished.stderr.decode("utf-8", "replace").strip() or f"exit {finished.exit}"
        raise ToolError(say.push_failed(said, branch), where=root)
