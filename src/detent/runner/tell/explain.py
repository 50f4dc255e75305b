"""The one explain object: the state of a task, the actor it waits for, and why each move is open or not.

Made without a lock, without writing and without starting anything; every face renders it, none asks elsewhere.
"""

from __future__ import annotations

import os

from detent.core.decide import decide, target_of
from detent.core.machine import STOPPED
from detent.core.record import Record
from detent.core.values import Advance, Missing, Refuse, Signal
from detent.errors import UnreadableError
from detent.runner.step.disorder import Disorder, find_disorder, is_collected, read_document
from detent.runner.step.locks import shown_item
from detent.runner.step.unearned import why_unearned
from detent.runner.task.loop import failed_here, loop_of
from detent.runner.task.missing_tree import is_tree_to_come, missing_tree, where_tree_went
from detent.runner.task.open import needs_word, waits_at_end
from detent.runner.task.unready import failed_setup
from detent.runner.tell.advice import advice
from detent.store.disk.atomic import read_plain
from detent.store.journal.memory import TALKED
from detent.store.text.sealed import MOST_FAILED
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.core.machine import Edge, Machine, State
    from detent.core.values import Fact, Snapshot
    from detent.effects.git.tree.touched import Touched
    from detent.runner.task.loop import Loop
    from detent.runner.task.open import Task
    from detent.runner.tell.foresee import Foreseen
    from detent.runner.tell.proof_summary import ProofSummary
    from detent.store.journal.head import Head
    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document
    from detent.store.journal.places import TaskPlaces


PROOF, PROOF_ACCEPTED = "proof", "proof_accepted"  # the checks of what tests prove, and of a person's word about it
_SETTINGS, _POOL = "detent.toml", b"pool"  # read whole only where it may bound the homes of a project


class Move(Record):
    """One edge out of the current state, as a person's request would find it."""

    name: str
    label: str
    to: str
    by: tuple[str, ...]
    is_open: bool
    sign_off: bool
    missing: tuple[Missing, ...]
    verbs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    is_reopen: bool = False
    passed: tuple[str, ...] = ()  # gates of its ways that hold now
    unknown: tuple[str, ...] = ()  # gates of its ways that a reader can't judge


class PersonsWord(Record):
    """What a person must accept, where nothing else keeps a move closed: protected files, or what tests prove."""

    files: tuple[str, ...] = ()
    proof: str = ""  # why what the test commands prove needs a person
    fix: str = ""


class Explain(Record):
    task: Task
    snapshot: Snapshot
    waiting_for: str
    request: str = ""  # a state the native file asks for
    problems: tuple[str, ...] = ()  # what is not in order, in words
    repair: str = ""  # the command that repairs an unreadable file
    moves: tuple[Move, ...] = ()
    alive: bool | None = None  # whether the task's agent run lives; None when there is none or it is unknown
    asks: tuple[tuple[str, str], ...] = ()  # what it asks a person, in the words of its files
    is_dead: bool = False  # the run of this visit is gone, and the task stands where it was
    would: Foreseen | None = None  # what follows from that
    loop: Loop | None = None  # how far its loop of agent runs has come, where it has one
    failed: tuple[tuple[str, bool | None, str], ...] = ()  # what led here, part by part, if a part of it failed
    advice: str = ""  # the verb a person is advised to, where the machine says so and its proof is there
    touched: Touched | None = None  # protected files as of the last scan of the tree
    word: PersonsWord | None = None  # what a person must accept before the task can go on
    is_removed: bool = False  # a person had its home removed
    proof: ProofSummary | None = None  # what the test commands prove of the tree, where a move of the state asks that
    wake: str = ""  # when its agent's quota is back, if every agent that may serve waits for that


def explain(task: Task, *, with_moves: bool) -> Explain:
    """`with_moves` asks every gate; a bare status does not need to."""
    explained = _explain(task, with_moves=with_moves)
    return explained.replace(loop=loop_of(task), failed=failed_here(task), advice=advice(task), wake=_wake(task))


def _wake(task: Task) -> str:
    if task.memory.run or not (task.memory.visit and task.memory.out):
        return ""
    from detent.runner.task.agents import wakes_at  # few tasks wait for a quota

    return wakes_at(task)


