"""Keeps what was made before a person went back, as a version in the task folder: the effect `archive`.

`[store.archive]` names the artifacts of each state, the states in their order. Going back to one of them puts away its
own artifacts and those of all states after it, under `versions/STATE-ROUND/`. Each is renamed as a whole, so that what
a crash cut short is found half done and finished; what stands at its place in the version is never replaced.
"""

from __future__ import annotations

import os
import stat

from detent.errors import UnreadableError
from detent.packs.global_ import words as say
from detent.store.disk.atomic import make_folders, storage_error, sync_folder
from detent.store.journal.events import Moved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.runner.step.registry import Done
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Promised

FOLDER = "versions"
ANSWER = "answer"  # the verb that answers a question: the work continues from the present files


def archive(task: Task, key: str, promised: Promised) -> Done:
    """Put away the artifacts of the state that was entered and of those after it; which they were."""
    if _move(task, key).verb == ANSWER:
        return {"version": ""}, {}
    task.native.need_real_folder()
    table: Mapping[str, Any] = task.machine.store.archive
    states, to = list(table), promised.to
    later = states[states.index(to) :] if to in states else []
    version = f"{FOLDER}/{to}-{task.memory.snapshot.visits[to] - 1}"
    paths = [path for state in later for path in _texts(table[state])]
    kept = [path for path in paths if _put_away(task.native.folder, path, version)]
    return ({"version": version, "kept": ", ".join(kept)} if kept else {"version": ""}), {}


def _move(task: Task, key: str) -> Moved:
    number = int(key.partition(":")[0])
    return next(line for line in task.store.history() if line.seq == number and isinstance(line, Moved))


def _texts(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _put_away(folder: str, path: str, version: str) -> bool:
    """Whether an artifact lies in the version now; a folder is there again, empty, at its old place."""
    source, target = (os.path.join(folder, part, path.rstrip("/")) for part in ("", version))
    try:
        if not os.path.lexists(target):
            # Where a link leads elsewhere there is nothing of this task's; it is left as it is.
            if not os.path.lexists(source) or not _is_inside(folder, os.path.dirname(source)) or _is_empty(source):
                return False
            _make_version(folder, version, os.path.dirname(target))
            os.rename(source, target)
        if path.endswith("/") and not os.path.lexists(source):
            os.mkdir(source)
        for changed in {os.path.dirname(source), os.path.dirname(target)}:
            sync_folder(changed)
    except OSError as error:
        raise storage_error(error, source, say.version_not_kept()) from error
    return True


def _make_version(folder: str, version: str, wanted: str) -> None:
    for part in (FOLDER, version):
        if os.path.islink(where := os.path.join(folder, part)):
            raise UnreadableError(say.link_among_versions(), where=where)
    make_folders(wanted)


def _is_inside(folder: str, path: str) -> bool:
    return os.path.realpath(path) == os.path.join(folder, os.path.relpath(path, folder)).removesuffix("/.")


def _is_empty(path: str) -> bool:
    return stat.S_ISDIR(os.lstat(path).st_mode) and not os.listdir(path)
