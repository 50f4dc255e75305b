"""The tree id: one git tree over every file of a work tree that counts, computed where no agent can steer it.

A private git folder per task holds the objects, a stat cache (an index file) and the ignore rules of the baseline. The
work tree's own `.git`, its current `.gitignore` files and all attributes are never asked. A file counts if the baseline
tracks it, or the baseline's rules do not ignore it and it lies in no cache of a tool (tool_caches.py). One computation:

1. make or repair the private folder; take the ignore rules of the baseline;
2. copy the cached index to a name of our own, so that two computations never meet;
3. compare it with the disk; where nothing differs, the tree noted beside that very index is the answer;
4. put the differences into it, write the tree, rename our index over the cached one and note the tree beside it.

If git fails in 2 to 4, the caches are thrown away, damaged objects removed, and 1 to 4 are tried once more.
"""

from __future__ import annotations

import os
import stat

from detent.core.record import Record
from detent.effects.git.git import Git, check_object_id, end_where, write_git_dir
from detent.effects.git.tree.compare import (
    GITLINK,
    NO_CHANGES,
    Changes,
    Listing,
    TreeScan,
    baseline_rules,
    cache_path,
    changed_paths,
    compare,
    joined,
    kind_of,
    list_files,
    refuse_large,
    size_of,
)
from detent.effects.git.tree.index import copy_index, index_name, note_tree, remove_leftovers
from detent.effects.git.tree.tool_caches import MARKS
from detent.errors import StorageError, TakesLong, ToolError, UnreadableError, UsageError
from detent.store.disk.digest import sha1_of, sha256_of
from detent.words.effects import trees as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detent.effects.git.git import Repository
    from detent.effects.host.process import Finished

_MAX_ROUNDS = 3
# What a caller in a hurry waits for; more of it takes git so long that other tasks would notice.
QUICK_FILES = 10_000  # of the whole tree
QUICK_CHANGES = 100
QUICK_BYTES = 4_000_000  # of all changed files
# The objects, not the index: it is a cache, and its sum is proven before it is used. In git's list a name that is
# wanted is stronger than the same name unwanted, so that "all,-index" would be all.
_UNSYNCED_INDEX = ("core.fsync=committed",)


_MANY = 1000  # files from which on their objects are synced all at once: each by itself would take minutes
_SYNC_AT_ONCE = "core.fsyncMethod=batch"


class LeftOut(Record):
    """What lies in a work tree and does not count: paths inside it, and folders of these names that are caches."""

    paths: Sequence[str] = ()
    caches: Sequence[str] = ()


NOTHING = LeftOut()


class Taken(Record):
    """A tree that was computed: its id, the files it is made of, and the tree it was made from, if that is known.

    The first one is made from the baseline, whose commit then stands there. All paths in which these two trees differ
    are among the `changed`.
    """

    id: str
    files: tuple[str, ...]
    before: str = ""
    changed: tuple[str, ...] = ()
    caches: tuple[str, ...] = ()  # folders that are left out as caches of tools

    @property
    def watched(self) -> tuple[str, ...]:
        """Every path that says what counts: while all of them look the same, so does the tree."""
        return (*self.files, *self.caches, *(f"{folder}/{mark}" for folder in self.caches for mark in MARKS))


def tree_id(
    private_dir: str,
    work_tree: str,
    repository: Repository | None,
    baseline: str | None,
    left_out: LeftOut = NOTHING,
) -> str:
    """The id of the tree of all files that count, with its objects kept in the private folder."""
    return take_tree(private_dir, work_tree, repository, baseline, left_out).id


def take_tree(
    private_dir: str,
    work_tree: str,
    repository: Repository | None,
    baseline: str | None,
    left_out: LeftOut = NOTHING,
    *,
    looks_untouched: bool = False,
    in_a_hurry: bool = False,
) -> Taken:
    """The same with its files. A tree that `looks_untouched` is compared all the same, but git's times are not updated.

    With `in_a_hurry` it raises TakesLong where much has changed, or where there is no index to compare with.
    """
    if baseline is not None:
        check_object_id(baseline)
    task = TreeScan(
        private_dir=os.path.abspath(private_dir),
        work_tree=os.path.realpath(work_tree),
        objects=(os.path.join(repository.common_dir, "objects"),) if repository is not None else (),
        baseline=baseline,
        left_out=tuple(sorted(_checked_left_out(path) for path in left_out.paths)),
        caches=tuple(sorted(left_out.caches)),
    )
    try:
        _make_private_dir(task)
        try:
            return _compute(task, looks_untouched=looks_untouched, in_a_hurry=in_a_hurry)
        except ToolError:
            repair(task.private_dir)
            return _compute(task, looks_untouched=False)
    except OSError as problem:
        raise StorageError(say.tree_id_not_kept(problem), where=task.private_dir) from problem


def changed_files(private_dir: str, tree_a: str, tree_b: str) -> tuple[tuple[str, str], ...]:
    """Status letter (A, D, M, T) and path of every file that differs between two trees, in git's order."""
    arguments = ("diff-tree", "-r", "-z", "--name-status", "--no-renames", "--ignore-submodules=none")
    output = Git(os.path.abspath(private_dir)).run(*arguments, check_object_id(tree_a), check_object_id(tree_b), "--")
    fields = [os.fsdecode(field) for field in output.split(b"\0")[:-1]]
    return tuple(zip(fields[::2], fields[1::2], strict=True))