def _explain(task: Task, *, with_moves: bool) -> Explain:
    snapshot = task.memory.snapshot
    state = task.machine.states[snapshot.state]
    waiting = waiting_for(task.memory, state)
    alive, gone = life(task.memory, task.places)
    if task.memory.run and not gone:
        # While it works its files are in flux, and are not judged.
        moves = _moves(task, state, None) if with_moves else ()
        waiting = f"agent run #{task.memory.run.run} ({task.memory.run.agent})"
        return Explain(task, snapshot, waiting, moves=moves, alive=alive)
    try:
        document = read_document(task)
    except UnreadableError as error:
        if is_collected(task):
            return Explain(task, snapshot, waiting, is_removed=True)
        from detent.words.runner import tell as say

        problem = say.unread(error.where, error.what)
        unread = Missing(task.native.file, problem, error.next_step)
        moves = (
            tuple(_move(task, edge, {}).replace(is_open=False, missing=(unread,)) for edge in state.edges)
            if with_moves
            else ()
        )
        return Explain(task, snapshot, waiting, problems=(problem,), repair=error.next_step, moves=moves)
    disorder = find_disorder(task, task.memory, document)
    problems = [*_tree_problems(task, state), *_taken_back(task, state)]
    problems += [failed] if not task.memory.run and (failed := failed_setup(task.places)) else []
    problems += _out_of_order(task, document, disorder)
    may_want_word = may_ask(task.memory.head, task.machine, state)
    moves = _moves(task, state, document) if with_moves or may_want_word else ()
    word = _word(task, moves) if may_want_word else None
    needs_proof = state.is_end or _asks_proof(task.machine, state)
    proof = _proof(task, document) if task.memory.head.proof and needs_proof else None
    return Explain(
        task,
        snapshot,
        waits_for_word(word) if word else "a person: to confirm deploy commands" if deploy_word(task) else waiting,
        disorder.request,
        tuple(problems),
        moves=moves if with_moves else (),
        alive=alive,
        asks=_questions(state, document),
        is_dead=is_dead(task.memory, state, is_gone=gone),
        would=_foreseen(task, document) if is_left(task.memory, state, is_gone=gone) else None,
        touched=_touched(task),
        word=word,
        proof=proof,
    )


def _asks_proof(machine: Machine, state: State) -> bool:
    """Whether a move out of this state asks what the test commands prove."""
    needed = machine.parts(gate for edge in state.edges for way in edge.ways for gate in way.needs)
    return any(gate.check in (PROOF, PROOF_ACCEPTED) for gate in needed)


def _proof(task: Task, document: Document) -> ProofSummary | None:
    from detent.runner.tell.proof_summary import proof_summary  # few states ask what tests prove

    return proof_summary(task, document)


def _questions(state: State, document: Document) -> tuple[tuple[str, str], ...]:
    if not state.asks:
        return ()
    from detent.runner.task.asks import questions  # most states ask nothing

    return questions(state, document)


def may_ask(head: Head, machine: Machine, state: State) -> bool:
    """Whether a person may have to approve files before a move out of this state: only then gates need be asked."""
    is_graded = bool(head.proof) and any(gate.check == PROOF_ACCEPTED for gate in machine.gates.values())
    if not (head.protect["ask"] or is_graded):
        return False
    from detent.gates.people import is_word

    return any(is_word(machine, gate) for edge in state.edges for way in edge.ways for gate in way.needs)


def deploy_word(task: Task) -> str:
    """What a person must say before the task deploys; empty for nearly every machine."""
    if task.memory.run or not task.memory.visit:
        return ""
    edges = task.machine.states[task.memory.snapshot.state].edges
    needed = task.machine.parts(gate for edge in edges for way in edge.ways for gate in way.needs)
    from detent.gates.registry import declared  # a bare status never loads the gates
    from detent.machines.packs import load

    outside = next((found for gate in needed if (found := declared(gate.check).outside)), None)
    return str(load(outside.word)(task)) if outside else ""


def runs_outside(machine: Machine) -> bool:
    """Whether a machine has commands run outside the sandbox, after a person's word."""
    from detent.gates.registry import declared

    return any(declared(gate.check).outside for gate in machine.gates.values())


def _touched(task: Task) -> Touched | None:
    protect = task.memory.head.protect
    if not (protect["ask"] or protect["report"]):
        return None
    from detent.effects.git.tree.touched import recall_touched

    return recall_touched(task.places.touched())


def _word(task: Task, moves: tuple[Move, ...]) -> PersonsWord | None:
    from detent.runner.step.look import known_touched, known_tree

    missing = [gap for move in moves if _waits(task.machine, move) for gap in move.missing]
    if not missing:
        return None
    touched = known_touched(task)
    files = tuple(touched.ask) if touched.tree == known_tree(task) else ()
    graded = [gap for gap in missing if _is_graded(task.machine, gap)]
    proof = "; ".join(dict.fromkeys(gap.why for gap in graded))
    if not (files or proof):
        return None
    return PersonsWord(files, proof, "; ".join(dict.fromkeys(gap.fix for gap in graded)))


