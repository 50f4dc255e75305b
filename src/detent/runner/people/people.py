"""What only people do besides moving: answer, resume, change what is locked."""

from __future__ import annotations

from detent.core.decide import allowed_targets
from detent.core.machine import CRASHES, IDLE, RUNS, STOPPED
from detent.core.values import Refuse, Signal, Wait
from detent.errors import RefusedError, UsageError
from detent.gates.judge import evidence_hashes
from detent.runner.step.changing import changing, refuse_while_running
from detent.runner.step.disorder import find_disorder, read_document
from detent.runner.step.locks import changed_locks, closed_items, lock_again, shown_item
from detent.runner.step.look import current_tree, look, refuse_other_tree, touched_now
from detent.runner.step.said_no import waits_for_answer
from detent.runner.step.step import Outcome, step
from detent.runner.task.asks import answered, is_answer_enough
from detent.runner.task.budget import budget_spent, way_on
from detent.store.journal.events import Amended, Answered, Approved, Resumed
from detent.words.runner import people as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.runner.task.open import Task


def resume(task: Task, name: str, reason: str, options: Mapping[str, str] | None = None) -> Outcome:
    """Leave an end that can be left, or let a stopped task go on."""
    if _has_verb(task, "resume"):
        return step(task, Signal("person", name=name, reason=reason, verb="resume"), options=options)
    stopped = task.memory.snapshot.registers.get(STOPPED, "")
    signal = Signal("person", name=name, reason=reason, verb="resume")
    if not stopped:
        state = task.memory.snapshot.state
        problem = say.end_is_final(state) if task.machine.states[state].is_end else say.not_stopped(state)
        allowed = allowed_targets(task.machine, task.memory.snapshot)
        return Outcome(Refuse(problem, (), allowed, hint=problem.next_step), task, {}, signal, state)
    if used := budget_spent(task.memory):
        hint = say.give_more_first(way_on(task.id, task.memory))
        return Outcome(Refuse(used, hint=hint), task, {}, signal, task.memory.snapshot.state)
    with changing(task) as change:
        snapshot = change.memory.snapshot
        registers = {key: value for key, value in snapshot.registers.items() if key != STOPPED}
        counters = {key: value for key, value in snapshot.counters.items() if key not in (RUNS, CRASHES, IDLE)}
        after = snapshot.replace(registers=registers, counters=counters)  # a no stands until the next run
        taken = answered(task.machine, change.document)
        line = Resumed(by="person", name=name, reason=reason, answer=reason, asked=taken.question, fields=taken.fields)
        change.write(line, after=after)
    return Outcome(Wait(say.may_go_on()), change.task, {}, signal, snapshot.state, change.notes)


def answer(task: Task, name: str, text: str) -> Outcome:
    """Record what a person says; where the task waited for it, it goes on."""
    signal = Signal("person", name=name, reason=text, verb="answer")
    if _has_verb(task, "answer"):
        return step(task, signal)
    if is_answer_enough(task.machine, task.memory, task.native) and not _has_verb(task, "resume"):
        return resume(task, name, text).replace(decision=Wait(say.was_answered(task.id)))
    with changing(task) as change:
        memory, said = change.memory, change.memory.answer
        waited = waits_for_answer(task.machine, memory)
        # A command that died after its line was written and is repeated says the same again: it is recorded once.
        is_said = said.seq == memory.snapshot.seq and (said.name, said.text) == (name, text)
        if not is_said:
            taken = answered(task.machine, change.document)
            change.write(Answered(by="person", name=name, answer=text, asked=taken.question, fields=taken.fields))
    memory, state = change.memory, change.memory.snapshot.state
    result = say.was_answered(task.id) if waited else say.noted(state)
    if memory.snapshot.registers.get(STOPPED):
        result = say.noted_while_stopped(way_on(task.id, memory))
    return Outcome(Wait(result), change.task, {}, signal, state, change.notes)


def approve_files(task: Task, name: str, reason: str, shown: str = "") -> tuple[Task, Approved | None]:
    """Write down that a person approves the touched protected files of the tree as it is; what they are.

    `shown` is the beginning of the tree id that the person reviewed, if they name it. Nothing is written where nothing
    was touched, or where exactly this was approved before.
    """
    with changing(task) as change:
        task = change.task
        tree = current_tree(task)
        refuse_other_tree(tree, shown)
        files = touched_now(task, tree).ask
        said = task.memory.approved
        if not files or (said.tree, said.files) == (tree, files):
            return task, None
        if not reason.strip():
            raise UsageError(say.approval_needs_reason(files, task.id))
        line = Approved(by="person", name=name, reason=reason, tree=tree, files=files)
        change.write(line)
        return change.task, line


def _has_verb(task: Task, verb: str) -> bool:
    return any(verb in edge.verbs for edge in task.machine.states[task.memory.snapshot.state].edges)


def amend(task: Task, name: str, reason: str) -> tuple[Task, tuple[str, ...]]:
    """Take what is locked as it stands now; proof gathered before is old from here on."""
    with changing(task, settles=False) as change:
        task = change.task
        refuse_while_running(task)
        change.document = read_document(task)
        if find_disorder(task, task.memory, change.document).unfinished:
            change.settle()
        task, document, snapshot = change.task, change.document, change.memory.snapshot
        if task.machine.states[snapshot.state].is_end:
            raise RefusedError(say.frame_of_an_end(snapshot.state))
        if not closed_items(task.machine, snapshot):
            raise RefusedError(say.nothing_locked(snapshot.state, task.native.file))
        items = changed_locks(task, snapshot, document)
        if not items:
            raise RefusedError(say.nothing_differs(), where=document.path)
        locked = {**snapshot.locked, **lock_again(task, document, items)}
        entry = evidence_hashes(look(task, task.memory, document, ""))
        labels = tuple(item.removeprefix("field:") for item in items)
        was = {label: snapshot.locked[item] for label, item in zip(labels, items, strict=True)}
        line = Amended(by="person", name=name, reason=reason, fields=list(labels), was=was)
        after = snapshot.replace(entry=entry, locked=locked)
        change.write(line, after=after)
    return change.task, tuple(shown_item("", item) for item in items)
