"""The words before a command that put it under Landlock, where its rules can say what is wanted.

Landlock allows and never forbids. To hide a place, everything beside it is allowed by name, all the way up; what
appears there later is not allowed, which is safe. To guard or hide a place below a writable one is beyond it. Of the
network it rules over TCP alone.
"""

from __future__ import annotations

import json
import os
import sys

from detent.effects.host import landlock_process
from detent.errors import ToolError
from detent.store.journal.places import lies_in
from detent.words.effects import host as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.effects.host.access import Access

    Groups = dict[tuple[str, bool], list[str]]

_DEVICE_FOLDER = "/dev"  # disks and keyboards are read there; what programs need of it is named
_DEVICES = tuple(
    f"{_DEVICE_FOLDER}/{name}" for name in ("null", "zero", "full", "tty", "pts", "shm", "ptmx", "random", "urandom")
)
_MOST_RULES = 20_000
_MOST_BESIDE_BYTES = 800_000  # of paths beside hidden ones
_ONE_WORD_BYTES, _MOST_BYTES = 100_000, 1_200_000  # the kernel bounds each word of a command line, and all of them


def landlock(access: Access) -> tuple[str, ...]:
    """Raises where the rules can't express the access."""
    writable = [os.path.realpath(path) for path in access.writable]
    hidden = [os.path.realpath(path) for path in access.hidden if os.path.lexists(path)]
    guarded = [os.path.realpath(path) for path in access.guarded]
    # A path that is both hidden and writable is writable, as with bubblewrap.
    for closed in (*guarded, *(path for path in hidden if path not in writable)):
        if any(lies_in(closed, place) for place in writable):
            raise ToolError(say.landlock_no_guards(), where=closed)
    # A scratch place is a convenience: one that holds what must not be reached is none.
    scratch = [os.path.realpath(path) for path in access.scratch]
    writable += [path for path in scratch if not _holds_hidden(path, [*hidden, *guarded])]
    if not access.network and landlock_process.version() < landlock_process.TCP_SINCE:
        raise ToolError(say.landlock_no_network())
    beside: Groups = {}
    _put_beside(os.sep, [*hidden, _DEVICE_FOLDER], beside)  # it holds one at least
    shown = [path for path in map(os.path.realpath, access.shown) if path not in hidden]
    for path in (path for path in shown if _holds_hidden(path, hidden)):
        _put_beside(path, hidden, beside)
    readable = [path for path in shown if not _holds_hidden(path, hidden)]
    readable += _fitting(beside)
    spec = json.dumps({"writable": [*writable, *_DEVICES], "readable": readable, "tcp": access.network})
    if len(readable) > _MOST_RULES or len(spec) > _MOST_BYTES:
        raise ToolError(say.landlock_too_many_rules())
    parts = [spec[at : at + _ONE_WORD_BYTES] for at in range(0, len(spec), _ONE_WORD_BYTES)]
    return (sys.executable, "-I", "-S", landlock_process.__file__, str(len(parts)), *parts)


def _put_beside(folder: str, hidden: list[str], beside: Groups) -> None:
    """Everything in a folder except the hidden places it holds: by folder, files and folders apart."""
    if (folder, True) in beside or (folder, False) in beside:
        return
    try:
        with os.scandir(folder) as entries:
            found = sorted(
                (entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries if not entry.is_symlink()
            )
    except OSError:
        return
    for path, is_folder in found:
        if path in hidden:
            continue  # with all it holds, hidden or not
        if is_folder and _holds_hidden(path, hidden):
            _put_beside(path, hidden, beside)
        else:
            beside.setdefault((folder, is_folder), []).append(path)


def _fitting(beside: Groups) -> list[str]:
    """All of them, or without the largest: an agent may have filled the folder of its login, and must not lower the
    sandbox of others by that. What is not named can't be read, which is safe."""
    groups = sorted(beside.values(), key=_size)
    while sum(map(_size, groups)) > _MOST_BESIDE_BYTES:
        groups.pop()
    return [path for group in groups for path in group]


def _size(group: list[str]) -> int:
    return sum(len(path) + 4 for path in group)


def _holds_hidden(folder: str, hidden: list[str]) -> bool:
    return any(path != folder and lies_in(path, folder) for path in hidden)
