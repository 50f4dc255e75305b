"""Remembers which settings of which repository a person trusts: one small file each, in the user's state folder.

Runs and commands can't see that folder where the kernel holds them. A file is named by the digest of the settings, so
that other settings of the same repository are not trusted by it.
"""

from __future__ import annotations

import os

from detent.errors import UnreadableError
from detent.store.disk.atomic import as_json, make_folders, read_plain, write_atomic
from detent.store.disk.digest import sha256_of
from detent.store.journal.places import state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.store.journal.places import Project


def is_trusted(project: Project, digest: str) -> bool:
    try:
        return read_plain(_path(project, digest)) is not None
    except UnreadableError:  # whatever lies there, nobody wrote it by `detent trust`
        return False


def remember_trust(project: Project, digest: str, settings: Mapping[str, Any], by: str, time: str) -> None:
    path = _path(project, digest)
    make_folders(os.path.dirname(path))
    content = {"repository": _place(project), "by": by, "time": time, "settings": dict(settings)}
    write_atomic(path, as_json(content), durable=True)


def _path(project: Project, digest: str) -> str:
    mark = sha256_of(_place(project).encode("utf-8", "surrogateescape"))[:16]
    return os.path.join(state_folder(), "trusted", mark, f"{digest}.json")


def _place(project: Project) -> str:
    """The git folder that all work trees of a repository share; without git the folder itself."""
    return os.path.realpath(project.common_dir or project.root)
