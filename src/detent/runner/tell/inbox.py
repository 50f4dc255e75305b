"""Finds all that waits for a person: why, since when, and the one command that answers it."""

from __future__ import annotations

from detent.core.machine import STOPPED
from detent.core.record import Record
from detent.runner.task.asks import left_open, question, way_on_from_stop, why_here
from detent.runner.task.open import Listed, load_all, load_task, needs_word, waits_at_end
from detent.runner.task.unready import failed_setup
from detent.runner.tell.advice import advice
from detent.runner.tell.explain import deploy_word, document_to_read, explain, may_ask, runs_outside
from detent.runner.tell.title import title_now
from detent.store.journal.native import Native
from detent.store.text.proof_words import EXIT_CODE_ONLY
from detent.store.text.sealed import MOST_FAILED
from detent.words.names import name_some
from detent.words.sealed import not_passed_often

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from detent.core.machine import State
    from detent.runner.task.open import Task
    from detent.runner.tell.explain import Explain, Move, PersonsWord
    from detent.runner.tell.proof_summary import ProofSummary
    from detent.store.journal.memory import Memory
    from detent.store.journal.places import Project


_COMMANDS = ("approve", "commit", "resume")  # verbs that are commands, the most wanted first


class Letter(Record):
    id: str
    state: str
    title: str
    why: str
    since: str
    command: str
    advice: str = ""  # the verb the machine advises to
    proof: ProofSummary | None = None  # what its test commands prove, where a person must accept that


def inbox(project: Project) -> tuple[Letter, ...]:
    """Oldest first; a task that can't be read waits for a person too."""
    letters = [letter for listed in load_all(project) if (letter := letter_of(project, listed))]
    return tuple(sorted(letters, key=lambda letter: (letter.since, letter.id)))


def person_command(task: Task) -> str:
    """The command the inbox would name for this task; where it asks nothing, the list of its moves."""
    letter = letter_of(task.project, Listed(task.id, task.memory, task.machine))
    return letter.command if letter else f"detent next {task.id}"


def word_wanted(project: Project, listed: Listed) -> PersonsWord | None:
    """What a person must accept before a task can go on."""
    explained = _wanting_word(project, listed)
    return explained.word if explained is not None else None


def _wanting_word(project: Project, listed: Listed) -> Explain | None:
    """A task whose next move waits for a person's word; gates are asked only where that can be."""
    if listed.memory is None or listed.machine is None or listed.memory.run:
        return None
    state = listed.machine.states[listed.memory.snapshot.state]
    if not may_ask(listed.memory.head, listed.machine, state):
        return None
    explained = explain(load_task(project, listed.id), with_moves=False)
    return explained if explained.word else None


def _weak_proof(project: Project, listed: Listed) -> ProofSummary | None:
    """What a person who looks at the task must know of its commands: their exit codes alone count."""
    if listed.memory is None or listed.memory.run or not listed.memory.head.proof:
        return None
    proof = explain(load_task(project, listed.id), with_moves=False).proof
    return proof if proof is not None and proof.found.word == EXIT_CODE_ONLY else None


def letter_of(project: Project, listed: Listed) -> Letter | None:
    """What one task asks of a person; None when it asks nothing."""
    if listed.memory is None or listed.machine is None:
        why = listed.error.what if listed.error else "it can't be read"
        return Letter(listed.id, "unreadable", "", why, "", f"detent doctor {listed.id}")
    memory, state = listed.memory, listed.machine.states[listed.memory.snapshot.state]
    explained = _wanting_word(project, listed)
    if explained is not None and explained.word is not None:
        found: tuple[str, str] | None = _to_approve(listed.id, explained.word)
    elif (failed := memory.sealed_failed) >= MOST_FAILED and state.driver == "agent" and not memory.run:
        found = str(not_passed_often(failed, listed.id)), f"detent status {listed.id}"
    else:
        found = _to_deploy(project, listed) or _waits(_Waiting(project, listed.id, memory, state))
    if found is None:
        return None
    why, command = found
    native = Native(listed.machine, memory.head.dir, project.task(listed.id))
    if state.asks and (words := question(state, native)):
        why = f"{why}; {words}"
    advised = advice(load_task(project, listed.id)) if state.recommends else ""
    title = title_now(listed.machine, memory, native)
    is_graded = explained is not None and explained.word is not None and explained.word.proof
    proof = explained.proof if explained is not None and is_graded else _weak_proof(project, listed)
    return Letter(listed.id, state.name, title, why, memory.changed_time, command, advised, proof)


