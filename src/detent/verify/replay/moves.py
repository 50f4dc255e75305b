"""Decides every recorded move again, from the facts that were seen then, and compares what came of it."""

from __future__ import annotations

from detent.core.decide import decide, enter
from detent.core.machine import CRASHES, IDLE, RUNS, STOPPED
from detent.core.values import Advance, Crash, Fact, Refuse, Signal, Snapshot, Wait
from detent.errors import UnreadableError
from detent.runner.step.locks import items_of
from detent.runner.step.prepare import decide_again, steps_of
from detent.store.journal.events import Amended, Crashed, Intended, Moved, Resumed, Unprepared, move_of
from detent.store.journal.fold import snapshot_after
from detent.store.journal.head import Created, Head
from detent.store.journal.line import to_line
from detent.verify.replay.lines import Finding
from detent.words.verify import replay as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detent.core.machine import Machine
    from detent.runner.task.open import Task
    from detent.store.journal.line import Line
    from detent.store.journal.memory import Memory

_HASHES = ("entry", "locked")  # of files at that moment: nothing to decide them from


def first_problems(task: Task, entry: Line) -> Iterator[Finding]:
    if not isinstance(entry, Head):
        return  # an earlier problem says that it can't stand here
    if entry.id != task.id:
        yield Finding(1, "head", say.journal_of_other_task(entry.id, task.id))
    after = snapshot_after(entry)
    if after.state not in task.machine.states:
        yield Finding(1, "decision", say.no_state(task.machine.name, after.state))
    elif isinstance(entry, Created):
        yield from differences(1, enter(task.machine, after.mode), after)


def move_problems(machine: Machine, entry: Moved, memory: Memory) -> Iterator[Finding]:
    """Ask again for the very edge that was taken, with the facts that were seen then."""
    number, before = entry.seq, memory.snapshot
    # Gates missing from the line were not asked; as pending ones they can be neither open nor waived.
    # One by which the last run said no binds until a line says otherwise.
    unseen = [name for name in machine.gates if name not in before.no]
    facts = {name: Fact(name, ok=False, why=say.not_recorded(), pending=True) for name in unseen}
    for gate, content in entry.facts.items():
        facts[gate] = Fact(gate, content["ok"] is True, content.get("why", say.was_closed()))
    signal = Signal(
        entry.by,
        entry.edge,
        name=entry.name,
        reason=entry.reason,
        exit=entry.exit,
        override=entry.override,
        verb=entry.verb,
    )
    decision = decide(machine, before, facts, signal)
    if not isinstance(decision, Advance):
        missing = decision.missing if isinstance(decision, (Refuse, Wait)) else ()
        why = "; ".join(f"{gap.gate}: {gap.why}" for gap in missing) or getattr(decision, "problem", "")
        why = why or say.nothing_open(entry.by)
        yield Finding(number, "decision", say.move_not_allowed(entry.from_, entry.to, why))
        return
    wanted = {
        "edge": decision.edge.name,
        "way": decision.way.number,
        "to": decision.after.state,
        "waived": list(decision.waived),
        "effects": list(decision.way.effects),
        "machine": memory.head.digest,
    }
    said = to_line(entry)
    for field, value in wanted.items():
        if said[field] != value:
            yield Finding(number, "decision", say.field_differs(field, said[field], value))
    yield from _prepared(entry, memory, steps_of(decision.way.prepare))
    if decision.edge.sign_off and not (entry.tree and entry.signed.get("files")):
        yield Finding(number, "sign-off", say.signed_nothing(entry.edge))
    if entry.signed and not decision.edge.sign_off:
        yield Finding(number, "sign-off", say.no_sign_off(entry.edge))
    after = snapshot_after(entry)
    yield from differences(number, decision.after, after)
    free = {item for lock in machine.locks if before.state in lock.after for item in items_of(lock)}
    yield from _locks(number, before, after, free)


def intent_problems(task: Task, entry: Intended | Unprepared, memory: Memory) -> Iterator[Finding]:
    """A move is prepared only after it was decided, one at a time, and given up only while it is."""
    number = entry.seq
    if isinstance(entry, Intended) == bool(memory.intent):
        yield Finding(number, "prepare", say.intended_beside() if memory.intent else say.nothing_intended())
    if isinstance(entry, Unprepared):
        return
    try:
        taken = decide_again(task.replace(memory=memory), move_of(entry))
    except UnreadableError as error:
        yield Finding(number, "decision", error.what)
        return
    if list(entry.prepare) != list(taken.way.prepare):
        yield Finding(number, "prepare", say.prepares_other(taken.way.prepare))


def _prepared(entry: Moved, memory: Memory, wanted: Sequence[str]) -> Iterator[Finding]:
    """A move with steps was intended first, as it is made now; without steps it carries no results."""
    number, said = entry.seq, to_line(entry)
    intended = to_line(move_of(memory.intent)) if memory.intent else {}
    if bool(intended) != bool(wanted) or any(said[key] != value for key, value in intended.items()):
        yield Finding(number, "prepare", say.not_intended_move())
    if lacking := [name for name in wanted if name not in (entry.prepared or {})]:
        yield Finding(number, "prepare", say.unknown_outcome(lacking))


def rule_problems(entry: Resumed | Amended, before: Snapshot) -> Iterator[Finding]:
    """A person let a stopped task go on, or changed what is locked; neither moves it."""
    number = entry.seq
    after = snapshot_after(entry)
    wanted, free = before, set(before.locked)
    if isinstance(entry, Resumed):
        registers = {name: value for name, value in before.registers.items() if name != STOPPED}
        counters = {name: value for name, value in before.counters.items() if name not in (RUNS, CRASHES, IDLE)}
        no = before.no if after.no else {}  # earlier versions let it go
        wanted, free = before.replace(registers=registers, counters=counters, no=no), set()
    else:
        free = {name for label in entry.fields for name in (label, f"field:{label}")}
    yield from differences(number, wanted, after)
    yield from _locks(number, before, after, free)


def crash_problems(machine: Machine, entry: Crashed, before: Snapshot) -> Iterator[Finding]:
    counted = decide(machine, before, {}, Signal("crash", exit=entry.exit))
    if not isinstance(counted, Crash):
        yield Finding(entry.seq, "decision", say.crash_not_counted(entry.exit))
    else:
        yield from differences(entry.seq, counted.after, snapshot_after(entry))


def differences(number: int, wanted: Snapshot, recorded: Snapshot) -> Iterator[Finding]:
    for field in Snapshot._fields:
        if field not in (*_HASHES, "seq") and getattr(wanted, field) != getattr(recorded, field):
            written, due = getattr(recorded, field), getattr(wanted, field)
            yield Finding(number, "decision", say.after_differs(field, written, due))


def _locks(number: int, before: Snapshot, after: Snapshot, free: set[str]) -> Iterator[Finding]:
    for item, digest in before.locked.items():
        if item not in free and after.locked.get(item) != digest:
            yield Finding(number, "decision", say.locked_text_changed_by_line(item.partition(":")[2]))
