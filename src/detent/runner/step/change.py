"""A task that is being changed: its present memory, and the one way to write a line about it; under its lock.

1. compose  the next line; where it reaches the native file, the text that this leads to goes into the line
2. append   the line, synced: only now it happened
3. project  it as far as it reaches into the task folder: locked texts, native file and native log; the log; nothing
4. keep     the cache; a person's line wakes the supervisor, which would else see it at its next scan
5. beside   bring up what the machine keeps beside its tasks, unless the folder is left alone
"""

from __future__ import annotations

from detent.runner.step.locks import locked_texts, put_back_others
from detent.runner.task.bell import ring
from detent.store.journal.aftermath import carried
from detent.store.journal.line import FILE, JOURNAL, carrying
from detent.store.journal.tasks import last_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.values import Snapshot
    from detent.runner.task.open import Task
    from detent.store.journal.head import Head
    from detent.store.journal.line import Line
    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document, LinesBehind


class Change:
    """What a task is while it is changed; it always has the memory after the last line."""

    document: Document  # the native file, once it was read: by settling, else at its first use

    def __init__(self, task: Task) -> None:
        self.task = task
        self.request = ""  # the state the file asks for
        self.notes: tuple[str, ...] = ()  # restored texts, in words
        self.is_over = False

    @property
    def memory(self) -> Memory:
        return self.task.memory

    def write(
        self,
        line: Line,
        *,
        after: Snapshot | None = None,
        restore: tuple[str, ...] = (),
        request: str = "",
        reach: str = "",
    ) -> None:
        """Commit one line and project it. Everything the engine writes about a task is here.

        `restore` names locked items whose texts are written again, `request` the state that the file goes on asking
        for, `reach` how far the line reaches where that is not said by its kind.
        """
        from detent.store.journal.fold import compose, memory_after  # a step that is refused writes no line

        if self.is_over:
            raise RuntimeError("the lock of this task was given back: nothing is written any more")
        task, memory, reach = self.task, self.memory, reach or type(line).reach
        line = compose(memory, line, after)
        foretold = memory_after(memory, line)
        if reach == FILE:
            texts = locked_texts(task, memory, after or memory.snapshot, restore)
            if task.machine.store.tells or task.machine.store.link:
                from detent.runner.step.tells import tell_rest  # few machines tell in the file how a task rests

                completed = tell_rest(task, foretold, self.document, line)
                line, foretold = completed, foretold if completed is line else memory_after(memory, completed)
            text = task.native.draft(self.document, foretold, texts, request)
            if not request:  # a text that a line carries asks for nothing
                line = carrying(line, carried(self.document.text, text))
        memory = task.store.append(memory, line, foretold)
        self.task = task.replace(memory=memory)
        if reach == FILE:
            put_back_others(task, texts)
            # Agents' and people's words lie in this file: it must survive a power cut, by itself or by the line.
            is_durable = not memory.native
            self.document = task.native.write(self.document, memory, text, self._lines(line), durable=is_durable)
        elif reach != JOURNAL:
            self.bring_log_up(line)
        task.store.save_cache(memory)
        if line.by == "person":
            ring(task.project)
        if reach != JOURNAL:
            self.project_beside()

    def begin(self, head: Head, snapshot: Snapshot) -> None:
        """Commit the first line of a task, and bring its folder up to it."""
        self.task = self.task.replace(memory=self.task.store.commit(None, head, snapshot))
        self.bring_up()

    def bring_up(self, restore: tuple[str, ...] = ()) -> None:
        """Bring the folder up to the last line, which is there already."""
        task, memory = self.task, self.memory
        texts = locked_texts(task, memory, memory.snapshot, restore)
        put_back_others(task, texts)
        self.document = task.native.project(self.document, memory, texts, self._lines())
        task.store.save_cache(memory)

    def bring_log_up(self, last: Line | None = None) -> None:
        """Bring the native log alone up to the last line; the document is left to be judged as it stands."""
        self.task.native.catch_up(self.memory, self._lines(last))

    def project_beside(self) -> None:
        """Bring up to the journal what the machine keeps beside its tasks, as run records or a conversation."""
        from detent.runner.step.registry import projecting  # a step that is refused writes nothing

        for project in projecting(self.task):
            project(self.task, self.memory)

    def _lines(self, last: Line | None = None) -> LinesBehind:
        """The lines for the native log: usually it lacks the last one only; after a crash the journal shows which."""
        store, memory = self.task.store, self.memory

        def behind(logged: int) -> list[Line]:
            if logged >= memory.snapshot.seq:
                return []
            if logged == memory.snapshot.seq - 1:
                return [last or last_line(memory)]
            return [line for line in store.history() if line.seq > logged]

        return behind