def _is_graded(machine: Machine, lacks: Missing) -> bool:
    return lacks.gate in machine.gates and machine.gates[lacks.gate].check == PROOF_ACCEPTED


def _waits(machine: Machine, move: Move) -> bool:
    """Whether a move lacks only a person's word.

    What tests prove is found out when every other gate is open: those that a reader can't judge were open then.
    """
    from detent.gates.people import lacks_only_word

    is_assessed = any(_is_graded(machine, gap) for gap in move.missing)
    return lacks_only_word(machine, move.missing, move.unknown if is_assessed else ())


def life(memory: Memory, places: TaskPlaces) -> tuple[bool | None, bool]:
    """Whether the task's agent run lives, and whether one ended without a record; see `Explain`."""
    if not memory.run:
        return None, bool(memory.ended)
    from detent.effects.host.keeper.look import look  # most tasks have no run to look at

    found = look(places.run(memory.run.run)).phase
    return {"alive": True, "ended": False, "lost": False}.get(found), found in ("ended", "lost")


def _foreseen(task: Task, document: Document) -> Foreseen:
    from detent.runner.tell.foresee import foresee  # most tasks have no run that is gone

    return foresee(task, document)


def is_left(memory: Memory, state: State, *, is_gone: bool) -> bool:
    """Whether an agent is gone and the task stands where it worked; `is_gone`: its end is not decided yet."""
    return is_gone or (not memory.run and bool(memory.visit) and not state.is_end)


def is_dead(memory: Memory, state: State, *, is_gone: bool) -> bool:
    """The same without talks, which a person ended as meant: nothing died."""
    return is_left(memory, state, is_gone=is_gone) and (is_gone or memory.visit.how != TALKED)


def is_gone(places: TaskPlaces, memory: Memory) -> bool:
    """Whether a run is over and its end is not decided yet."""
    return life(memory, places)[1]


def waiting_for(memory: Memory, state: State) -> str:
    """The actor that the task waits for, in a few words; empty when there is none."""
    if stopped := memory.snapshot.registers.get(STOPPED):
        return f"a person: stopped ({stopped})"
    if state.is_end:
        return "a person" if waits_at_end(state) else ""
    if memory.sealed_failed >= MOST_FAILED and state.driver == "agent" and not (memory.run or memory.ended):
        return "a person: sealed checks did not pass"
    if needs_word(memory, state) and not (memory.run or memory.ended):
        return "a person: the agent run ended"
    return {"agent": f"the agent ({state.role})", "engine": "the engine"}.get(state.driver, "a person")


def waits_for_word(word: PersonsWord) -> str:
    return f"a person: to approve {name_some(word.files)}" if word.files else "a person: to accept what the tests prove"


def _out_of_order(task: Task, document: Document, disorder: Disorder) -> list[str]:
    """What in the native file the next command that writes puts right, and what it says twice."""
    move = task.memory.intent.move
    repeated = [(label, field.repeated + 1) for label, field in document.fields.items() if field.repeated]
    if not (move or repeated or disorder != Disorder(request=disorder.request)):
        return []
    from detent.words.runner import tell as say  # mostly all is in order

    file, state = task.native.file, task.memory.snapshot.state
    problems: list[str] = [say.cut_short(move["from"], move["to"])] if move else []
    problems += [say.file_behind(file)] if disorder.unfinished else []
    problems += [say.engines_field_changed(file, label) for label in disorder.owned]
    problems += [say.locked_changed(shown_item(file, item), state, task.id) for item in disorder.locked]
    problems += [say.older_copy(file, document.state)] if disorder.old_bytes else []
    problems += [say.state_line_lost(file, task.native.state_label)] if disorder.lost else []
    return [*problems, *(say.field_repeated(file, label, count) for label, count in repeated)]


def _taken_back(task: Task, state: State) -> list[str]:
    """That the deployment was taken back, with the command that deploys the same version again."""
    if not task.memory.deploy.taken_back:
        return []
    from detent.gates.registry import declared
    from detent.runner.task.asks import taken_back

    gates = task.machine.gates
    again = [
        edge.verbs[0]
        for edge in state.edges
        if edge.verbs and any(declared(gates[name].check).lets_again for way in edge.ways for name in way.needs)
    ]
    problem = taken_back(task.memory)
    if not again:
        return [problem]
    from detent.words.runner import tell as say

    return [say.deploy_again(problem, again[0], task.id)]


def _tree_problems(task: Task, state: State) -> list[str]:
    """What is wrong with the folder the task works on: it is gone, or can't be made because every home is in use."""
    if os.path.isdir(task.tree_path):
        return []
    if not is_tree_to_come(task):
        from detent.words.runner import tell as say

        return [say.tree_gone(missing_tree(task), where_tree_went(task))]
    if state.is_end or _POOL not in (read_plain(os.path.join(task.project.root, _SETTINGS)) or b""):
        return []
    from detent.runner.tell.prepared import foreseen  # most projects have no pool, and most tasks their tree

    steps = tuple(name for edge in state.edges for way in edge.ways for name in way.prepare)
    return [gap.why for gap in foreseen(task, steps)]


