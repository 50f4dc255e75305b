"""Moves a file or folder in the way aside, under an unused name; nothing is ever deleted."""

from __future__ import annotations

import errno
import os

from detent.store.disk.atomic import make_folders, storage_error
from detent.words.store import disk as say


def move_aside(path: str, folder: str = "", otherwise: str = "") -> str:
    """Where it now is, in the same folder unless another is given; empty when there is nothing.

    It goes to `otherwise` where `folder` lies on another disk: what may be no file at all is renamed, never copied.
    """
    if not os.path.lexists(path):
        return ""
    if folder:
        make_folders(folder)
    stem = os.path.join(folder, os.path.basename(path)) if folder else path
    number = 1
    while os.path.lexists(aside := f"{stem}.broken-{number}"):
        number += 1
    try:
        os.rename(path, aside)
    except OSError as error:
        if folder != otherwise and error.errno == errno.EXDEV:
            return move_aside(path, otherwise)
        raise storage_error(error, path, say.file_not_moved_aside()) from error
    return aside
