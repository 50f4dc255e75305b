"""Finds what an agent run said against going on: a request that was refused, and the gates its state names for that.

The end of a run records it (`run_ended`), the snapshot carries it, and `decide` keeps the engine from walking on. What
a file says binds only while it still says so: the gates are judged again before each move of the engine.
"""

from __future__ import annotations

from detent.core.decide import candidates_for, target_of
from detent.core.machine import ASKED
from detent.core.values import Signal
from detent.gates.judge import judge
from detent.runner.step.look import look
from detent.store.text.markdown import visible_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from detent.core.machine import Gate, Machine
    from detent.core.values import Snapshot
    from detent.gates.seen import Seen
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Filing, Memory
    from detent.store.journal.native import Document

_LONGEST_QUOTE = 200  # of each field or section


def said_no(task: Task, document: Document, tree: str, filing: Filing, refused: str) -> dict[str, str]:
    """What the run that just ended said, by gate; `refused` is the state it asked for in vain."""
    said = {ASKED: refused} if refused else {}
    gates = task.machine.states[task.memory.snapshot.state].no
    if not gates:
        return said
    seen = look(task, task.memory.replace(filing=filing) if filing else task.memory, document, tree)
    facts = judge(seen, gates)
    return {**{gate: _words(task.machine.gates[gate], seen) for gate in gates if facts[gate].ok}, **said}


def standing_gates(machine: Machine, snapshot: Snapshot) -> tuple[str, ...]:
    """The gates by which the last run said no: they are judged again before the engine moves."""
    return tuple(gate for gate in snapshot.no if gate in machine.gates)


def requested_target(machine: Machine, snapshot: Snapshot, want: str) -> str:
    """The state that a request means: it names a state, a move or the verb of one."""
    for signal in (Signal("agent", want), Signal("agent", verb=want)):
        for edge in candidates_for(machine, snapshot, signal):
            return target_of(snapshot, edge)
    return want


def _words(gate: Gate, seen: Seen) -> str:
    """Where it says so, and what."""
    fields: Iterable[str] = gate.params.get("fields", ())
    if fields:
        file = seen.machine.store.file
        return "; ".join(f'{file}, "{label}: {_quote(seen.field(label))}"' for label in fields)
    file, section = str(gate.params.get("file", "")), str(gate.params.get("section", ""))
    if section:
        return f'{file}, "## {section}": {_quote(seen.section(file, section) or "")}'
    text = (seen.files.text(file) or "") if file else ""
    return f"{file}: {_quote(text)}" if text else f"gate {gate.name}"


def _quote(text: str) -> str:
    words = " ".join(visible_text(text).split())
    return words if len(words) <= _LONGEST_QUOTE else f"{words[:_LONGEST_QUOTE].rstrip()} ..."


def waits_for_answer(machine: Machine, memory: Memory) -> bool:
    """Whether the last run of this visit asks a person and no move leads to one, so that no other run may start."""
    snapshot, state = memory.snapshot, machine.states[memory.snapshot.state]
    if not (state.asks and state.role and memory.visit and standing_gates(machine, snapshot)):
        return False
    if any(way.after_no for edge in state.edges for way in edge.ways if "engine" in way.by):
        return False
    wanted = snapshot.no.get(ASKED)
    return wanted is None or all(target_of(snapshot, edge) != wanted for edge in state.edges)
