"""A phase task whose work is a small Python package with pytest, for tests of what a green test command proves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import Completed, Detent, MakeRepo, let_out
from tests.e2e.graded_work import FILES, Work
from tests.e2e.phase_task import FRAME, PhaseTask


class Graded(PhaseTask):
    """A task whose last assessment can be asked for."""

    def proof(self) -> dict[str, Any]:
        """The assessment of the tree as it is."""
        found: dict[str, Any] = json.loads(self.receipt("full proof")["output"])
        return found

    def receipt(self, command: str) -> dict[str, Any]:
        """The one receipt of a command."""
        receipts = (json.loads(path.read_text()) for path in (self.control / "receipts").glob("*.json"))
        found: list[dict[str, Any]] = [one for one in receipts if one.get("command") == command]
        assert len(found) == 1
        return found[0]

    def part(self, name: str) -> dict[str, Any]:
        """One part of the proof of its only command, as JSON tells it."""
        command = self.json("status", self.id)["proof"]["commands"][0]
        found: dict[str, Any] = {part["name"]: part for part in command["parts"]}[name]
        return found


def new_task(detent: Detent, top: Path, folder: Path, task_id: str, command: str, *more: str) -> Graded:
    """A task in `implement` in its repository."""
    task = Graded(detent, top, folder, task_id)
    words = ("new", "no words are none", "--in-place", "--id", task_id, "--check", command, "--dir", folder)
    assert (new := detent(*words, *more, cwd=top)).code == 0, new
    task.set(FRAME)
    task.move("shape")
    task.move("implement")
    return task


def lay(top: Path, work: Work) -> None:
    for name, text in work.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8")


def to_review(task: Graded, work: Work) -> Completed:
    """Do the work and ask for the review, which runs the command; how that answered."""
    lay(task.repo, work)
    task.candidate()
    task.move("verify")
    done = task.move("review", expect=None)
    if done.code == 0:
        task.review()
    return done


class Counted:
    """A repository whose test command counts its own runs in a file outside, which no sandbox keeps it from."""

    def __init__(self, make: MakeRepo, folder: Path, files: dict[str, str]) -> None:
        self.counter = folder / "runs"
        bump = BUMP.replace("COUNTER", repr(str(self.counter)))
        self.top = make("repo", {**FILES, "conftest.py": bump, **files})
        let_out(self.top)

    def runs(self) -> int:
        return self.counter.stat().st_size


BUMP = """import os

with open(COUNTER, "a", encoding="ascii") as file:
    file.write(".")
os.environ["RUN"] = str(os.stat(COUNTER).st_size)
"""
