"""The files of a folder that another tool made: a copy of all of them, its revisions, and a draft to go on from."""

from __future__ import annotations

import os
import stat

from detent.effects.git.bring import copy_below, wipe
from detent.errors import BeyondBoundError
from detent.machines.load import scaffold
from detent.runner.task.layout import is_tracked, store_root
from detent.store.disk.atomic import make_folders, read_plain, storage_error, sweep, sync_folder, write_atomic
from detent.store.disk.folders import shown_path, walk
from detent.store.journal.places import POINTER
from detent.store.journal.tasks import TaskStore
from detent.store.text.numbers import whole_number
from detent.words.runner import adopt as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.store.journal.native import Native
    from detent.store.journal.places import Project

COPIES = "adopted"  # folder of the copies, beside the tasks of a machine or in a task's control folder
MOST_FILES = 10_000  # files and folders of a folder that is copied: each is synced, and the project waits
MOST_BYTES = 512 * 1024 * 1024  # of all its files together
MOST_LEVELS = 64  # of folders in each other


def revision_files(native: Native) -> dict[int, str]:
    """The revisions that lie in the folder, by number."""
    folder, _, name = native.machine.store.revision.rpartition("/")
    before, _, behind = name.partition("{n}")
    try:
        listed = os.listdir(native.path(folder))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    found = {}
    for entry in listed:
        number = entry.removeprefix(before).removesuffix(behind)
        if entry == f"{before}{number}{behind}" and whole_number(number) and not number.startswith("0"):
            found[int(number)] = f"{folder}/{entry}" if folder else entry
    return found


def keep_copy(native: Native, project: Project) -> str:
    """Copy the whole folder as it is, synced; returns where the copy lies. A copy that holds the same is used again."""
    store = native.machine.store
    is_beside = bool(store.root) and not is_tracked(store)
    place = store_root(store, project.root) if is_beside else native.places.folder
    sweep(native.folder, native.file)  # the project's lock is held
    found = _contents(native.folder)
    added = {POINTER, store.draft}  # files that a killed `adopt` may have written after its copy
    target, number = os.path.join(place, COPIES, native.places.id), 1
    while os.path.lexists(target):  # of a killed `adopt`, or of an earlier task of that name
        kept = _contents(target)
        if kept == {name: content for name, content in found.items() if name in kept or name not in added}:
            return target
        number += 1
        target = os.path.join(place, COPIES, f"{native.places.id}-{number}")
    make_folders(os.path.dirname(target))
    scratch = f"{target}.part"
    try:
        wipe(scratch)
        os.mkdir(scratch)
        copy_below(native.folder, scratch, frozenset())
        _sync_below(scratch)
        os.rename(scratch, target)
        sync_folder(os.path.dirname(target))
    except OSError as error:
        raise storage_error(error, target, say.not_copied()) from error
    return target


def refuse_beyond(top: str) -> None:
    """Before a byte is read: a folder with more than is ever copied is refused, and what goes beyond is named."""
    size = 0
    for number, path in enumerate(_paths_below(top), 1):
        if os.path.relpath(path, top).count(os.sep) > MOST_LEVELS:
            raise _beyond(say.too_deep(MOST_LEVELS), path)
        status = os.lstat(path)
        size += status.st_size if stat.S_ISREG(status.st_mode) else 0
        if number > MOST_FILES:
            raise _beyond(say.too_many(MOST_FILES), path)
        if size > MOST_BYTES:
            raise _beyond(say.too_large(MOST_BYTES), path)


def _beyond(what: str, path: str) -> BeyondBoundError:
    return BeyondBoundError(say.beyond(what), where=shown_path(path))


def _contents(top: str) -> dict[str, str]:
    """What each file and link below a folder holds, by path: the hash of its bytes, or the place a link leads to."""
    from hashlib import file_digest

    contents = {}
    for path in _paths_below(top):
        if os.path.islink(path):
            contents[os.path.relpath(path, top)] = f"-> {os.readlink(path)}"
        elif os.path.isfile(path):
            with open(path, "rb") as file:
                contents[os.path.relpath(path, top)] = file_digest(file, "sha256").hexdigest()
    return contents


def _sync_below(top: str) -> None:
    """Sync every file and folder below a folder, and the folder itself."""
    for path in (*_paths_below(top), top):
        if os.path.islink(path):
            continue
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _paths_below(top: str) -> Iterator[str]:
    for base, folders, names in walk(top):
        yield from (os.path.join(base, name) for name in (*folders, *names))


def keep_revisions(native: Native) -> dict[str, str]:
    """Keep the text of every revision by its hash, so that it can be restored; returns file -> hash."""
    if not native.machine.store.revision:
        return {}
    store, kept = TaskStore(native.places), {}
    for name in revision_files(native).values():
        kept[name] = store.keep(read_plain(native.path(name)) or b"")
    return kept


def begin_draft(native: Native, revision: int, title: str) -> None:
    """Where a draft of every new task is missing: the last revision, to be revised, else the machine's own text."""
    draft = native.machine.store.draft
    if draft not in native.machine.store.files or os.path.lexists(native.path(draft)):
        return
    if revision:
        data = read_plain(native.path(revision_files(native)[revision])) or b""
    else:
        data = scaffold(native.machine.name, draft).replace("{title}", title).encode()
    make_folders(os.path.dirname(native.path(draft)))
    write_atomic(native.path(draft), data, durable=True)
