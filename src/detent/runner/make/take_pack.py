"""A person lets a task go on with the changed code of its machine's pack; one journal line, `configured`.

Everything else refuses such a task, so it works on a task whose agent run lives or died, too. What was judged before
counts as old from here on: other code may see the same files otherwise.
"""

from __future__ import annotations

import json

from detent.errors import MachineError, RefusedError, UnreadableError, UsageError
from detent.gates.judge import evidence_hashes
from detent.machines.parse import parse
from detent.runner.make.vocabulary import vocabulary
from detent.runner.step.changing import changing
from detent.runner.step.disorder import is_collected, read_document
from detent.runner.step.look import look
from detent.runner.task.open import load_task
from detent.runner.task.pack import bring_pack
from detent.store.disk.atomic import read_plain
from detent.store.journal.events import Configured
from detent.store.journal.tasks import TaskStore
from detent.words.runner import packs as say
from detent.words.runner import task as of_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task
    from detent.store.journal.places import Project


def take_pack(project: Project, task_id: str, name: str, reason: str) -> tuple[str, str]:
    """The digest the task was pinned to and the one it is pinned to now; nothing is written where they are the same."""
    head = TaskStore(project.task(task_id)).load().head
    was = head.pack
    if not was:
        raise RefusedError(say.no_pack(head.machine, task_id))
    pack = bring_pack(project, head.machine)
    if pack is None:
        raise UsageError(say.unknown_pack(head.machine))
    if pack.digest == was:
        return was, was
    if not reason.strip():
        raise UsageError(say.reason_missing(task_id))
    with changing(load_task(project, task_id, pack=pack.digest), settles=False) as change:
        task = change.task
        was = task.memory.head.pack
        if pack.digest == was:
            return was, was  # another process has just done this
        _refuse_unfit(task, pack.name)
        found = task.memory.snapshot.entry
        if not is_collected(task):
            found = evidence_hashes(look(task, task.memory, read_document(task), ""))
        line = Configured(
            by="person",
            name=name,
            reason=reason,
            mode="",
            limits={},
            budget={},
            agents={},
            commands=[],
            fields={},
            locked={},
            pack=pack.digest,
            entry=found,
        )
        change.write(line)
    return was, pack.digest


def _refuse_unfit(task: Task, pack: str) -> None:
    """The machine stays as it was pinned: all it names must still be there."""
    head = task.memory.head
    path = task.project.machine_path(head.digest)
    try:
        document = json.loads(read_plain(path) or b"")
    except ValueError as error:
        raise UnreadableError(of_task.machine_damaged(), where=path) from error
    try:
        parse(document, vocabulary(pack), limits=head.limits, options=tuple(head.options))
    except MachineError as error:
        raise RefusedError(say.does_not_fit(pack, error.problems)) from error
