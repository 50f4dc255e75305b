"""What a process may touch, and what is mounted for it: values that the levels of the sandbox carry out."""

from __future__ import annotations

from detent.core.record import Record

BUBBLEWRAP, LANDLOCK, NONE = "bubblewrap", "landlock", "none"
LEVELS = (BUBBLEWRAP, LANDLOCK, NONE)  # best first


class Bind(Record):
    """A place that shows a folder of another path: read-only, writable, or empty and thrown away (scratch)."""

    source: str
    path: str
    kind: str = "shown"


class Overlay(Record):
    """A folder that is read from `lower` and written to `upper`; it stands at `merged`."""

    lower: str
    upper: str
    work: str
    merged: str


class Laid(Record):
    """What is mounted for a checkout besides the host's own files; levels without mounts have nothing of it."""

    seat: str = ""  # the path at which the checkout is seen, and commands run; empty: its own
    binds: tuple[Bind, ...] = ()
    overlays: tuple[Overlay, ...] = ()


NOTHING_LAID = Laid()


class Access(Record):
    """What a process may touch. Everything it does not name is there and read-only; deeper paths win."""

    writable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()  # seen as empty
    shown: tuple[str, ...] = ()  # read-only, although below something hidden
    guarded: tuple[str, ...] = ()  # read-only, although below something writable
    watched: tuple[str, ...] = ()  # guarded where that can be had, else compared afterwards by the caller
    scratch: tuple[str, ...] = ()  # empty and private where that can be had, else writable
    network: bool = True
    laid: Laid = NOTHING_LAID  # bubblewrap alone has it
