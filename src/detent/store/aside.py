"""Moves what stands in the way aside, under a name nobody uses; nothing is ever deleted."""

from __future__ import annotations

import os

from detent.store.atomic import storage_error


def move_aside(path: str, folder: str = "") -> str:
    """Where it now is, in the same folder unless another is given; empty when there is nothing."""
    if not os.path.lexists(path):
        return ""
    stem = os.path.join(folder, os.path.basename(path)) if folder else path
    number = 1
    while os.path.lexists(aside := f"{stem}.broken-{number}"):
        number += 1
    try:
        os.rename(path, aside)
    except OSError as error:
        raise storage_error(error, path, "file can't be moved aside") from error
    return aside
