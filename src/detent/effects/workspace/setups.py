"""Makes set-ups: dependencies by the project's own commands, in a checkout of their own, to be laid into others.

A set-up of the baseline is made once per key and shared by all tasks. The order, under the lock of its key:

1. a record whose manifest still holds: that is the set-up;
2. else a checkout of the tree, seen at the seat, with `copy` and `carry`; the commands; what they created and the tree
   does not track is moved out, hard links are broken, and a manifest of it is hashed;
3. the record, out of reach of runs and commands, names the folder. A folder without a record is a leftover.

Nothing is synced: a record of an earlier boot counts once every byte was compared, for a power cut may have taken some.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from time import monotonic

from detent.core.record import Record
from detent.effects.git.bring import bring, changed_files_of, created_paths, marks, wipe
from detent.effects.host.access import Laid
from detent.effects.host.keeper.process import boot_id
from detent.effects.workspace.checkout import SetupFailed, make_checkout, run_setup, tracked_at_first
from detent.errors import StorageError
from detent.store.disk.atomic import as_json, make_folders, read_plain, storage_error, write_atomic
from detent.store.disk.digest import sha256_of
from detent.store.disk.folders import walk
from detent.store.disk.lock import Lock
from detent.words.effects import workspace as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from detent.effects.workspace.checkout import FrozenTree, Running, Setups, Workspace

LOCK_WAIT_S = 3600.0
LOCKS = ".lock"
# Tools write here into the folder they are installed in. In a proof these places are writable and thrown away.
CACHES = (".cache", ".vite", ".vite-temp", ".vitest", ".tmp")
_HOLDS_CACHES = "node_modules"
_MAKING, _COPY = ".making", ".copy"  # behind the name of a set-up, while it is made
_CHUNK_BYTES = 1 << 20
_LARGEST_RECORD_BYTES = 4_000_000


class Made(Record):
    """A set-up that lies in a folder: the paths it has there, a hash of all of it, and what it cost."""

    key: str
    folder: str
    folders: tuple[str, ...]  # created, and its own altogether
    files: tuple[str, ...]  # created beside tracked ones
    changed: tuple[str, ...]  # tracked files that set-up changed; they are not part of it
    caches: tuple[str, ...]  # empty folders in which tools may leave something
    digest: str
    seen: str  # how its files looked when the hash was taken
    bytes: int
    seconds: float
    boot: str = ""  # in which its files were last known to be what the hash says

    @property
    def paths(self) -> tuple[str, ...]:
        return (*self.folders, *self.files)


class Order(Record):
    """What a set-up is made of."""

    key: str
    frozen: FrozenTree
    workspace: Workspace
    work_tree: str
    log_path: str


def shared_setup(setups: Setups, order: Order, *, by_content: bool = False) -> Made | SetupFailed:
    """The set-up of this key, made if it is missing or no longer what it was; `by_content`: every byte is compared."""
    make_folders(setups.folder)
    make_folders(setups.records)
    record = os.path.join(setups.records, f"{order.key}.json")
    with Lock(lock_path(setups.folder, order.key), LOCK_WAIT_S):
        known = read_record(record)
        if known is not None and (usable := _holding(known, by_content=by_content)) is not None:
            if usable != known:
                _write(record, usable)
            os.utime(record)
            return usable
        # Another name than before: what does not hold may still be mounted somewhere.
        target = os.path.join(setups.folder, f"{mark_of(order.key)}-{os.urandom(4).hex()}")
        _sweep(setups.folder, mark_of(order.key))
        made = make_set_up(target, order, setups.running, setups.seat)
        if isinstance(made, Made):
            try:
                _write(record, made)
            except StorageError:
                wipe(target)
                raise
        return made


def lock_path(setups: str, key: str) -> str:
    return os.path.join(setups, f"{key}{LOCKS}")


def mark_of(key: str) -> str:
    """What the names of all folders of a key begin with."""
    return key[:32]


def _sweep(setups: str, mark: str) -> None:
    """Remove the leftovers of killed makers; the caller holds the lock of the key, so none of them lives."""
    for name in os.listdir(setups):
        if name.startswith(f"{mark}-") and name.endswith((_MAKING, _COPY)):
            wipe(os.path.join(setups, name))


def make_set_up(target: str, order: Order, running: Running, seat: str) -> Made | SetupFailed:
    """Run set-up in a fresh checkout that is seen at the seat, and keep what it created in the target folder."""
    checkout = f"{target}{_MAKING}"
    wipe(target)
    wipe(checkout)
    make_folders(os.path.dirname(target))
    since = monotonic()
    try:
        place = make_checkout(checkout, order.frozen, order.work_tree)
        if isinstance(place, SetupFailed):
            return place
        if missing := bring(place, order.workspace.copy):
            return SetupFailed(f"copy {', '.join(missing)}", 1, "", say.nothing_to_copy())
        bring(place, order.workspace.carry)
        before = marks(checkout)
        if failed := run_setup(checkout, order.workspace, order.log_path, running, Laid(seat)):
            return failed
        after = marks(checkout)
        tracked = place.tracked | tracked_at_first(order.frozen)
        created = (*created_paths(before, after, tracked), *changed_files_of(before, after, tracked))
        changed = tuple(sorted(name for name in place.tracked if before.get(name) != after.get(name)))
        made = _moved(checkout, target, created)
    except OSError as problem:
        raise _not_kept(problem, target) from problem
    finally:
        wipe(checkout)
    return made.replace(key=order.key, changed=changed, seconds=monotonic() - since)


def _not_kept(problem: OSError, target: str) -> StorageError:
    """What was made so far is removed: on a full disk it must not wait for `gc`."""
    with suppress(StorageError):
        wipe(target)
        wipe(f"{target}{_COPY}")
    return storage_error(problem, target, say.set_up_not_kept())


def _moved(checkout: str, target: str, created: tuple[str, ...]) -> Made:
    """Move what was created into the target, and look at all of it."""
    os.makedirs(target)
    folders: list[str] = []
    files: list[str] = []
    caches: list[str] = []
    for name in created:
        source, path = os.path.join(checkout, name), os.path.join(target, name)
        kind = stat.S_IFMT(os.lstat(source).st_mode)
        if kind not in (stat.S_IFDIR, stat.S_IFREG, stat.S_IFLNK):
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.rename(source, path)
        (folders if kind == stat.S_IFDIR else files).append(name)
        if kind == stat.S_IFDIR and os.path.basename(name) == _HOLDS_CACHES:
            caches += _make_caches(target, name)
    break_links(target)
    digest, seen, size = _looked_at(target, by_content=True)
    return Made("", target, tuple(folders), tuple(files), (), tuple(caches), digest, seen, size, 0.0, boot_id())


def _make_caches(target: str, folder: str) -> list[str]:
    found = []
    for name in CACHES:
        path = os.path.join(target, folder, name)
        if not os.path.lexists(path):
            os.mkdir(path)
        if os.path.isdir(path) and not os.path.islink(path) and not os.listdir(path):
            found.append(os.path.join(folder, name))
    return found


def break_links(folder: str) -> None:
    """Give files that a package cache shares an inode of their own: nothing else may change them."""
    from shutil import copy2

    # Beside the folder: in it set-up could have put a link where the copy is written.
    copy = f"{folder}{_COPY}"
    wipe(copy)
    for path, seen in files_in(folder):
        if stat.S_ISREG(seen.st_mode) and seen.st_nlink > 1:
            copy2(path, copy, follow_symlinks=False)
            os.replace(copy, path)


def files_in(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder, in a fixed order; links are not followed."""
    for root, folders, files in walk(folder):
        for name in sorted((*folders, *files)):
            path = os.path.join(root, name)
            yield path, os.lstat(path)


