"""The words before a command that put it under Landlock, where its rules can say what is wanted.

Landlock allows and never forbids. To hide a place, everything beside it is allowed by name, all the way up; what
appears there later is not allowed, which is safe. To guard or hide a place below a writable one is beyond it. Of the
network it rules over TCP alone.
"""

from __future__ import annotations

import json
import os
import sys

from detent.effects import landlock_process
from detent.errors import ToolError
from detent.store.places import lies_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.effects.sandbox import Access

_DEVICE_FOLDER = "/dev"  # disks and keyboards are read there; what programs need of it is named
_DEVICES = tuple(
    f"{_DEVICE_FOLDER}/{name}" for name in ("null", "zero", "full", "tty", "pts", "shm", "ptmx", "random", "urandom")
)
_MOST_RULES = 20_000
_ONE_WORD_BYTES, _MOST_BYTES = 100_000, 1_200_000  # the kernel bounds each word of a command line, and all of them


def landlock(access: Access) -> tuple[str, ...]:
    """Raises where the rules can't express the access."""
    writable = [os.path.realpath(path) for path in access.writable]
    hidden = [os.path.realpath(path) for path in access.hidden if os.path.lexists(path)]
    guarded = [os.path.realpath(path) for path in access.guarded]
    # A path that is both hidden and writable is writable, as with bubblewrap.
    for closed in (*guarded, *(path for path in hidden if path not in writable)):
        if any(lies_in(closed, place) for place in writable):
            raise ToolError(
                "Landlock can't take a place out of a writable one",
                where=closed,
                next_step="install bubblewrap, or let the task work in a clone of its own",
            )
    # A scratch place is a convenience: one that holds what must not be reached is none.
    scratch = [os.path.realpath(path) for path in access.scratch]
    writable += [path for path in scratch if not _holds_hidden(path, [*hidden, *guarded])]
    if not access.network and landlock_process.version() < landlock_process.TCP_SINCE:
        raise ToolError("this kernel's Landlock can't keep a process from the network", next_step="install bubblewrap")
    readable = _beside(os.sep, [*hidden, _DEVICE_FOLDER])
    shown = [os.path.realpath(path) for path in access.shown]
    readable += [path for path in shown if path not in hidden and not _holds_hidden(path, hidden)]
    readable += [one for path in shown if _holds_hidden(path, hidden) for one in _beside(path, hidden)]
    spec = json.dumps({"writable": [*writable, *_DEVICES], "readable": readable, "tcp": access.network})
    if len(readable) > _MOST_RULES or len(spec) > _MOST_BYTES:
        raise ToolError("hiding that much would take too many Landlock rules", next_step="install bubblewrap")
    parts = [spec[at : at + _ONE_WORD_BYTES] for at in range(0, len(spec), _ONE_WORD_BYTES)]
    return (sys.executable, "-I", "-S", landlock_process.__file__, str(len(parts)), *parts)


def _beside(folder: str, hidden: list[str]) -> list[str]:
    """Everything in a folder except what is hidden, as few paths as possible."""
    if not _holds_hidden(folder, hidden):
        return [folder]
    found: list[str] = []
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    for name in names:
        path = os.path.join(folder, name)
        if path not in hidden and not os.path.islink(path):
            found += _beside(path, hidden)
    return found


def _holds_hidden(folder: str, hidden: list[str]) -> bool:
    return any(path != folder and lies_in(path, folder) for path in hidden)
