"""Compares a work tree with an index: what git lists, what of it counts by the baseline's rules, and what differs."""

from __future__ import annotations

import os
import stat

from detent.core.record import Record
from detent.effects.git.git import Git, read_repository, write_if_different
from detent.effects.git.tree.ignore_rules import combined_ignore_rules, escape_path
from detent.effects.git.tree.tool_caches import Caches, named_folders
from detent.errors import BeyondBoundError, ToolError, UnreadableError
from detent.store.disk.digest import sha256_of
from detent.store.disk.folders import shown_path
from detent.words.effects import trees as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

GITLINK = b"160000"
# What git is asked to hash at most, by the sizes that files say they have: a sparse file of terabytes costs nothing to
# make, and git would read all of it.
LARGEST_FILE_BYTES = 512 << 20
MOST_CHANGED_BYTES = 4 << 30
MOST_CHANGED_FILES = 200_000
_LONG_MESSAGE = 3500  # characters; git cuts its messages, and with them the reason, near the longest path there is


class TreeScan(Record):
    """What one computation is about; all paths inside the tree are bytes relative to its top."""

    private_dir: str
    work_tree: str
    objects: tuple[str, ...]
    baseline: str | None
    left_out: tuple[str, ...]
    caches: tuple[str, ...] = ()  # names of folders that are left out where they are a tool's cache


class Rules(Record):
    """What the baseline says: a file with its ignore rules, its submodules, named like caches but tracked."""

    exclude_file: str
    submodules: dict[bytes, bytes]
    tracked: tuple[bytes, ...] = ()  # folders named like a tool's cache that hold files of the baseline


class Listing(Record):
    """What git sees: entries of the index (mode and object by path), those that differ on disk, new paths."""

    cached: dict[bytes, tuple[bytes, bytes]]
    different: tuple[bytes, ...]
    new: tuple[bytes, ...]
    caches: tuple[bytes, ...] = ()  # folders that are left out as caches of tools
    uncounted: tuple[bytes, ...] = ()  # entries of the index that lie in one: it became a cache since


class Changes(Record):
    """What must go into the index; `again` when the removals let git see files it passed over before."""

    removed: tuple[bytes, ...]
    added: tuple[bytes, ...]
    submodules: tuple[tuple[bytes, bytes], ...]
    again: bool


NO_CHANGES = Changes((), (), (), False)


def cache_path(task: TreeScan, name: str = "") -> str:
    return os.path.join(task.private_dir, "cache", name)


def baseline_rules(task: TreeScan) -> Rules:
    if task.baseline is None:
        return Rules(os.devnull, {})
    exclude_file = cache_path(task, f"exclude-{task.baseline}")
    submodules_file = cache_path(task, f"submodules-{task.baseline}")
    tracked_file = cache_path(task, f"caches-{task.baseline}-{sha256_of(os.fsencode('/'.join(task.caches)))[:8]}")
    if not all(map(os.path.exists, (exclude_file, submodules_file, tracked_file))):
        git = Git(task.private_dir)
        submodules = []
        tracked = []
        ignore_files: dict[bytes, bytes] = {}
        for line in git.run("ls-tree", "-r", "-z", "--full-tree", task.baseline).split(b"\0")[:-1]:
            entry, _tab, path = line.partition(b"\t")
            mode, _kind_name, name = entry.split(b" ")
            tracked.append(path)
            if mode == GITLINK:
                submodules.append(name + b" " + path)
            elif os.path.basename(path) == b".gitignore" and mode.startswith(b"100"):
                ignore_files[os.path.dirname(path)] = _verified_blob(git, name.decode())
        write_if_different(submodules_file, joined(submodules), durable=True)
        write_if_different(tracked_file, joined(sorted(named_folders(tracked, task.caches))), durable=True)
        write_if_different(exclude_file, combined_ignore_rules(ignore_files), durable=True)
    with open(submodules_file, "rb") as file, open(tracked_file, "rb") as folders:
        pairs = (line.partition(b" ") for line in file.read().split(b"\0")[:-1])
        submodules_of = {path: commit for commit, _space, path in pairs}
        return Rules(exclude_file, submodules_of, tuple(folders.read().split(b"\0")[:-1]))


