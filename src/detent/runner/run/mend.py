"""Puts spoilt native files back: from the copy of the last move, else as an empty form; nothing is ever deleted."""

from __future__ import annotations

import os
import stat

from detent.errors import UnreadableError
from detent.machines.load import scaffold
from detent.runner.step.locks import closed_items
from detent.runner.step.order import put_in_order
from detent.runner.step.settle import remember
from detent.runner.task.in_project import aside_folder
from detent.store.disk.aside import move_aside
from detent.store.disk.atomic import make_folders, read_cache, read_text, write_atomic
from detent.store.disk.lock import Lock
from detent.store.journal.events import Restored
from detent.store.journal.places import POINTER, write_pointer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task


def spoilt_files(task: Task) -> dict[str, str]:
    """Files of the task folder besides its main one that can't be read, and why."""
    found: dict[str, str] = {}
    for name in task.machine.store["files"]:
        if name == task.native.file:
            continue
        try:
            if read_text(task.native.path(name)) is None:
                found[name] = f"{name} is missing"
        except UnreadableError as error:
            found[name] = f"{name}: {error.what}"
    return found


def spoilt_log(task: Task) -> str:
    """The native log's path when it can't be written to: a folder, a link, or a file with a second name."""
    path = task.native.log_path()
    try:
        status = os.lstat(path)
    except OSError:
        return ""
    return "" if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else path


def repair(task: Task) -> str:
    """Put readable native files back; what stood there is moved aside, never deleted. Says what was done."""
    with Lock(task.places.lock()):
        _put_back_folder(task)
        spoilt = spoilt_log(task)
        told = []
        if spoilt:
            told.append(f"{spoilt} was moved aside as {move_aside(spoilt, aside_folder(task))} and is written anew")
        told.append(_repair_main(task))
        for name, problem in spoilt_files(task).items():
            aside = move_aside(task.native.path(name), aside_folder(task))
            text = scaffold(task.memory.head["machine"], name).replace("{title}", task.memory.head["title"])
            write_atomic(task.native.path(name), text.encode("utf-8"), durable=True)
            why = f"{problem}; written again as an empty form"
            remember(task, task.store.load(), task.native.read(), Restored(file=name, why=why, kept=aside))
            told.append(why + (f"; what stood there is now {aside}" if aside else ""))
        return "; ".join(told)


def _repair_main(task: Task) -> str:
    try:
        task.native.read()
    except UnreadableError as error:
        told, aside = put_back(task, error)
        memory = task.store.load()
        line = Restored(file=task.native.file, why=told, kept=aside)
        items = closed_items(task.machine, memory.snapshot)
        remember(task, memory, task.native.read(), line, restore=items)
        return told + (f"; what stood there is now {aside}" if aside else "")
    settled = put_in_order(task)
    return "; ".join(settled.notes) or f"{task.native.file} is in order"


def put_back(task: Task, error: UnreadableError) -> tuple[str, str]:
    """Write an unreadable document again; says what was done, and where what stood there now is."""
    path = task.native.path()
    try:
        spoilt = read_text(path) or ""
    except UnreadableError:
        spoilt = ""  # no text: nothing of it can be kept but by moving it aside
    good, source = _last_good(task)
    text = task.native.mended(spoilt, good, task.memory.snapshot, task.memory.changed_at or task.memory.changed_time)
    aside = _put_back_folder(task) or move_aside(path, aside_folder(task))
    write_atomic(path, text.encode("utf-8"), durable=True)
    is_kept = spoilt.strip() and text != good
    done = f"put in order with the help of {source}" if is_kept else f"written again from {source}"
    return f"{error.what}; {done}", aside


def _put_back_folder(task: Task) -> str:
    """Make what is missing of the task folder itself; where a link that took its place now is."""
    folder = task.native.folder
    aside = move_aside(folder, aside_folder(task)) if os.path.islink(folder) else ""
    for name in ("", *task.machine.store.get("folders", ())):
        make_folders(os.path.join(folder, name))
    if not os.path.lexists(os.path.join(folder, POINTER)):
        write_pointer(folder, task.places)
    return aside


def _last_good(task: Task) -> tuple[str, str]:
    if text := task.store.native_text(task.memory):
        return text, "the journal"
    if copy := read_cache(task.places.last_copy()):
        return copy.decode("utf-8"), "the copy of the last move"
    head = task.memory.head
    text = scaffold(head["machine"], task.native.file).replace("{title}", head["title"])
    label = task.machine.store.get("title", "")
    return task.native.codec.write(text, {label: head["title"]} if label else {}), "an empty form"
