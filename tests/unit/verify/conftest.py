"""A real task that has been through everything, and a way to restore it after a test has damaged it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from detent.core.record import Record
from detent.core.values import Advance, Refuse, Signal
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.people.people import amend, answer
from detent.runner.step.step import step
from detent.runner.task.open import Task, load_task
from detent.store.disk.digest import sha256_of
from detent.store.journal.places import Project
from detent.store.text.fields import write_fields
from detent.verify.audit import Audit, audit_task

ANSWERS = """- objective matched: yes, by reviewer, artifacts/result.txt
- no fake backend or placeholder shown as real: yes, by reviewer, artifacts/result.txt
- no half-working feature visible: yes, by reviewer, artifacts/result.txt
- docs and artifacts consistent: yes, by reviewer, artifacts/result.txt
- change minimal and sensible: yes, by reviewer, artifacts/result.txt
- proof can be inspected from files: yes, by reviewer, artifacts/result.txt
"""


class Story(Record):
    """One task on disk; every test may change its files, they are put back for the next."""

    base: Path
    project: Project
    task_id: str

    def task(self) -> Task:
        return load_task(self.project, self.task_id)

    @property
    def control(self) -> Path:
        return Path(self.project.task(self.task_id).folder)

    @property
    def journal(self) -> Path:
        return self.control / "journal.jsonl"

    @property
    def native(self) -> Path:
        return self.base / "task"

    def raws(self) -> list[bytes]:
        return self.journal.read_bytes().splitlines()

    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(raw) for raw in self.raws()]

    def line_of(self, kind: str, **fields: object) -> int:
        """The number of the last line of a kind with these fields."""
        return next(
            int(entry["seq"])
            for entry in reversed(self.entries())
            if entry["kind"] == kind and all(entry.get(key) == value for key, value in fields.items())
        )

    def write_raws(self, raws: list[bytes]) -> None:
        self.journal.write_bytes(b"".join(raw + b"\n" for raw in raws))

    def forge(self, number: int, change: Callable[[dict[str, Any]], None], *, witnesses: bool = False) -> None:
        """Rewrite one line with knowledge of the format: chain recomputed, cache gone, log rewritten alike."""
        previous, raws = "0" * 64, []
        for entry in self.entries():
            if entry["seq"] == number:
                change(entry)
            raw = json.dumps({**entry, "prev": previous}, ensure_ascii=False, separators=(",", ":")).encode()
            raws.append(raw)
            previous = sha256_of(raw)
        self.write_raws(raws)
        if not witnesses:
            (self.control / "snapshot.json").unlink()

    def audit(self) -> Audit:
        return audit_task(self.project, self.task_id)


class Worker:
    """Does what an agent and a person would, through the engine."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.folder = Path(task.native.folder)

    def fields(self, **values: str) -> None:
        state = self.folder / "STATE.md"
        labels = self.task.native.labels
        spelled = {label.replace(" ", "_").lower(): label for label in labels}
        text = write_fields(state.read_text(), labels, {spelled[key]: value for key, value in values.items()})
        state.write_text(text)

    def section(self, name: str, body: str) -> None:
        path = self.folder / "EVIDENCE.md"
        before, _, after = path.read_text().partition(f"## {name}\n")
        rest = after.partition("\n## ")[2]
        path.write_text(f"{before}## {name}\n\n{body}\n" + (f"\n## {rest}" if rest else ""))

    def move(self, to: str, who: str = "agent") -> None:
        outcome = step(self.task, Signal(who, to, name="tester"))
        assert isinstance(outcome.decision, Advance), outcome.decision
        self.task = outcome.task

    def refused(self, to: str) -> None:
        outcome = step(self.task, Signal("agent", to, name="tester"))
        assert isinstance(outcome.decision, Refuse), outcome.decision
        self.task = outcome.task


def live_through_everything(task: Task) -> None:
    """Refused, restored, blocked, answered, amended, failed, repaired and done."""
    worker = Worker(task)
    worker.refused("shape")
    worker.fields(objective="add", done_gate="tests pass", not_doing="more", reality_constraints="python only")
    worker.move("shape", "engine")
    shutil.copy(worker.folder / "STATE.md", worker.folder.parent.parent / "early-STATE.md")
    worker.fields(validation_plan="cmd: python3 -m unittest", user_facing="no")
    worker.move("implement")
    worker.fields(objective="something easier")  # locked: the next step puts it back
    worker.fields(blockers="no answer yet")
    worker.move("blocked")
    worker.task = answer(worker.task, "ann", "go on").task
    worker.task = answer(worker.task, "ann", "and take care").task
    worker.fields(done_gate="tests pass twice")
    worker.task, _labels = amend(worker.task, "ann", "it was too little")
    (worker.folder / "artifacts" / "result.txt").write_text("5\n")
    worker.fields(candidate_done="yes", evidence_location="artifacts/result.txt", evidence_link="https://example.org/1")
    worker.move("verify")
    worker.section("Failed checks", "- the second run")
    worker.move("repair")
    worker.section("Repairs", "- ran it twice")
    worker.move("verify")
    worker.move("review", "person")
    worker.section("Gate answers", ANSWERS)
    worker.section("Review", "Verdict: PASS")
    worker.move("done")


@pytest.fixture(scope="session")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Story, Path]]:
    """The story, and a spare copy of everything it wrote."""
    base = tmp_path_factory.mktemp("story") / "base"
    repository = base / "repo"
    repository.mkdir(parents=True)
    (repository / "test_app.py").write_text(
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self): ...\n"
    )
    identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.invalid")
    for words in (
        ("init", "--quiet", "--template="),
        ("add", "--all"),
        (*identity, "commit", "--quiet", "--message=Start"),
    ):
        subprocess.run(["git", *words], cwd=repository, check=True)
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(base / "state")
    try:
        task = create(NewTask("phase", "add numbers", "story", str(repository), str(base / "task"), by="ann"))
        live_through_everything(task)
        spare = base.parent / "spare"
        shutil.copytree(base, spare, symlinks=True)
        yield Story(base, task.project, task.id), spare
    finally:
        if before is None:
            del os.environ["XDG_STATE_HOME"]
        else:
            os.environ["XDG_STATE_HOME"] = before


@pytest.fixture
def story(lived: tuple[Story, Path]) -> Iterator[Story]:
    working, spare = lived
    yield working
    shutil.rmtree(working.base)
    shutil.copytree(spare, working.base, symlinks=True)