def _verified_blob(git: Git, name: str) -> bytes:
    """A blob whose bytes really have that name; git itself does not look."""
    data = git.run("cat-file", "blob", name)
    if git.run("hash-object", "-t", "blob", "--no-filters", "--stdin", input_bytes=data).decode().strip() != name:
        raise ToolError(say.object_damaged(name), where=git.git_dir)
    return data


def list_files(git: Git, task: TreeScan, rules: Rules) -> Listing:
    options = ["-z", "-t", "-s", "-c", "-d", "-m", "-o", f"--exclude-from={rules.exclude_file}"]
    for left_out in task.left_out:
        options += ("-x", "/" + os.fsdecode(escape_path(os.fsencode(left_out))))
    finished = git.finish("ls-files", *options)
    if finished.exit != 0:
        raise git.failure("ls-files", finished)
    if finished.stderr:  # git goes on without a folder it may not read; a file could hide there
        message = finished.stderr.decode(errors="replace").splitlines()[0]
        # A path that is too long for the kernel can be made by changing into each folder; nothing reads it again.
        kind = BeyondBoundError if len(message) >= _LONG_MESSAGE else UnreadableError
        raise kind(say.part_unreadable(shown_path(message), task.work_tree), where=task.work_tree)
    cached: dict[bytes, tuple[bytes, bytes]] = {}
    different: dict[bytes, None] = {}
    new = []
    for line in finished.stdout.split(b"\0")[:-1]:
        if line.startswith(b"? "):
            new.append(line[2:])
            continue
        entry, _tab, path = line[2:].partition(b"\t")
        if line.startswith(b"H"):
            cached[path] = (entry[:6], entry.split(b" ")[1])
        else:
            different[path] = None
    listing = Listing(cached, tuple(different), tuple(new))
    return _without_caches(task, rules, listing) if _may_hold_caches(finished.stdout, task.caches) else listing


def _may_hold_caches(listed: bytes, names: Iterable[str]) -> bool:
    """Whether any path has a part of that name; one search through all of it, as most trees hold none."""
    return any(os.fsencode(name) + b"/" in listed for name in names)


def _without_caches(task: TreeScan, rules: Rules, listing: Listing) -> Listing:
    """What git sees without the caches of tools."""
    caches = Caches(task.work_tree, task.caches, rules.tracked)
    found = {path: folder for path in (*listing.cached, *listing.new) if (folder := caches.folder_of(path))}
    return Listing(
        listing.cached,
        tuple(path for path in listing.different if path not in found),
        tuple(path for path in listing.new if path not in found),
        tuple(sorted(set(found.values()))),
        tuple(path for path in found if path in listing.cached),
    )


def compare(task: TreeScan, rules: Rules, listing: Listing) -> Changes:
    top = os.fsencode(task.work_tree)
    removed, filled = _beyond_folders(top, (*listing.cached, *listing.new))
    removed += listing.uncounted
    added: list[bytes] = []
    submodules = [(path, _submodule_commit(task, rules, path)) for path in filled]
    again = False
    changed = (*listing.different, *listing.new)
    if len(changed) > MOST_CHANGED_FILES:
        raise _too_much(task, changed[-1], say.too_many_changed(len(changed), MOST_CHANGED_FILES))
    left = MOST_CHANGED_BYTES
    for path in changed:
        kind, size = _kind_and_size(os.path.join(top, path))
        left -= size
        if size > LARGEST_FILE_BYTES or left < 0:
            raise _too_much(task, path, _size_words(size))
        if path.endswith(b"/"):
            submodules.append((path[:-1], _submodule_commit(task, rules, path[:-1])))
        elif kind in (stat.S_IFREG, stat.S_IFLNK):
            added.append(path)
        elif path in listing.cached and (listing.cached[path][0] != GITLINK or kind != stat.S_IFDIR):
            removed.append(path)
    for path, (mode, commit) in listing.cached.items():
        if mode != GITLINK or kind_of(os.path.join(top, path)) != stat.S_IFDIR:
            continue
        if not os.path.lexists(os.path.join(top, path, b".git")) and os.listdir(os.path.join(top, path)):
            removed.append(path)  # a submodule turned into ordinary files, which git lists once the link is gone
            again = True
        elif (now := _submodule_commit(task, rules, path)) != commit:
            submodules.append((path, now))
    gone = set(removed)
    return Changes(tuple(gone), tuple(path for path in added if path not in gone), tuple(submodules), again)


