"""Restores damaged native files: from the copy of the last move, else as an empty form; nothing is ever deleted."""

from __future__ import annotations

import os
import stat

from detent.errors import UnreadableError
from detent.machines.load import scaffold
from detent.runner.step.changing import changing
from detent.runner.step.locks import closed_items
from detent.runner.task.in_project import aside_folder
from detent.store.disk.aside import move_aside
from detent.store.disk.atomic import make_folders, read_cache, read_text, write_atomic
from detent.store.journal.events import Restored
from detent.store.journal.places import POINTER, write_pointer
from detent.words.runner import run as say
from detent.words.store import journal as of_journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.step.changing import Changing
    from detent.runner.task.open import Task


def damaged_files(task: Task) -> dict[str, str]:
    """Files of the task folder besides its main one that can't be read, and why."""
    found: dict[str, str] = {}
    for name in task.machine.store.files:
        if name == task.native.file:
            continue
        try:
            if read_text(task.native.path(name)) is None:
                found[name] = of_journal.file_missing(name)
        except UnreadableError as error:
            found[name] = say.file_unreadable(name, error.what)
    return found


def damaged_log(task: Task) -> str:
    """The native log's path when it can't be written to: a folder, a link, or a file with a second name."""
    path = task.native.log_path()
    try:
        status = os.lstat(path)
    except OSError:
        return ""
    return "" if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else path


def repair(task: Task) -> str:
    """Put readable native files back; what stood there is moved aside, never deleted. Says what was done."""
    with changing(task, settles=False) as change:
        task = change.task
        _put_back_folder(task)
        damaged = damaged_log(task)
        notes = list[str]()
        if damaged:
            notes.append(say.written_anew(damaged, move_aside(damaged, aside_folder(task))))
        notes.append(_repair_main(change))
        for name, problem in damaged_files(task).items():
            aside = move_aside(task.native.path(name), aside_folder(task))
            text = scaffold(task.memory.head.machine, name).replace("{title}", task.memory.head.title)
            write_atomic(task.native.path(name), text.encode("utf-8"), durable=True)
            why = say.written_as_form(problem)
            change.write(Restored(file=name, why=why, kept=aside))
            notes.append(say.stood_there(why, aside))
        return "; ".join(notes)


def _repair_main(change: Changing) -> str:
    task = change.task
    try:
        change.document = task.native.read()
    except UnreadableError as error:
        problem, aside = put_back(task, error)
        change.document = task.native.read()
        line = Restored(file=task.native.file, why=problem, kept=aside)
        change.write(line, restore=closed_items(task.machine, change.memory.snapshot))
        return say.stood_there(problem, aside)
    change.settle()
    return "; ".join(change.notes) or say.in_order(task.native.file)


def put_back(task: Task, error: UnreadableError) -> tuple[str, str]:
    """Write an unreadable document again; says what was done, and where what stood there now is."""
    path = task.native.path()
    try:
        damaged = read_text(path) or ""
    except UnreadableError:
        damaged = ""  # no text: nothing of it can be kept but by moving it aside
    good, source = _last_good(task)
    text = task.native.repaired(damaged, good, task.memory.snapshot, task.memory.changed_at or task.memory.changed_time)
    aside = _put_back_folder(task) or move_aside(path, aside_folder(task))
    write_atomic(path, text.encode("utf-8"), durable=True)
    is_kept = damaged.strip() and text != good
    problem = say.put_in_order if is_kept else say.written_again
    return problem(error.what, source), aside


def _put_back_folder(task: Task) -> str:
    """Make what is missing of the task folder itself; where a link that took its place now is."""
    folder = task.native.folder
    aside = move_aside(folder, aside_folder(task)) if os.path.islink(folder) else ""
    for name in ("", *task.machine.store.folders):
        make_folders(os.path.join(folder, name))
    if not os.path.lexists(os.path.join(folder, POINTER)):
        write_pointer(folder, task.places)
    return aside


def _last_good(task: Task) -> tuple[str, str]:
    if text := task.store.native_text(task.memory):
        return text, say.the_journal()
    if copy := read_cache(task.places.last_copy()):
        return copy.decode("utf-8"), say.the_last_copy()
    head = task.memory.head
    text = scaffold(head.machine, task.native.file).replace("{title}", head.title)
    label = task.machine.store.title
    return task.native.codec.write(text, {label: head.title} if label else {}), say.an_empty_form()
