"""What only people do besides moving: answer, resume, change what is locked, repair a native file."""

from __future__ import annotations

import os
import stat

from detent.core.machine import CRASHES, RUNS, STOPPED
from detent.core.values import Refuse, Signal, Wait
from detent.errors import RefusedError, UnreadableError
from detent.gates.judge import evidence_hashes
from detent.machines.load import scaffold
from detent.runner.look import look
from detent.runner.promises import put_in_order
from detent.runner.settle import (
    changed_locks,
    close_locks,
    closed_items,
    find_disorder,
    read_document,
    remember,
)
from detent.runner.step import Outcome, step
from detent.store.atomic import make_folders, read_cache, read_text, storage_error, write_atomic
from detent.store.fields import write_fields
from detent.store.lock import Lock
from detent.store.places import POINTER, write_pointer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.open import Task


def resume(task: Task, name: str, reason: str) -> Outcome:
    """Leave an end that can be left, or let a stopped task go on."""
    if _has_verb(task, "resume"):
        return step(task, Signal("person", name=name, reason=reason, verb="resume"))
    stopped = task.memory.snapshot.registers.get(STOPPED, "")
    asked = Signal("person", name=name, reason=reason, verb="resume")
    if not stopped:
        state = task.memory.snapshot.state
        problem = f"{state} is final" if task.machine.states[state].is_end else f"{state} is neither stopped nor an end"
        return Outcome(Refuse(problem, hint="there is nothing to resume"), task, {}, asked, state)
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        snapshot = settled.memory.snapshot
        registers = {key: value for key, value in snapshot.registers.items() if key != STOPPED}
        counters = {key: value for key, value in snapshot.counters.items() if key not in (RUNS, CRASHES)}
        after = snapshot.replace(registers=registers, counters=counters)
        content = {"by": "person", "name": name, "reason": reason, "answer": reason}
        memory, _ = remember(task, settled.memory, settled.document, "resumed", content, after=after)
    return Outcome(Wait("the task may go on"), task.replace(memory=memory), {}, asked, snapshot.state)


def answer(task: Task, name: str, text: str) -> Outcome:
    """Record what a person says; where the task waited for it, it goes on."""
    asked = Signal("person", name=name, reason=text, verb="answer")
    if _has_verb(task, "answer"):
        return step(task, asked)
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        memory, said = settled.memory, settled.memory.answer
        # Who repeats a command that died after its line was written says the same thing again: it is recorded once.
        is_said = said.get("seq") == memory.snapshot.seq and (said["name"], said["text"]) == (name, text)
        if not is_said:
            content = {"by": "person", "name": name, "answer": text}
            memory, _ = remember(task, memory, settled.document, "answered", content)
    state = memory.snapshot.state
    return Outcome(Wait(f"noted; {state} did not wait for an answer"), task.replace(memory=memory), {}, asked, state)


def _has_verb(task: Task, verb: str) -> bool:
    return any(verb in edge.verbs for edge in task.machine.states[task.memory.snapshot.state].edges)


def amend(task: Task, name: str, reason: str) -> tuple[Task, tuple[str, ...]]:
    """Take the locked fields as they stand in the file now; proof gathered before is old from here on."""
    with Lock(task.places.lock()):
        memory = task.store.load()
        document = read_document(task, memory)
        snapshot = memory.snapshot
        if task.machine.states[snapshot.state].is_end:
            raise RefusedError(f"{snapshot.state} is an end: its frame stays as it was", next_step="detent next")
        if not closed_items(task.machine, snapshot):
            raise RefusedError(
                f"nothing is locked in {snapshot.state}", next_step=f"edit {task.native.file}; no command is needed"
            )
        if find_disorder(task, memory, document).unfinished:
            settled = put_in_order(task)
            memory, document = settled.memory, settled.document
        items = changed_locks(task, snapshot, document)
        if not items:
            raise RefusedError(
                "no locked field differs from what is locked",
                where=document.path,
                next_step="edit the field first, then run: detent amend --reason WHY",
            )
        locked = close_locks(task, snapshot, document, "")
        entry = evidence_hashes(look(task, memory, document, ""))
        labels = tuple(item.partition(":")[2] for item in items)
        content = {
            "by": "person",
            "name": name,
            "reason": reason,
            "fields": list(labels),
            "was": {label: snapshot.locked[f"field:{label}"] for label in labels},
        }
        after = snapshot.replace(entry=entry, locked=locked)
        memory, _ = remember(task, memory, document, "amended", content, after=after)
    return task.replace(memory=memory), labels


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
        for name in ("", *task.machine.store.get("folders", ())):
            make_folders(os.path.join(task.native.folder, name))
        if not os.path.lexists(os.path.join(task.native.folder, POINTER)):
            write_pointer(task.native.folder, task.places)
        spoilt = spoilt_log(task)
        told = [f"{spoilt} was moved aside as {_move_aside(spoilt)} and is written anew"] if spoilt else []
        told.append(_repair_main(task))
        for name, problem in spoilt_files(task).items():
            aside = _move_aside(task.native.path(name))
            text = scaffold(task.memory.head["machine"], name).replace("{title}", task.memory.head["title"])
            write_atomic(task.native.path(name), text.encode("utf-8"), durable=True)
            content = {"file": name, "why": f"{problem}; written again as an empty form", "kept": aside}
            remember(task, task.store.load(), task.native.read(), "restored", content)
            told.append(content["why"] + (f"; what stood there is now {aside}" if aside else ""))
        return "; ".join(told)


def _repair_main(task: Task) -> str:
    path = task.native.path()
    try:
        task.native.read()
    except UnreadableError as error:
        aside = _move_aside(path)
        text, source = _last_good(task)
        write_atomic(path, text.encode("utf-8"), durable=True)
        memory = task.store.load()
        document = task.native.read()
        told = f"{error.what}; written again from {source}"
        content = {"file": task.native.file, "why": told, "kept": aside}
        remember(task, memory, document, "restored", content, restore=closed_items(task.machine, memory.snapshot))
        return told + (f"; what stood there is now {aside}" if aside else "")
    settled = put_in_order(task)
    return "; ".join(settled.notes) or f"{task.native.file} is in order"


def _last_good(task: Task) -> tuple[str, str]:
    if text := task.store.native_text(task.memory):
        return text, "the journal"
    if copy := read_cache(task.places.last_copy()):
        return copy.decode("utf-8"), "the copy of the last move"
    head = task.memory.head
    text = scaffold(head["machine"], task.native.file).replace("{title}", head["title"])
    label = task.machine.store.get("title", "")
    return write_fields(text, task.native.labels, {label: head["title"]} if label else {}), "an empty form"


def _move_aside(path: str) -> str:
    if not os.path.lexists(path):
        return ""
    number = 1
    while os.path.lexists(aside := f"{path}.broken-{number}"):
        number += 1
    try:
        os.rename(path, aside)
    except OSError as error:
        raise storage_error(error, path, "file can't be moved aside") from error
    return aside