def _beyond_folders(top: bytes, paths: Iterable[bytes]) -> tuple[list[bytes], list[bytes]]:
    """The paths that lie behind a link, a file or a repository inside the tree, and those repositories."""
    real = {b"": True}
    filled = []
    beyond = []
    for path in paths:
        folder = path.rstrip(b"/").rpartition(b"/")[0]
        unknown = []
        while folder not in real:  # agents nest folders deeper than Python calls itself
            unknown.append(folder)
            folder = folder.rpartition(b"/")[0]
        is_real = real[folder]
        for folder in reversed(unknown):
            full = os.path.join(top, folder)
            is_real = is_real and kind_of(full) == stat.S_IFDIR
            if is_real and os.path.lexists(os.path.join(full, b".git")):
                is_real = False
                filled.append(folder)
            real[folder] = is_real
        if not is_real:
            beyond.append(path)
    return beyond, filled


def refuse_large(git: Git, task: TreeScan) -> None:
    """Before git reads every tracked file for the first time: a file that grew beyond the bound is named."""
    top = os.fsencode(task.work_tree)
    for line in git.run("ls-files", "-s", "-z").split(b"\0")[:-1]:
        entry, _tab, path = line.partition(b"\t")
        _kind, size = _kind_and_size(os.path.join(top, path))
        # A large file that a person committed is as long as it was.
        if size > LARGEST_FILE_BYTES and size != int(git.run("cat-file", "-s", entry.split(b" ")[1].decode())):
            raise _too_much(task, path, _size_words(size))


def _size_words(size: int) -> str:
    if size > LARGEST_FILE_BYTES:
        return say.file_too_large(size, LARGEST_FILE_BYTES)
    return say.changed_too_large(MOST_CHANGED_BYTES)


def _too_much(task: TreeScan, path: bytes, what: str) -> UnreadableError:
    from shlex import quote

    where = shown_path(os.path.join(task.work_tree, os.fsdecode(path)))
    return BeyondBoundError(say.tree_too_much(what, quote(where)), where=where)


def _kind_and_size(path: bytes) -> tuple[int, int]:
    """What lies there, and of a plain file how long it says it is."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return 0, 0
    return stat.S_IFMT(status.st_mode), status.st_size if stat.S_ISREG(status.st_mode) else 0


def size_of(path: bytes) -> int:
    """How long a plain file says it is; 0 for anything else."""
    return _kind_and_size(path)[1]


def kind_of(path: bytes) -> int:
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _submodule_commit(task: TreeScan, rules: Rules, path: bytes) -> bytes:
    """What a submodule of the baseline stands at: its HEAD, or the baseline's commit while it is not filled."""
    top = os.fsencode(task.work_tree)
    if path not in rules.submodules:
        raise _nested_repository(top, path)
    folder = os.fsdecode(os.path.join(top, path))
    if not os.path.lexists(os.path.join(folder, ".git")):
        return rules.submodules[path]
    repository = read_repository(folder)
    if repository is None or repository.head is None:
        raise UnreadableError(say.submodule_without_commit(task.work_tree, os.fsdecode(path)), where=folder)
    return repository.head.encode()


def _nested_repository(top: bytes, path: bytes) -> UnreadableError:
    name = os.fsdecode(path)
    return UnreadableError(say.repository_in_tree(name), where=os.fsdecode(os.path.join(top, path)))


def changed_paths(changes: Changes) -> set[bytes]:
    return {*changes.removed, *changes.added, *(path for path, _commit in changes.submodules)}


def joined_names(names: Iterable[str]) -> bytes:
    return joined(map(os.fsencode, names))


def joined(parts: Iterable[bytes]) -> bytes:
    return b"".join(part + b"\0" for part in parts)
