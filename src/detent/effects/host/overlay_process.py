"""Mounts overlays in a namespace of its own, then becomes the command it was given; started as a file, imports little.

Bubblewrap mounts overlays by itself only in newer versions, so they are mounted before it begins. This process maps
its user to itself, so that files keep their owner, and what it mounts is gone with the last process that sees it.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000
_RECURSIVE, _PRIVATE = 0x4000, 0x40000
FAILED = 70  # the exit code when the overlays can't be mounted; the command has not begun


def options(lower: str, upper: str, work: str) -> str:
    """The options of one mount; `userxattr` is what a user without rights needs."""
    return f"lowerdir={lower},upperdir={upper},workdir={work},userxattr"


def mount_all(overlays: list[list[str]]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    _check(libc.unshare(_NEW_USER | _NEW_MOUNTS), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    _check(libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None), "mount")
    for lower, upper, work, merged in overlays:
        data = os.fsencode(options(lower, upper, work))
        _check(libc.mount(b"overlay", os.fsencode(merged), b"overlay", 0, data), f"overlay at {merged}")


def _check(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def main(words: list[str]) -> None:
    try:
        mount_all(json.loads(words[0]))
        os.execv(words[1], words[1:])  # noqa: S606  # the command line is the engine's own
    except OSError as error:
        sys.stderr.write(f"overlay: {error}\n")
        sys.exit(FAILED)


if __name__ == "__main__":
    main(sys.argv[1:])
