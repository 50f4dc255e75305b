"""Lets two files swap names in one step, for processes that replace files again and again.

Renamed over another, a file is written out at once by ext4, or must have got its room on the disk before; and the room
of the one that it replaces is given back. Of a file that swapped names with the one before it nothing is written out:
if it is replaced again within seconds, as by an engine that makes several moves in a row, it never reaches the disk.
Python gets at that call only through `ctypes`, which loads slowly: a process that replaces a file or two does without.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Exchange = Callable[[str, str], bool]

MOST_RENAMES = 3  # by one process, before it pays for the other way
_AT_FOLDER, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE


class _Way:
    renames = 0
    is_loaded = False
    found: Exchange | None = None


def exchange_of_names() -> Exchange | None:
    """Swaps what two names stand for, or says False and has changed nothing; None: rename, this time or always."""
    _Way.renames += 1
    if _Way.renames <= MOST_RENAMES:
        return None
    if not _Way.is_loaded:
        _Way.is_loaded, _Way.found = True, _load()
    return _Way.found


def _load() -> Exchange | None:
    if sys.platform != "linux":
        return None
    from ctypes import CDLL

    try:
        call = CDLL(None).renameat2
    except (OSError, AttributeError):
        return None  # a library that does not have it

    def exchange(path: str, other: str) -> bool:
        result: int = call(_AT_FOLDER, os.fsencode(path), _AT_FOLDER, os.fsencode(other), _EXCHANGE)
        return result == 0

    return exchange
