"""Makes an agent's own clone of a repository at one commit, without running anything the repository or its user names.

1. a git folder with the objects, the task's branch and the commit as `origin` has it;
2. the files, byte for byte: no filter runs, so what a filter would fill in (Git LFS) stays as it is committed;
3. each submodule the same way, from the folder the user has it in; nothing is fetched.

Objects are copied into a pack of the clone's own, or borrowed (`alternates`) where that would be too much. They are
never hard links: the agent may write whatever lies in its clone, and a link would lead into the user's repository.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.git import Git, end_where, read_repository, write_git_dir, write_if_different
from detent.errors import ToolError, UnreadableError
from detent.store.disk.atomic import read_plain, storage_error
from detent.words.effects import git as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.effects.git.git import Repository

SHARED_ABOVE_BYTES = 256 * 1024 * 1024  # packs larger than this are borrowed, not copied
DEEPEST_SUBMODULE = 8
GITLINK = b"160000"
_LFS = b"filter=lfs"
_NO_PUSH = "people-land-the-work"  # an agent's push ends here and not in the user's repository


class Clone(Record):
    """What was made: what a person should know about it."""

    notes: tuple[str, ...]
    is_shared: bool


class _Contents(Record):
    """What of a commit needs care: its submodules, and whether Git LFS keeps some of its files elsewhere."""

    submodules: tuple[tuple[str, str], ...]
    has_lfs: bool


def make_clone(source: Repository, commit: str, tree: str, branch: str) -> Clone:
    """Clone `source` at `commit` into the new folder `tree`, with `branch` checked out."""
    git_dir = os.path.join(tree, ".git")
    try:
        os.makedirs(tree)
        tags = _tags(source, commit)
        is_shared = _fill(source, commit, tree, git_dir, config=_origin(source), tags=tags)
        _name_commits(Git(git_dir), branch, source.branch, commit, tags)
        contents = _contents(_reader(source), commit)
        notes = _submodules(source, contents.submodules, tree, git_dir, depth=0)
        if contents.has_lfs:
            notes.append(say.lfs_only_pointers())
    except OSError as problem:
        raise storage_error(problem, tree, say.clone_not_made()) from problem
    return Clone(tuple(notes), is_shared)


def _fill(source: Repository, commit: str, tree: str, git_dir: str, config: str, tags: Mapping[str, str]) -> bool:
    """Objects, git folder and files of one repository at one commit; True when its objects are borrowed."""
    objects = os.path.join(source.common_dir, "objects")
    # Of a partial clone nothing can be packed: the objects it has not fetched yet are missing.
    is_shared = _pack_bytes(objects) > SHARED_ABOVE_BYTES or _is_partial(source)
    write_git_dir(
        git_dir, alternates=(objects,), is_sha256=len(commit) == 64, is_bare=False, durable=False, more_config=config
    )
    end_where(git_dir, source.common_dir, durable=False)
    if not is_shared:
        pack = os.path.join(git_dir, "objects/pack/pack")
        tips = "".join(f"{name}\n" for name in (commit, *tags.values())).encode()
        # By the clone's own git: that of the source would write the pack beside its objects, on another disk perhaps.
        Git(git_dir).run("pack-objects", "--revs", "--quiet", pack, input_bytes=tips)
        write_if_different(os.path.join(git_dir, "objects/info/alternates"), b"", durable=False)
    Git(git_dir, tree).run("read-tree", "--reset", "-u", commit)
    return is_shared


def borrowed_objects(common_dir: str) -> tuple[str, ...]:
    """Where the objects of a repository and of its submodules lie: what clones and checkouts may borrow from."""
    found = [os.path.join(common_dir, "objects")]
    folders = [os.path.join(common_dir, "modules")]
    for folder in folders:  # grows while it is read
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            inner = os.path.join(folder, name)
            is_module = os.path.isdir(os.path.join(inner, "objects"))
            found += [os.path.join(inner, "objects")] if is_module else []
            folders.append(os.path.join(inner, "modules") if is_module else inner)
    return tuple(found)


def _reader(source: Repository) -> Git:
    """Git for the objects of a repository; a submodule that was put aside names a work tree that may be gone."""
    return Git(source.common_dir, source.common_dir)


def _pack_bytes(objects: str) -> int:
    """The size of a repository's packs, and of those it borrows from."""
    borrowed = (read_plain(os.path.join(objects, "info/alternates")) or b"").splitlines()
    total = 0
    for folder in (objects, *(os.path.join(objects, os.fsdecode(line)) for line in borrowed if line[:1] != b"#")):
        pack = os.path.join(folder, "pack")
        if os.path.isdir(pack):
            total += sum(entry.stat().st_size for entry in os.scandir(pack) if entry.name.endswith(".pack"))
    return total


