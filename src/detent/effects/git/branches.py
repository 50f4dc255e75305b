"""Brings checkpoints to where people and agents look: a branch of the user's repository, and the clone's own branch.

In the user's repository only a branch that stands where we ourselves put it is moved, and only forward. One that a
person made, moved or has checked out is left alone, and the next free name is taken. What a branch names is on the disk
before it, and the branch before a line tells of it. The clone's git folder belongs to the agent: it is written to as
plain files, after a check that none of them leads elsewhere, and git never starts on it.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.git import Git, check_object_id, sync_names
from detent.errors import ToolError, UnreadableError
from detent.store.disk.atomic import read_plain, write_atomic
from detent.words.effects import git as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_MOST_NAMES = 20
_LARGEST_PACK_BYTES = 512 * 1024 * 1024
IDENTITY = ("-c", "user.name=Detent", "-c", "user.email=detent@localhost")


class Bringing(Record):
    """A commit of the private git folder on its way."""

    private_git: str
    commit: str
    baseline: str
    branch: str  # the name it should have
    put: str = ""  # the commit we put there last
    put_as: str = ""  # and the name we put it under


class _Ref(Record):
    commit: str
    is_checked_out: bool


def bring_branch(bringing: Bringing, common_dir: str) -> str:
    """Have the user's repository hold the commit under a branch; returns the branch's name."""
    git = Git(common_dir)
    copy_objects(bringing.private_git, bringing.commit, bringing.baseline, git)
    sync_names(common_dir, "objects/pack", "the checkpoint")
    refs = _branches(git)
    for name in _names(bringing):
        ref = refs.get(name)
        is_there = ref is not None and ref.commit == bringing.commit
        if not is_there and (not _is_ours(bringing, ref) or _clashes(name, refs)):
            continue
        if not is_there:
            before = ref.commit if ref else "0" * len(bringing.commit)
            git.run(*IDENTITY, "update-ref", "-m", "detent: checkpoint", f"refs/heads/{name}", bringing.commit, before)
        # Also of what a step that died had made.
        sync_names(common_dir, os.path.dirname(f"refs/heads/{name}"), "the checkpoint")
        return name
    raise ToolError(say.no_free_branch(bringing.branch, _MOST_NAMES), where=common_dir)


def drop_branch(common_dir: str, name: str, put: Collection[str]) -> None:
    """Delete a branch, unless it has left the commits we put there."""
    for commit in put:
        if (ref := _branches(Git(common_dir)).get(name)) and ref.commit == commit:
            Git(common_dir).run("update-ref", "-d", f"refs/heads/{name}", commit)


def find_branches(common_dir: str, put: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Of the branches we put commits on, those that still stand at one of them and are checked out nowhere."""
    refs = _branches(Git(common_dir)) if put else {}
    return tuple(
        name
        for name, commits in put.items()
        if (ref := refs.get(name)) and ref.commit in commits and not ref.is_checked_out
    )


def _names(bringing: Bringing) -> tuple[str, ...]:
    numbered = [f"{bringing.branch}-{number}" for number in range(2, _MOST_NAMES + 1)]
    flat = bringing.branch.replace("/", "-")  # where a branch has the name of the machine, nothing can lie below it
    every = (bringing.put_as, bringing.branch, *numbered, flat, *(f"{flat}-{number}" for number in range(2, 10)))
    return tuple(dict.fromkeys(name for name in every if name))


def _branches(git: Git) -> dict[str, _Ref]:
    listed = git.run("for-each-ref", "--format=%(refname:lstrip=2)%00%(objectname)%00%(worktreepath)", "refs/heads")
    rows = (os.fsdecode(line).split("\0") for line in listed.splitlines())
    return {name: _Ref(commit, bool(path)) for name, commit, path in rows}


def _clashes(name: str, refs: dict[str, _Ref]) -> bool:
    """Git keeps branches as files: one can't lie below another."""
    parts = name.split("/")
    above = {"/".join(parts[:count]) for count in range(1, len(parts))}
    return bool(above & refs.keys()) or any(other.startswith(f"{name}/") for other in refs)


def _is_ours(bringing: Bringing, ref: _Ref | None) -> bool:
    if ref is None:
        return True
    if ref.is_checked_out or ref.commit != bringing.put:
        return False
    query = ("merge-base", "--is-ancestor", check_object_id(bringing.put), check_object_id(bringing.commit))
    return Git(bringing.private_git).finish(*query).exit == 0


def copy_objects(private_git: str, commit: str, known: str, git: Git) -> None:
    """Through a pack whose objects git hashes again, so that no object gets there under a false name."""
    tips = f"{commit}\n^{known}\n".encode()
    pack = Git(private_git).run("pack-objects", "--revs", "--stdout", "--quiet", input_bytes=tips)
    git.run("index-pack", "--stdin", input_bytes=pack)


def follow_in_clone(bringing: Bringing, tree: str, before: str) -> bool:
    """Move the clone's branch to the commit, whose files are those of the work tree; False if the agent changed it.

    The branch is moved only from where we left it: commits of the agent's own stay where they are.
    """
    git_dir = os.path.join(os.path.realpath(tree), ".git")
    ref = os.path.join(git_dir, "refs/heads", bringing.branch)
    folders = (git_dir, os.path.join(git_dir, "objects/pack"), os.path.dirname(ref))
    if any(not os.path.isdir(folder) or os.path.realpath(folder) != folder for folder in folders):
        return False
    try:
        head, value = (read_plain(path) or b"" for path in (os.path.join(git_dir, "HEAD"), ref))
    except UnreadableError:
        return False
    if head != f"ref: refs/heads/{bringing.branch}\n".encode():
        return False
    if value != f"{before}\n".encode():
        return value == f"{bringing.commit}\n".encode()  # a step that died had come this far
    scratch = os.path.join(bringing.private_git, "cache", f"tmp-follow-{os.getpid()}")
    try:
        _give_pack(bringing, before, scratch, folders[1])
        git = Git(bringing.private_git, tree, scratch)
        git.run("read-tree", bringing.commit)
        git.run("update-index", "-q", "--refresh", ok=(0, 1))
        write_atomic(os.path.join(git_dir, "index"), read_plain(scratch, _LARGEST_PACK_BYTES) or b"", durable=False)
    finally:
        if os.path.exists(scratch):
            os.unlink(scratch)
    write_atomic(ref, f"{bringing.commit}\n".encode(), durable=False)
    return True


def _give_pack(bringing: Bringing, before: str, prefix: str, folder: str) -> None:
    tips = f"{bringing.commit}\n^{before}\n".encode()
    name = Git(bringing.private_git).run("pack-objects", "--revs", "--quiet", prefix, input_bytes=tips).decode().strip()
    for ending in ("pack", "idx"):  # the index last: without it git does not look at the pack
        made = f"{prefix}-{name}.{ending}"
        target = os.path.join(folder, f"pack-{name}.{ending}")
        write_atomic(target, read_plain(made, _LARGEST_PACK_BYTES) or b"", durable=False)
    for ending in ("pack", "idx", "rev"):
        if os.path.exists(made := f"{prefix}-{name}.{ending}"):
            os.unlink(made)
