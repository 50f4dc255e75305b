"""Lets readers know the tree without starting git: remembers an id with the file times it was taken at.

When any file or folder of the tree looks touched since, the id is not known any more. That errs only to one side: a
reader may say "not run on this tree" too often, never too seldom. So an id is not remembered either when a file was
touched while git was reading: git may have seen it before or after.
"""

from __future__ import annotations

import json
import os

from detent.store.disk.atomic import read_cache, storage_error, write_cache
from detent.store.disk.digest import sha256_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LARGEST_MEMORY_BYTES = 64_000_000


def moment(folder: str) -> int:
    """Now, by the clock that stamps files, which may lag a tick behind the one that programs read."""
    try:
        os.utime(folder)
        return os.stat(folder).st_ctime_ns
    except OSError as error:
        from detent.words.effects import trees as say

        raise storage_error(error, folder, say.folder_not_touched()) from error


def remember_tree(path: str, work_tree: str, tree: str, files: Iterable[str], since: int) -> bool:
    """Remember an id that git gave after the moment `since`; False when something may have been touched meanwhile."""
    names = sorted(files)
    times, newest = _times(work_tree, names)
    if newest >= since:
        return False
    write_cache(path, json.dumps({"tree": tree, "files": names, "times": times}).encode())
    return True


def recall_tree(path: str, work_tree: str) -> str:
    """The remembered id if nothing looks touched, else an empty text."""
    try:
        data = read_cache(path, _LARGEST_MEMORY_BYTES)
        content = json.loads(data) if data else {}
        known = bool(content) and content["times"] == _times(work_tree, content["files"])[0]
        return str(content["tree"]) if known else ""
    except (ValueError, KeyError, TypeError):
        return ""


def _times(work_tree: str, names: list[str]) -> tuple[str, int]:
    """A hash of how all files and their folders look, and when the kernel last saw any of them change."""
    folders = {""}
    for name in names:
        folder = name.rpartition("/")[0]
        while folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    seen, newest = [], 0
    for name in (*sorted(folders), *names):
        try:
            status = os.lstat(f"{work_tree}/{name}")
            seen.append(f"{name}\0{status.st_mode}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ctime_ns}")
            newest = max(newest, status.st_ctime_ns)
        except OSError:
            seen.append(f"{name}\0gone")
    return sha256_of("\n".join(seen).encode("utf-8", "surrogateescape")), newest
