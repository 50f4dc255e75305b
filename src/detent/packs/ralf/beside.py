"""What a machine keeps beside the native folders of its tasks: records of agent runs, and the conversation of a task.

Both are made from the journal and the runs' own folders, only ever added to, and each piece once: a run's record is
written when the run has ended, its log first, so that a record without its log is never seen; a line of the
conversation names the journal line it stands for, and one that is there is not written again.
"""

from __future__ import annotations

import os

from detent.effects.agents.events import read_usage
from detent.effects.host.keeper.process import EVENTS
from detent.errors import UnreadableError
from detent.runner.task.layout import store_root
from detent.store.disk.atomic import as_json, make_folders, read_cache, read_plain, write_atomic, write_cache
from detent.store.disk.json_lines import LARGEST_LOG_BYTES, append_line, parsed_lines, size_of
from detent.store.journal.events import Answered, Moved, Resumed
from detent.store.journal.fold import snapshot_after
from detent.store.journal.line import to_line
from detent.store.journal.run_events import RunEnded, RunPlanned
from detent.store.journal.shown import run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from detent.runner.task.open import Task
    from detent.store.journal.line import Line
    from detent.store.journal.memory import Memory

_RECORD, _OUTPUT = "run.json", "output.log"
_PLANNED = ("role", "state", "agent", "model", "access", "sandbox", "talk", "prompt")
_ENDED = ("exit", "how", "code", "signal", "claim", "usage", "errors", "tainted", "tree", "before")


def project_beside(task: Task, memory: Memory) -> None:
    """Bring records and conversation up to the journal; the task's lock is held and no run lives."""
    store = task.machine.store
    root = store_root(store, task.root)
    if store.runs and (number := memory.ended.run or memory.visit.run):
        _record_run(task, os.path.join(root, store.runs, run_id(task.id, number)), number)
    if store.conversation:
        _append_turns(task, memory, os.path.join(root, store.conversation.replace("{id}", task.id)))


def _record_run(task: Task, folder: str, number: int) -> None:
    record = os.path.join(folder, _RECORD)
    if os.path.lexists(record):
        return
    planned = ended = None
    for line in task.store.history():
        if isinstance(line, RunPlanned) and line.run == number:
            planned = line
        elif isinstance(line, RunEnded) and line.run == number:
            ended = line
    if planned is None or ended is None:
        return
    make_folders(folder)
    output = read_plain(os.path.join(task.places.run(number), EVENTS), LARGEST_LOG_BYTES) or b""
    write_atomic(os.path.join(folder, _OUTPUT), output, durable=True)
    content = {
        "id": run_id(task.id, number),
        "thread_id": task.id,
        "number": number,
        "started_at": planned.time,
        "ended_at": ended.time,
        **_said(planned, _PLANNED),
        **_said(ended, _ENDED),
    }
    write_atomic(record, as_json(content, compact=False) + b"\n", durable=True)


def _said(line: Line, names: Sequence[str]) -> dict[str, Any]:
    """What a line says under these names; an older one may lack some."""
    said = to_line(line)
    return {name: said[name] for name in names if name in said}


def _append_turns(task: Task, memory: Memory, path: str) -> None:
    mark = {"seq": memory.snapshot.seq, "size": size_of(path)}
    if read_cache(task.places.beside()) == as_json(mark):
        return
    make_folders(os.path.dirname(path))
    logged = {line.get("seq") for line in parsed_lines(path)}
    for turn in turns(task, task.store.history()):
        if turn["seq"] not in logged:
            append_line(path, turn)
    write_cache(task.places.beside(), as_json({**mark, "size": size_of(path)}))


def turns(task: Task, entries: Sequence[Line]) -> Iterator[Mapping[str, Any]]:
    """The conversation in the states where the machine has people and agents talk."""
    states = task.machine.store.talks_in
    events: dict[int, str] = {}
    state = ""
    for entry in entries:
        if isinstance(entry, RunPlanned):
            events[entry.run] = entry.events
        is_here = state in states
        state = state if entry.after is None else snapshot_after(entry).state
        turn = {"seq": entry.seq, "time": entry.time}
        if isinstance(entry, (Moved, Answered, Resumed)) and entry.answer and (is_here or state in states):
            yield {**turn, "role": "person", "name": entry.name, "text": entry.answer}
        elif isinstance(entry, RunEnded) and is_here:
            text = _last_words(task, entry.run, events.get(entry.run, "text"))
            yield {**turn, "role": entry.role, "name": entry.agent, "run": entry.run, "text": text}


def _last_words(task: Task, number: int, events: str) -> str:
    """What an agent said last; a run whose folder is gone has nothing to say any more."""
    try:
        return read_usage(os.path.join(task.places.run(number), EVENTS), events, 0).last_text
    except (OSError, UnreadableError):
        return ""
