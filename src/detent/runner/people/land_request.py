"""Asks for the work to be taken over elsewhere: pushes the task's branch and runs the project's own command for it."""

from __future__ import annotations

import os
import re
import shlex

from detent.core.record import Record
from detent.effects.git.merge import push_branch, run_as_person
from detent.runner.people.land import Landed, checkpoint_to_land, record_landing
from detent.runner.step.step import tidy
from detent.runner.tell.changes import stat_of
from detent.store.disk.atomic import write_atomic
from detent.store.journal.receipts import ReceiptStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task

DEFAULT_REQUEST = "gh pr create --head {branch} --title {title} --body-file {summary}"
_FILLED_IN = re.compile(r"\{(branch|title|summary)\}")


class Pushed(Record):
    branch: str
    summary: str  # the file with the words
    said: str  # what the command said


def ask_elsewhere(task: Task, name: str) -> Pushed:
    task, _ = tidy(task)
    work = checkpoint_to_land(task)
    branch = str(task.memory.checkpoint.branch)
    summary = os.path.join(task.places.folder, "summary.md")
    write_atomic(summary, _summary(task, work).encode("utf-8", "backslashreplace"), durable=False)
    values = {"branch": branch, "title": task.memory.head.title, "summary": summary}
    command = _FILLED_IN.sub(
        lambda found: shlex.quote(values[found[1]]), task.memory.head.land["pr"] or DEFAULT_REQUEST
    )
    push_branch(task.project.root, branch)
    said = run_as_person(command, task.project.root)
    record_landing(task, name, Landed("pr", work, branch))
    return Pushed(branch, summary, said)


def _summary(task: Task, work: str) -> str:
    """What a reviewer elsewhere sees first: what was asked, what proves it, what changed."""
    head = task.memory.head
    store = ReceiptStore(task.places.receipts())
    receipts = [store.find(key) for key in task.memory.proved]
    proof = dict.fromkeys(
        f"- `{receipt.command}` passed" for receipt in receipts if receipt is not None and receipt.is_green
    )
    stat = stat_of(task, work)
    parts = [
        f"# {head.title}",
        f"Task `{task.id}` of machine {head.machine}, in state {task.memory.snapshot.state}.",
        "## Proof\n\n" + ("\n".join(proof) or "No command was run."),
        f"## Changes\n\n```\n{stat.rstrip()}\n```",
    ]
    return "\n\n".join(parts) + "\n"
