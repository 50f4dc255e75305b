"""The bell of a project: a command that changed a task rings it, and a running supervisor acts at once."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.store.journal.places import Project


class Bell:
    """The supervisor's end: a named pipe that others write to."""

    def __init__(self, path: str) -> None:
        from contextlib import suppress  # every command loads this module, and only the supervisor makes a bell

        with suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        # Opened for both, so that it never ends when the last writer closes it.
        self.descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def was_rung(self) -> bool:
        try:
            return bool(os.read(self.descriptor, 4096))
        except BlockingIOError:
            return False

    def close(self) -> None:
        os.close(self.descriptor)


def ring(project: Project) -> None:
    """Wake the project's supervisor, if there is one, without waiting for it."""
    try:
        descriptor = os.open(project.bell(), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return  # no supervisor listens
    try:
        os.write(descriptor, b"!")
    except OSError:
        pass  # it is ringing already
    finally:
        os.close(descriptor)
