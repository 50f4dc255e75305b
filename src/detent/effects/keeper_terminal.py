"""A run that has this terminal: the calling process stands where the keeper would, for a person talks to the agent.

It leaves the same traces in the run's directory, in the same order, so that whoever looks sees a run like any other. A
person bounds it, not the clock. If the calling process dies, the program dies with it and the run is lost. If the
terminal is closed nobody can reach the program any more: it gets a moment to end by itself, as after a person's leave.
"""

from __future__ import annotations

import os
import signal
import sys
import termios
from contextlib import suppress
from select import POLLHUP, poll
from time import monotonic, time

from detent.effects import foreground_process
from detent.effects import keeper_process as process
from detent.effects.keeper import RunSpec, pack
from detent.errors import RefusedError, StorageError
from detent.store.memory import TALKED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_TERMINAL = 0
_CLOSED_GRACE_S = 5.0  # for a program whose terminal was closed
_HELD_BACK = (*process.BLOCKED, signal.SIGTTOU)  # writing the terminal's settings must not stop us


class _Program(process.Run):
    """The program, in a group of its own in this session, with the streams of this process."""

    def take_place(self) -> None:
        os.setpgid(0, 0)

    def take_streams(self, stdin: int) -> None:
        """It keeps the terminal."""


def in_foreground(argv: Sequence[str]) -> tuple[str, ...]:
    """The command line that gives a program the foreground of its terminal."""
    return (sys.executable, "-I", "-S", foreground_process.__file__, *argv)


def _take_lock(run_dir: str) -> None:
    used = (process.VOID, process.IDENTITY, process.EXIT)
    if not process.take_lock() or any(os.path.lexists(name) for name in used):
        raise RefusedError("an agent run was already started here", where=run_dir)


class Attended:
    """One conversation; used once. `begin` returns when the program runs, `wait` until it has ended."""

    def __init__(self) -> None:
        self._started = 0.0
        self._closed_at = 0.0  # when the terminal was seen to be closed

    @property
    def has_begun(self) -> bool:
        return self._started > 0

    def begin(self, spec: RunSpec) -> None:
        """Where this raises, no program was started."""
        self._back = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._settings: list[Any] = termios.tcgetattr(_TERMINAL)
        signal.pthread_sigmask(signal.SIG_BLOCK, _HELD_BACK)
        os.chdir(spec.run_dir)  # the names of a run's traces are meant there, as in the keeper
        try:
            _take_lock(spec.run_dir)
            identity, self._exit = process.Reserved(process.IDENTITY), process.Reserved(process.EXIT)
            self._run = _Program(process.Spec(pack(spec)))
            identity.publish(self._run.identity())
        except OSError as problem:
            self._return()
            raise StorageError(f"the agent can't be started: {problem.strerror}", where=spec.run_dir) from problem
        except RefusedError:
            self._return()
            raise
        self._started = time()
        self._run.begin()

    def _return(self) -> None:
        os.fchdir(self._back)
        os.close(self._back)
        while signal.sigtimedwait(process.BLOCKED, 0) is not None:
            pass  # meant for the conversation, which is over
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD_BACK)

    def wait(self, timeout_s: float) -> bool:
        """Whether the program has ended or somebody wants it to, before the time is up."""
        if self._is_over() or self._is_left():
            return True
        got = signal.sigtimedwait((signal.SIGCHLD, signal.SIGTERM), timeout_s)
        return self._is_over() or (got is not None and got.si_signo == signal.SIGTERM)

    def _is_over(self) -> bool:
        self._run.reap()
        return self._run.status is not None

    def _is_left(self) -> bool:
        """Whether the terminal was closed, long enough ago for a program that saves its work and ends by itself."""
        terminal = poll()
        terminal.register(_TERMINAL, 0)
        if not any(event & POLLHUP for _, event in terminal.poll(0)):
            return False
        self._closed_at = self._closed_at or monotonic()
        return monotonic() - self._closed_at >= _CLOSED_GRACE_S

    def finish(self) -> None:
        """End all that is left of the run, take the terminal back, and write down how it ended."""
        is_over = self._is_over() or self._is_left()
        left = self._run.end_all()
        outcome = self._run.outcome(TALKED if is_over else "stopped", left)
        with suppress(OSError, termios.error):  # the terminal may be gone
            os.tcsetpgrp(_TERMINAL, os.getpgrp())
            termios.tcsetattr(_TERMINAL, termios.TCSADRAIN, self._settings)
        try:
            self._exit.publish({**outcome, "started": self._started, "ended": time()})
        except OSError as problem:
            raise StorageError(f"the end of the run can't be written: {problem.strerror}") from problem
        self._return()
