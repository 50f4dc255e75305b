"""Brings files into a checkout, tells what set-up made, wipes folders; never through a link or over a tracked file."""

from __future__ import annotations

import os
import stat

from detent.core.record import Record
from detent.errors import StorageError, UsageError
from detent.store.disk.atomic import reason_of
from detent.store.disk.folders import remove_folder, shown_path, walk
from detent.store.disk.patterns import names
from detent.words.effects import git as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from detent.effects.git.git import Git

_DEEPEST = 64  # folders in each other that a `**` leads through
_CLONE = 0x40049409  # FICLONE
_no_clones: dict[int, bool] = {}  # file systems that turned out not to share blocks


class Place(Record):
    """A checkout that is being made: where it stands, its git, and the user's work tree it is prepared from."""

    folder: str
    git: Git
    tree: str
    source: str
    tracked: frozenset[str]


def bring(place: Place, patterns: Sequence[str]) -> tuple[str, ...]:
    """Copy the files that the patterns name from the user's work tree; returns the patterns that matched nothing."""
    missing = []
    for pattern in patterns:
        if os.path.isabs(pattern) or ".." in pattern.split("/"):
            raise UsageError(say.path_not_in_tree(pattern), where="detent.toml")
        found = 0
        for match in _named(place.source, pattern):
            name = os.path.normpath(match)
            if name.split("/")[0].lower() not in (".", ".git") and _is_below(place.source, name):
                found += _copy_named(place, name)
        if not found:
            missing.append(pattern)
    return tuple(missing)


def brought_marks(work_tree: str, patterns: Sequence[str]) -> str:
    """What `copy` and `carry` would bring, by size and time of each file: part of what a proof holds for."""
    seen = []
    for pattern in patterns:
        for match in _named(work_tree, pattern):
            top = os.path.join(work_tree, match)
            folders = walk(top) if os.path.isdir(top) and not os.path.islink(top) else ()
            for path in (top, *(os.path.join(base, file) for base, _, files in folders for file in files)):
                try:
                    status = os.lstat(path)
                except FileNotFoundError:
                    continue  # the user works there too; a file that comes and goes is not copied
                name = os.path.relpath(path, work_tree)
                seen.append(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_mode}")
    return "\n".join(seen)


def _named(top: str, pattern: str) -> list[str]:
    """The paths in a folder that a pattern names. `**` leads through no link, which may lead round or out to the whole
    host, and no deeper than is meant.
    """
    if "**" not in pattern:
        from glob import glob

        return sorted(glob(pattern, root_dir=top, include_hidden=True))
    wanted = [part for part in pattern.split("/") if part not in ("", ".")]
    found = []
    for base, folders, files in walk(top, _DEEPEST):
        parts = () if base == top else os.path.relpath(base, top).split(os.sep)
        fits = {name: names((*parts, name), wanted) for name in (*folders, *files)}
        found += ["/".join((*parts, name)) for name, (is_named, _) in fits.items() if is_named]
        folders[:] = [name for name in folders if fits[name][1] and (parts or name != ".git")]
    return sorted(found)


def _is_below(top: str, name: str) -> bool:
    """Whether a path is reached without going through a link that leads out of `top`, or into its git folder."""
    parent = os.path.realpath(os.path.join(top, os.path.dirname(name)))
    inside = os.path.relpath(parent, top).split(os.sep)[0]
    return parent == top or (parent.startswith(top + os.sep) and inside.lower() != ".git")


def _copy_named(place: Place, name: str) -> bool:
    return copy_path(place.source, place.folder, name, place.tracked)


def copy_path(source: str, target: str, name: str, tracked: frozenset[str], into: str = "") -> bool:
    """Copy one path and what is below; False if the target has a link or a file where a folder is needed.

    `into` is another place for it than its own name below the target.
    """
    folder = target
    for part in name.split("/")[:-1] if not into else ():
        folder = os.path.join(folder, part)
        if not os.path.lexists(folder):
            os.mkdir(folder)
        elif os.path.islink(folder) or not os.path.isdir(folder):
            return False
    _copy(os.path.join(source, name), into or os.path.join(target, name), name, tracked)
    return True


def copy_below(source: str, target: str, tracked: frozenset[str], name: str = "") -> None:
    """Copy everything in a folder into another, without following a link on either side."""
    for entry in sorted(os.listdir(source)):
        _copy(os.path.join(source, entry), os.path.join(target, entry), os.path.join(name, entry), tracked)