def repair(private_dir: str) -> None:
    """Throw away what the next tree id computes again; whole objects stay.

    Damaged ones go, because git takes an object that is there for written, even if a power cut left it empty.
    """
    from contextlib import suppress
    from zlib import decompress, error

    for entry in os.scandir(os.path.join(private_dir, "cache")):
        if not entry.name.startswith("tmp-"):
            with suppress(FileNotFoundError):
                os.unlink(entry.path)
    objects = os.path.join(private_dir, "objects")
    for folder in os.listdir(objects):
        if len(folder) != 2:
            continue
        for entry in os.scandir(os.path.join(objects, folder)):
            sum_of = sha256_of if len(entry.name) > 38 else sha1_of
            with suppress(FileNotFoundError), open(entry.path, "rb") as file:
                try:
                    is_whole = sum_of(decompress(file.read())) == folder + entry.name
                except error:
                    is_whole = False
                if not is_whole:
                    os.unlink(entry.path)


def _checked_left_out(path: str) -> str:
    normal = os.path.normpath(path)
    if os.path.isabs(normal) or normal == "." or normal.split("/")[0] == "..":
        raise UsageError(say.path_not_left_out(path))
    return normal


def _make_private_dir(task: TreeScan) -> None:
    is_sha256 = task.baseline is not None and len(task.baseline) == 64
    write_git_dir(task.private_dir, alternates=task.objects, is_sha256=is_sha256, is_bare=True, durable=True)
    for objects in task.objects:
        end_where(task.private_dir, os.path.dirname(objects), durable=True)
    os.makedirs(cache_path(task), exist_ok=True)


def _compute(task: TreeScan, *, looks_untouched: bool, in_a_hurry: bool = False) -> Taken:
    rules = baseline_rules(task)
    cached_index = cache_path(task, index_name(task))
    scan_index = cache_path(task, f"tmp-{os.getpid()}-{os.urandom(4).hex()}")
    git = Git(task.private_dir, task.work_tree, scan_index, _UNSYNCED_INDEX)
    try:
        noted = copy_index(cached_index, scan_index)
        before, changed = noted or "", set[bytes]()
        if noted is None:
            if in_a_hurry:
                raise TakesLong
            before, changed = task.baseline or "", _start_index(git, task)
            refuse_large(git, task)
            git.run("update-index", "-q", "--refresh", ok=(0, 1))
        for number in range(_MAX_ROUNDS):
            listing = list_files(git, task, rules)
            changes = compare(task, rules, listing)
            if noted and looks_untouched and changes == NO_CHANGES:
                return Taken(noted, _names(listing, changes), noted, caches=_decoded(listing.caches))
            if in_a_hurry and _takes_long(task, listing, changes):
                raise TakesLong
            changed |= changed_paths(changes)
            _apply(git, changes, refresh=number == 0 and noted is not None)
            if not changes.again:
                break
        tree = git.run("write-tree").decode().strip()
        if os.path.exists(scan_index):
            note_tree(cached_index, scan_index, tree)
            os.replace(scan_index, cached_index)
    finally:
        remove_leftovers(task, scan_index)
    return Taken(tree, _names(listing, changes), before, _decoded(changed), _decoded(listing.caches))


def _takes_long(task: TreeScan, listing: Listing, changes: Changes) -> bool:
    """Whether git would be busy for long with what differs."""
    if changes.again or len(listing.cached) > QUICK_FILES or len(changes.added) > QUICK_CHANGES:
        return True
    top = os.fsencode(task.work_tree)
    return sum(size_of(os.path.join(top, path)) for path in changes.added) > QUICK_BYTES


def _decoded(paths: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(os.fsdecode(path) for path in sorted(paths))


def _names(listing: Listing, changes: Changes) -> tuple[str, ...]:
    paths = {*listing.cached, *changes.added, *(path for path, _commit in changes.submodules)} - {*changes.removed}
    return _decoded(paths)


def _start_index(git: Git, task: TreeScan) -> set[bytes]:
    """Begin with what the baseline tracks, without what is left out; these paths are returned."""
    if task.baseline is None:
        return set()
    git.run("read-tree", task.baseline)
    tracked = git.run("--literal-pathspecs", "ls-files", "-z", "--", *task.left_out) if task.left_out else b""
    if tracked:
        git.run("update-index", "-z", "--force-remove", "--stdin", input_bytes=tracked)
    return set(tracked.split(b"\0")[:-1])


def _apply(git: Git, changes: Changes, *, refresh: bool) -> None:
    """Put the differences into the index; with `refresh` files that were only touched cost nothing the next time."""
    if changes.removed:
        git.run("update-index", "-z", "--force-remove", "--stdin", input_bytes=joined(changes.removed))
    if refresh and not changes.added:
        git.run("update-index", "-q", "--refresh", ok=(0, 1))
    if changes.added:
        bring_up = ("-q", "--refresh") if refresh else ()
        arguments = ("update-index", *bring_up, "-z", "--add", "--remove", "--stdin")
        if len(changes.added) > _MANY:
            git = git.replace(more=(*git.more, _SYNC_AT_ONCE))
        finished = git.finish(*arguments, input_bytes=joined(changes.added))
        if finished.exit != 0 or finished.stderr:  # "Ignoring path .GIT/x" ends with 0, and the file would be hidden
            raise _not_added(git, finished, changes.added)
    if changes.submodules:
        lines = (GITLINK + b" " + commit + b"\t" + path for path, commit in changes.submodules)
        git.run("update-index", "-z", "--add", "--index-info", input_bytes=joined(lines))


def _not_added(git: Git, finished: Finished, paths: Sequence[bytes]) -> ToolError | UnreadableError:
    top = os.fsencode(git.work_tree or "")
    for path in paths:
        full = os.path.join(top, path)
        is_git_name = b".git" in path.lower().split(b"/")
        if is_git_name or (kind_of(full) == stat.S_IFREG and not os.access(full, os.R_OK)):
            why = say.name_of_git() if is_git_name else say.file_of_tree_unreadable()
            return UnreadableError(why, where=os.fsdecode(full))
    return git.failure("update-index", finished)
