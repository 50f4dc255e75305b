"""Gives a task other words: a person at any time, an agent where its state leaves them open.

We write a person's words, and record them like any change of text that may be locked. While an agent run lives only
its own processes write the native file: the run gets the permission, and the text to write.
"""

from __future__ import annotations

from detent.errors import RefusedError
from detent.gates.judge import evidence_hashes
from detent.runner.run.runs import run_seen
from detent.runner.step.changing import changing
from detent.runner.step.disorder import read_document
from detent.runner.step.locks import closed_items
from detent.runner.step.look import look
from detent.runner.task.title import one_line
from detent.runner.tell.title import follows_hand, written_title
from detent.store.journal.events import Amended
from detent.store.journal.run_events import Retitled
from detent.words.runner import run as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.step.change import Change
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Memory


def retitle(task: Task, name: str, words: str, reason: str) -> Task:
    """Write a person's words into the field that takes them; where it was locked, proof from before is old."""
    label, title = _label(task), _one_line(words)
    item = f"field:{label}"
    with changing(task) as change:
        task, document, snapshot = change.task, change.document, change.memory.snapshot
        if task.machine.states[snapshot.state].is_end:
            raise RefusedError(say.words_of_an_end(snapshot.state))
        was_locked = item in closed_items(task.machine, snapshot)
        if document.value(label) == title:
            return task
        entry = evidence_hashes(look(task, task.memory, document, "")) if was_locked else snapshot.entry
        after = snapshot.replace(entry=entry, locked={**snapshot.locked, item: task.store.keep(title.encode("utf-8"))})
        was = {label: snapshot.locked[item]} if item in snapshot.locked else {}
        line = Amended(by="person", name=name, reason=reason, fields=[label], was=was, title=title)
        change.write(line, after=after, restore=(item,))
    return change.task


def follow_title(change: Change) -> None:
    """Call the task by what a person wrote into the field for it, where no lock holds that and no agent has worked."""
    task, memory, snapshot = change.task, change.memory, change.memory.snapshot
    label, title = str(task.machine.store.title), written_title(task.machine, change.document)
    if not title or title == memory.head.title or not follows_hand(task.machine, memory):
        return
    after = snapshot.replace(locked={**snapshot.locked, f"field:{label}": task.store.keep(title.encode("utf-8"))})
    name = say.by_hand(task.native.file)
    change.write(Amended(by="person", name=name, reason="", fields=[label], title=title, was={}), after=after)


def retitle_by_run(change: Change) -> None:
    """Call the task by what its run, which is over, left in the field: an agent's words, not those of a person."""
    label, memory = _label(change.task), change.memory
    title, closed = one_line(change.document.value(label)), closed_items(change.task.machine, memory.snapshot)
    if title and title != memory.head.title and f"field:{label}" not in closed:
        change.write(_by_agent(memory, title))


def _by_agent(memory: Memory, title: str) -> Retitled:
    return Retitled(run=memory.run.run, by="agent", name=memory.run.role, title=title)


def retitled_text(task: Task, number: int, words: str) -> str:
    """What the native file is to hold; the living run `number` writes it itself. Refused where it may not."""
    label, title = _label(task), _one_line(words)
    with changing(task, settles=False) as change:
        task = change.task
        seen = run_seen(task)
        if seen is None or seen.phase != "alive" or task.memory.run.run != number:
            raise RefusedError(say.run_is_over())
        state = task.memory.snapshot.state
        if f"field:{label}" in closed_items(task.machine, task.memory.snapshot):
            raise RefusedError(say.label_locked(label, state), where=task.native.path())
        text = task.native.codec.replace(read_document(task).text, label, title)
        if task.memory.head.title != title:
            change.write(_by_agent(task.memory, title))
    return text


def _label(task: Task) -> str:
    if label := task.machine.store.title:
        return str(label)
    raise RefusedError(say.no_words_kept(task.machine.name, task.native.file))


def _one_line(words: str) -> str:
    title = one_line(words)
    if not title:
        raise RefusedError(say.words_say_nothing())
    return title
