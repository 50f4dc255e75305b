"""A command in a terminal of its own, driven as a person does: read what it shows, type, press keys."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import Self

LONGEST_S = 120.0
INTERRUPT, SUSPEND = "\x03", "\x1a"  # Ctrl-C, Ctrl-Z
# The process that started the tests may ignore Ctrl-C; a person's terminal does not.
_TAKE = (
    "import fcntl, os, signal, sys, termios; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
)


class Terminal:
    def __init__(
        self, words: tuple[str, ...], cwd: Path, environment: Mapping[str, str], program: tuple[str, ...] = ()
    ) -> None:
        """`program` takes the place of the `detent` of this Python."""
        self.screen, inside = os.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.shown = ""
        self._stop = signal.SIGHUP if program else signal.SIGTERM  # a shell at work ignores the latter
        argv = [sys.executable, "-c", _TAKE, *(program or (sys.executable, "-m", "detent")), *words]
        self.command = subprocess.Popen(
            argv, cwd=cwd, env=dict(environment), stdin=inside, stdout=inside, stderr=inside, start_new_session=True
        )
        os.close(inside)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self.command.poll() is None:
            self.command.send_signal(self._stop)
            self.command.wait(LONGEST_S)
        os.close(self.screen)

    def until(self, text: str, after: str = "") -> None:
        """Read until this is on the screen, behind what came before; what came after it is read too."""
        while text not in (self.shown.partition(after)[2] if after else self.shown):
            assert self._read(), f"{text!r} never came; shown: {self.shown}"

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def end(self) -> int:
        """Read until the command has ended; its exit code."""
        while self._read():
            pass
        return self.command.wait(LONGEST_S)

    def _read(self) -> bool:
        ready, _, _ = select.select([self.screen], [], [], LONGEST_S)
        assert ready, f"nothing comes any more; shown: {self.shown}"
        try:
            data = os.read(self.screen, 65536)
        except OSError:  # the other side is closed
            return False
        self.shown += data.decode("utf-8", "replace")
        return bool(data)
