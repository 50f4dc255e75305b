"""Texts that an agent may no longer change: each is kept by hash, compared, and restored.

An item is `field:LABEL` and `section:FILE:HEADING` of a text, or `file:PATH` of the task folder, where a path that ends
with "/" is a whole folder; `file:tree:PATH` lies in the tree. The projection restores fields and sections of the main
file, this module the rest.
"""

from __future__ import annotations

import os

from detent.errors import UnreadableError
from detent.machines.reading import IN_TREE
from detent.runner.step.resolving import resolving
from detent.runner.task.in_project import aside_folder
from detent.store.disk.atomic import as_json, make_folders, read_plain, read_text, sweep, write_atomic
from detent.store.disk.digest import sha256_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from detent.core.machine import Lock, Machine
    from detent.core.values import Snapshot
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document


def items_of(lock: Lock) -> tuple[str, ...]:
    """Everything one lock holds."""
    return (
        *(f"field:{label}" for label in lock.fields),
        *(f"section:{file}:{heading}" for file, heading in lock.sections),
        *(f"file:{path}" for path in lock.files),
    )


def closed_items(machine: Machine, snapshot: Snapshot) -> tuple[str, ...]:
    """What is locked in the current state."""
    found = resolving(machine, snapshot)
    opened = found.opens if found is not None else ()
    return tuple(
        item
        for lock in machine.locks
        if snapshot.state not in lock.open_in and lock.name not in opened
        for item in items_of(lock)
        if item in snapshot.locked
    )


def changed_locks(task: Task, snapshot: Snapshot, document: Document) -> tuple[str, ...]:
    return tuple(
        item
        for item in closed_items(task.machine, snapshot)
        if _is_changed(task, document, item, snapshot.locked[item])
    )


def _is_changed(task: Task, document: Document, item: str, locked: str) -> bool:
    if not item.startswith("section:"):
        return sha256_of(_text_of(task, document, item).encode("utf-8")) != locked
    from detent.store.text.locked_sections import is_whole  # few machines lock sections

    _, file, heading = item.split(":", 2)
    return not is_whole(_markdown(task, document, file), heading, kept_text(task, locked).decode("utf-8"))


def held_for_others(task: Task, document: Document, role: str) -> dict[str, str]:
    """What a run of this role may not change because it is another's: hashes as it stands now, with the texts kept."""
    return lock_again(task, document, items_of_others(task.machine, task.memory.snapshot, role))


def items_of_others(machine: Machine, snapshot: Snapshot, role: str) -> tuple[str, ...]:
    """What only runs of another role may change: their reports, and what was opened for one role alone."""
    found = resolving(machine, snapshot)
    opened = found.opens if found is not None and role != found.role else ()
    locks = [lock for lock in machine.locks if (lock.role and role not in lock.role) or lock.name in opened]
    return tuple(item for lock in locks for item in items_of(lock))


def changed_of_others(task: Task, held: Mapping[str, str], document: Document) -> dict[str, str]:
    """What of that is not as it was, with the hashes it had."""
    return {item: locked for item, locked in held.items() if _is_changed(task, document, item, locked)}


def close_locks(task: Task, snapshot: Snapshot, document: Document, leaving: str) -> dict[str, str]:
    """The locked texts after a state was left: each is kept by its hash, so that it can be restored whole."""
    locks = [lock for lock in task.machine.locks if lock.after and (not leaving or leaving in lock.after)]
    items = [item for lock in locks for item in items_of(lock)]
    return {**snapshot.locked, **lock_again(task, document, items)}


def lock_again(task: Task, document: Document, items: Iterable[str]) -> dict[str, str]:
    """The hashes of these items as they stand, with their texts kept."""
    return {item: _keep(task, document, item) for item in items}


def _keep(task: Task, document: Document, item: str) -> str:
    if item.startswith("file:"):
        from detent.store.journal.locked_files import NOT_PLAIN, TOO_MANY, files_under

        folder, name = _place(task, item.partition(":")[2])
        for path, digest in files_under(folder, name).items():
            data = None if digest in (NOT_PLAIN, TOO_MANY) else read_plain(os.path.join(folder, path))
            if data is None:
                from detent.words.runner import step as say

                raise UnreadableError(say.not_locked(digest or "it is gone"), where=os.path.join(folder, path))
            task.store.keep(data)
    return task.store.keep(_text_of(task, document, item).encode("utf-8"))


def _text_of(task: Task, document: Document, item: str) -> str:
    """What is hashed of an item; of files it is a list of them with their hashes."""
    kind, _, name = item.partition(":")
    if kind == "field":
        return document.value(name)
    if kind == "section":
        from detent.store.text.locked_sections import section_text

        file, _, heading = name.partition(":")
        return section_text(_markdown(task, document, file), heading)
    from detent.store.journal.locked_files import files_under

    return as_json(files_under(*_place(task, name))).decode("utf-8")


