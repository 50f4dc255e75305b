"""The questions of a task to a person, in its own words: fields and sections that its state names. Reads only.

Where the engine moved the task to a person, the reason is given.
"""

from __future__ import annotations

from detent.core.machine import STOPPED
from detent.core.record import Record
from detent.errors import UnreadableError
from detent.runner.task.budget import budget_spent, way_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.core.machine import Machine, State
    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document, Native

    Questions = tuple[tuple[str, str], ...]  # name of the field or section, and what it says

_SECTION = "## "
LONGEST_WORDS = 4000  # of one field or section; all of it stands in the file


def questions(state: State, document: Document) -> Questions:
    """The question a document holds, part by part; what says nothing is left out."""
    found = ((_shown(name), _words(name, document)) for name in state.asks)
    return tuple((name, words) for name, words in found if words)


def question(state: State, native: Native) -> str:
    """The same on one line; empty where the state asks nothing, or the file can't be read."""
    if not state.asks:
        return ""
    try:
        document = native.read()
    except UnreadableError:
        return ""  # commands about this file report its error
    return "; ".join(f"{name}: {words}" for name, words in questions(state, document))


class TakenOut(Record):
    """What a person's answer takes out of the native file."""

    question: str  # the question; empty where none stood there
    fields: Mapping[str, str]  # the fields that are empty afterwards


def answered(machine: Machine, document: Document) -> TakenOut:
    """What a person's answer takes out of the native file, for its journal line."""
    found = {name: words for name in machine.answers.get("clears", ()) if (words := _words(name, document))}
    return TakenOut("; ".join(f"{name}: {words}" for name, words in found.items()), dict.fromkeys(found, ""))


def is_answer_enough(machine: Machine, memory: Memory, native: Native) -> bool:
    """Whether a stopped task asks a person, and goes on with the answer that takes the question out of its file."""
    if not (memory.snapshot.registers.get(STOPPED) and machine.answers.get("clears")) or budget_spent(memory):
        return False
    return bool(question(machine.states[memory.snapshot.state], native))


def way_on_from_stop(machine: Machine, memory: Memory, native: Native, task_id: str) -> str:
    """The command that lets a stopped task go on."""
    if is_answer_enough(machine, memory, native):
        from detent.words.runner import task as say

        return say.answer(task_id)
    return way_on(task_id, memory)


def left_open(memory: Memory) -> str:
    """What kept the last run of this visit from a move, where that is known: it may be a question of its own."""
    # A run whose end is not decided yet may have left an unreadable tree.
    why = memory.visit.why or memory.ended.problem
    words = " ".join(str(why).split())
    return f": {words[:LONGEST_WORDS]}" if words else ""


def _shown(name: str) -> str:
    """A section by its heading, a field of a JSON file by its last word."""
    return name.rpartition("/")[2] if name.startswith("/") else name.removeprefix(_SECTION)


def led_here(memory: Memory) -> str:
    """Why the engine moved the task here; a deployment that was taken back since then is newer, and named instead."""
    is_newer = memory.deploy.taken_back >= memory.changed_time
    return (taken_back(memory) if is_newer else "") or memory.led


def why_here(memory: Memory) -> str:
    """The same to follow a sentence; empty where a person or an agent moved it here."""
    led = led_here(memory)
    words = led if len(led) <= LONGEST_WORDS else f"{led[:LONGEST_WORDS].rstrip()} ..."
    return f": {words}" if words else ""


def taken_back(memory: Memory) -> str:
    """That the last deployment was taken back; empty where it was not."""
    time = memory.deploy.taken_back
    from detent.words.runner import task as say

    return say.deployment_taken_back(time) if time else ""


def _words(name: str, document: Document) -> str:
    from detent.store.text.markdown import (
        find_section,
        is_placeholder,
        says_nothing,
        visible_text,
    )  # most states ask nothing

    if name.startswith(_SECTION):
        section = find_section(document.text, name.removeprefix(_SECTION))
        text = visible_text(document.text[section.body_start : section.end]) if section else ""
    else:
        text = document.value(name)
    if is_placeholder(text) or says_nothing(text):
        return ""
    words = " ".join(text.split())
    return words if len(words) <= LONGEST_WORDS else f"{words[:LONGEST_WORDS].rstrip()} ..."
