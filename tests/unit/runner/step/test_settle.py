"""Tests of settling: what only the engine writes is put back once, what is asked for stays to be judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.errors import RefusedError
from detent.runner.make.begin import Wish
from detent.runner.make.create import create
from detent.runner.step.settle import settle
from detent.runner.task.open import Task
from detent.store.journal.events import Restored
from tests.unit.runner.conftest import AgentTask, begin


@pytest.fixture
def task(tmp_path: Path) -> Task:
    folder = tmp_path / "project"
    folder.mkdir()
    return create(Wish("phase", "count", "t", str(folder), str(folder / "task"), by="me"))


def edit(task: Task, old: str, new: str) -> str:
    path = Path(task.native.path())
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path.read_text(encoding="utf-8")


def kinds(task: Task) -> list[str]:
    return [entry.kind for entry in task.store.history()]


def test_a_task_in_order_is_left_alone(task: Task) -> None:
    before = Path(task.native.path()).stat().st_mtime_ns, kinds(task)
    settled = settle(task)
    assert (settled.request, settled.notes) == ("", ())
    assert (Path(task.native.path()).stat().st_mtime_ns, kinds(task)) == before


def test_an_owned_field_is_put_back_once_and_the_edit_is_kept(task: Task) -> None:
    whole = Path(task.native.path()).read_text(encoding="utf-8")
    edited = edit(task, "\nValidator status:", "\nValidator status: pass")
    settled = settle(task)
    assert any("Validator status" in note for note in settled.notes)
    assert Path(task.native.path()).read_text(encoding="utf-8") == whole
    line = list(task.store.history())[-1]
    assert isinstance(line, Restored)
    assert Path(task.places.objects(), line.kept).read_text(encoding="utf-8") == edited
    written = kinds(task)
    assert settle(task.now()).notes == ()
    assert kinds(task) == written


def test_a_state_line_that_is_gone_is_put_back(task: Task) -> None:
    edit(task, "Phase: intake\n", "")
    settled = settle(task)
    assert (settled.document.state, settled.request) == ("intake", "")
    assert "\nPhase: intake\n" in Path(task.native.path()).read_text(encoding="utf-8")


def test_a_request_is_told_and_neither_judged_nor_put_back(task: Task) -> None:
    written, edited = kinds(task), edit(task, "Phase: intake\n", "Phase: done\n")
    settled = settle(task)
    assert (settled.request, settled.memory.snapshot.state) == ("done", "intake")
    assert Path(task.native.path()).read_text(encoding="utf-8") == edited
    assert kinds(task) == written


def test_a_request_beside_an_edit_outlives_what_is_put_back(task: Task) -> None:
    edit(task, "Phase: intake\n", "Phase: done\n")
    edit(task, "\nValidator status:", "\nValidator status: pass")
    settled = settle(task)
    assert (settled.request, bool(settled.notes)) == ("done", True)
    assert settle(task.now()).notes == ()


def test_nothing_is_settled_while_a_run_lives(agent_task: AgentTask) -> None:
    task = begin(agent_task("exec sleep 1000"))
    text = edit(task, "\nValidator status:", "\nValidator status: pass")
    with pytest.raises(RefusedError, match="agent run #1 works on this task"):
        settle(task)
    assert Path(task.native.path()).read_text(encoding="utf-8") == text
