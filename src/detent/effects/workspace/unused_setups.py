"""Removes shared set-ups that nothing uses any more, and the leftovers of killed makers.

A set-up that is being made or checked stays: the lock of its key is taken then. So does one that a task's runs have
mounted, whether or not it still has a record.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from time import time

from detent.effects.git.bring import wipe
from detent.effects.workspace.setups import LOCKS, lock_path, mark_of, read_record
from detent.errors import LockedError
from detent.store.disk.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.effects.workspace.setups import Made

_UNUSED_S = 24 * 3600.0  # a set-up that no task has and nothing used for this long may go
_RECORD = ".json"
_OURS = (".records", "overlay.json")


def drop_unused(
    setups: str, records: str, used: frozenset[str], mounted: frozenset[str] = frozenset()
) -> tuple[Made, ...]:
    """Remove set-ups whose key no task uses and whose folder none has mounted; returns those that had a record."""
    gone: list[Made] = []
    kept: set[str] = set(mounted)
    for name in sorted(os.listdir(records)) if os.path.isdir(records) else ():
        path, key = os.path.join(records, name), name.removesuffix(_RECORD)
        if key == name:  # a record that was not finished
            if _is_old(path):
                os.unlink(path)
            continue
        with _locked(setups, key) as is_free:
            made = read_record(path)
            if not is_free or (made is not None and (made.key in used or not _is_old(path))):
                kept |= {os.path.basename(made.folder)} if made is not None else set()
                continue
            os.unlink(path)
            gone += [made] if made is not None else []
    dropped = {os.path.basename(made.folder) for made in gone} - kept
    _drop_leftovers(setups, records, kept, dropped)
    return tuple(gone)


def _drop_leftovers(setups: str, records: str, kept: set[str], dropped: set[str]) -> None:
    names = sorted(os.listdir(setups)) if os.path.isdir(setups) else []
    for key in [name.removesuffix(LOCKS) for name in names if name.endswith(LOCKS)]:
        with _locked(setups, key) as is_free:
            if not is_free:
                kept |= {name for name in names if name.startswith(f"{mark_of(key)}-")}
            elif _is_old(lock_path(setups, key)) and not os.path.exists(os.path.join(records, f"{key}{_RECORD}")):
                os.unlink(lock_path(setups, key))
    for name in names:
        path = os.path.join(setups, name)
        is_left = name not in kept and name not in _OURS and not name.endswith(LOCKS)
        if is_left and (name in dropped or _is_old(path)):
            wipe(path)


def _is_old(path: str) -> bool:
    return os.lstat(path).st_mtime < time() - _UNUSED_S


@contextmanager
def _locked(setups: str, key: str) -> Iterator[bool]:
    """Whether nothing makes or checks the set-up of this key; if so, nothing does within the block either."""
    lock = Lock(lock_path(setups, key), 0.0)
    try:
        lock.__enter__()
    except LockedError:
        yield False
        return
    try:
        yield True
    finally:
        lock.__exit__(None, None, None)
