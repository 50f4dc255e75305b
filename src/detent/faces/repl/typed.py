"""The lines a person typed before, kept in a file outside every checkout: the newest, readable by that person alone."""

from __future__ import annotations

import os

from detent.store.disk.atomic import make_folders, read_plain, write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.store.journal.places import Project

FILE = ".typed"  # no task's home has a name like this
MOST_LINES = 1000


def typed_path(project: Project) -> str:
    return os.path.join(project.home(), FILE)


def read_typed(path: str) -> list[str]:
    """Oldest first."""
    data = read_plain(path) or b""
    return data.decode("utf-8", "replace").splitlines()[-MOST_LINES:]


def keep_typed(path: str, line: str) -> None:
    """Add a line behind what other terminals added meanwhile."""
    make_folders(os.path.dirname(path))
    lines = [*read_typed(path), " ".join(line.splitlines())][-MOST_LINES:]
    write_atomic(path, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"), durable=False, mode=0o600)
