"""The one step: every move of every task is made here, for every asker.

0. alone    (project)  only where a gate asks for the other tasks of the project: their lock too, for 1 to 7
1. settle   (lock)     finish what a crash cut short, restore the engine's own texts, redo promised effects,
                       file the change of the tree where the state wants that
2. observe  (lock)     native files, receipts, and the tree if a gate needs it
3. prove    (no lock)  run the commands the wanted edge still lacks, on the frozen tree; results are receipts. What an
                       open edge wants prepared is made here too; if that fails, the task stays where it is
4. decide   (lock)     again from 1, at most four times: a decision is only ever made on what is seen under the lock,
                       and a receipt only counts for the tree it was made on
                       what the edge must have prepared is done now (prepare.py); it may fail, and nothing moves
5. commit   (lock)     one journal line, synced: only now it happened
6. project  (lock)     native file, native log, cache
7. act      (lock)     the edge's effects, each with its own line; repeated by the next step until they work
8. unlock
"""

from __future__ import annotations

from detent.core.decide import candidates_for, decide
from detent.core.record import Record
from detent.core.values import Advance, Missing, Refuse, Signal, Wait
from detent.errors import RefusedError, SetUpError
from detent.gates.judge import evidence_hashes, judge
from detent.gates.people import (
    BY_NAME,
    REASON,
    may_run_outside,
    runs_outside,
    signed_files,
    waits_for_person,
)
from detent.gates.registry import SIBLINGS, declared
from detent.machines.lines import NEXT
from detent.machines.packs import load
from detent.machines.reading import ACCEPTS
from detent.runner.step.changing import changing
from detent.runner.step.commit_move import commit_move
from detent.runner.step.look import current_tree, look, needs_commands, needs_tree, refuse_other_tree
from detent.runner.step.registry import effect_named
from detent.runner.step.said_no import standing_gates
from detent.runner.step.unearned import refuse_unearned
from detent.runner.step.unmoved import write_unmoved
from detent.runner.task.asks import TakenOut, answered
from detent.store.journal.events import Moved, move_of
from detent.words import core as of_core
from detent.words.runner import step as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from detent.core.machine import Edge, Machine
    from detent.core.values import Decision, Fact
    from detent.gates.seen import Seen
    from detent.runner.step.change import Change
    from detent.runner.step.proving.progress import Progress
    from detent.runner.step.registry import Results
    from detent.runner.task.open import Task
    from detent.store.journal.events import FactSaid
    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document

MOST_ROUNDS = 4
YES = "yes"  # given by a person where a move asks before it is taken


class Outcome(Record):
    decision: Decision
    task: Task  # with the memory after the step
    facts: Mapping[str, Fact]
    signal: Signal
    before: str  # the state the step began in
    notes: tuple[str, ...] = ()
    claimed: bool = False  # promised to a living run; the state did not move
    options: Mapping[str, str] = {}  # what came with the command


