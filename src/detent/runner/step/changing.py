"""The one door through which a task is changed: `with changing(task) as change:`.

1. the project's lock, where the caller must be alone in the project
2. the task's lock; then what the journal says now
3. settle, unless the caller takes the task as it stands; refused while an agent run lives
   a. finish the projection of the last journal line, if a crash cut it short
   b. restore the texts that only the engine may write: owned fields, locked fields, the state line of old bytes
   c. report the state the file asks for, if it asks; the caller judges that
   d. finish or give up a move whose preparation a crash cut short
   e. keep open promises, and the anchor of a sign-off before and after them
   f. update the files that belong to the machine alone, and those that it keeps beside its tasks
4. the caller's lines, each written by `change.write` (change.py)
5. the locks are given back; `change.task` has the memory after the last line
"""

from __future__ import annotations

from detent.errors import RefusedError, UnreadableError
from detent.machines.brought import BROUGHT, DONE_WITHOUT
from detent.runner.step.change import Change
from detent.runner.step.disorder import disorder_words, find_disorder, read_document
from detent.runner.step.locks import kept_words
from detent.runner.step.promises import keep_promises
from detent.runner.step.registry import hooks_of
from detent.store.disk.atomic import sweep
from detent.store.disk.lock import Lock
from detent.words.runner import step as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from detent.runner.task.open import Task
    from detent.store.journal.line import Line
    from detent.store.journal.memory import Memory


def changing(task: Task, *, settles: bool = True, alone: Callable[[Task], bool] | None = None) -> Changing:
    """Open a task for writing.

    Without `settles` it is taken as it stands, also while an agent run lives; `change.settle()` may follow. `alone`
    says of a task whether no other task of the project may change meanwhile.
    """
    return Changing(task, settles=settles, alone=alone)


class Changing(Change):
    """A change with the locks that make it one."""

    def __init__(self, task: Task, *, settles: bool, alone: Callable[[Task], bool] | None) -> None:
        super().__init__(task)
        self._settles, self._alone = settles, alone
        self._locks: list[Lock] = []

    def __enter__(self) -> Changing:
        try:
            self._open()
        except BaseException:
            self._give_back()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.is_over = True
        self._give_back()

    def _open(self) -> None:
        if is_alone := self._alone is not None and self._alone(self.task):
            self._hold(self.task.project.lock_path())
        self._hold(self.task.places.lock())
        was = self.memory.snapshot.state
        self.task.native.look_again()
        if self.memory.size:  # else its first line is still to be written
            self.task = self.task.now()
        if self._settles:
            self.settle()
        is_elsewhere = self.memory.snapshot.state != was
        if is_elsewhere and not is_alone and self._alone is not None and self._alone(self.task):
            self._give_back()
            self._open()  # the locks are always taken in this order

    def _hold(self, path: str) -> None:
        lock = Lock(path)
        lock.__enter__()
        self._locks.append(lock)

    def _give_back(self) -> None:
        while self._locks:
            self._locks.pop().__exit__(None, None, None)

    def settle(self) -> None:
        """Bring the task in order before anything is asked of it."""
        settle(self)
        _refuse_other_code(self.memory)
        if self.memory.intent:
            from detent.runner.step.prepare import settle_intent  # only a crash leaves one open

            settle_intent(self)
        needs_anchor = _is_sign_off_open(self.memory)
        keep_promises(self)
        if needs_anchor:
            from detent.runner.step.anchor import anchor  # only after a sign-off, where a crash may have prevented it

            anchor(self.task)
        for put_right in settling(self.task):
            put_right(self)
        self.project_beside()  # what a crash kept from being written there


def settling(task: Task) -> Iterator[Callable[[Change], None]]:
    """Bring what belongs to the machine in order before anything else is written; no run lives."""
    return hooks_of(task, "settles")


def settle(change: Change) -> None:
    """Bring the native file in order, and find out what it asks for."""
    task = change.task
    memory, native = task.memory, task.native
    refuse_while_running(task)
    if not native.is_swept:  # leftovers can only come from earlier processes, so sweep once
        for folder in (task.places.folder, task.places.objects()):
            sweep(folder)
        sweep(native.folder, native.file)
        native.is_swept = True
    change.document = document = read_document(task)
    change.request = ""
    disorder = find_disorder(task, memory, document)
    if document.found:
        why = say.older_than_journal(native.file)
        change.write(restored(native.file, why, task.store.keep(document.found)))
        change.notes += (why,)
        return
    is_unlogged = bool(native.log_path()) and native.logged_seq() < memory.snapshot.seq
    if (disorder.unfinished or is_unlogged) and disorder.locked:  # it may have been edited since the crash
        task.store.keep(document.text.encode("utf-8"))
    if disorder.unfinished:
        change.bring_up(disorder.locked)
        return
    if is_unlogged:
        change.bring_log_up()
    change.request = disorder.request
    if notes := disorder_words(task, memory.snapshot, disorder):
        kept = task.store.keep(document.text.encode("utf-8"))
        notes += kept_words(task, memory.snapshot, disorder.locked, kept)
        line = restored(native.file, "; ".join(notes), kept)
        change.write(line, restore=disorder.locked, request=disorder.request)
        change.notes += notes


def restored(file: str, why: str, kept: str) -> Line:
    from detent.store.journal.events import Restored  # few commands find something to restore

    return Restored(file=file, why=why, kept=kept)


def refuse_while_running(task: Task) -> None:
    if run := task.memory.run:
        raise RefusedError(say.run_works_on_task(run.run, task.id))


def _refuse_other_code(memory: Memory) -> None:
    """A person may have taken other code for the task since this process read its pack."""
    if memory.head.machine in DONE_WITHOUT:
        return
    pack, pinned = BROUGHT.get(memory.head.machine), memory.head.pack
    if pinned and (pack is None or pack.digest != pinned):
        raise UnreadableError(say.pack_changed(memory.head.machine), where=pack.folder if pack else "")


def _is_sign_off_open(memory: Memory) -> bool:
    """Whether the journal ends with a sign-off, or with one whose promised effects are not all done."""
    last = max((shown.seq for shown in memory.signed.values()), default=0)
    return last == memory.snapshot.seq or any(key.partition(":")[0] == str(last) for key in memory.unsettled)
