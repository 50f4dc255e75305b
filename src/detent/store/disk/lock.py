"""One exclusive lock per task and one per project, held by the kernel for as long as the process lives."""

from __future__ import annotations

import fcntl
import os
import time

from detent.errors import LockedError
from detent.store.disk.atomic import storage_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

WAIT_S = 30.0  # a lock is held for milliseconds; a process that holds it longer hangs
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.05


def holder(path: str) -> int:
    """The process that holds a lock now; 0 when there is none or it is unknown. For people's eyes only."""
    try:
        inode, target = os.stat(path).st_ino, os.path.realpath(path)
        with open("/proc/locks", encoding="ascii", errors="replace") as file:
            rows = [line.split() for line in file]
    except OSError:
        return 0
    # Only the inode is compared: on some file systems the table names another device than `stat` does.
    pids = [row[4] for row in rows if len(row) > 5 and row[1] == "FLOCK" and row[5].endswith(f":{inode}")]
    return next((int(pid) for pid in pids if pid.isdecimal() and _has_open(pid, target)), 0)


def _has_open(pid: str, path: str) -> bool:
    folder = f"/proc/{pid}/fd"
    try:
        return any(os.readlink(f"{folder}/{name}") == path for name in os.listdir(folder))
    except OSError:
        return False  # it has ended, or belongs to another user


class Lock:
    """`with Lock(path):` waits a bounded time; a lock whose holder died is free at once.

    `waits` is called once, where the lock is not free at once.
    """

    def __init__(self, path: str, wait_s: float = WAIT_S, waits: Callable[[], None] | None = None) -> None:
        self.path = path
        self.wait_s = wait_s
        self._waits = waits
        self._descriptor = -1

    def __enter__(self) -> Lock:
        try:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            from detent.words.store import disk as say

            raise storage_error(error, self.path, say.lock_not_opened()) from error
        deadline = time.monotonic() + self.wait_s
        pause = _FIRST_PAUSE_S
        waits = self._waits
        while not self._try():
            if waits is not None:
                waits()
                waits = None
            if time.monotonic() >= deadline:
                os.close(self._descriptor)
                from detent.words.store import disk as say

                raise LockedError(say.lock_held(self.wait_s), where=self.path)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        return self

    def write(self, text: str) -> None:
        """What the file of a held lock says to people; the lock itself means nothing by it."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)

    def _try(self) -> bool:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            os.close(self._descriptor)
            from detent.words.store import disk as say

            raise storage_error(error, self.path, say.lock_not_taken()) from error
        return True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
