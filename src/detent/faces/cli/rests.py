"""Tells what happens while a task is driven, and how it came to rest."""

from __future__ import annotations

import sys

from detent.faces.words.run import happened_words
from detent.faces.words.screen import printable
from detent.runner.drive.notify import notify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.drive.drive import Happened, Rest

# What `run` ends with: nothing left to do, the one run was refused or failed, a person must act, or it stopped itself.
EXIT_CODES = {"done": 0, "running": 0, "refused": 1, "failed": 1, "person": 4, "stopped": 6, "quota": 6}


def tell_person(rest: Rest) -> None:
    if problem := notify(rest):
        sys.stderr.write(printable(f"note: {problem}") + "\n")


def tell_nothing(_happened: Happened) -> None:
    pass


def tell_at_once(happened: Happened) -> None:
    stream = sys.stdout if happened.progress is None else sys.stderr  # what goes on is no result
    stream.write(printable(happened_words(happened)) + "\n")
    stream.flush()  # a person may be watching


def rest_json(rest: Rest) -> dict[str, object]:
    task = rest.task
    return {
        "id": task.id,
        "state": task.memory.snapshot.state,
        "rest": rest.why,
        "why": rest.text,
        "said": rest.said,
        "runs": task.memory.runs,
        "usage": dict(task.memory.usage),
    }
