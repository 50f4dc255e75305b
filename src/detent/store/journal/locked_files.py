"""Finds the locked files of a task folder, with the hash of each, and restores them.

A name that ends with "/" is a folder with all in it. What is no plain file, or no folder where one should be, counts as
changed. Nothing is deleted: texts go to `objects/` by their hash, anything else is moved aside.
"""

from __future__ import annotations

import os
import stat

from detent.errors import UnreadableError
from detent.store.disk.aside import move_aside
from detent.store.disk.atomic import make_folders, read_plain, storage_error, sweep, write_atomic
from detent.store.disk.digest import sha256_of
from detent.store.disk.folders import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MOST_FILES = 500
# These stand where a hash would.
NOT_PLAIN = "not a plain file"
TOO_MANY = "more files than are looked at"


def files_under(folder: str, name: str) -> dict[str, str]:
    """Every file a lock of this name holds, by its path in the task folder, with its hash."""
    found: dict[str, str] = {}
    for path in _paths(folder, name):
        if len(found) >= MOST_FILES:
            return {**found, name: TOO_MANY}
        found[path] = _digest(os.path.join(folder, path))
    return found


def _digest(path: str) -> str:
    try:
        data = read_plain(path)
    except UnreadableError:
        return NOT_PLAIN
    return "" if data is None else sha256_of(data)


def _paths(folder: str, name: str) -> Iterator[str]:
    if obstacle := _obstacle(folder, name):
        yield obstacle
    elif not name.endswith("/"):
        if os.path.lexists(os.path.join(folder, name)):
            yield name
    else:
        for base, folders, names in walk(os.path.join(folder, name)):
            links = [name for name in folders if os.path.islink(os.path.join(base, name))]
            for entry in sorted((*names, *links)):
                yield os.path.relpath(os.path.join(base, entry), folder)


def _obstacle(folder: str, name: str) -> str:
    """The first part of a path that should be a folder and is a link or a file."""
    parts = name.split("/")[:-1]
    for count in range(1, len(parts) + 1):
        path = "/".join(parts[:count])
        try:
            status = os.lstat(os.path.join(folder, path))
        except OSError:
            return ""
        if not stat.S_ISDIR(status.st_mode):
            return path
    return ""


def put_back_files(
    folder: str,
    name: str,
    wanted: Mapping[str, str],
    kept: Callable[[str], bytes],
    keep: Callable[[bytes], str],
    aside: str = "",
) -> None:
    """Make the files of a lock what they were; `kept` gives a text by its hash, `keep` takes what stood there.

    What is no text is moved into the folder `aside`, by default the task folder itself.
    """
    aside = aside or folder
    for path in wanted:
        full = os.path.join(folder, path)
        if os.path.isdir(full) and not os.path.islink(full):
            move_aside(full, aside, folder)
    for base in {os.path.dirname(path) for path in (*files_under(folder, name), *wanted)}:
        sweep(os.path.join(folder, base))  # what a killed `write_atomic` below left
    found = files_under(folder, name)
    if TOO_MANY in found.values():
        move_aside(os.path.join(folder, name.removesuffix("/")), aside, folder)
        found = {}
    for path, digest in found.items():
        full = os.path.join(folder, path)
        if digest == wanted.get(path):
            continue
        data = None if digest == NOT_PLAIN else read_plain(full)
        if data is None:
            move_aside(full, aside, folder)
            continue
        keep(data)
        if path not in wanted:
            _unlink(full)
    for path, digest in wanted.items():
        if found.get(path) != digest:
            full = os.path.join(folder, path)
            make_folders(os.path.dirname(full))
            write_atomic(full, kept(digest), durable=True)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        from detent.words.store import disk as say

        raise storage_error(error, path, say.file_not_removed()) from error
