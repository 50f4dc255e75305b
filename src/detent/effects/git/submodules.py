"""Fills the submodules of a disposable checkout from what the user has of them; nothing is fetched.

Each gets a small git folder of its own that borrows the user's objects, stands at the commit the tree names, and holds
its files byte for byte, hashed again. A submodule that the user does not have is named: a command that fails for want
of it is no red gate.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.clone import DEEPEST_SUBMODULE, GITLINK, filled_at, quoted
from detent.effects.git.git import Git, end_where, write_git_dir, write_if_different
from detent.errors import ToolError
from detent.words.effects import git as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.effects.git.git import Repository


class Listing(Record):
    """What an index holds: the paths of its files, and its submodules with the commit each stands at."""

    files: tuple[str, ...]
    submodules: tuple[tuple[str, str], ...]


class Inner(Record):
    """One submodule that was filled: where it lies in the checkout, its git, its commit and its files."""

    path: str
    git: Git
    commit: str
    files: tuple[str, ...]


class Absent(Record):
    """One that could not be."""

    path: str
    commit: str


def list_index(git: Git) -> Listing:
    files, submodules = [], []
    for line in git.run("ls-files", "-s", "-z").split(b"\0")[:-1]:
        entry, _, path = line.partition(b"\t")
        mode, name, _stage = entry.split(b" ")
        files.append(os.fsdecode(path))
        if mode == GITLINK:
            submodules.append((os.fsdecode(path), name.decode()))
    return Listing(tuple(files), tuple(submodules))


def fill(git: Git, listing: Listing, source: Repository | None, depth: int = 0) -> Iterator[Inner | Absent]:
    """Fill each submodule of the checkout that `git` works in, and those inside it, from the user's `source`."""
    for path, commit in listing.submodules:
        theirs = filled_at(source, path, commit) if source is not None and depth < DEEPEST_SUBMODULE else None
        if theirs is None:
            yield Absent(path, commit)
            continue
        inner = _make(git, path, commit, theirs)
        inside = list_index(inner)
        yield Inner(path, inner, commit, inside.files)
        for deeper in fill(inner, inside, theirs, depth + 1):
            yield deeper.replace(path=os.path.join(path, deeper.path))


def _make(git: Git, path: str, commit: str, theirs: Repository) -> Git:
    folder, git_dir = os.path.join(str(git.work_tree), path), os.path.join(git.git_dir, "modules", path)
    write_git_dir(
        git_dir,
        alternates=(os.path.join(theirs.common_dir, "objects"),),
        is_sha256=len(commit) == 64,
        is_bare=False,
        durable=False,
        more_config=f"[core]\n\tworktree = {quoted(os.path.relpath(folder, git_dir))}\n",
    )
    if os.path.realpath(folder) != os.path.join(os.path.realpath(str(git.work_tree)), path):
        raise ToolError(say.link_where_submodule_belongs(path), where=folder)
    end_where(git_dir, theirs.common_dir, durable=False)
    write_if_different(os.path.join(git_dir, "HEAD"), f"{commit}\n".encode(), durable=False)
    link = os.fsencode(f"gitdir: {os.path.relpath(git_dir, folder)}\n")
    inner = Git(git_dir, folder)
    inner.run("read-tree", "--reset", "-u", commit)
    write_if_different(os.path.join(folder, ".git"), link, durable=False)
    check_bytes(inner, commit)
    git.run("config", f"submodule.{path}.active", "true")  # else git calls it not initialised
    return inner


def check_bytes(git: Git, tree: str) -> None:
    """Hash every file again: git believes an object under a false name, and a proof is about the tree's name."""
    fresh = Git(git.git_dir, git.work_tree, os.path.join(git.git_dir, "fresh-index"))
    fresh.run("read-tree", tree)  # knows no file times, so that nothing is taken for unchanged
    finished = fresh.finish("update-index", "--ignore-submodules", "--refresh")
    if finished.exit != 0:
        name = finished.stdout.decode("utf-8", "replace").partition(":")[0]
        raise ToolError(say.other_bytes(name), where=git.git_dir)
