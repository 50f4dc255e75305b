"""Looks at the native file of a task: what it says, and what of it is not as the journal has it. Nothing is written."""

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


class Settled(Record):
    memory: Memory
    document: Document
    request: str = ""  # the state the file asks for
    notes: tuple[str, ...] = ()  # what was put back, in words


class Disorder(Record):
    """What in a native file is not as the journal wants it."""

    unfinished: bool = False
    owned: tuple[str, ...] = ()
    locked: tuple[str, ...] = ()
    old_bytes: bool = False
    lost: bool = False  # the state line is gone
    request: str = ""


def find_disorder(task: Task, memory: Memory, document: Document) -> Disorder:
    """What would be put back, and what the file asks for."""
    native, snapshot = task.native, memory.snapshot
    # Not only moves are projected: else a restored or refused file whose projection a crash cut short would be restored
    # or refused, and recorded, a second time.
    unfinished = document.is_stale or native.projected_seq() < memory.due_seq
    if unfinished:
        taken = changed_of_others(task, memory.visit.get("taken", {}), document)
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
        if is_collected(task):
            error.what = "its home was removed by detent gc"
            error.next_step = f"detent history {task.id}; to make the file again: detent doctor --repair {task.id}"
        error.next_step = error.next_step or f"detent doctor --repair {task.id}"
        raise


def is_collected(task: Task) -> bool:
    """Whether the native file is gone because a person had the home removed, and nothing came after that."""
    is_gone = not os.path.lexists(task.native.path())
    return is_gone and bool(task.memory.last) and last_line(task.memory).kind == "collected"


def disorder_words(task: Task, snapshot: Snapshot, disorder: Disorder) -> tuple[str, ...]:
    """What is put back, in words."""
    if not (disorder.owned or disorder.locked or disorder.old_bytes or disorder.lost):
        return ()
    file = task.native.file
    notes = [f'{file}: "{label}" is written by the engine and was put back' for label in disorder.owned]
    notes += [f"{shown_item(file, item)} is locked in {snapshot.state} and was put back" for item in disorder.locked]
    if disorder.old_bytes:
        notes.append(f"{file} named another state because it is an older copy; the state line was put back")
    if disorder.lost:
        notes.append(f'{file} had no "{task.native.state_label}:" line; it was put back')
    return tuple(notes)
