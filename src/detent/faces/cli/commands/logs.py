"""`detent logs`: the output, the prompt or the errors of an agent run; with -f until the run has ended."""

from __future__ import annotations

import os
import sys

from detent.effects.host.keeper.look import look
from detent.effects.host.keeper.process import ERRORS, EVENTS
from detent.effects.host.keeper.watch import Watch
from detent.errors import UsageError
from detent.faces.cli.output import print_json
from detent.faces.words.screen import printable
from detent.runner.task.open import open_task
from detent.store.journal.places import PROMPT
from detent.store.journal.run_events import RunPlanned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.faces.cli.arguments import Arguments
    from detent.runner.task.open import Task

TICK_S = 0.2
CHUNK_BYTES = 1 << 16


def logs(arguments: Arguments) -> int:
    task = open_task(arguments.text("TASK"), arguments.text("--repo"))
    wanted = arguments.number("--run", f"detent logs --run 1 {task.id}")
    number = task.memory.runs if wanted is None else wanted
    if not task.memory.runs:
        raise UsageError(f"{task.id} has had no agent run yet", next_step=f"detent run {task.id}")
    if not 0 < number <= task.memory.runs:
        raise UsageError(
            f"{task.id} has no agent run #{number}; the last one is #{task.memory.runs}",
            next_step=f"detent logs --run {task.memory.runs} {task.id}",
        )
    folder = task.places.run(number)
    name = ERRORS if arguments.has("--errors") else PROMPT if arguments.has("--prompt") else EVENTS
    path = os.path.join(folder, name)
    if arguments.has("--json"):
        print_json({"id": task.id, "run": number, "stands": look(folder).phase, "log": path})
        return 0
    if name != PROMPT and _is_talk(task, number):
        sys.stderr.write(f"note: agent run #{number} is a talk in a terminal; what was said there is not kept\n")
    shown = GrowingText(path)
    _print_new(shown)
    if arguments.has("-f"):
        with Watch([folder]) as watch:
            while watch.wait(TICK_S) is None and look(folder).phase != "unborn":
                _print_new(shown)
        _print_new(shown)
    return 0


def _is_talk(task: Task, number: int) -> bool:
    plans = (line for line in task.store.history() if isinstance(line, RunPlanned))
    return any(plan.run == number and plan.talk for plan in plans)


def _print_new(shown: GrowingText) -> None:
    for text in shown.new_parts():
        sys.stdout.write(text)
    sys.stdout.flush()


class GrowingText:
    """How far a file that may still grow was shown; with `last_bytes` only what stands at its end is."""

    def __init__(self, path: str, last_bytes: int = 0) -> None:
        from codecs import getincrementaldecoder

        self.path = path
        self.position = 0
        self.last_bytes = last_bytes
        self.decoder = getincrementaldecoder("utf-8")("replace")  # a letter may come in two parts

    def new_parts(self) -> Iterator[str]:
        """Lines of an agent are not ours, so a terminal must not obey them."""
        try:
            with open(self.path, "rb") as file:
                if self.last_bytes:
                    self.position = max(self.position, file.seek(0, os.SEEK_END) - self.last_bytes)
                file.seek(self.position)
                while chunk := file.read(CHUNK_BYTES):
                    self.position += len(chunk)
                    yield printable(self.decoder.decode(chunk))
        except FileNotFoundError:
            return
