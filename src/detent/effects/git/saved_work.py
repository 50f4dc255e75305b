"""Keeps the work of a checkout before it is reset, where the person's own git finds it: refs/detent/backup/TASK/LINE.

One commit holds every file that counts, new ones too, on top of the branch's own commits. Nothing here deletes a save.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.acts import keep_commit
from detent.effects.git.branches import IDENTITY, copy_objects
from detent.effects.git.git import Git, check_object_id
from detent.effects.git.merge import person_git
from detent.effects.git.person_checkout import make_safe, quiet_git
from detent.errors import ToolError
from detent.words.effects import git as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

COLLECTED = "refs/detent/collected/"  # work that had not landed when a person had it removed
_RESET = "detent: what the checkout held before it was reset"
_STAGED = "detent: what was staged before the checkout was reset"


class Saved(Record):
    ref: str
    commit: str
    tree: str
    parent: str  # the branch's own last commit


def backup_ref(task_id: str, key: str) -> str:
    """Where the work that one step of one move took away is kept; further saves of it have a mark behind."""
    return f"refs/detent/backup/{task_id}/{key.partition(':')[0]}"


def find_saved(common_dir: str, ref: str) -> tuple[Saved, ...]:
    """Every save of one step, the first one first."""
    wanted = "%(refname)%00%(objectname)%00%(tree)%00%(parent)"
    lines = Git(common_dir).run("for-each-ref", f"--format={wanted}", f"{ref}*").decode().splitlines()
    found = (Saved(*line.split("\0")) for line in lines)
    return tuple(saved for saved in found if saved.ref.rstrip("+") == ref)


def save(
    private_git: str, common_dir: str, ref: str, tree: str, parent: str, *, known: str = "", why: str = _RESET
) -> Saved:
    """Keep a tree as a commit on top of `parent`, unless this step kept the same before.

    `known`: a commit that the repository has for sure, if that is not `parent`.
    """
    before = find_saved(common_dir, ref)
    for saved in before:
        if (saved.tree, saved.parent) == (tree, parent):
            return saved
    ref = before[-1].ref + "+" if before else ref
    commit = keep_commit(private_git, ref, tree, parent, why)
    copy_objects(private_git, commit, known or parent, Git(common_dir))
    make_safe()  # a ref whose objects a power cut has taken would stop every git in this repository
    Git(common_dir).run("update-ref", ref, commit)
    return Saved(ref, commit, tree, parent)


def find_staged(common_dir: str, ref: str) -> str:
    """The ref that holds what was staged when this save was made; empty if nothing was staged besides."""
    return Git(common_dir).run("for-each-ref", "--format=%(refname)", f"{ref}-staged").decode().strip()


def save_staged(root: str, common_dir: str, ref: str, known: Sequence[str], parent: str) -> str:
    """Keep what is staged and stands in none of these trees, under the save's own ref; the ref, "" if there is none.

    The person's git makes the tree: only it may read an index with extensions of its own.
    """
    tree = quiet_git(root, "write-tree").decode().strip()
    if check_object_id(tree) in known:
        return ""
    git, ref = Git(common_dir), f"{ref}-staged"
    commit = git.run(*IDENTITY, "commit-tree", tree, "-p", check_object_id(parent), "-m", _STAGED).decode().strip()
    make_safe()
    git.run("update-ref", ref, check_object_id(commit))
    return ref


def ignored_by_person(root: str, names: Sequence[str]) -> frozenset[str]:
    """Those that a rule of the person's own ignores, in git's exclude file or their settings; no agent writes there."""
    if not names:
        return frozenset()
    data = b"".join(os.fsencode(name) + b"\0" for name in names)
    finished = person_git(root, "check-ignore", "-v", "-z", "--no-index", "--stdin", input_bytes=data)
    if finished.exit not in (0, 1):
        said = " ".join(finished.stderr.decode("utf-8", "replace").split())
        raise ToolError(say.failed("check-ignore", said), where=root)
    fields = [os.fsdecode(field) for field in finished.stdout.split(b"\0")]
    rows = zip(fields[::4], fields[2::4], fields[3::4], strict=False)  # rule's file, its line, the rule, the path
    return frozenset(
        name for source, rule, name in rows if os.path.basename(source) != ".gitignore" and not rule.startswith("!")
    )


def kept_back_by_person(root: str) -> frozenset[str]:
    """The tracked files that a person's setting hides from git: a difference there is for this host alone."""
    listed = person_git(root, "ls-files", "-v", "-z").stdout.split(b"\0")[:-1]
    return frozenset(os.fsdecode(line[2:]) for line in listed if line[:1] == b"S" or line[:1].islower())
