"""What only people do besides moving: answer, resume, change what is locked."""

from __future__ import annotations

from detent.core.decide import allowed_targets
from detent.core.machine import CRASHES, IDLE, RUNS, STOPPED
from detent.core.values import Refuse, Signal, Wait
from detent.errors import RefusedError, UsageError
from detent.gates.judge import evidence_hashes
from detent.runner.step.disorder import find_disorder, read_document
from detent.runner.step.locks import changed_locks, closed_items, lock_again, shown_item
from detent.runner.step.look import current_tree, look, refuse_other_tree, touched_now
from detent.runner.step.order import put_in_order
from detent.runner.step.said_no import waits_for_answer
from detent.runner.step.settle import note, refuse_while_running, remember
from detent.runner.step.step import Outcome, step
from detent.runner.task.asks import answered, is_answer_enough
from detent.runner.task.budget import budget_spent, way_on
from detent.store.disk.lock import Lock
from detent.store.journal.events import Amended, Answered, Approved, Resumed
from detent.store.text.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.runner.task.open import Task


def resume(task: Task, name: str, reason: str, given: Mapping[str, str] | None = None) -> Outcome:
    """Leave an end that can be left, or let a stopped task go on."""
    if _has_verb(task, "resume"):
        return step(task, Signal("person", name=name, reason=reason, verb="resume"), given=given)
    stopped = task.memory.snapshot.registers.get(STOPPED, "")
    asked = Signal("person", name=name, reason=reason, verb="resume")
    if not stopped:
        state = task.memory.snapshot.state
        problem = f"{state} is final" if task.machine.states[state].is_end else f"{state} is neither stopped nor an end"
        allowed = allowed_targets(task.machine, task.memory.snapshot)
        return Outcome(Refuse(problem, (), allowed, hint="there is nothing to resume"), task, {}, asked, state)
    if used := budget_spent(task.memory):
        hint = f"give it more first: {way_on(task.id, task.memory)}"
        return Outcome(Refuse(used, hint=hint), task, {}, asked, task.memory.snapshot.state)
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        snapshot = settled.memory.snapshot
        registers = {key: value for key, value in snapshot.registers.items() if key != STOPPED}
        counters = {key: value for key, value in snapshot.counters.items() if key not in (RUNS, CRASHES, IDLE)}
        after = snapshot.replace(registers=registers, counters=counters)  # a no stands until the next run
        taken = answered(task.machine, settled.document)
        line = Resumed(by="person", name=name, reason=reason, answer=reason, asked=taken.asked, fields=taken.fields)
        memory, _ = remember(task, settled.memory, settled.document, line, after=after)
    return Outcome(Wait("the task may go on"), task.replace(memory=memory), {}, asked, snapshot.state, settled.notes)


def answer(task: Task, name: str, text: str) -> Outcome:
    """Record what a person says; where the task waited for it, it goes on."""
    asked = Signal("person", name=name, reason=text, verb="answer")
    if _has_verb(task, "answer"):
        return step(task, asked)
    if is_answer_enough(task.machine, task.memory, task.native) and not _has_verb(task, "resume"):
        return resume(task, name, text).replace(decision=Wait(f"answered; next: detent run {task.id}"))
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        memory, said = settled.memory, settled.memory.answer
        waited = waits_for_answer(task.machine, memory)
        # A command that died after its line was written and is repeated says the same again: it is recorded once.
        is_said = said.get("seq") == memory.snapshot.seq and (said["name"], said["text"]) == (name, text)
        if not is_said:
            taken = answered(task.machine, settled.document)
            line = Answered(by="person", name=name, answer=text, asked=taken.asked, fields=taken.fields)
            memory, _ = remember(task, memory, settled.document, line)
    state = memory.snapshot.state
    told = f"answered; next: detent run {task.id}" if waited else f"noted; {state} did not wait for an answer"
    if memory.snapshot.registers.get(STOPPED):
        told = f"noted; it is stopped: {way_on(task.id, memory)}"
    return Outcome(Wait(told), task.replace(memory=memory), {}, asked, state, settled.notes)


def approve_files(task: Task, name: str, reason: str, shown: str = "") -> tuple[Task, Approved | None]:
    """Write down that a person approves the touched protected files of the tree as it is; what they are.

    `shown` is the beginning of the tree id that person looked at, if they say so. Nothing is written where nothing was
    touched, or where exactly this was approved before.
    """
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        task = task.replace(memory=settled.memory)
        tree = current_tree(task)
        refuse_other_tree(tree, shown)
        files = touched_now(task, tree).ask
        said = task.memory.approved
        if not files or (said.get("tree"), said.get("files")) == (tree, files):
            return task, None
        if not reason.strip():
            raise UsageError(
                f"approving {name_some(files)} needs a reason",
                next_step=f'look at it: detent diff {task.id}; then: detent approve {task.id} --reason "why"',
            )
        line = Approved(by="person", name=name, reason=reason, tree=tree, files=files)
        return task.replace(memory=note(task, settled.memory, line)), line


def _has_verb(task: Task, verb: str) -> bool:
    return any(verb in edge.verbs for edge in task.machine.states[task.memory.snapshot.state].edges)


def amend(task: Task, name: str, reason: str) -> tuple[Task, tuple[str, ...]]:
    """Take what is locked as it stands now; proof gathered before is old from here on."""
    with Lock(task.places.lock()):
        memory = task.store.load()
        refuse_while_running(task, memory)
        document = read_document(task, memory)
        snapshot = memory.snapshot
        if task.machine.states[snapshot.state].is_end:
            raise RefusedError(f"{snapshot.state} is an end: its frame stays as it was", next_step="detent next")
        if not closed_items(task.machine, snapshot):
            raise RefusedError(
                f"nothing is locked in {snapshot.state}", next_step=f"edit {task.native.file}; no command is needed"
            )
        if find_disorder(task, memory, document).unfinished:
            settled = put_in_order(task)
            memory, document = settled.memory, settled.document
        items = changed_locks(task, snapshot, document)
        if not items:
            raise RefusedError(
                "nothing differs from what is locked",
                where=document.path,
                next_step="edit it first, then run: detent amend --reason WHY",
            )
        locked = {**snapshot.locked, **lock_again(task, document, items)}
        entry = evidence_hashes(look(task, memory, document, ""))
        labels = tuple(item.removeprefix("field:") for item in items)
        was = {label: snapshot.locked[item] for label, item in zip(labels, items, strict=True)}
        line = Amended(by="person", name=name, reason=reason, fields=list(labels), was=was)
        after = snapshot.replace(entry=entry, locked=locked)
        memory, _ = remember(task, memory, document, line, after=after)
    return task.replace(memory=memory), tuple(shown_item("", item) for item in items)
