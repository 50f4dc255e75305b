"""Finds what a user's checkout holds beyond its last commit, and carries it into a clone; filters and hooks never run.

The user's own index is copied and asked, because it knows which files are unchanged although their bytes differ from
what is committed (line ends, Git LFS). It forgets that when a file is touched, and of a fresh clone it never knew: what
differs then is compared once more with line ends as the user's git converts them.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.bring import wipe
from detent.effects.git.git import Git, write_git_dir
from detent.effects.git.merge import person_git
from detent.effects.git.tree.line_ends import converting
from detent.effects.git.tree.tool_caches import without_caches
from detent.errors import StorageError
from detent.store.disk.folders import walk
from detent.words.effects import git as say
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.effects.git.git import Repository


class Dirty(Record):
    """Paths relative to the top: tracked files that differ or are gone, and new ones that are not ignored."""

    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone or self.new)

    def words(self) -> str:
        return name_some((*self.changed, *self.gone, *self.new))


def uncommitted(repository: Repository, commit: str, scratch: str, left_out: Sequence[str] = ()) -> Dirty:
    """What differs from the commit, tracked or new and not ignored; `scratch` is a folder of our own to work in.

    A tool's cache is nothing that a person would commit: it is left out here as in tree ids.
    """
    objects = os.path.join(repository.common_dir, "objects")
    write_git_dir(scratch, alternates=(objects,), is_sha256=len(commit) == 64, is_bare=True, durable=False)
    index = os.path.join(scratch, "user-index")
    git = Git(scratch, repository.top, index)
    has_copy = _copy_index(os.path.join(repository.git_dir, "index"), index)
    # Some indexes can't be read alone (core.splitIndex); then every file is compared by its bytes.
    if not has_copy or git.finish("update-index", "-q", "--refresh").exit not in (0, 1):
        wipe(index)
        git.run("read-tree", commit)
        git.run("update-index", "-q", "--refresh", ok=(0, 1))
    rows = _differing(git, commit)
    if rows:
        git = git.replace(more=converting(repository, scratch))
        git.run("update-index", "-q", "--refresh", ok=(0, 1))
        rows = _differing(git, commit)
    fresh = git.run("ls-files", "-o", "-z", "--exclude-standard", *_person_excludes(repository)).split(b"\0")[:-1]
    fresh = without_caches(repository.top, fresh, git.run("ls-files", "-z").split(b"\0")) if fresh else []
    # A path with a slash at its end is a repository of its own: it is no file of this one.
    new = [path for path in map(os.fsdecode, fresh) if not path.endswith("/")]
    outside = tuple(f"{path}/" for path in left_out)
    files = frozenset(left_out)
    tracked = {path for status, path in rows if status != "D"}
    gone = {path for status, path in rows if status == "D"} - tracked
    parts = (tracked, gone, set(new) - tracked)
    kept = ([path for path in part if path not in files and not path.startswith(outside)] for part in parts)
    return Dirty(*(tuple(sorted(part)) for part in kept))


def _differing(git: Git, commit: str) -> list[tuple[str, str]]:
    """Status and path of every tracked file that is not as in the commit."""
    listed = git.run("diff-index", "-z", "--name-status", "--no-renames", "--ignore-submodules=dirty", commit, "--")
    fields = [os.fsdecode(field) for field in listed.split(b"\0")[:-1]]
    return list(zip(fields[::2], fields[1::2], strict=True))


def in_the_way(top: str, added: Sequence[str], gone: Sequence[str]) -> tuple[str, ...]:
    """What is not committed at paths that git is about to write, ignored or not; git takes ignored files for worthless.

    The checkout is otherwise as committed: `added` are the paths that its commit lacks, `gone` those that git removes.
    """
    leaving = {path.casefold(): path for path in gone}
    return tuple(sorted({path for name in added if (path := _kept_there(top, name, leaving))}))


def _kept_there(top: str, name: str, leaving: Mapping[str, str]) -> str:
    """The path that a new file would replace; empty when nothing but what git removes is there."""
    parts = name.split("/")
    for above in ("/".join(parts[:depth]) for depth in range(1, len(parts))):
        path = os.path.join(top, above)
        if os.path.islink(path) or (os.path.lexists(path) and not os.path.isdir(path)):
            return "" if _is_leaving(top, above, leaving) else above
    path = os.path.join(top, name)
    if os.path.islink(path) or not os.path.isdir(path):
        return name if os.path.lexists(path) and not _is_leaving(top, name, leaving) else ""
    below = (os.path.relpath(os.path.join(base, file), top) for base, _, files in walk(path) for file in files)
    return next((file for file in below if not _is_leaving(top, file, leaving)), "")


def _is_leaving(top: str, name: str, leaving: Mapping[str, str]) -> bool:
    """Whether git removes this very file, under this name or, where the file system folds case, another spelling."""
    other = leaving.get(name.casefold(), "")
    there = os.path.join(top, other)
    return (
        bool(other) and os.path.lexists(there) and os.path.samestat(os.lstat(there), os.lstat(os.path.join(top, name)))
    )


def carry(dirty: Dirty, source: str, target: str) -> None:
    """Bring these changes into a fresh clone as work that is not committed yet; links are copied, never followed."""
    from shutil import copy2

    try:
        for path in dirty.gone:
            wipe(os.path.join(target, path))
        for path in (*dirty.changed, *dirty.new):
            from_path, to_path = os.path.join(source, path), os.path.join(target, path)
            is_folder = os.path.isdir(from_path) and not os.path.islink(from_path)
            if is_folder or not os.path.lexists(from_path):
                continue  # a submodule at another commit; a file of a merge that is not there
            wipe(to_path)
            os.makedirs(os.path.dirname(to_path), exist_ok=True)
            copy2(from_path, to_path, follow_symlinks=False)
    except OSError as problem:
        raise StorageError(say.not_carried_over(problem), where=target) from problem


def _copy_index(source: str, target: str) -> bool:
    try:
        with open(source, "rb") as file:
            content, times = file.read(), os.fstat(file.fileno())
    except FileNotFoundError:
        return False
    with open(target, "wb") as copy:
        copy.write(content)
    # Git compares contents for entries that are not older than the index; a younger copy would hide their change.
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
    return True


def _person_excludes(repository: Repository) -> list[str]:
    """What the user ignores for themselves; `git status` does not show it to them either. The last word is stronger."""
    files = (_global_ignore(repository.top), os.path.join(repository.common_dir, "info/exclude"))
    return [f"--exclude-from={path}" for path in files if os.path.isfile(path)]


def _global_ignore(top: str) -> str:
    """The file that the user's settings name; without a word about it, the one git looks for by itself."""
    named = person_git(top, "config", "-z", "--type=path", "--get", "core.excludesFile")
    if named.exit == 0:
        return os.path.join(top, os.fsdecode(named.stdout.removesuffix(b"\0")))
    base = os.environ.get("XDG_CONFIG_HOME", "") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "git/ignore")
