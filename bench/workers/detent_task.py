"""A real task on the machine of `bench/machine.toml`, for workers that drive the installed engine in process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from detent.core.values import Signal
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.step.step import step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task

MACHINE = Path(__file__).resolve().parent.parent / "machine.toml"
STATE = """Phase: working
Last updated:

# Task

Objective: make the parser accept trailing commas
Done gate: the parser's tests pass and the guide shows one example

Current result: the grammar is changed; the guide is not
Next step: write the example
Validator status: pending
"""
EVIDENCE = """# Evidence

## Handoff

- parser changed in one place
- tests added for lists and calls
- Round: {round}

## Review

Nobody has looked yet.
"""


def make_repository(path: Path) -> Path:
    """A git repository with one commit and a user of its own."""
    path.mkdir(parents=True)
    (path / "README.md").write_text("# Sample\n\nA project to measure on.\n", encoding="utf-8")
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.invalid")
    for arguments in (("init", "--quiet"), ("add", "--all"), (*identity, "commit", "--quiet", "--message=Start")):
        subprocess.run(["git", *arguments], cwd=path, check=True)
    return path


class Bouncing:
    """A task that goes to and fro; `renew` brings the fresh proof each move needs and is not part of the move."""

    def __init__(self, repository: Path, task_id: str = "bench") -> None:
        os.environ.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null")
        self.task: Task = create(
            NewTask(machine=str(MACHINE), title="measure", task_id=task_id, repo=str(repository), in_place=True)
        )
        self.folder = Path(self.task.native.folder)
        (self.folder / "STATE.md").write_text(STATE, encoding="utf-8")
        self.round = 0
        self.renew()

    def renew(self) -> None:
        self.round += 1
        (self.folder / "EVIDENCE.md").write_text(EVIDENCE.format(round=self.round), encoding="utf-8")

    def move(self) -> None:
        target = "reviewing" if self.task.memory.snapshot.state == "working" else "working"
        outcome = step(self.task, Signal("agent", target, name="bench"))
        self.task = outcome.task
        if self.task.memory.snapshot.state != target:
            raise RuntimeError(f"the move to {target} was not made: {outcome.decision}")
