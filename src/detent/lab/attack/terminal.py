"""A command of the lab in a terminal of its own: what it shows, and what stands in the input after it."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import termios
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.ground import Ground

_LONGEST_S = 60.0
_POLL_S = 0.02
_CHUNK_BYTES = 65536


def in_terminal(world: Ground, *words: str) -> tuple[str, str]:
    """What `detent WORDS` showed, and what your shell would read next from the same terminal."""
    screen, inside = os.openpty()
    child = os.fork()
    if child == 0:
        os.setsid()
        fcntl.ioctl(inside, termios.TIOCSCTTY, 0)
        for number in range(3):
            os.dup2(inside, number)
        os.chdir(world.repo)
        environment = {**world.environment, "TERM": "dumb", "PAGER": "cat"}
        argv = [sys.executable, "-P", "-m", "detent", *words]
        os.execve(sys.executable, argv, environment)  # noqa: S606  # a terminal of its own is the point
    os.set_blocking(screen, False)  # the library's own word
    os.set_blocking(inside, False)  # the library's own word
    shown, until = b"", time.monotonic() + _LONGEST_S
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        shown += _read(screen)
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
        time.sleep(_POLL_S)
    shown += _read(screen)
    left = _read(inside)
    os.close(inside)
    os.close(screen)
    return shown.decode("utf-8", "replace"), left.decode("utf-8", "replace")


def _read(terminal: int) -> bytes:
    with suppress(BlockingIOError, OSError):
        return os.read(terminal, _CHUNK_BYTES)
    return b""