def step(
    task: Task,
    signal: Signal | None,
    otherwise: Signal | None = None,
    of_run: int = 0,
    options: Mapping[str, str] | None = None,
    shown: str = "",
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Make one move, or say why not. Without a signal: what the native file asks for, else `otherwise`.

    `of_run`: only while the end of that agent run is still undecided; two engines may have seen it end. `options`: what
    came with the command, for the steps that prepare the move and the gates that ask a person for a word. `shown`: only
    if the tree is still the one whose id begins so, for a person that names the tree they reviewed.
    `progress` is told how far a proof has come.
    """
    outcome = _step(task, signal, otherwise, of_run, options or {}, shown, progress)
    return outcome.replace(options=options) if options else outcome


def _step(
    task: Task,
    signal: Signal | None,
    otherwise: Signal | None,
    of_run: int,
    options: Mapping[str, str],
    shown: str,
    progress: Callable[[Progress], None] | None,
) -> Outcome:
    notes: tuple[str, ...] = ()
    tried: tuple[str, tuple[str, ...]] = ("", ())  # the gates that were proven last, and the tree
    for _ in range(MOST_ROUNDS):
        before = task.memory
        # What depends on where other tasks stand is decided while none of them can move.
        with changing(task, alone=asks_siblings) as change:
            _file(change)
            task, notes = change.task, notes + change.notes
            if signal is not None and _was_completed_by_recovery(before, task.memory, signal):
                return Outcome(Wait(say.cut_short_before()), task, {}, signal, before.snapshot.state, notes)
            if of_run and task.memory.ended.run != of_run:
                gone = Wait(say.decided_elsewhere(of_run))
                return Outcome(gone, task, {}, signal or Signal("engine"), task.memory.snapshot.state, notes)
            # What was asked for first is what is decided, also when a round of proof has put the state line back.
            request = signal = signal or _request(change) or otherwise or Signal("engine")
            edges = candidates_for(task.machine, task.memory.snapshot, request)
            seen, facts = _observe(task, change.document, request, edges, tuple(options), with_tree=bool(shown))
            refuse_other_tree(seen.tree, shown)
            decision, gates = _decide(task, facts, request, edges)
            if gates and tried == (seen.tree, gates):
                raise _unready(facts, gates)
            wanted = _unprovided(task, decision)
            if not gates and not wanted:
                change.notes = notes
                if isinstance(decision, Advance) and not _asks_first(decision, request, options):
                    return _move(change, seen, facts, request, decision, options)
                return _stay(change, facts, request, _unconfirmed(decision))
        if gates:
            _prove(task, seen, gates, progress)
            tried = (seen.tree, gates)
        else:
            notes += _provide(task, wanted)
    problem = say.tree_changes()
    refused = Refuse(problem, hint=problem.next_step)
    return Outcome(refused, task, facts, request, task.memory.snapshot.state, notes)


def _unready(facts: Mapping[str, Fact], gates: tuple[str, ...]) -> SetUpError:
    """A proof of this very tree that is still unknown after proving could not be run: that is no failed gate."""
    return SetUpError(
        say.set_up_failed([facts[gate].why for gate in gates]),
    )


def asks_siblings(task: Task) -> bool:
    """Whether a move from here depends on where the other tasks of the project stand."""
    machine = task.machine
    if not any(SIBLINGS in declared(gate.check).needs for gate in machine.gates.values()):
        return False
    edges = machine.states[task.memory.snapshot.state].edges
    gates = machine.parts(gate for edge in edges for way in edge.ways for gate in way.needs)
    return any(SIBLINGS in declared(gate.check).needs for gate in gates)


def tidy(task: Task) -> tuple[Task, tuple[str, ...]]:
    """Finish what a crash cut short and nothing else; a repeated command that finds its move made ends here."""
    with changing(task) as change:
        return change.task, change.notes


def _file(change: Change) -> None:
    """Where the state wants the change of its tree filed, what lies there is of the tree as it is now."""
    if change.task.machine.states[change.memory.snapshot.state].files:
        from detent.runner.step.filing import file_tree  # few states want anything filed

        file_tree(change)


def _prove(task: Task, seen: Seen, gates: tuple[str, ...], progress: Callable[[Progress], None] | None) -> None:
    # Most moves run no command and need not load this.
    from detent.runner.step.proving.progress import quiet
    from detent.runner.step.proving.prove import assess_gates, prove_commands

    proven = prove_commands(task, seen, gates, progress=progress or quiet)
    outside = dict.fromkeys(found for gate in task.machine.gates.values() if (found := declared(gate.check).outside))
    if not all(proof.is_ok for proof in proven):
        return
    assess_gates(task, seen, gates, progress or quiet)
    for extra in outside:
        load(extra.run)(task, seen, gates)


def _unprovided(task: Task, decision: Decision) -> tuple[str, ...]:
    if not isinstance(decision, Advance) or not decision.way.prepare:
        return ()
    from detent.runner.step.proving.homes import refuse_unworkable, unprovided  # few moves need anything

    if wanted := unprovided(task, decision.way):
        refuse_unworkable(task, decision.after.state)
    return wanted


def _provide(task: Task, names: tuple[str, ...]) -> tuple[str, ...]:
    from detent.runner.step.proving.homes import provide

    return provide(task, names)


def _request(change: Change) -> Signal | None:
    """A state named by the native file is asked for with the rights of the state's own agent, no others."""
    if not change.request:
        return None
    task = change.task
    role = task.machine.states[change.memory.snapshot.state].role
    return Signal("agent", change.request, name=role or "file", reason=say.asked_by_file(task.native.file))


def _observe(
    task: Task, document: Document, signal: Signal, edges: list[Edge], words: tuple[str, ...], *, with_tree: bool
) -> tuple[Seen, dict[str, Fact]]:
    gates = [gate for edge in edges for way in edge.ways for gate in way.needs]
    gates += standing_gates(task.machine, task.memory.snapshot)
    effects = {effect for edge in edges for way in edge.ways for effect in way.effects}
    with_tree = (
        with_tree or any(effect_named(name).uses_tree for name in effects) or any(edge.sign_off for edge in edges)
    )
    tree = current_tree(task) if with_tree or needs_tree(task, gates) else ""
    named = (BY_NAME,) if signal.who == "person" and (signal.want or signal.verb not in ("", NEXT)) else ()
    why = (REASON,) if signal.who == "person" and signal.reason.strip() else ()
    seen = look(task, task.memory, document, tree, words=(*words, *named, *why))
    return seen, judge(seen, gates)


def _decide(
    task: Task, facts: Mapping[str, Fact], signal: Signal, candidates: list[Edge]
) -> tuple[Decision, tuple[str, ...]]:
    """The decision, and the gates that must be proven before it may be taken.

    Edges are tried in the file's order: one that lacks only a run of its commands is proven before
    a later one is taken. A person is asked last, so commands are run although their word is still missing.
    """
    machine, snapshot = task.machine, task.memory.snapshot
    whole = refuse_unearned(task, decide(machine, snapshot, facts, signal), signal)
    for edge in candidates:
        # Usually one edge is asked for: what was decided about all of them was decided about it.
        single = whole if len(candidates) == 1 else decide(machine, snapshot, facts, signal.replace(want=edge.name))
        if isinstance(single, Advance):
            break
        missing = single.missing if isinstance(single, (Refuse, Wait)) else ()
        unproven = _to_prove(machine, missing)
        if unproven and all(gap.pending or waits_for_person(machine, gap.gate) for gap in missing):
            return single, unproven
    return whole, ()


def _to_prove(machine: Machine, missing: Sequence[Missing]) -> tuple[str, ...]:
    """The gates that running something would answer.

    What runs outside the sandbox can't be taken back: it is run for the gate itself, and when nothing else is missing.
    """
    inside = tuple(gap.gate for gap in missing if gap.pending and not runs_outside(machine, gap.gate))
    if inside or not all(gap.pending and may_run_outside(machine, gap.gate) for gap in missing):
        return inside
    return tuple(gap.gate for gap in missing)


def _was_completed_by_recovery(before: Memory, now: Memory, signal: Signal) -> bool:
    """Whether the move that is asked for was cut short while it was prepared, and has just been made."""
    is_made = bool(before.intent) and before.snapshot.visits != now.snapshot.visits
    if not is_made or not signal.want:
        return False
    move = move_of(before.intent)
    return signal.want in (move.edge, move.to)


def _asks_first(taken: Advance, signal: Signal, options: Mapping[str, str]) -> bool:
    """Whether the move needs a person's yes that is not given yet."""
    return bool(taken.edge.confirm) and signal.who == "person" and YES not in options


def _unconfirmed(decision: Decision) -> Decision:
    if not isinstance(decision, Advance):
        return decision
    why = say.not_confirmed()
    missing = (Missing("confirm", why, why.next_step),)
    return Refuse(decision.edge.confirm, missing, (), decision.edge)


def _stay(change: Change, facts: dict[str, Fact], signal: Signal, decision: Decision) -> Outcome:
    before = change.memory.snapshot.state
    write_unmoved(change, signal, decision)
    return Outcome(decision, change.task, facts, signal, before, change.notes)


def _move(
    change: Change, seen: Seen, facts: dict[str, Fact], signal: Signal, taken: Advance, options: Mapping[str, str]
) -> Outcome:
    task, before = change.task, change.memory.snapshot.state
    gates = (*taken.way.needs, *standing_gates(task.machine, task.memory.snapshot))
    taken_out = answered(task.machine, change.document) if signal.verb in ("answer", "resume") else TakenOut("", {})
    is_answer = signal.verb in ("answer", "reject") or signal.verb.endswith("{text}") or bool(taken_out.fields)
    line = Moved(
        edge=taken.edge.name,
        way=taken.way.number,
        from_=before,
        to=taken.after.state,
        by=signal.who,
        name=signal.name,
        # An override of what was open waived nothing; what the person said with it is not lost.
        reason=signal.reason or ("" if taken.waived else signal.override),
        verb=signal.verb,
        exit=signal.exit,
        answer=signal.reason if is_answer else "",
        facts={gate.name: _fact_to_json(facts[gate.name]) for gate in task.machine.parts(gates)},
        waived=list(taken.waived),
        override=signal.override if taken.waived else "",
        tree=seen.tree,
        signed=_signed(task, seen, facts, taken) if taken.edge.sign_off else {},
        effects=list(taken.way.effects),
        machine=task.memory.head.digest,
        sandbox=_level(task, taken.way.needs) if seen.tree else "",
        asked=taken_out.question,
        fields=taken_out.fields,
    )
    prepared: Results | None = None
    if taken.way.prepare:
        from detent.runner.step.prepare import prepare  # few moves have something to prepare

        try:
            prepared = prepare(change, taken.way.prepare, line, options)
        except RefusedError as error:
            return _unprepared(change, facts, signal, taken, error)
        line = move_of(change.memory.intent) if change.memory.intent else line
    commit_move(change, evidence_hashes(seen), taken, line, prepared)
    return Outcome(taken, change.task, facts, signal, before, change.notes)


def _signed(task: Task, seen: Seen, facts: Mapping[str, Fact], taken: Advance) -> dict[str, Any]:
    """What a sign-off is bound to besides the tree, and what the person accepted with it although it does not hold."""
    parts = [facts[gate] for gate in taken.way.needs if task.machine.gates[gate].check == ACCEPTS]
    accepted = [why for fact in parts for _, is_open, why in fact.parts if not is_open]
    return {"files": signed_files(seen), **({"accepted": accepted} if accepted else {})}


def _unprepared(change: Change, facts: dict[str, Fact], signal: Signal, taken: Advance, error: RefusedError) -> Outcome:
    """A move that was open and could not be prepared is refused like any other; the engine waits."""
    problem = of_core.move(change.memory.snapshot.state, taken.after.state)
    missing = (Missing("prepare", error.what, error.next_step),)
    refused = Wait(problem, missing) if signal.who == "engine" else Refuse(problem, missing, (), taken.edge)
    return _stay(change, facts, signal, refused)


def _level(task: Task, gates: tuple[str, ...]) -> str:
    """How well the kernel held the commands that these gates rest on; empty where they rest on none."""
    if not needs_commands(task, gates):
        return ""
    from detent.runner.access.access import command_level  # most moves run no command and need not load this

    return command_level(task)


def _fact_to_json(fact: Fact) -> FactSaid:
    content: FactSaid = {"ok": fact.ok}
    if fact.why:
        content["why"] = fact.why
    if fact.proof:
        content["proof"] = fact.proof
    if fact.by_hand:
        content["by_hand"] = fact.by_hand
    if fact.note:
        content["note"] = fact.note
    if not (fact.ok or fact.is_known):
        content["unknown"] = True
    if fact.parts:
        content["parts"] = [list(part) for part in fact.parts]  # as the journal gives them back
    return content
