"""Tests of the one door: what only the engine writes is put back once, a line reaches as far as its kind says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from detent.errors import LockedError, RefusedError
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.step.changing import Changing, changing
from detent.runner.task.open import Task
from detent.store.disk.lock import Lock
from detent.store.journal.events import KINDS, Answered, Approved, Restored
from detent.store.journal.line import FILE, JOURNAL, LOG
from detent.store.journal.run_events import Driven
from detent.words.runner import step as say
from tests.unit.runner.conftest import AgentTask, begin


@pytest.fixture
def task(tmp_path: Path) -> Task:
    folder = tmp_path / "project"
    folder.mkdir()
    return create(NewTask("phase", "count", "t", str(folder), str(folder / "task"), by="me"))


def edit(task: Task, old: str, new: str) -> str:
    path = Path(task.native.path())
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path.read_text(encoding="utf-8")


def settle(task: Task) -> Changing:
    with changing(task) as change:
        return change


def kinds(task: Task) -> list[str]:
    return [entry.kind for entry in task.store.history()]


def test_a_task_in_order_is_left_alone(task: Task) -> None:
    before = Path(task.native.path()).stat().st_mtime_ns, kinds(task)
    settled = settle(task)
    assert (settled.request, settled.notes) == ("", ())
    assert (Path(task.native.path()).stat().st_mtime_ns, kinds(task)) == before


def test_owned_field_is_put_back_once_and_edit_is_kept(task: Task) -> None:
    whole = Path(task.native.path()).read_text(encoding="utf-8")
    edited = edit(task, "\nValidator status:", "\nValidator status: pass")
    settled = settle(task)
    assert say.engines_field_put_back("STATE.md", "Validator status") in settled.notes
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
    with pytest.raises(RefusedError, match=re.escape(say.run_works_on_task(1, "words"))):
        settle(task)
    assert Path(task.native.path()).read_text(encoding="utf-8") == text
    assert not is_held(task.places.lock())


ASKED = "Phase: intake\n", "Phase: done\n"
DRIVEN = Driven(on=True, by="person", name="ann", reason="")
APPROVED = Approved(by="person", name="ann", reason="fine", tree="", files=[])
ANSWERED = Answered(by="person", name="ann", answer="take B")


def is_held(path: str) -> bool:
    try:
        with Lock(path, wait_s=0.0):
            return False
    except LockedError:
        return True


def logged(task: Task) -> int:
    return len(Path(task.native.log_path()).read_text(encoding="utf-8").splitlines())


def test_line_of_the_journal_alone_touches_nothing_in_the_folder(task: Task) -> None:
    edited, lines = edit(task, *ASKED), logged(task)
    with changing(task, settles=False) as change:
        change.write(DRIVEN)
    assert (kinds(task)[-1], change.memory.driven.on) == ("driven", True)
    assert (Path(task.native.path()).read_text(encoding="utf-8"), logged(task)) == (edited, lines)


def test_line_of_the_log_leaves_what_the_file_asks_for(task: Task) -> None:
    edited, lines = edit(task, *ASKED), logged(task)
    with changing(task) as change:
        change.write(APPROVED)
        assert change.request == "done"
    assert (Path(task.native.path()).read_text(encoding="utf-8"), logged(task)) == (edited, lines + 1)
    assert settle(task.now()).request == "done"


def test_line_of_file_takes_back_what_the_file_asks_for(task: Task) -> None:
    edit(task, *ASKED)
    lines = logged(task)
    with changing(task) as change:
        change.write(ANSWERED)
    assert (change.document.state, logged(task)) == ("intake", lines + 1)
    assert settle(task.now()).request == ""


def test_writer_may_let_a_line_reach_further_than_its_kind(task: Task) -> None:
    edit(task, *ASKED)
    with changing(task) as change:
        change.write(APPROVED, reach=FILE)
    assert change.document.state == "intake"


def test_a_quiet_line_does_not_reach_the_file() -> None:
    assert all(kind.reach in (LOG, JOURNAL) for kind in KINDS.values() if kind.is_quiet)


def test_nothing_is_written_once_the_lock_is_given_back(task: Task) -> None:
    with changing(task) as change:
        assert is_held(task.places.lock())
    assert not is_held(task.places.lock())
    written = kinds(task)
    with pytest.raises(RuntimeError, match="given back"):
        change.write(DRIVEN)
    assert kinds(task) == written


def test_the_lock_is_given_back_after_an_error(task: Task) -> None:
    with pytest.raises(RefusedError, match="no"), changing(task):
        raise RefusedError("no")
    assert not is_held(task.places.lock())


def test_task_that_needs_it_is_changed_under_the_project_lock(task: Task) -> None:
    with changing(task, alone=lambda _task: True):
        assert is_held(task.project.lock_path())
    with changing(task, alone=lambda _task: False):
        assert not is_held(task.project.lock_path())
    assert not is_held(task.project.lock_path())


def test_a_changed_task_is_settled_again_under_both_locks(task: Task) -> None:
    """The caller knows it in an older state, in which it needs no other lock."""
    older = task.replace(memory=task.memory.replace(snapshot=task.memory.snapshot.replace(state="shape")))
    edit(task, "\nValidator status:", "\nValidator status: pass")
    with changing(older, alone=lambda found: found.memory.snapshot.state == "intake") as change:
        assert (is_held(task.project.lock_path()), is_held(task.places.lock())) == (True, True)
        assert sum(note == say.engines_field_put_back("STATE.md", "Validator status") for note in change.notes) == 1
    assert not is_held(task.project.lock_path())
