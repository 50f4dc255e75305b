"""Lays a set-up into a checkout: folders are mounted at the checkout's seat, single files are copied.

For proof the folders are read-only, with places in them that are writable and thrown away. For an agent they are its
own: an overlay whose writes stay in the task's home, or a copy. No inode of a shared set-up is writable in either.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.bring import copy_path, shares_blocks, wipe
from detent.effects.host.access import Bind, Laid, Overlay

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from detent.effects.workspace.setups import Made

_APART = frozenset(",:\\")  # they part the options of a mount


class Ground(Record):
    """The checkout that a set-up is laid into."""

    folder: str
    tracked: frozenset[str]
    seat: str


def lay_read_only(made: Made, ground: Ground) -> Laid:
    """The set-up for a proof."""
    binds: list[Bind] = []
    for name in made.folders:
        if _is_tracked(name, ground.tracked):
            copy_path(made.folder, ground.folder, name, ground.tracked)  # files of the tree win, one by one
        elif is_free(ground.folder, name):
            binds.append(Bind(os.path.join(made.folder, name), os.path.join(ground.seat, name)))
    _copy_files(made, ground)
    return read_only(Laid(ground.seat, tuple(binds)), made)


def lay_writable(made: Made, ground: Ground, private: str, *, overlays: bool) -> Laid:
    """The set-up for an agent, which may change all of it; what it changes stays in the private folder."""
    wipe(private)
    binds: list[Bind] = []
    mounted: list[Overlay] = []
    for number, name in enumerate(made.folders, 1):
        if _is_tracked(name, ground.tracked) or not is_free(ground.folder, name):
            continue
        source, target = os.path.join(made.folder, name), os.path.join(private, str(number))
        if overlays and _APART.isdisjoint(source + target):
            parts = [os.path.join(target, part) for part in ("upper", "work", "merged")]
            for part in parts:
                os.makedirs(part)
            mounted.append(Overlay(source, *parts))
            target = parts[-1]
        else:
            os.makedirs(private, exist_ok=True)
            copy_path(made.folder, private, name, frozenset(), into=target)
        binds.append(Bind(target, os.path.join(ground.seat, name), "writable"))
    _copy_files(made, ground)
    return Laid(ground.seat, tuple(binds), tuple(mounted))


def copied_bytes(made: Made, laid: Laid, private: str) -> int:
    """What `lay_writable` copied for the private folder; 0 where overlays or shared blocks spare it."""
    is_copied = len(laid.overlays) < len(laid.binds) and not shares_blocks(private)
    return made.bytes if is_copied else 0


def read_only(laid: Laid, made: Made) -> Laid:
    """The set-up laid for an agent or a build, as it is, for commands that only use it; tool caches stay writable."""
    binds = [bind.replace(kind="shown") for bind in laid.binds]
    mounted = {bind.path for bind in binds}
    caches = [os.path.join(laid.seat, cache) for cache in made.caches]
    binds += [Bind("", cache, "scratch") for cache in caches if os.path.dirname(cache) in mounted]
    return laid.replace(binds=tuple(binds))


def lay_private(made: Made, ground: Ground) -> Laid:
    """A set-up that is the checkout's own already: writable as it is."""
    names = [name for name in made.folders if not _is_tracked(name, ground.tracked) and is_free(ground.folder, name)]
    binds = [Bind(os.path.join(made.folder, name), os.path.join(ground.seat, name), "writable") for name in names]
    _copy_files(made, ground)
    return Laid(ground.seat, tuple(binds))


def _copy_files(made: Made, ground: Ground) -> None:
    for name in made.files:
        if name not in ground.tracked:
            copy_path(made.folder, ground.folder, name, ground.tracked)


def _is_tracked(folder: str, tracked: Collection[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for path in tracked)


def is_free(checkout: str, name: str) -> bool:
    """Whether a folder can be mounted there: no link leads elsewhere, and no file is in the way."""
    path = os.path.join(os.path.realpath(checkout), name)
    return os.path.realpath(path) == path and (os.path.isdir(path) or not os.path.lexists(path))
