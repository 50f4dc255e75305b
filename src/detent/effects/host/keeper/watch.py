"""Waits for the ends of agent runs: the kernel reports that a keeper is gone, then its directory is read."""

from __future__ import annotations

import os

from detent.effects.host.keeper.look import look, read_identity
from detent.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

POLL_S = 0.05  # between two checks of runs that have no handle to wait on


def wait_for_end(run_dirs: Iterable[str], timeout_s: float) -> str | None:
    """One of these runs that has ended or was lost; None when the time is up."""
    with Watch(run_dirs) as watch:
        return watch.wait(timeout_s)


class Watch:
    """Many runs that are waited for again and again; opened once, since opening costs a little per run."""

    def __init__(self, run_dirs: Iterable[str] = ()) -> None:
        from select import poll

        self._poll = poll()
        self._handles: dict[int, str] = {}
        self._without: dict[str, None] = {}  # not begun, odd, or on a kernel without process handles
        for run_dir in run_dirs:
            self.add(run_dir)

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_problem: object) -> None:
        self.close()

    def close(self) -> None:
        for handle in self._handles:
            os.close(handle)
        self._handles.clear()

    def add(self, run_dir: str) -> None:
        self._without[run_dir] = None
        try:
            identity = read_identity(run_dir)
            handle = -1 if identity is None else os.pidfd_open(identity.keeper_pid)
        except (UnreadableError, OSError):
            return
        # Checked after opening: if the run lives now, the handle is its keeper's and no later process's.
        if handle >= 0 and look(run_dir).phase == "alive":
            del self._without[run_dir]
            self._handles[handle] = run_dir
            self._poll.register(handle)
        elif handle >= 0:
            os.close(handle)

    def wait(self, timeout_s: float, also: Iterable[int] = ()) -> str | None:
        """A run that has ended or was lost, which is then no longer watched.

        None when the time is up, or when one of the descriptors `also` can be read.
        """
        from select import POLLIN
        from time import monotonic

        others = frozenset(also)
        for other in others:
            self._poll.register(other, POLLIN)
        try:
            return self._wait(monotonic() + timeout_s, others)
        finally:
            for other in others:
                self._poll.unregister(other)

    def _wait(self, until: float, others: frozenset[int]) -> str | None:
        from time import monotonic

        while True:
            for run_dir in list(self._without):
                if look(run_dir).phase in ("ended", "lost"):
                    del self._without[run_dir]
                    return run_dir
                self.add(run_dir)
            left_s = max(0.0, until - monotonic())
            ready = self._poll.poll(1000 * (min(POLL_S, left_s) if self._without else left_s))
            for handle in [descriptor for descriptor, _event in ready if descriptor not in others]:
                self._poll.unregister(handle)
                self._without[self._handles.pop(handle)] = None
                os.close(handle)
            if (not ready and left_s == 0) or any(descriptor in others for descriptor, _event in ready):
                return None
