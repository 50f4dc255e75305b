"""Short-lived processes of our own command line, several at a time, each waited for through its handle.

They do what may take long so that their parent never has to; the parent's death does not end them, and what they do is
safe to be repeated, as every command is.
"""

from __future__ import annotations

import os
import sys

from detent.core.record import Record
from detent.errors import ToolError
from detent.store.disk.atomic import reason_of
from detent.words.effects import host as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_TAIL_BYTES = 4096


class Child(Record):
    """One that has ended."""

    name: str
    code: int
    last_line: str  # of all it printed


class Children:
    def __init__(self) -> None:
        self._running: dict[str, tuple[int, int, str]] = {}  # name -> pid, handle, log

    def __len__(self) -> int:
        return len(self._running)

    def __contains__(self, name: str) -> bool:
        return name in self._running

    def start(self, name: str, words: Sequence[str], log: str) -> None:
        """Run `detent WORDS`; everything it prints goes to `log`, which is emptied first."""
        pid = start_detent(words, log)
        try:
            self._running[name] = (pid, os.pidfd_open(pid), log)
        except OSError as problem:
            raise ToolError(say.process_not_waited_for(reason_of(problem)), where=log) from problem

    def handles(self) -> tuple[int, ...]:
        """To be polled: readable once the process has ended."""
        return tuple(handle for _, handle, _ in self._running.values())

    def ended(self) -> tuple[Child, ...]:
        """Those that have ended since the last call."""
        found: list[Child] = []
        for name, (pid, handle, log) in list(self._running.items()):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                os.close(handle)
                del self._running[name]
                found.append(Child(name, os.waitstatus_to_exitcode(status), _last_line(log)))
        return tuple(found)


def start_detent(words: Sequence[str], log: str) -> int:
    """Start our own command line in a session of its own, away from this terminal; its process id."""
    argv = [sys.executable, "-P", "-m", "detent", *words]  # the folder we stand in may hold a json.py
    output = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, log, output, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    try:
        return os.posix_spawn(sys.executable, argv, os.environ, file_actions=actions, setsid=True)
    except OSError as problem:  # of the program or of the log; the error does not say which
        raise ToolError(say.process_not_started(reason_of(problem)), where=log) from problem


def _last_line(log: str) -> str:
    try:
        with open(log, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""
