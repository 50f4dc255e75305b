"""Keeps why a task's workspace could not be set up, until it could: a fact about the host, so no journal line."""

from __future__ import annotations

import os

from detent.store.disk.atomic import forget, make_folders, read_cache, write_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.store.journal.places import TaskPlaces

_NOTE = "setup-failed"


def keep_failure(places: TaskPlaces, words: str) -> None:
    """Keep the words for a set-up that failed; empty words for one that did not."""
    path = os.path.join(places.receipts(), _NOTE)
    if not words:
        forget(path)
        return
    make_folders(places.receipts())
    write_cache(path, words.encode("utf-8", "replace"))


def failed_setup(places: TaskPlaces) -> str:
    """Why the workspace could not be set up the last time, with the last line that was printed; empty if it could."""
    first, *said = (read_cache(os.path.join(places.receipts(), _NOTE)) or b"").decode("utf-8", "replace").split("\n")
    if not said:
        return first
    from detent.words.runner import task as say

    return say.it_said(first, said[-1])
