"""Lets readers know the tree without starting git: remembers an id with the file times it was taken at.

When any file or folder of the tree looks touched since, the id is not known any more. That errs only to one side: a
reader may say "not run on this tree" too often, never too seldom.
"""

from __future__ import annotations

import json
import os

from detent.store.atomic import read_plain, write_atomic
from detent.store.digest import sha256_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LARGEST_MEMORY_BYTES = 64_000_000


def remember_tree(path: str, work_tree: str, tree: str, files: Iterable[str]) -> None:
    names = sorted(files)
    content = {"tree": tree, "files": names, "times": _times(work_tree, names)}
    write_atomic(path, json.dumps(content).encode(), durable=False)


def recall_tree(path: str, work_tree: str) -> str:
    """The remembered id if nothing looks touched, else an empty text."""
    try:
        data = read_plain(path, _LARGEST_MEMORY_BYTES)
        content = json.loads(data) if data else {}
        known = bool(content) and content["times"] == _times(work_tree, content["files"])
        return str(content["tree"]) if known else ""
    except (ValueError, KeyError, TypeError):
        return ""


def _times(work_tree: str, names: list[str]) -> str:
    folders = {""}
    for name in names:
        folder = os.path.dirname(name)
        while folder and folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    seen = []
    for name in (*sorted(folders), *names):
        try:
            status = os.lstat(os.path.join(work_tree, name))
            seen.append(f"{name}\0{status.st_mode}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ctime_ns}")
        except OSError:
            seen.append(f"{name}\0gone")
    return sha256_of("\n".join(seen).encode("utf-8", "surrogateescape"))
