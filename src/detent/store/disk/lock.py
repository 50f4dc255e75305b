"""One exclusive lock per task and one per project, held by the kernel for as long as the process lives."""

from __future__ import annotations

import fcntl
import os
import time

from detent.errors import LockedError
from detent.store.disk.atomic import storage_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

WAIT_S = 30.0  # a lock is held for milliseconds; whoever holds it longer hangs
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.05


def holder(path: str) -> int:
    """The process that holds a lock now; 0 when nobody does or it can't be told. For people's eyes only."""
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
        return False  # it has ended, or is somebody else's


class Lock:
    """`with Lock(path):` waits a bounded time; a lock whose holder died is free at once."""

    def __init__(self, path: str, wait_s: float = WAIT_S) -> None:
        self.path = path
        self.wait_s = wait_s
        self._descriptor = -1

    def __enter__(self) -> Lock:
        try:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise storage_error(error, self.path, "lock can't be opened") from error
        deadline = time.monotonic() + self.wait_s
        pause = _FIRST_PAUSE_S
        while not self._try():
            if time.monotonic() >= deadline:
                os.close(self._descriptor)
                raise LockedError(
                    f"another detent command has held the lock for {self.wait_s:.0f} s",
                    where=self.path,
                    next_step="wait for it to end, then run the same command again",
                )
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        return self

    def _try(self) -> bool:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            os.close(self._descriptor)
            raise storage_error(error, self.path, "lock can't be taken") from error
        return True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
