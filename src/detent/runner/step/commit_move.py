"""Writes the line of a decided move and does what follows: step.py decides, prepare.py finishes what was cut short."""

from __future__ import annotations

from detent.core.machine import CRASH_CLASSES
from detent.errors import UnreadableError
from detent.page.runs import EXITS
from detent.runner.step.locks import close_locks
from detent.runner.step.look import look
from detent.runner.step.promises import keep_promises
from detent.runner.task.layout import is_tracked
from detent.runner.task.open import waits_at_end
from detent.store.journal.events import completed
from detent.store.journal.shown import PENDING
from detent.store.text.labels import state_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from detent.core.machine import Gate, Machine
    from detent.core.values import Advance
    from detent.runner.step.change import Change
    from detent.runner.step.registry import Results
    from detent.runner.task.open import Task
    from detent.store.journal.events import FactSaid, Moved
    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document

_LONGEST_REASON = 2000  # characters; a line has a bound
_MOST_NAMES_CHARACTERS = 200_000  # of the files a line names; a line has a bound


def commit_move(
    change: Change, entry: Mapping[str, str], taken: Advance, line: Moved, prepared: Results | None = None
) -> None:
    """Write the line of a decided move and do what follows; `entry` is the evidence as the new state finds it."""
    task, memory, document = change.task, change.memory, change.document
    locked = close_locks(task, memory.snapshot, document, memory.snapshot.state)
    # What an answer took out of a field may be written there again: it is as fresh as other words.
    fresh = {key: found for key, found in entry.items() if key not in _emptied(line)}
    after = taken.after.replace(entry=fresh, locked=locked)
    line = completed(
        line,
        prepared=prepared,
        led=_led_here(task.machine, memory, taken, line),
        fields={**line.fields, **_fields(task, taken)},
        files=_files_at_end(task, document, after.state),
    )
    change.write(line, after=after)
    change.request = ""  # whatever the file asked for, this came of it
    if taken.edge.sign_off:
        from detent.runner.step.anchor import anchor  # few moves are sign-offs

        anchor(change.task)  # before the promises; after a crash the next change of the task repeats both
    moved = change.memory.snapshot.seq
    keep_promises(change)
    if taken.edge.sign_off and change.memory.snapshot.seq != moved:
        anchor(change.task)


def _emptied(line: Moved) -> frozenset[str]:
    """The fields that the move itself empties, as evidence names them."""
    return frozenset(f"field:{label}" for label, text in line.fields.items() if not text)


def _fields(task: Task, taken: Advance) -> dict[str, str]:
    """What the native file says of the state that is left and of the one that is entered, where it says such things.

    A label tells what was proven: where gates were waived, it says that instead.
    """
    if not task.machine.store.status:
        return {}
    label = f"overridden: {', '.join(taken.waived)}" if taken.waived else taken.edge.label
    found = {taken.edge.source: label, taken.after.state: PENDING}
    labels = {state_label(task.machine, task.machine.store.status, state): words for state, words in found.items()}
    return {label: words for label, words in labels.items() if label}


def _files_at_end(task: Task, document: Document, state: str) -> Mapping[str, str] | None:
    """The files of the task folder at a final end, by hash; git vouches for a folder that is part of the work.

    Read again: a prepared step may have written there.
    """
    reached = task.machine.states[state]
    if not reached.is_end or waits_at_end(reached) or is_tracked(task.machine.store):
        return None
    try:
        found = look(task, task.memory, document, "").files.listing()
    except UnreadableError:
        return {}  # a file that can't be read keeps no task from ending
    kept: dict[str, str] = {}
    room = _MOST_NAMES_CHARACTERS
    for name, digest in found.items():
        room -= len(name)
        if room < 0:
            return {**kept, "*": "cut"}
        kept[name] = digest
    return kept


def _led_here(machine: Machine, memory: Memory, taken: Advance, line: Moved) -> str:
    """The reason of a move of the engine's own, on one line; empty for a requested move."""
    if line.by not in ("engine", "crash"):
        return ""
    way, facts = taken.way, line.facts
    reasons = [*_failed(way.needs, facts), *_notes(way.needs, facts)]
    if way.spent:
        reasons.insert(0, f"{way.spent} {taken.after.counters.get(way.spent) or machine.limits[way.spent].most}")
        reasons[0] += f" of {machine.limits[way.spent].most}"
    exit_name = line.exit or memory.visit.exit
    if line.by == "crash" or (way.spent and exit_name in CRASH_CLASSES):
        reasons.insert(0, f"agent run #{memory.last_run.run} {EXITS.get(exit_name, exit_name)}")
    if line.by == "crash":
        reasons += [line.reason] if line.reason else []
    reasons = reasons or [words for name in way.needs if (words := _opened(machine.gates[name]))]
    return " ".join("; ".join(dict.fromkeys(reasons)).split())[:_LONGEST_REASON]


def _failed(needs: tuple[str, ...], facts: Mapping[str, FactSaid]) -> Iterator[str]:
    """Every part that failed and is made of nothing else, below a gate that is open because something failed."""
    waiting = [name for name in needs if facts.get(name, {}).get("ok") is True]
    for gate in waiting:  # grows while it is read
        for label, is_ok, why in facts[gate].get("parts", ()):
            if is_ok is not False or facts.get(label, {}).get("unknown"):
                continue
            if "parts" in facts.get(label, {}) and label not in waiting:
                waiting.append(label)
            elif label not in waiting:
                yield f"{label}: {why}".rstrip(": ")


def _notes(needs: tuple[str, ...], facts: Mapping[str, FactSaid]) -> Iterator[str]:
    return (facts[name]["note"] for name in needs if facts.get(name, {}).get("note"))


def _opened(gate: Gate) -> str:
    """The artifact that a gate asks for, as found."""
    section, value = gate.params.get("section", ""), gate.params.get("value", "")
    return {"section_filled": f"## {section} found", "verdict": f"## {section} says {value}"}.get(gate.check, "")
