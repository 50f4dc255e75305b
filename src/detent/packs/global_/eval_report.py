"""The effect `eval_report`: what the engine ran on the tree of a move, written where other tools look for it.

It is made of receipts that the journal vouches for. Whatever stood there, an agent's own report too, was a claim.
"""

from __future__ import annotations

from detent.gates.commands import runs_of
from detent.runner.step.disorder import read_document
from detent.runner.step.locks import kept_text
from detent.runner.step.look import look
from detent.store.disk.atomic import as_json
from detent.store.journal.locked_files import put_back_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from detent.gates.commands import Run
    from detent.runner.step.registry import Done
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Promised
    from detent.store.journal.receipts import Receipt

FILE = "eval/eval-report.json"


def write_eval_report(task: Task, _key: str, promised: Promised) -> Done:
    """Write the report of the tree that a move saw; repeating it gives the same bytes."""
    seen = look(task, task.memory, read_document(task), promised.tree)
    ran: dict[str, tuple[Run, Receipt]] = {}
    for gate in task.machine.gates.values():
        for run in runs_of(gate, seen):
            if not run.before and (receipt := seen.receipt(run.key)) is not None:
                ran.setdefault(run.key, (run, receipt))
    content = {
        "status": "completed",
        "ok": bool(ran) and all(receipt.is_green for _, receipt in ran.values()),
        "tree": promised.tree,
        "by": "engine",
        "commands": [_command(run, receipt) for run, receipt in ran.values()],
    }
    digest = task.store.keep(as_json(content, compact=False) + b"\n")
    put_back_files(
        task.native.folder,
        FILE,
        {FILE: digest},
        lambda content_digest: kept_text(task, content_digest),
        task.store.keep,
    )
    return {"report": FILE, "sha256": digest}, {}


def _command(run: Run, receipt: Receipt) -> dict[str, Any]:
    return {
        "name": run.command.name,
        "command": receipt.command,
        "ok": receipt.is_green,
        "exit": receipt.attempts[-1] if receipt.attempts else None,
        "attempts": list(receipt.attempts),
        "problem": receipt.problem,
        "time": receipt.time,
        "output": receipt.said,
    }
