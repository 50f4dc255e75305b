"""Brings a task into order before anybody asks anything of it; the task's lock is held, and no agent run lives.

1. Finish the projection of the last journal line, if a crash cut it short.
2. Put back what only the engine may write: owned fields, locked fields, the state line of old bytes.
3. Report the state the file asks for, if it asks; somebody else judges that.
"""

from __future__ import annotations

from detent.errors import RefusedError
from detent.runner.step.disorder import Settled, disorder_words, find_disorder, read_document
from detent.runner.step.locks import kept_words, locked_texts, put_back_others
from detent.runner.task.bell import ring
from detent.store.disk.atomic import sweep
from detent.store.journal.aftermath import carried
from detent.store.journal.line import carrying, telling
from detent.store.journal.tasks import last_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.values import Snapshot
    from detent.runner.task.open import Task
    from detent.store.journal.line import Line
    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document, LinesBehind


def settle(task: Task) -> Settled:
    memory = task.store.load()
    refuse_while_running(task, memory)
    if not task.native.is_swept:  # leftovers can only come from earlier processes, so sweep once
        for folder in (task.places.folder, task.places.objects()):
            sweep(folder)
        sweep(task.native.folder, task.native.file)
        task.native.is_swept = True
    task.native.look_again()
    document = read_document(task, memory)
    disorder = find_disorder(task, memory, document)
    if document.found:
        why = (
            f"{task.native.file} was older than the journal after the computer had stopped; the newer text was put back"
        )
        line = restored(task.native.file, why, task.store.keep(document.found))
        memory, document = remember(task, memory, document, line)
        return Settled(memory, document, notes=(why,))
    is_unlogged = bool(task.native.log_path()) and task.native.logged_seq() < memory.snapshot.seq
    if disorder.unfinished or is_unlogged:
        if disorder.locked:  # somebody may have edited it since the crash
            task.store.keep(document.text.encode("utf-8"))
        if disorder.unfinished:
            return Settled(memory, _bring_up(task, memory, document, disorder.locked))
        # The log alone is behind: its lines are written, the document is left to be judged as it stands.
        task.native.catch_up(memory, lines_of(task, memory))
    notes = disorder_words(task, memory.snapshot, disorder)
    if notes:
        kept = task.store.keep(document.text.encode("utf-8"))
        notes += kept_words(task, memory.snapshot, disorder.locked, kept)
        line, request = restored(task.native.file, "; ".join(notes), kept), disorder.request
        memory, document = remember(task, memory, document, line, restore=disorder.locked)
        return Settled(memory, document, request, notes)
    return Settled(memory, document, disorder.request)


def restored(file: str, why: str, kept: str) -> Line:
    from detent.store.journal.events import Restored  # few commands find something to restore

    return Restored(file=file, why=why, kept=kept)


def refuse_while_running(task: Task, memory: Memory) -> None:
    if memory.run:
        raise RefusedError(
            f"agent run #{memory.run['run']} works on this task; nothing else changes it meanwhile",
            next_step=f"wait for it (detent logs -f {task.id}), or end it: detent stop {task.id}",
        )


def remember(
    task: Task,
    memory: Memory,
    document: Document,
    line: Line,
    *,
    after: Snapshot | None = None,
    restore: tuple[str, ...] = (),
    request: str = "",
) -> tuple[Memory, Document]:
    """Commit one line, then bring file, log and cache up to it. Everything the engine writes about a task is here.

    The state that the file asks for is gone then, but for a `request` that is still to be judged.
    """
    from detent.store.journal.fold import compose, memory_after  # readers write no line

    texts = locked_texts(task, memory, after or memory.snapshot, restore)
    line = compose(memory, line, after)
    foretold = memory_after(memory, line)
    if task.machine.store.get("tells"):
        from detent.runner.step.tells import told_fields  # few machines tell in the file how a task rests

        told = told_fields(task.replace(memory=memory), foretold, document)
        if told and isinstance(line.fields, dict):
            line = telling(line, {**told, **line.fields})
            foretold = memory_after(memory, line)
    text = task.native.draft(document, foretold, texts, request)
    if not request:  # a text that a line carries asks for nothing
        line = carrying(line, carried(document.text, text))
    memory = task.store.append(memory, line, foretold)
    put_back_others(task, texts)
    # Agents' and people's words lie in this file: it must survive a power cut, by itself or by the line.
    document = task.native.write(document, memory, text, lines_of(task, memory, line), durable=not memory.native)
    _keep(task, memory, line)
    project_beside(task, memory)
    return memory, document


def note(task: Task, memory: Memory, line: Line) -> Memory:
    """Commit one line that changes nothing in the document, which may hold a request that is still to be judged."""
    memory = task.store.commit(memory, line)
    task.native.catch_up(memory, lines_of(task, memory))
    _keep(task, memory, line)
    project_beside(task, memory)
    return memory


def project_beside(task: Task, memory: Memory) -> None:
    """Bring up to the journal what the machine keeps beside its tasks, as run records or a conversation."""
    from detent.runner.step.registry import projecting  # who only looks writes nothing

    for project in projecting(task):
        project(task, memory)


def record(task: Task, memory: Memory, line: Line) -> Memory:
    """Commit one line and leave the native folder alone: an agent run lives in it or is about to."""
    memory = task.store.commit(memory, line)
    _keep(task, memory, line)
    return memory


def _keep(task: Task, memory: Memory, line: Line) -> None:
    """Save the cache; what a person did is told to the supervisor, who would else see it at its next look."""
    task.store.save_cache(memory)
    if line.by == "person":
        ring(task.project)


def _bring_up(task: Task, memory: Memory, document: Document, restore: tuple[str, ...]) -> Document:
    texts = locked_texts(task, memory, memory.snapshot, restore)
    put_back_others(task, texts)
    document = task.native.project(document, memory, texts, lines_of(task, memory))
    task.store.save_cache(memory)
    return document


def lines_of(task: Task, memory: Memory, last: Line | None = None) -> LinesBehind:
    """What the native log is told: usually it lacks the `last` line only; after a crash the journal tells which."""

    def behind(logged: int) -> list[Line]:
        if logged >= memory.snapshot.seq:
            return []
        if logged == memory.snapshot.seq - 1:
            return [last or last_line(memory)]
        return [line for line in task.store.history() if line.seq > logged]

    return behind
