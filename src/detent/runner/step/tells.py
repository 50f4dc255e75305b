"""Keeps the native file true where a task rests: a reader of the file alone sees that it is stopped, waits or is over.

`[store.tells]` names the field that says so and, by how the task rests, its words. Other fields named there are filled
only where they were left blank. What stood in the field before is kept behind the words. When the task goes on, the
engine's own words are taken out again; words of others stay.

A task that stops or waits for an answer makes no move, and a move renews the evidence page and its link. There the line
of the stop promises it.
"""

from __future__ import annotations

import os

from detent.core.machine import STOPPED
from detent.runner.step.said_no import waits_for_answer
from detent.store.journal.events import Crashed
from detent.store.journal.line import promising, telling
from detent.store.journal.run_events import Stopped, Unmoved
from detent.store.text.markdown import is_placeholder, says_nothing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.core.machine import Machine
    from detent.runner.task.open import Task
    from detent.store.journal.line import Line
    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document

WAITING, GOES_ON = "waiting", "goes_on"  # beside `stopped` and the names of ends
PAGE = "evidence_page"  # the effect that a stop promises
_LONGEST = 300  # characters of one value
_BEFORE = " (before: "


def tell_rest(task: Task, after: Memory, document: Document, line: Line) -> Line:
    """The line, with the fields that tell how the task rests, and with the promise of a page that shows what it left.

    `after` is the memory after the line as it was given.
    """
    fields = tell_fields(task, after, document)
    if fields and isinstance(line.fields, dict):
        line = telling(line, {**fields, **line.fields})
    if isinstance(line, (Unmoved, Stopped, Crashed)) and _begins_to_wait(task, after) and _has_artifacts(task):
        line = promising(line, [PAGE])
    return line


def _begins_to_wait(task: Task, after: Memory) -> bool:
    now = _rests(task.machine, after)
    return now in (STOPPED, WAITING) and now != _rests(task.machine, task.memory)


def _has_artifacts(task: Task) -> bool:
    """Whether there is something that the machine's link leads to."""
    store = task.machine.store
    if not (store.link and store.evidence):
        return False
    try:
        return bool(os.listdir(os.path.dirname(task.native.path(store.evidence))))
    except OSError:
        return False


def tell_fields(task: Task, after: Memory, document: Document) -> dict[str, str]:
    """The fields to write when a task begins to rest, rests in another way, or goes on; else none."""
    tells = task.machine.store.tells
    was, now = _rests(task.machine, task.memory), _rests(task.machine, after)
    if not tells or was == now:
        return {}
    field = tells.field
    before = _filled(tells.words(was), task, task.memory, document)
    found = {label: document.value(label) for label in (field, *before, *tells.words(now))}
    kept = _kept(found[field], before.get(field, ""))
    kept = "" if kept == tells.first else kept
    fields = {label: "" for label, words in before.items() if label != field and found[label] == words}
    for label, words in _filled(tells.words(now), task, after, document).items():
        if label != field and (label in fields or is_placeholder(found[label]) or says_nothing(found[label])):
            fields[label] = words
        elif label == field and now == GOES_ON:
            fields[field] = kept or words
        elif label == field:
            fields[field] = f"{words}{_BEFORE}{kept})" if kept and kept != words else words
    return fields


def _rests(machine: Machine, memory: Memory) -> str:
    """How a task rests, as `[store.tells]` calls it."""
    state = machine.states[memory.snapshot.state]
    if memory.snapshot.registers.get(STOPPED):
        return STOPPED
    if state.is_end:
        return state.name
    return WAITING if not memory.ended and waits_for_answer(machine, memory) else GOES_ON


def _filled(words: Mapping[str, str], task: Task, memory: Memory, document: Document) -> dict[str, str]:
    values = {"id": task.id, "why": memory.snapshot.registers.get(STOPPED, "")}

    def text(template: str) -> str:
        from detent.machines.placeholders import fill  # only where a task begins or ends to rest

        value = fill(template, lambda name: " ".join((values.get(name) or document.value(name)).split())[:_LONGEST])
        return " ".join(value.split())

    return {label: text(template) for label, template in words.items()}


def _kept(found: str, before: str) -> str:
    """Another writer's text in the field, if it says anything."""
    text = " ".join(found.split())
    if before and text.startswith(before):
        text = text.removeprefix(before).removeprefix(_BEFORE).removesuffix(")")
    return "" if is_placeholder(text) or says_nothing(text) else text[:_LONGEST]
