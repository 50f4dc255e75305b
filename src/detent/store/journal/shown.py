"""What a machine's main file may show of a task besides its state: values of the journal, each by one name.

`[store.shows]` names a place in the file and one of these. They are the engine's: what says otherwise is put right.
"""

from __future__ import annotations

import json

from detent.store.journal.head import Created, runs_before, shown_before
from detent.store.text.labels import state_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from detent.core.machine import Machine
    from detent.store.journal.memory import Memory

# They change while a run lives, when the engine does not write the file: its text then is no edit.
WHILE_RUNNING = ("run", "session", "mode")


def run_id(task_id: str, number: int) -> str:
    """The name of an agent run among those of all tasks of a machine."""
    return f"{task_id}-run-{number:03}"


def _object(content: Mapping[str, str]) -> str:
    return json.dumps(dict(content), ensure_ascii=False) if content else ""


def _found(memory: Memory, name: str) -> str:
    """What the file of another tool said when its task was adopted; empty for every other task."""
    return shown_before(memory.head).get(name, "")


def _run(memory: Memory) -> str:
    before = runs_before(memory.head)
    return run_id(memory.head.id, memory.runs) if memory.runs > before else _found(memory, "run")


_SOURCES: Mapping[str, Callable[[Memory], str]] = {
    "id": lambda memory: str(memory.head.id),
    "title": lambda memory: str(memory.head.title),
    "created": lambda memory: _found(memory, "created") or str(memory.head.time),
    "mode": lambda memory: memory.snapshot.mode,
    "run": _run,
    "session": lambda memory: f"run-{memory.run.run}" if memory.run else "",
    "baseline": lambda memory: _object(memory.prepared.get("baseline", {})),
    "branch": lambda memory: memory.prepared.get("branch", {}).get("name", ""),
    "commit": lambda memory: memory.prepared.get("commit", {}).get("sha", "") or _found(memory, "commit"),
    "why": lambda memory: memory.led,
    "revision": lambda memory: str(memory.revision or ""),
}
SOURCES = tuple(_SOURCES)
PENDING = "pending"  # the status of the state a task is in


def shown_values(machine: Machine, memory: Memory) -> dict[str, str]:
    """What the file shows at one journal line, by label."""
    return {label: _SOURCES[source](memory) for label, source in machine.store.shows.items()}


def status_values(machine: Machine, memory: Memory) -> dict[str, str]:
    """How each state stands, by label: as moves left it, pending where a new task begins, nothing elsewhere.

    Of a task that was adopted only what a move wrote since is known: the rest is as the other tool left it.
    """
    labels = {state: state_label(machine, machine.store.status, state) for state in machine.states}
    known = {label: memory.statuses[label] for label in labels.values() if label in memory.statuses}
    if not isinstance(memory.head, Created):
        return known
    first = {label: PENDING if state == machine.initial else "" for state, label in labels.items() if label}
    return {**first, **known}
