"""Tells when a file that was open for writing is closed, to the moment: inotify, which Python does not offer.

The journal is opened, written, synced and closed for each line, so the first such moment is when a line is safe.
"""

from __future__ import annotations

import ctypes
import os
import select
import time
from collections.abc import Iterable
from types import TracebackType

_CLOSE_WRITE = 0x8
_EVENT_BYTES = 16  # watch, mask, cookie, length of the name; a watched file has no name


class Notice:
    def __init__(self, paths: Iterable[str]) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._descriptor = library.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify is not there")
        self._paths: dict[int, str] = {}
        for path in paths:
            watch = library.inotify_add_watch(self._descriptor, os.fsencode(path), _CLOSE_WRITE)
            if watch < 0:
                raise OSError(ctypes.get_errno(), "can't be watched", path)
            self._paths[watch] = path

    def __enter__(self) -> Notice:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def drain(self) -> None:
        """Forget what happened until now."""
        while self._read():
            pass

    def wait_for(self, paths: Iterable[str], timeout_s: float) -> dict[str, float]:
        """When each of these was first closed, by the clock of `time.perf_counter`; those in time only."""
        wanted, found = set(paths), dict[str, float]()
        until = time.perf_counter() + timeout_s
        while wanted and (left_s := until - time.perf_counter()) > 0:
            select.select([self._descriptor], [], [], left_s)
            now = time.perf_counter()
            for path in self._read():
                if path in wanted:
                    wanted.remove(path)
                    found[path] = now
        return found

    def _read(self) -> list[str]:
        try:
            data = os.read(self._descriptor, 1 << 16)
        except BlockingIOError:
            return []
        numbers = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), _EVENT_BYTES)]
        return [self._paths[number] for number in numbers]
