"""The stat cache of a work tree: an index file that is proven before it is used, and the tree noted beside it."""

from __future__ import annotations

import os

from detent.effects.git.git import is_object_id
from detent.effects.git.tree.compare import cache_path
from detent.store.disk.atomic import read_cache, write_cache
from detent.store.disk.boot import boot_id
from detent.store.disk.digest import sha1_of, sha256_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.effects.git.tree.compare import TreeScan

_LEFTOVER_S = 3600.0  # temporary files older than this belong to a process that died


def index_name(task: TreeScan) -> str:
    identity = "\0".join((task.work_tree, task.baseline or "", *task.left_out))
    return f"index-{sha256_of(os.fsencode(identity))[:20]}"


def copy_index(source: str, target: str) -> str | None:
    """Copy the stat cache; the tree it is known to be, empty if that is not known. None: nothing worth copying."""
    try:
        with open(source, "rb") as file:
            content = file.read()
            times = os.fstat(file.fileno())
    except FileNotFoundError:
        return None
    # Git does not check this sum when it reads, so a torn file could pass as a shorter index.
    if sha1_of(content[:-20]) != content[-20:].hex() and sha256_of(content[:-32]) != content[-32:].hex():
        return None
    with open(target, "wb") as file:
        file.write(content)
    # Git distrusts entries not older than the index file: a younger copy would make it trust a file changed in the
    # very moment in which the index was written.
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
    return _noted_tree(source, content)


def _note(cached_index: str) -> str:
    folder, name = os.path.split(cached_index)
    return os.path.join(folder, f"tree-of-{name}")


def note_tree(cached_index: str, index: str, tree: str) -> None:
    """Say beside an index which tree it is, and in which boot; what was torn or made for other bytes is no note."""
    with open(index, "rb") as file:
        note = f"{sha256_of(file.read())} {tree} {boot_id()}"
    write_cache(_note(cached_index), note.encode())


def _noted_tree(cached_index: str, content: bytes) -> str:
    """The tree noted for these bytes since the computer started, else empty.

    A power cut may have taken objects of an older one, and only git would find out when it writes the tree again.
    """
    note = (read_cache(_note(cached_index), 1024) or b"").decode("ascii", "replace")
    mark, tree, boot = (*note.split(" "), "", "", "")[:3]
    is_known = mark == sha256_of(content) and is_object_id(tree) and boot and boot == boot_id()
    return tree if is_known else ""


def remove_leftovers(task: TreeScan, scan_index: str) -> None:
    from contextlib import suppress
    from time import time

    oldest = time() - _LEFTOVER_S
    for entry in os.scandir(cache_path(task)):
        is_ours = entry.path.startswith(scan_index)
        with suppress(FileNotFoundError):
            if is_ours or (entry.name.startswith("tmp-") and entry.stat(follow_symlinks=False).st_mtime < oldest):
                os.unlink(entry.path)
