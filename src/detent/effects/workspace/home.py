"""Task homes: one folder per task outside every checkout, with the agent's clone and the places it may write to.

The clone is made under a temporary name, moved into place, and only then named by the first line of a journal. Until
that line is written the home carries a mark; a home with the mark but no journal is the leftover of a killed `new` and
may be removed. Any other folder in the place of a home is the user's own.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.bring import wipe
from detent.effects.git.clone import make_clone
from detent.effects.git.dirty import carry, uncommitted
from detent.effects.git.git import Git
from detent.errors import UnreadableError
from detent.store.disk.atomic import make_folders, storage_error, sweep, sync_folder, write_atomic
from detent.words.effects import workspace as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from detent.effects.git.git import Repository

TREE, TASK, OUT, DROP = "tree", "task", "out", "drop"
_UNBORN = ".unborn"
_MAKING = ".making-"  # a home that is being made or removed


class HomeSpec(Record):
    """The home that is to be made."""

    folder: str
    source: Repository
    commit: str
    branch: str
    left_out: tuple[str, ...] = ()  # inside the user's checkout, but no work of theirs: the task folder
    include_dirty: bool = False
    tells_dirty: bool = True


def keep_ref(task_id: str) -> str:
    """Holds the baseline in the user's repository: clones and private git folders borrow its objects."""
    return f"refs/detent/keep/{task_id}"


def kept_ids(common_dir: str) -> tuple[str, ...]:
    """The tasks whose baseline is kept in a repository."""
    if not common_dir:
        return ()
    listed = Git(common_dir).run("for-each-ref", "--format=%(refname)", keep_ref("").rstrip("/")).decode()
    return tuple(name.rpartition("/")[2] for name in listed.split())


def is_taken(folder: str) -> bool:
    """Whether a tree stands where this home would be; one of a killed `new` was swept away before."""
    return os.path.lexists(os.path.join(folder, TREE))


def make_home_tree(wanted: HomeSpec) -> tuple[str, ...]:
    """Make clone, out and drop; returns notes for a person. The caller holds the project's lock."""
    base, name = os.path.split(wanted.folder)
    making = os.path.join(base, f"{_MAKING}{name}")
    wipe(making)
    make_folders(making)
    try:
        clone = make_clone(wanted.source, wanted.commit, os.path.join(making, TREE), wanted.branch)
        notes = [*clone.notes, *_uncommitted(wanted, making)]
        Git(wanted.source.common_dir).run("update-ref", keep_ref(name), wanted.commit)
        make_folders(wanted.folder)
        sweep(wanted.folder)  # half a mark of a killed one
        write_atomic(os.path.join(wanted.folder, _UNBORN), b"", durable=True)
        for part in (OUT, DROP):
            make_folders(os.path.join(wanted.folder, part))
        os.rename(os.path.join(making, TREE), os.path.join(wanted.folder, TREE))
        sync_folder(wanted.folder)
    except OSError as problem:
        raise storage_error(problem, wanted.folder, say.home_not_made()) from problem
    finally:
        wipe(making)
    if clone.is_shared:
        notes.append(say.objects_borrowed(keep_ref(name)))
    return tuple(notes)


def expect_home(wanted: HomeSpec) -> None:
    """Keep the baseline for a clone that is made later, and mark the home until a journal names it."""
    Git(wanted.source.common_dir).run("update-ref", keep_ref(os.path.basename(wanted.folder)), wanted.commit)
    make_folders(wanted.folder)
    write_atomic(os.path.join(wanted.folder, _UNBORN), b"", durable=True)


def dirty_notes(wanted: HomeSpec) -> tuple[str, ...]:
    """What a person should know about files that are not committed, before there is a clone."""
    base, name = os.path.split(wanted.folder)
    making = os.path.join(base, f"{_MAKING}{name}")
    wipe(making)
    make_folders(making)
    try:
        return tuple(_uncommitted(wanted, making))
    finally:
        wipe(making)


def _uncommitted(wanted: HomeSpec, making: str) -> list[str]:
    if not wanted.tells_dirty:
        return []
    top = wanted.source.top
    try:
        dirty = uncommitted(wanted.source, wanted.commit, os.path.join(making, "look"), wanted.left_out)
    except UnreadableError as problem:
        return [say.not_compared(problem.what)]
    if not dirty:
        return []
    if wanted.include_dirty:
        carry(dirty, top, os.path.join(making, TREE))
        return [say.carried_over(dirty.words())]
    return [say.not_in_clone(dirty.words())]


def is_born(folder: str) -> None:
    """The journal names this home now; the mark has served."""
    wipe(os.path.join(folder, _UNBORN))


def sweep_homes(base: str, tasks: Collection[str], common_dir: str) -> None:
    """Remove the leftovers of a killed `new`; the caller holds the project's lock."""
    try:
        entries = list(os.scandir(base))
    except OSError:
        return  # nothing was made there yet, or nothing can be
    for entry in entries:
        if entry.name.startswith(_MAKING):
            wipe(entry.path)
        elif os.path.lexists(os.path.join(entry.path, _UNBORN)):
            if entry.name in tasks:
                is_born(entry.path)  # killed after its first line
            else:
                remove_home(entry.path, common_dir)


def remove_home(folder: str, common_dir: str) -> None:
    """Remove a home with everything in it, and the ref that kept its baseline."""
    base, name = os.path.split(folder)
    if common_dir:
        Git(common_dir).run("update-ref", "-d", keep_ref(name))
    # In one step out of the way: no process finds half a home, and what a crash leaves there is swept away.
    going = os.path.join(base, f"{_MAKING}{name}")
    wipe(going)
    try:
        os.rename(folder, going)
    except OSError as problem:
        raise storage_error(problem, folder, say.home_not_removed()) from problem
    wipe(going)
