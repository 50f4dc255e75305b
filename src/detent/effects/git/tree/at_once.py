"""The tree that a few changes make of a known one: hashed and written here, because git would be started twice for it.

Whatever is unusual is left to git: many or large files, names it keeps for itself, files that can't be read.
"""

from __future__ import annotations

import os
import stat

from detent.effects.git.tree.loose_objects import LooseObjects
from detent.errors import UnreadableError
from detent.store.disk.atomic import read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Entries = Mapping[bytes, tuple[bytes, bytes]]  # mode and object by path, as git lists them

MOST_FILES = 10_000  # of the whole tree; hashing the folders of more takes longer than git
MOST_ADDED = 100
MOST_BYTES = 4_000_000
_LINK, _PROGRAM, _PLAIN, _FOLDER = b"120000", b"100755", b"100644", b"40000"


def write_few(
    git_dir: str, work_tree: str, entries: Entries, added: Iterable[bytes], changed: Iterable[bytes], *, is_sha256: bool
) -> str:
    """The id of the tree of these entries and of the added files as they are on disk; empty: let git do it.

    `changed` are all paths in which it differs from a tree whose objects are there: no other folder is written.
    """
    paths = tuple(added)
    if len(entries) > MOST_FILES or len(paths) > MOST_ADDED:
        return ""
    objects = LooseObjects(git_dir, is_sha256=is_sha256)
    whole, left = dict(entries), MOST_BYTES
    for path in paths:
        found = _read(os.path.join(os.fsencode(work_tree), path), left)
        if found is None or b".git" in path.lower().split(b"/"):
            return ""
        mode, data = found
        left -= len(data)
        whole[path] = (mode, objects.add("blob", data).encode())
    tree = _add_trees(objects, whole, {folder for path in changed for folder in _folders_of(path)})
    objects.write()
    return tree


def _read(path: bytes, limit_bytes: int) -> tuple[bytes, bytes] | None:
    """Mode and content of a file or link; None for what git has to look at."""
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            return _LINK, os.readlink(path)
        data = read_plain(os.fsdecode(path), limit_bytes)
    except (OSError, UnreadableError):
        return None
    return None if data is None else (_PROGRAM if mode & stat.S_IXUSR else _PLAIN, data)


def _folders_of(path: bytes) -> list[bytes]:
    """Every folder a path lies in, the top last."""
    found = []
    while path:
        path = path.rpartition(b"/")[0]
        found.append(path)
    return found


def _add_trees(objects: LooseObjects, entries: Entries, written: set[bytes]) -> str:
    """The id of the top; the folders to be written are added to the objects, of all others only the name is needed."""
    folders: dict[bytes, list[tuple[bytes, bytes]]] = {b"": []}  # what git sorts by, and the line
    for path, (mode, name) in entries.items():
        above = path.rpartition(b"/")[0]
        if above not in folders:
            for folder in _folders_of(path):
                folders.setdefault(folder, [])
        _put(folders, path, b"", mode, name.decode())
    tree = ""
    for folder in sorted(folders, key=lambda folder: folder.count(b"/") + bool(folder), reverse=True):
        data = b"".join(line for _key, line in sorted(folders[folder]))
        tree = objects.add("tree", data) if folder in written else objects.name("tree", data)
        if folder:
            _put(folders, folder, b"/", _FOLDER, tree)
    return tree


def _put(folders: dict[bytes, list[tuple[bytes, bytes]]], path: bytes, end: bytes, mode: bytes, name: str) -> None:
    above, _slash, own = path.rpartition(b"/")
    folders[above].append((own + end, mode + b" " + own + b"\0" + bytes.fromhex(name)))
