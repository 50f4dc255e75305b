"""Compares the native file of a task with the journal: its content, and its differences. Nothing is written."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.runner.step.locks import changed_locks, changed_of_others, shown_item
from detent.store.journal.aftermath import text_after_stop
from detent.store.journal.tasks import last_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.values import Snapshot
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document


class Disorder(Record):
    """What in a native file is not as the journal wants it."""

    unfinished: bool = False
    owned: tuple[str, ...] = ()
    locked: tuple[str, ...] = ()
    old_bytes: bool = False
    lost: bool = False  # the state line is gone
    request: str = ""


def find_disorder(task: Task, memory: Memory, document: Document) -> Disorder:
    """The texts to restore, and the request of the file."""
    native, snapshot = task.native, memory.snapshot
    # Not only moves are projected: else a restored or refused file whose projection a crash cut short would be restored
    # or refused, and recorded, a second time.
    unfinished = document.is_stale or native.projected_seq() < memory.due_seq
    if unfinished:
        taken = changed_of_others(task, memory.visit.taken, document)
        return Disorder(unfinished=True, locked=(*changed_locks(task, snapshot, document), *taken))
    differs = document.state != snapshot.state
    old_bytes = differs and native.was_projected(document)
    return Disorder(
        owned=native.tampered(document, snapshot, memory.changed_at or memory.changed_time, memory),
        locked=changed_locks(task, snapshot, document),
        old_bytes=old_bytes,
        lost=not document.state,
        request=document.state if differs and document.state and not old_bytes else "",
    )


def read_document(task: Task, memory: Memory | None = None) -> Document:
    """The native file as it counts; after the computer stopped that may be the text its journal line carries."""
    try:
        return text_after_stop(task.native, task.store, memory or task.memory) or task.native.read()
    except UnreadableError as error:
        from detent.words.runner import step as say

        if is_collected(task):
            removed = say.home_removed(task.id)
            error.what, error.next_step = removed, removed.next_step
        error.next_step = error.next_step or say.repair(task.id)
        raise


def is_collected(task: Task) -> bool:
    """Whether the native file is gone because a person had the home removed, and nothing came after that."""
    is_gone = not os.path.lexists(task.native.path())
    return is_gone and bool(task.memory.last) and last_line(task.memory).kind == "collected"


def disorder_words(task: Task, snapshot: Snapshot, disorder: Disorder) -> tuple[str, ...]:
    """The restored texts, in words."""
    if not (disorder.owned or disorder.locked or disorder.old_bytes or disorder.lost):
        return ()
    from detent.words.runner import step as say

    file, state = task.native.file, snapshot.state
    notes: list[str] = [say.engines_field_put_back(file, label) for label in disorder.owned]
    notes += [say.locked_put_back(shown_item(file, item), state) for item in disorder.locked]
    notes += [say.older_copy_put_back(file)] if disorder.old_bytes else []
    notes += [say.state_line_put_back(file, task.native.state_label)] if disorder.lost else []
    return tuple(notes)
