"""Gives a task other words: a person at any time, an agent where its state leaves them open.

A person's words are written by us, and recorded as any change of what may be locked. While an agent run lives nobody
but its own processes writes the native file: the run is told whether it may, and the text it is to write.
"""

from __future__ import annotations

from detent.errors import RefusedError
from detent.gates.judge import evidence_hashes
from detent.runner.run.runs import run_seen
from detent.runner.step.disorder import read_document
from detent.runner.step.locks import closed_items
from detent.runner.step.look import look
from detent.runner.step.settle import record, remember
from detent.runner.task.title import one_line
from detent.store.disk.lock import Lock
from detent.store.journal.events import Amended
from detent.store.journal.run_events import Retitled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.step.disorder import Settled
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document


def retitle(task: Task, name: str, words: str, reason: str) -> Task:
    """Write a person's words into the field that takes them; where it was locked, proof from before is old."""
    from detent.runner.step.order import put_in_order  # which follows titles by this module

    label, title = _label(task), _one_line(words)
    item = f"field:{label}"
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        memory, document, snapshot = settled.memory, settled.document, settled.memory.snapshot
        if task.machine.states[snapshot.state].is_end:
            raise RefusedError(f"{snapshot.state} is an end: its words stay as they were", next_step="detent next")
        was_locked = item in closed_items(task.machine, snapshot)
        if document.value(label) == title:
            return task.replace(memory=memory)
        entry = evidence_hashes(look(task, memory, document, "")) if was_locked else snapshot.entry
        after = snapshot.replace(entry=entry, locked={**snapshot.locked, item: task.store.keep(title.encode("utf-8"))})
        was = {label: snapshot.locked[item]} if item in snapshot.locked else {}
        line = Amended(by="person", name=name, reason=reason, fields=[label], was=was, title=title)
        memory, _ = remember(task, memory, document, line, after=after, restore=(item,))
    return task.replace(memory=memory)


def follow_title(task: Task, settled: Settled) -> Settled:
    """Call the task by what a person wrote into the field for it, where no lock holds that and no agent has worked.

    The task's lock is held, and no run lives.
    """
    label, memory = str(task.machine.store["title"]), settled.memory
    item, snapshot = f"field:{label}", memory.snapshot
    title = one_line(settled.document.value(label))
    is_open = item not in closed_items(task.machine, snapshot) and not task.machine.states[snapshot.state].is_end
    if not title or title == memory.head["title"] or memory.visit or not is_open:
        return settled
    after = snapshot.replace(locked={**snapshot.locked, item: task.store.keep(title.encode("utf-8"))})
    name = f"{task.native.file}, by hand"
    line = Amended(by="person", name=name, reason="", fields=[label], title=title, was={})
    memory, document = remember(task, memory, settled.document, line, after=after)
    return settled.replace(memory=memory, document=document)


def retitle_by_run(task: Task, document: Document) -> Memory:
    """Call the task by what its run, which is over, left in the field: an agent's words, not those of a person.

    The task's lock is held.
    """
    label, memory = _label(task), task.memory
    title = one_line(document.value(label))
    if not title or title == memory.head["title"] or f"field:{label}" in closed_items(task.machine, memory.snapshot):
        return memory
    return record(task, memory, _by_agent(memory, title))


def _by_agent(memory: Memory, title: str) -> Retitled:
    return Retitled(run=memory.run["run"], by="agent", name=memory.run["role"], title=title)


def retitled_text(task: Task, number: int, words: str) -> str:
    """What the native file is to hold; the living run `number` writes it itself. Refused where it may not."""
    label, title = _label(task), _one_line(words)
    with Lock(task.places.lock()):
        task = task.replace(memory=task.store.load())
        seen = run_seen(task)
        if seen is None or seen.phase != "alive" or task.memory.run["run"] != number:
            raise RefusedError("this agent run is over; its requests are not heard any more", next_step="end your turn")
        state = task.memory.snapshot.state
        if f"field:{label}" in closed_items(task.machine, task.memory.snapshot):
            raise RefusedError(
                f'"{label}" is locked in {state}: an agent may not change it there',
                where=task.native.path(),
                next_step="keep to the words as they are, or say in your notes what is wrong with them",
            )
        text = task.native.codec.replace(read_document(task).text, label, title)
        if task.memory.head["title"] != title:
            record(task, task.memory, _by_agent(task.memory, title))
    return text


def _label(task: Task) -> str:
    if label := task.machine.store.get("title"):
        return str(label)
    raise RefusedError(f"{task.machine.name} keeps no words about the task in {task.native.file}")


def _one_line(words: str) -> str:
    title = one_line(words)
    if not title:
        raise RefusedError("the words say nothing", next_step='detent task update --summary "what is to be done"')
    return title
