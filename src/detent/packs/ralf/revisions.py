"""Files revisions of a document that are never changed again: the draft as a person finalized it, under a number.

The text is kept by its hash before its file is written. A changed or removed revision is restored from there, and a
line says so.
"""

from __future__ import annotations

import json
import os

from detent.errors import UnreadableError
from detent.packs.ralf import words as say
from detent.store.disk.atomic import make_folders, read_plain, write_atomic
from detent.store.disk.digest import sha256_of
from detent.store.journal.events import Restored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.step.change import Change
    from detent.runner.step.registry import Done
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Promised


def file_revision(task: Task, _key: str, promised: Promised) -> Done:
    """File the draft as the next revision; its number says how often the state that was entered was."""
    store, snapshot = task.machine.store, task.memory.snapshot
    draft, number = store.draft, snapshot.visits[promised.to]
    # Where the draft was locked by the same move, the text that was locked is the one that was finalized.
    locked = _object(task, snapshot.locked.get(f"file:{draft}", "")) or b"{}"
    digest = json.loads(locked).get(draft, "")
    data = _object(task, digest) if digest else read_plain(task.native.path(draft))
    if data is None:
        return {"lost": draft}, {}
    digest = task.store.keep(data)
    name = store.revision.replace("{n}", str(number))
    _write(task, name, data)
    return {"filed": name, "sha256": digest, "version": str(number)}, {}


def _write(task: Task, name: str, data: bytes) -> None:
    path = task.native.path(name)
    make_folders(os.path.dirname(path))
    write_atomic(path, data, durable=True, mode=0o444)


def _object(task: Task, digest: str) -> bytes | None:
    return read_plain(os.path.join(task.places.objects(), digest)) if digest else None


def restore_revisions(change: Change) -> None:
    """Restore every filed revision that has changed; the changed text is kept."""
    task = change.task
    for name, digest in change.memory.filed.items():
        path = task.native.path(name)
        try:
            found = read_plain(path)
        except UnreadableError:
            found = b""  # a link or a folder in its place; the write below says what is wrong if it can't be replaced
        if found is not None and sha256_of(found) == digest:
            continue
        data = _object(task, digest)
        if data is None or sha256_of(data) != digest:
            raise UnreadableError(say.revision_damaged(), where=path)
        why = say.revision_put_back(name)
        kept = task.store.keep(found) if found else ""
        _write(task, name, data)
        change.write(Restored(file=name, why=why, kept=kept))
        change.notes += (why,)