def _to_deploy(project: Project, listed: Listed) -> tuple[str, str] | None:
    if listed.machine is None or not runs_outside(listed.machine):
        return None
    why = deploy_word(load_task(project, listed.id))
    return (why, f'detent approve {listed.id} --reason "why they may run"') if why else None


def _to_approve(name: str, word: PersonsWord) -> tuple[str, str]:
    if not word.files:
        return word.proof, f"detent approve {name} --tests"
    why = f"it touched protected files: {name_some(word.files)}; look at them: detent diff {name}"
    return why, f'detent approve {name} --reason "why they may change"'


class _Waiting(Record):
    """A task that may wait for a person; its gates are asked only where the answer hangs on them."""

    project: Project
    name: str
    memory: Memory
    state: State

    def asks_person(self) -> bool:
        """Whether its last run left a question that no move carries to a person."""
        if not (self.state.asks and self.memory.snapshot.no):
            return False
        from detent.runner.step.said_no import waits_for_answer  # few runs leave one

        task = load_task(self.project, self.name)
        return waits_for_answer(task.machine, self.memory) and bool(question(self.state, task.native))

    def moves(self) -> tuple[Move, ...]:
        return explain(load_task(self.project, self.name), with_moves=True).moves


def _waits(task: _Waiting) -> tuple[str, str] | None:
    name, memory, state = task.name, task.memory, task.state
    if memory.run:
        return None
    if stopped := memory.snapshot.registers.get(STOPPED):
        stopped_task = load_task(task.project, name)
        return f"stopped: {stopped}", way_on_from_stop(stopped_task.machine, memory, stopped_task.native, name)
    if state.is_end:
        return (f"it is {state.name}", _answer(name, _verbs(state))) if waits_at_end(state) else None
    if state.driver == "agent":
        return _after_agent(task)
    return _after_engine(task) if state.driver == "engine" else _persons_turn(task)


def _after_agent(task: _Waiting) -> tuple[str, str] | None:
    name, memory, state = task.name, task.memory, task.state
    if failed := failed_setup(task.project.task(name)):
        return failed, f"detent run {name}"
    if memory.visit and any(edge.sign_off for edge in state.edges) and open_sign_offs(task.moves()):
        return f"its agent run ended; {state.name} waits for your sign-off", _answer(name, _verbs(state))
    if task.asks_person():
        return f"the agent in {state.name} asks you", _answer(name, ["answer"])
    if not needs_word(memory, state):
        return None
    return f"its agent run ended without a move{left_open(memory)}", again_command(name, state)


def _after_engine(task: _Waiting) -> tuple[str, str] | None:
    """Where the engine has a move, the task's driver makes it; else a person learns what is missing."""
    from detent.runner.tell.foresee import engine_lacks  # few tasks rest where the engine should go on

    lacks = engine_lacks(load_task(task.project, task.name))
    if lacks is None:
        return None
    why, command = _persons_turn(task)
    return lacks.why or why, lacks.fix or command


def _persons_turn(task: _Waiting) -> tuple[str, str]:
    name, state, verbs = task.name, task.state, _verbs(task.state)
    why = f"{state.name} waits for a person{why_here(task.memory)}"
    signing = [edge for edge in state.edges if edge.sign_off]
    # A sign-off in the inbox should be open; where one has no gate, nothing need be asked.
    has_gates = bool(signing) and all(way.needs for edge in signing for way in edge.ways)
    if has_gates and not open_sign_offs(task.moves()):
        return why, f"detent next {name}"
    document = document_to_read(load_task(task.project, name)) if signing else ""
    seen = f"read {document}" if document else f"look at what is signed: detent diff {name}"
    look = f"; {seen}" if signing else ""
    return f"{why}{look}", _answer(name, verbs) if verbs else f"detent next {name}"


def open_sign_offs(moves: Iterable[Move]) -> list[Move]:
    """The sign-offs that a person can give now; commands without a run yet are run when it is given."""
    return [move for move in moves if move.sign_off and _is_to_take(move)]


def _is_to_take(move: Move) -> bool:
    return move.is_open or (bool(move.missing) and all(gap.pending for gap in move.missing))


def _verbs(state: State) -> list[str]:
    return [verb for edge in state.edges for verb in edge.verbs]


def again_command(name: str, state: State) -> str:
    """The word that another run in this state waits for."""
    can_answer = any("answer" in edge.verbs for edge in state.edges)
    return _answer(name, ["answer"]) if can_answer else f"detent respawn {name}"


def _answer(name: str, verbs: list[str]) -> str:
    """The one command that answers; where several moves are a person's, their menu."""
    if "answer" in verbs:
        return f'detent answer "what you decide" {name}'
    command = next((verb for verb in _COMMANDS if verb in verbs), "choose")
    return f"detent {command} {name}"
