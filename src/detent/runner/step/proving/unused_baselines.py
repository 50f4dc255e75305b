"""Removes kept results of baselines that no proof asks for any more; one that is being found out stays."""

from __future__ import annotations

import os
from time import time

from detent.errors import LockedError
from detent.runner.step.proving.baseline import FOLDER, LOCK
from detent.store.disk.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.store.journal.places import Project

UNUSED_S = 30 * 24 * 3600.0  # a result that no proof read for this long may go
MOST_BYTES = 512 << 20  # of all results together; the longest unused go first


def drop_unused_baselines(project: Project, most_bytes: int = MOST_BYTES) -> tuple[str, ...]:
    """Remove what no proof read for long, and the longest unused beyond a bound; returns the names of what went."""
    folder = os.path.join(project.control, FOLDER)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    seen = {name: os.lstat(os.path.join(folder, name)) for name in names if not name.endswith(LOCK)}
    room, gone = most_bytes, []
    for name in sorted(seen, key=lambda name: seen[name].st_mtime, reverse=True):
        room -= seen[name].st_size
        if room < 0 or seen[name].st_mtime < time() - UNUSED_S:
            gone.append(name)
    return tuple(name for name in gone if _drop(os.path.join(folder, name)))


def _drop(path: str) -> bool:
    """Remove a result and its lock, unless that is taken."""
    try:
        with Lock(path + LOCK, 0.0):
            os.unlink(path)
            os.unlink(path + LOCK)
    except LockedError:
        return False
    return True
