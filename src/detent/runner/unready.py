"""Keeps why a task's workspace could not be set up, until it could: a fact about the host, so no journal line."""

from __future__ import annotations

import os
from contextlib import suppress

from detent.effects.last_lines import last_lines
from detent.store.atomic import make_folders, read_cache, write_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.effects.checkout import SetupFailed
    from detent.store.places import TaskPlaces

UNREADY_NEXT = (
    "fix what it says, then: detent run {}; other set-up commands: correct [workspace] in detent.toml, commit it and "
    "make a new task"
)
_NOTE = "setup-failed"


def failure_words(failed: SetupFailed) -> str:
    """The command that failed and how on the first line, the last lines it printed below."""
    said = last_lines(failed.log, os.environ)
    return "\n".join(filter(None, (f"the workspace can't be set up: {failed.command}: {failed.why}", said)))


def keep_failure(places: TaskPlaces, failed: SetupFailed | None) -> None:
    path = os.path.join(places.receipts(), _NOTE)
    if failed is None:
        with suppress(FileNotFoundError):
            os.unlink(path)
        return
    make_folders(places.receipts())
    write_cache(path, failure_words(failed).encode("utf-8", "replace"))


def failed_setup(places: TaskPlaces) -> str:
    """Why the workspace could not be set up the last time, with the last line that was printed; empty if it could."""
    first, *said = (read_cache(os.path.join(places.receipts(), _NOTE)) or b"").decode("utf-8", "replace").split("\n")
    return f"{first}; it said: {said[-1]}" if said else first