def _copy(source: str, target: str, name: str, tracked: frozenset[str]) -> None:
    """Copy a path with all below; folders may be nested by the thousand, so nothing recurses."""
    from shutil import copystat

    waiting = [(source, target, name)]
    made: list[tuple[str, str]] = []
    while waiting:
        source, target, name = waiting.pop()
        try:
            if not _copy_entry(source, target, name, tracked, made):
                continue
            inside = sorted(os.listdir(source), reverse=True)
        except FileNotFoundError:  # the user works in that folder too, and something may go before its turn comes
            if os.path.lexists(source):
                raise
            continue
        join = os.path.join
        waiting += [(join(source, entry), join(target, entry), join(name, entry)) for entry in inside]
    for source, target in reversed(made):
        if os.path.lexists(source):
            copystat(source, target)  # last, since it may take away the right to write


def _copy_entry(source: str, target: str, name: str, tracked: frozenset[str], made: list[tuple[str, str]]) -> bool:
    """Copy without following a link on either side; a tracked file, or a thing of another kind, stays as it is.

    True for a folder, whose entries are then to be copied too; one that was not there is among the `made`.
    """
    kind = stat.S_IFMT(os.lstat(source).st_mode)
    is_there = os.path.lexists(target)
    is_folder = os.path.isdir(target) and not os.path.islink(target)
    if kind == stat.S_IFDIR:
        if not is_there:
            os.mkdir(target, stat.S_IRWXU)
            made.append((source, target))
        return is_folder or not is_there
    if kind in (stat.S_IFREG, stat.S_IFLNK) and name not in tracked and not is_folder:
        if is_there:
            os.unlink(target)
        _copy_file(source, target, is_link=kind == stat.S_IFLNK)
    return False


def _copy_file(source: str, target: str, *, is_link: bool) -> None:
    """A copy with an inode of its own; where the file system can, both share their blocks until one is written."""
    from shutil import copy2, copystat

    if is_link or not _is_cloned(source, target):
        copy2(source, target, follow_symlinks=False)
    else:
        copystat(source, target)


def shares_blocks(folder: str) -> bool:
    """Whether the copies that were made in this folder share their blocks with the originals."""
    return not _no_clones.get(os.stat(folder).st_dev)


def _is_cloned(source: str, target: str) -> bool:
    import fcntl

    if _no_clones.get(os.stat(source).st_dev):
        return False
    with open(source, "rb") as original, open(target, "wb") as copy:
        try:
            fcntl.ioctl(copy.fileno(), _CLONE, original.fileno())
        except OSError:
            _no_clones[os.fstat(original.fileno()).st_dev] = True
            return False
    return True


def marks(folder: str) -> dict[str, tuple[int, ...]]:
    """What is in a folder, with a mark for each path that changes when its content does."""
    marks: dict[str, tuple[int, ...]] = {}
    for root, folders, files in walk(folder):
        if root == folder:
            folders.remove(".git")
        for name in (*folders, *files):
            path = os.path.join(root, name)
            seen = os.lstat(path)
            is_folder = stat.S_ISDIR(seen.st_mode)
            mark = (seen.st_mode,) if is_folder else (seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
            marks[os.path.relpath(path, folder)] = mark
    return marks


def created_paths(
    before: Mapping[str, tuple[int, ...]], after: Mapping[str, tuple[int, ...]], tracked: Collection[str]
) -> tuple[str, ...]:
    """The untracked paths that appeared between two scans: a new folder counts whole, elsewhere exact files."""
    new = sorted(name for name in after if name not in before and name not in tracked)
    above = {folder for path in tracked for folder in _folders_above(path)}
    found: list[str] = []
    whole: set[str] = set()
    for name in new:
        if whole.isdisjoint(_folders_above(name)) and name not in above:
            found.append(name)
            whole.add(name)
    return tuple(found)


def changed_files_of(
    before: Mapping[str, tuple[int, ...]], after: Mapping[str, tuple[int, ...]], tracked: Collection[str]
) -> tuple[str, ...]:
    """Files that are not tracked, were there before, and are not as they were."""
    is_file = [name for name, mark in after.items() if len(mark) > 1 and name in before and name not in tracked]
    return tuple(sorted(name for name in is_file if before[name] != after[name]))


def created_bytes(before: Mapping[str, tuple[int, ...]], after: Mapping[str, tuple[int, ...]]) -> int:
    """The size of the files that appeared between two scans."""
    return sum(mark[1] for name, mark in after.items() if name not in before and len(mark) > 1)


def _folders_above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def wipe(folder: str) -> None:
    """Remove a folder with everything in it, also below folders without write permission; links are not followed."""
    try:
        if os.path.isdir(folder) and not os.path.islink(folder):
            remove_folder(folder)
        elif os.path.lexists(folder):
            os.unlink(folder)
    except OSError as problem:
        raise StorageError(
            say.folder_not_removed(reason_of(problem), shown_path(folder)), where=shown_path(folder)
        ) from problem