def _moves(task: Task, state: State, document: Document | None) -> tuple[Move, ...]:
    if document is None:
        from detent.words.runner import tell as say

        works = say.run_works(task.memory.run.run, task.id)
        living = Missing("run", works, works.next_step)
        return tuple(_move(task, edge, {}).replace(is_open=False, missing=(living,)) for edge in state.edges)
    from detent.gates.judge import judge  # a bare status never loads the gates
    from detent.gates.people import BY_NAME
    from detent.runner.step.look import known_tree, look, needs_tree

    gates = [gate for edge in state.edges for way in edge.ways for gate in way.needs]
    is_signed = any(edge.sign_off for edge in state.edges)
    tree = known_tree(task) if is_signed or needs_tree(task, gates) else ""
    # Every listed move comes with the command that names it.
    facts = judge(look(task, task.memory, document, tree, is_reader=True, words=(BY_NAME,)), gates)
    return tuple(_move(task, edge, facts, tree) for edge in state.edges)


def _move(task: Task, edge: Edge, facts: Mapping[str, Fact], tree: str = "") -> Move:
    snapshot = task.memory.snapshot
    decision = decide(task.machine, snapshot, facts, Signal("person", edge.name, reason="asked"))
    missing = decision.missing if isinstance(decision, Refuse) else ()
    if isinstance(decision, Advance) and decision.way.prepare:
        from detent.runner.tell.prepared import foreseen  # few moves have something to prepare

        missing = foreseen(task, decision.way.prepare)
    if isinstance(decision, Advance) and (early := why_unearned(task, decision)):
        missing = (*missing, early)
    if edge.never:
        missing = (Missing("never", edge.never),)
    # A check that only the move itself makes closes nothing; the person learns that it is still to come.
    later = tuple(gap for gap in missing if _is_for_later(task, gap, facts))
    is_open = not missing if isinstance(decision, Advance) else bool(later) and len(later) == len(missing)
    missing = () if is_open else missing
    notes = [*(gap.why for gap in later), *_to_read(task, edge)]
    notes += [facts[gate].note for way in edge.ways for gate in way.needs if gate in facts and facts[gate].note]
    by_hand = _by_hand(edge, facts)
    if by_hand or edge.sign_off:
        from detent.words.runner import tell as say

        notes += [say.by_hand(gate) for gate in by_hand]
        notes += [say.signs_tree(tree)] if edge.sign_off else []
    return Move(
        edge.name,
        edge.label,
        target_of(snapshot, edge),
        who_may(edge, snapshot),
        is_open,
        edge.sign_off,
        missing,
        edge.verbs,
        tuple(dict.fromkeys(notes)),
        edge.reopen,
        tuple(gate for gate in _needs(edge) if gate in facts and facts[gate].ok),
        tuple(gate for gate in _needs(edge) if gate in facts and not (facts[gate].ok or facts[gate].is_known)),
    )


def _is_for_later(task: Task, lacks: Missing, facts: Mapping[str, Fact]) -> bool:
    gate = task.machine.gates.get(lacks.gate)
    is_unknown = lacks.gate in facts and not facts[lacks.gate].is_known
    if not is_unknown or gate is None:
        return False
    from detent.gates.registry import declared

    return declared(gate.check).is_asked_late


def document_to_read(task: Task) -> str:
    """What a person reads before they decide in this state, by its path in the tree; empty where nothing is named."""
    name = task.machine.store.reads.get(task.memory.snapshot.state, "")
    return os.path.relpath(task.native.path(name), task.tree_path) if name else ""


def _to_read(task: Task, edge: Edge) -> tuple[str, ...]:
    document = document_to_read(task) if edge.sign_off else ""
    return (f"read {document}",) if document else ()


def who_may(edge: Edge, snapshot: Snapshot) -> tuple[str, ...]:
    """Every actor that has a way to take this edge in the mode of the task."""
    ways = tuple(way for way in edge.ways if not way.modes or snapshot.mode in way.modes)
    return edge.replace(ways=ways).by()


def _by_hand(edge: Edge, facts: Mapping[str, Fact]) -> tuple[str, ...]:
    return tuple(gate for gate in _needs(edge) if gate in facts and facts[gate].by_hand)


def _needs(edge: Edge) -> tuple[str, ...]:
    return tuple(dict.fromkeys(gate for way in edge.ways for gate in way.needs))
