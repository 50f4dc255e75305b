"""Stands between a person's terminal and a program: the program has a terminal of its own, and bytes are passed on.

What the program does to its terminal (settings, size, typing into it by TIOCSTI) ends with it. The person's terminal is
in raw mode meanwhile, so that every key reaches the program's terminal, which makes signals and line ends of it. If
this process is killed, a watcher gives the person's terminal its settings back.
"""

from __future__ import annotations

import fcntl
import os
import termios
from contextlib import suppress
from select import POLLHUP, POLLIN, POLLOUT, poll

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_INPUT, _OUTPUT = 0, 1
_PART_BYTES = 4096
_MOST_WAITING_BYTES = 1 << 16  # that one side has sent and the other has not taken
_OUTPUT_PART_BYTES = 256  # a terminal that can be written to takes this much without making us wait
_WINDOW_BYTES = 8
_LAST_WORDS = 1 << 20  # of output that is still shown when the program has ended
_OWN_DESCRIPTORS = 3
_MOST_DESCRIPTORS = 1 << 16


class Relay:
    """One program's terminal; used once. `open` makes it, `attach` begins to pass on, `close` gives everything back."""

    def __init__(self) -> None:
        self._settings: list[Any] = termios.tcgetattr(_INPUT)
        self.screen, self.inside = os.openpty()
        self._to_program, self._to_person = b"", b""
        self._is_attached, self._is_hung_up = False, False
        termios.tcsetattr(self.inside, termios.TCSANOW, self._settings)
        self.resize()
        os.set_blocking(self.screen, False)
        self._watcher = _watch_settings(self._settings)

    def attach(self) -> None:
        """The program runs: its terminal is its own now, and the person's keys are for it."""
        self._close_inside()
        termios.tcsetattr(_INPUT, termios.TCSADRAIN, raw(self._settings))
        self._is_attached = True

    def _close_inside(self) -> None:
        if self.inside >= 0:
            os.close(self.inside)
            self.inside = -1

    @property
    def is_hung_up(self) -> bool:
        """Whether the person's terminal was closed."""
        return self._is_hung_up

    def resize(self) -> None:
        """Give the program's terminal the size of the person's; the kernel tells the program."""
        with suppress(OSError):
            size = fcntl.ioctl(_INPUT, termios.TIOCGWINSZ, bytes(_WINDOW_BYTES))
            fcntl.ioctl(self.screen, termios.TIOCSWINSZ, size)

    def pass_on(self, also: int, timeout_s: float) -> None:
        """Wait until there is something to pass on, or `also` can be read, or the time is up; then pass it on."""
        waiting = poll()
        waiting.register(also, POLLIN)
        if not self._is_hung_up:
            waiting.register(_INPUT, POLLIN if len(self._to_program) < _MOST_WAITING_BYTES else 0)
            if self._to_person:
                waiting.register(_OUTPUT, POLLOUT)
        if self.screen >= 0:
            wanted = POLLIN if len(self._to_person) < _MOST_WAITING_BYTES else 0
            waiting.register(self.screen, wanted | (POLLOUT if self._to_program else 0))
        ready = dict(waiting.poll(timeout_s * 1000))
        self._take(ready)
        self._give(ready)

    def _take(self, ready: dict[int, int]) -> None:
        if ready.get(_INPUT, 0) & POLLIN:
            typed = _read_ready(_INPUT)
            self._to_program += typed
            self._is_hung_up = self._is_hung_up or not typed
        elif ready.get(_INPUT, 0) & POLLHUP:
            self._is_hung_up = True
        if self._is_hung_up:
            self._hang_up()
        elif ready.get(self.screen, 0) & POLLIN:
            self._to_person += _read_ready(self.screen)
        elif ready.get(self.screen, 0) & POLLHUP:  # no process has the program's terminal open any more
            self._hang_up()

    def _give(self, ready: dict[int, int]) -> None:
        if self._to_program and ready.get(self.screen, 0) & POLLOUT:
            self._to_program = _write(self.screen, self._to_program)
        if self._to_person and ready.get(_OUTPUT, 0) & POLLOUT:
            part = self._to_person[:_OUTPUT_PART_BYTES]
            self._to_person = _write(_OUTPUT, part) + self._to_person[_OUTPUT_PART_BYTES:]

    def _hang_up(self) -> None:
        """Close the program's terminal: the kernel signals its processes, as when a window is closed."""
        if self.screen >= 0:
            os.close(self.screen)
            self.screen = -1

    def close(self) -> None:
        """Show what the program said last, and give the person's terminal its settings back.

        What was typed and not taken is dropped: it was meant for the program, or is an answer to it.
        """
        left = _LAST_WORDS
        while self.screen >= 0 and left > 0 and (said := _read_ready(self.screen)):
            self._to_person += said
            left -= len(said)
        self._hang_up()
        self._close_inside()
        if self._is_attached and not self._is_hung_up:
            with suppress(OSError, termios.error):  # the terminal may be gone
                self._show_rest()
                termios.tcsetattr(_INPUT, termios.TCSAFLUSH, self._settings)
        with suppress(OSError):
            os.write(self._watcher, b"closed")
        os.close(self._watcher)

    def _show_rest(self) -> None:
        while self._to_person:
            part = self._to_person[:_OUTPUT_PART_BYTES]
            self._to_person = self._to_person[os.write(_OUTPUT, part) :]


def raw(settings: list[Any]) -> list[Any]:
    """The settings of a terminal that passes every byte on as it is."""
    made = [*settings[:6], list(settings[6])]
    made[0] &= ~(
        termios.IGNBRK
        | termios.BRKINT
        | termios.PARMRK
        | termios.ISTRIP
        | termios.INLCR
        | termios.IGNCR
        | termios.ICRNL
    )
    made[0] &= ~(termios.IXON | termios.IXOFF)
    made[1] &= ~termios.OPOST
    made[2] = (made[2] & ~(termios.CSIZE | termios.PARENB)) | termios.CS8
    made[3] &= ~(termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN)
    made[6][termios.VMIN], made[6][termios.VTIME] = 1, 0
    return made


def _read_ready(descriptor: int) -> bytes:
    """What can be read now; nothing when the other side is gone, or silent."""
    try:
        return os.read(descriptor, _PART_BYTES)
    except OSError:
        return b""


def _write(descriptor: int, data: bytes) -> bytes:
    """What is left to be written."""
    try:
        return data[os.write(descriptor, data) :]
    except BlockingIOError:
        return data
    except OSError:
        return b""  # there is no reader


def _watch_settings(settings: list[Any]) -> int:
    """Start a process that gives the terminal these settings if we end without closing; our end of its pipe.

    It is detached and has none of our files open. It changes nothing where the terminal is no longer as we left it: a
    shell is back at work there.
    """
    reading, writing = os.pipe()
    first = os.fork()
    if first == 0:
        try:
            if os.fork() == 0:
                _restore_afterwards(os.dup2(reading, _OWN_DESCRIPTORS), settings)
        finally:
            os._exit(0)
    os.waitpid(first, 0)
    os.close(reading)
    return writing


def _restore_afterwards(pipe: int, settings: list[Any]) -> None:
    os.closerange(_OWN_DESCRIPTORS + 1, _MOST_DESCRIPTORS)
    if not os.read(pipe, 1) and termios.tcgetattr(_INPUT) == raw(settings):
        termios.tcsetattr(_INPUT, termios.TCSADRAIN, settings)
