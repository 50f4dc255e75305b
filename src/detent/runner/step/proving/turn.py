"""One test command of a project at a time: two that ran together could meet at a port, a database or a file.

The turn is the innermost lock: nothing else is waited for while a process has it, so it can't be part of a deadlock.
The kernel frees it when its holder dies. `[proof] parallel = true` lets commands overlap.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from time import monotonic

from detent.runner.step.proving.progress import WAITS, Progress
from detent.store.disk.atomic import read_plain
from detent.store.disk.lock import Lock
from detent.words import assessed as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.runner.step.proving.progress import Tells
    from detent.runner.task.open import Task

FILE = "proving.lock"  # in the control folder of the project; its content names the task that has or had the turn
LONGEST_WAIT_S = 12 * 3600.0  # many tasks may be before this one, each with a suite of hours
_LONGEST_NAME_BYTES = 1000


@contextmanager
def turn(task: Task, progress: Tells) -> Iterator[float]:
    """Hold the project's turn for one command; yields the seconds that were waited for it."""
    if task.memory.head.proof.get("parallel", False):
        yield 0.0
        return
    path = os.path.join(task.project.control, FILE)
    since = monotonic()
    with Lock(path, LONGEST_WAIT_S, lambda: progress(Progress(WAITS, say.other_proof_runs(_holder(path))))) as held:
        held.write(task.id)
        yield monotonic() - since


@contextmanager
def alone_at(path: str, progress: Tells) -> Iterator[None]:
    """Wait until no other process has the lock of a baseline's result."""
    with Lock(path, LONGEST_WAIT_S, lambda: progress(Progress(WAITS, say.other_tries_baseline()))):
        yield


def _holder(path: str) -> str:
    """The task that has the turn, for people's eyes only."""
    return (read_plain(path, _LONGEST_NAME_BYTES) or b"").decode(errors="replace")