def _is_partial(source: Repository) -> bool:
    config = read_plain(os.path.join(source.common_dir, "config")) or b""
    return b"promisor" in config.lower() or b"partialclone" in config.lower()


def _origin(source: Repository) -> str:
    return (
        f'[remote "origin"]\n\turl = {quoted(source.top)}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
        f"\tpushurl = {_NO_PUSH}\n"
    )


def quoted(value: str) -> str:
    """A value as git's configuration files want it."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def _name_commits(git: Git, branch: str, origin: str | None, commit: str, tags: Mapping[str, str]) -> None:
    """The branch that is checked out, what many tools compare with (`origin/HEAD`), and the tags.

    Where the user's HEAD is detached, `origin/HEAD` names the commit itself.
    """
    refs = {f"refs/heads/{branch}": commit, **tags}
    if origin is not None:
        refs[f"refs/remotes/origin/{origin}"] = commit
    lines = "".join(f"create {ref} {name}\n" for ref, name in refs.items())
    git.run("update-ref", "--stdin", input_bytes=os.fsencode(lines))
    git.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    if origin is None:
        git.run("update-ref", "--no-deref", "refs/remotes/origin/HEAD", commit)
    else:
        git.run("symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{origin}")


def _tags(source: Repository, commit: str) -> dict[str, str]:
    """Tags of the history that is cloned, with what they name: builds ask `git describe` for their version."""
    listed = _reader(source).run("for-each-ref", "--format=%(refname) %(objectname)", f"--merged={commit}", "refs/tags")
    return dict(line.rsplit(" ", 1) for line in os.fsdecode(listed).splitlines())


def _contents(git: Git, commit: str) -> _Contents:
    submodules = []
    has_lfs = False
    for line in git.run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
        entry, _tab, path = line.partition(b"\t")
        mode, _kind, name = entry.split(b" ")
        if mode == GITLINK:
            submodules.append((os.fsdecode(path), name.decode()))
        elif os.path.basename(path) == b".gitattributes" and mode.startswith(b"100"):
            has_lfs = has_lfs or _LFS in git.run("cat-file", "blob", name.decode())
    return _Contents(tuple(submodules), has_lfs)


def _submodules(
    source: Repository, submodules: Sequence[tuple[str, str]], tree: str, git_dir: str, depth: int
) -> list[str]:
    """Fill what can be filled without a network; say what could not."""
    notes: list[str] = []
    for path, wanted in submodules:
        folder = os.path.join(tree, path)
        inner = os.path.join(git_dir, "modules", path)
        theirs = filled_at(source, path, wanted) if depth < DEEPEST_SUBMODULE else None
        if theirs is None:
            notes.append(say.submodule_empty(path, wanted))
            continue
        back = os.path.relpath(folder, inner)
        _fill(theirs, wanted, folder, inner, f"[core]\n\tworktree = {quoted(back)}\n{_origin(theirs)}", tags={})
        write_if_different(os.path.join(inner, "HEAD"), f"{wanted}\n".encode(), durable=False)
        link = os.fsencode(f"gitdir: {os.path.relpath(inner, folder)}\n")
        write_if_different(os.path.join(folder, ".git"), link, durable=False)
        for key, value in (("active", "true"), ("url", theirs.top)):
            Git(git_dir).run("config", f"submodule.{path}.{key}", value)
        deeper = _contents(_reader(theirs), wanted).submodules
        notes += _submodules(theirs, deeper, folder, inner, depth + 1)
    return notes


def filled_at(source: Repository, path: str, commit: str) -> Repository | None:
    """The user's own checkout of a submodule, or where git keeps it aside, if it has the commit."""
    aside = os.path.join(source.common_dir, "modules", path)
    try:
        theirs = read_repository(os.path.join(source.top, path))
        if theirs is None and os.path.isdir(os.path.join(aside, "objects")):
            theirs = source.replace(top=aside, common_dir=aside, git_dir=aside, head=None, branch=None, is_bare=True)
        if theirs is None:
            return None
        _reader(theirs).run("cat-file", "-e", f"{commit}^{{tree}}")
    except (UnreadableError, ToolError):
        return None
    return theirs
