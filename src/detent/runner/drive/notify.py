"""Tells a person that a task needs them: the terminal's bell, and a command of their own."""

from __future__ import annotations

import os
import sys

from detent.words.runner import drive as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.drive.drive import Rest
    from detent.store.journal.memory import Memory

HOOK_TIMEOUT_S = 30
_QUIET = ("running", "refused", "failed")


def notify(rest: Rest, *, with_bell: bool = True) -> str:
    """Ring the bell and run the project's hook; what went wrong with the hook, in words.

    A hook that fails changes nothing about the task: its failure is only reported.
    """
    wanted = rest.task.memory.head.notify
    if rest.why in _QUIET:
        return ""
    if with_bell and wants_bell(rest.task.memory) and sys.stderr.isatty():
        sys.stderr.write("\a")
        sys.stderr.flush()
    command = wanted.get("command", "")
    return _hook(rest, command) if command else ""


def wants_bell(memory: Memory) -> bool:
    return bool(memory.head.notify.get("bell", True))


def _hook(rest: Rest, command: str) -> str:
    from detent.effects.host.process import run

    task = rest.task
    variables = {
        "DETENT_TASK": task.id,
        "DETENT_STATE": task.memory.snapshot.state,
        "DETENT_REST": rest.why,
        "DETENT_WHY": rest.text,
        "DETENT_TITLE": str(task.memory.head.title),
    }
    finished = run(
        ("/bin/sh", "-c", command), cwd=task.project.root, env={**os.environ, **variables}, timeout_s=HOOK_TIMEOUT_S
    )
    if finished.exit == 0:
        return ""
    return say.notify_ended(finished.exit, command)