def _place(task: Task, name: str) -> tuple[str, str]:
    """The folder a locked file lies in, and its path from there."""
    inside = name.removeprefix(IN_TREE)
    return (task.native.folder if inside == name else task.tree_path, inside)


def _markdown(task: Task, document: Document, file: str) -> str:
    return document.body() if file == task.native.file else _text_in(task.native.path(file))


def _text_in(path: str) -> str:
    """The text of another file; an unreadable one holds no section, which is then restored like any other."""
    try:
        return read_text(path) or ""
    except UnreadableError:
        return ""


def kept_text(task: Task, digest: str) -> bytes:
    path = os.path.join(task.places.objects(), digest)
    data = read_plain(path)
    if data is None or sha256_of(data) != digest:
        from detent.words.runner import step as say

        raise UnreadableError(say.locked_text_missing(), where=path)
    return data


def locked_texts(task: Task, memory: Memory, snapshot: Snapshot, items: Iterable[str]) -> dict[str, str]:
    """What these items hold, by item; one that no state locks was held for another role than the run's."""
    hashes = {**memory.run.held, **memory.visit.taken, **snapshot.locked}
    return {item: kept_text(task, hashes[item]).decode("utf-8") for item in items}


def put_back_others(task: Task, texts: Mapping[str, str]) -> None:
    """Restore the texts outside the main file; repeating it changes nothing."""
    for item, text in texts.items():
        kind, _, name = item.partition(":")
        file, _, heading = name.partition(":")
        if kind == "section" and file != task.native.file:
            from detent.store.text.locked_sections import put_section

            path = task.native.path(file)
            sweep(os.path.dirname(path))  # what a killed write left
            found = _text_in(path)
            if (wanted := put_section(found, heading, text)) != found:
                _keep_or_move(task, path, found)
                write_atomic(path, wanted.encode("utf-8"), durable=True)
        elif kind == "file":
            import json

            from detent.store.journal.locked_files import put_back_files

            folder, path = _place(task, name)
            aside = aside_folder(task, is_in_tree=folder != task.native.folder)
            wanted = json.loads(text)
            put_back_files(folder, path, wanted, lambda digest: kept_text(task, digest), task.store.keep, aside)


def kept_words(task: Task, snapshot: Snapshot, items: tuple[str, ...], document: str) -> tuple[str, ...]:
    """Where edits of locked items are kept, and how a person has them accepted; `document`: the main file's hash."""
    places: dict[str, str] = {}
    for item in items:
        kind, _, name = item.partition(":")
        file = name.partition(":")[0] if kind == "section" else task.native.file
        if kind == "file":
            places |= _keep_changed(task, name, kept_text(task, snapshot.locked[item]))
        elif file == task.native.file:
            places[file] = document
        elif found := _text_in(task.native.path(file)):
            places[file] = task.store.keep(found.encode("utf-8"))
    if not places:
        return ()
    from detent.words.runner import step as say

    kept = [(path, os.path.join(task.places.objects(), digest)) for path, digest in places.items()]
    return (say.edit_not_lost(kept, task.id),)


def _keep_changed(task: Task, name: str, locked: bytes) -> dict[str, str]:
    """What stands in the files of a lock that differ from what was locked, kept by hash; the rest is moved aside."""
    import json

    from detent.store.journal.locked_files import NOT_PLAIN, TOO_MANY, files_under

    folder, inside = _place(task, name)
    wanted = json.loads(locked)
    kept: dict[str, str] = {}
    for path, digest in files_under(folder, inside).items():
        if digest in (NOT_PLAIN, TOO_MANY, wanted.get(path)):
            continue
        if (data := read_plain(os.path.join(folder, path))) is not None:
            kept[path] = task.store.keep(data)
    return kept


def _keep_or_move(task: Task, path: str, text: str) -> None:
    """Nothing that is replaced is lost: a text is kept by its hash, anything else is moved aside."""
    from detent.store.disk.aside import move_aside

    if text:
        task.store.keep(text.encode("utf-8"))
    else:
        make_folders(os.path.dirname(path))
        move_aside(path, aside_folder(task))


def shown_item(file: str, item: str) -> str:
    """An item as shown to people; with the task's main file, a field is shown with its file."""
    kind, _, name = item.partition(":")
    if kind == "field":
        return f'{file}: "{name}"' if file else name
    return name.removeprefix(IN_TREE) if kind == "file" else '{}: "## {}"'.format(*name.split(":", 1))