def _looked_at(folder: str, *, by_content: bool) -> tuple[str, str, int]:
    """A hash of the manifest (empty if contents were not asked for), a hash of how all files look, and their size."""
    manifest, looks, size = [], [], 0
    for path, seen in files_in(folder):
        name, kind = path[len(folder) + 1 :], stat.S_IFMT(seen.st_mode)
        is_file = kind == stat.S_IFREG
        size += seen.st_size if is_file else 0
        times = (seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns) if kind != stat.S_IFDIR else ()
        looks.append(f"{name}\0{seen.st_mode}\0{times}")
        if by_content:
            content = file_hash(path) if is_file else os.readlink(path) if kind == stat.S_IFLNK else ""
            manifest.append(f"{name}\0{seen.st_mode}\0{content}")
    return (_hash(manifest) if by_content else ""), _hash(looks), size


def _hash(lines: list[str]) -> str:
    return sha256_of("\n".join(lines).encode("utf-8", "surrogateescape"))


def file_hash(path: str) -> str:
    from hashlib import sha256

    found = sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            found.update(chunk)
    return found.hexdigest()


def _holding(made: Made, *, by_content: bool) -> Made | None:
    """A set-up that is still what its record says, with how its files look now; None when it is not.

    Files that look as they did when the hash was taken have not changed since: no process can set the time of a
    change. That holds within a boot: after a power cut a file may look as before and lack its bytes.
    """
    if not os.path.isdir(made.folder):
        return None
    by_content = by_content or made.boot != boot_id()
    try:
        digest, seen, _size = _looked_at(made.folder, by_content=by_content)
        if not by_content and seen != made.seen:
            digest, seen, _size = _looked_at(made.folder, by_content=True)
    except OSError:
        return None
    return made.replace(seen=seen, boot=boot_id()) if digest in ("", made.digest) else None


def read_record(path: str) -> Made | None:
    """A record, or None where there is none that can be read."""
    try:
        data = read_plain(path, _LARGEST_RECORD_BYTES)
        content: dict[str, Any] = json.loads(data) if data else {}
        content |= {key: tuple(value) for key, value in content.items() if isinstance(value, list)}
        return Made(**content)
    except (ValueError, TypeError):
        return None


def _write(path: str, made: Made) -> None:
    write_atomic(path, as_json({**vars(made)}), durable=False)
