"""Says what follows from an agent run that is gone, for readers: nothing is written, nothing is started."""

from __future__ import annotations

from detent.core.decide import decide
from detent.core.machine import STOPPED
from detent.core.record import Record
from detent.core.runs import run_over
from detent.core.values import Advance, Crash, Missing, Refuse, Signal, Wait
from detent.errors import UnreadableError
from detent.runner.task.open import needs_word
from detent.store.journal.memory import NO_FILING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.core.values import Decision, Fact, Snapshot
    from detent.runner.task.open import Task
    from detent.store.journal.native import Document


class Foreseen(Record):
    """The next act of the task's driver, or of the next command that writes."""

    kind: str  # moves | proves | crash | stays | respawn | person | stopped
    to: str = ""


def foresee(task: Task, document: Document) -> Foreseen:
    """What follows from the last run of this visit."""
    memory, state = task.memory, task.machine.states[task.memory.snapshot.state]
    if not memory.run and not memory.ended:
        if memory.snapshot.registers.get(STOPPED):
            return Foreseen("stopped")
        return Foreseen("respawn" if state.driver == "agent" and not needs_word(memory, state) else "person")
    from detent.effects.host.keeper.look import exit_class, look  # most tasks have no run that just ended
    from detent.runner.step.disorder import find_disorder
    from detent.runner.step.look import known_tree
    from detent.runner.step.said_no import said_no
    from detent.runner.tell.judging import next_run

    may_move = True
    if ended := memory.ended:
        exit_name, claim, snapshot = ended.exit, ended.claim, memory.snapshot
        if ended.by_person or (ended.tainted and not state.must_open):
            exit_name = ""  # no crash, however it ended
        may_move = not (ended.tainted or ended.problem)
    else:
        exit_name = exit_class(look(task.places.run(memory.run.run)).exit)
        claim = memory.claim.want or find_disorder(task, memory, document).request
        no = said_no(task, document, known_tree(task), NO_FILING, "" if claim else memory.unheard)
        claim = claim or memory.unheard
        snapshot = run_over(task.machine, memory.snapshot, exit_name, no)
    facts = _facts(task, document, snapshot)
    moves = (*((Signal("agent", claim),) if claim else ()), Signal("engine")) if may_move else ()
    for signal in (*moves, Signal("crash", exit=exit_name)):
        if found := _means(decide(task.machine, snapshot, facts, signal)):
            return found
    is_judged = may_move and next_run(task, known_tree(task)).role != state.role
    return Foreseen("respawn" if is_judged else "stays")


def engine_lacks(task: Task) -> Missing | None:
    """What keeps the engine from moving a task whose state is its own; None where it goes on once it is driven."""
    try:
        document = task.native.read()
    except UnreadableError:
        return None  # commands about this file report its error
    snapshot = task.memory.snapshot
    decision = decide(task.machine, snapshot, _facts(task, document, snapshot), Signal("engine"))
    if isinstance(decision, Advance):
        from detent.runner.tell.prepared import foreseen  # few moves have something to prepare

        return next(iter(foreseen(task, decision.way.prepare)), None)
    missing = decision.missing if isinstance(decision, (Refuse, Wait)) else ()
    if missing and all(gap.pending for gap in missing):
        return None
    return next((gap for gap in missing if not gap.pending), Missing("engine", getattr(decision, "reason", "")))


def _facts(task: Task, document: Document, snapshot: Snapshot) -> Mapping[str, Fact]:
    from detent.gates.judge import judge
    from detent.runner.step.look import known_tree, look, needs_tree

    edges = task.machine.states[snapshot.state].edges
    gates = [gate for edge in edges for way in edge.ways for gate in way.needs]
    gates += [gate for gate in snapshot.no if gate in task.machine.gates]
    tree = known_tree(task) if needs_tree(task, gates) else ""
    return judge(look(task, task.memory.replace(snapshot=snapshot), document, tree), gates)


def _means(decision: Decision) -> Foreseen | None:
    if isinstance(decision, Advance):
        return Foreseen("moves", decision.after.state)
    if isinstance(decision, Crash):
        return Foreseen("crash")
    missing = decision.missing
    return Foreseen("proves") if missing and all(gap.pending for gap in missing) else None
