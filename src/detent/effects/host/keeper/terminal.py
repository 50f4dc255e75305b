"""A run in which a person talks to the agent: the calling process stands where the keeper would.

The program has a session and a terminal of its own, and `terminal_relay` connects it with the person's. The run leaves
the same traces in its directory, in the same order, so that readers see a run like any other. A person bounds it, not
the clock. If the calling process dies, the program dies with it and the run is lost. If the person's terminal
is closed the program gets a moment to end by itself.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import termios
from time import monotonic, time

from detent.effects.host import foreground_process
from detent.effects.host.keeper import process
from detent.effects.host.keeper.start import RunSpec, pack
from detent.effects.host.terminal_relay import Relay
from detent.errors import RefusedError, StorageError
from detent.store.journal.memory import TALKED
from detent.words.effects import host as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_CLOSED_GRACE_S = 5.0  # for a program whose terminal was closed
_TICK_S = 0.05  # between two checks for signals; keys, output and the end are noticed at once
_SIGNALS = (signal.SIGTERM, signal.SIGWINCH)
# Writing the terminal's settings must not stop this process, and no other process may write them meanwhile.
_HELD_BACK = (*process.BLOCKED, signal.SIGWINCH, signal.SIGTTOU, signal.SIGTTIN, signal.SIGTSTP)


class _Program(process.Run):
    """The program, alone in a session whose terminal is ours."""

    def __init__(self, spec: process.Spec, terminal: int) -> None:
        self._terminal = terminal
        super().__init__(spec)

    def take_streams(self, stdin: int) -> None:
        os.close(stdin)
        fcntl.ioctl(self._terminal, termios.TIOCSCTTY, 0)
        for target in range(3):
            os.dup2(self._terminal, target)


def in_foreground(argv: Sequence[str]) -> tuple[str, ...]:
    """The command line that gives a program the foreground of its terminal."""
    return (sys.executable, "-I", "-S", foreground_process.__file__, *argv)


def _take_lock(run_dir: str) -> None:
    used = (process.VOID, process.IDENTITY, process.EXIT)
    if not process.take_lock() or any(os.path.lexists(name) for name in used):
        raise RefusedError(say.run_started_before(), where=run_dir)


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
        signal.pthread_sigmask(signal.SIG_BLOCK, _HELD_BACK)
        self._relay = Relay()
        os.chdir(spec.run_dir)  # the names of a run's traces are meant there, as in the keeper
        try:
            _take_lock(spec.run_dir)
            identity, self._exit = process.Reserved(process.IDENTITY), process.Reserved(process.EXIT)
            self._run = _Program(process.Spec(pack(spec)), self._relay.inside)
            self._end = os.pidfd_open(self._run.leader)
            identity.publish(self._run.identity())
        except OSError as problem:
            self._return()
            raise StorageError(say.agent_not_started(problem.strerror), where=spec.run_dir) from problem
        except RefusedError:
            self._return()
            raise
        self._started = time()
        self._relay.attach()
        self._run.begin()

    def _return(self) -> None:
        self._relay.close()
        os.fchdir(self._back)
        os.close(self._back)
        while signal.sigtimedwait(_HELD_BACK, 0) is not None:
            pass  # meant for the conversation, which is over
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD_BACK)

    def wait(self, timeout_s: float) -> bool:
        """Whether the program has ended or was asked to, before the time is up."""
        until = monotonic() + timeout_s
        while not (self._is_over() or self._is_left()):
            if (left_s := until - monotonic()) <= 0:
                return False
            self._relay.pass_on(self._end, min(left_s, _TICK_S))
            while (got := signal.sigtimedwait(_SIGNALS, 0)) is not None:
                if got.si_signo == signal.SIGTERM:
                    return True
                self._relay.resize()
        return True

    def _is_over(self) -> bool:
        self._run.reap()
        return self._run.status is not None

    def _is_left(self) -> bool:
        """Whether the terminal was closed, long enough ago for a program that saves its work and ends by itself."""
        if not self._relay.is_hung_up:
            return False
        self._closed_at = self._closed_at or monotonic()
        return monotonic() - self._closed_at >= _CLOSED_GRACE_S

    def finish(self) -> None:
        """End all that is left of the run, give the terminal back, and write down how it ended."""
        is_over = self._is_over() or self._is_left()
        left = self._run.end_all()
        outcome = self._run.outcome(TALKED if is_over else "stopped", left)
        os.close(self._end)
        try:
            self._exit.publish({**outcome, "started": self._started, "ended": time()})
        except OSError as problem:
            raise StorageError(say.end_not_written(problem.strerror)) from problem
        finally:
            self._return()
