"""Tests of the end of a run: what its line says, and what the run may not leave behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from detent.effects.agents.events import Usage
from detent.effects.host.access import NONE
from detent.effects.host.keeper.look import RunSeen, look
from detent.effects.host.keeper.start import stop
from detent.runner.drive.mandate import let_drive
from detent.runner.run.end_run import end_run
from detent.runner.run.run_result import BOUND, used
from detent.runner.task.open import Task
from detent.words.runner import step as say
from tests.conftest import force_level
from tests.e2e.phase_task import FRAME
from tests.unit.effects.host.keeper.keeper_runs import gone, lives, until
from tests.unit.runner.conftest import AgentTask, begin, wait_for_run

OWNED = 'sed -i "s/^Validator status:.*/Validator status: pass/" "$DETENT_TASK_DIR/STATE.md"'

REQUEST = 'sed -i "s/^Phase:.*/Phase: verify/" "$DETENT_TASK_DIR/STATE.md"'


def document(task: Task) -> Path:
    return Path(task.native.path())


def stopped(task: Task) -> Task:
    stop(task.places.run(task.memory.run.run))
    wait_for_run(task)
    return end_run(task)


def test_forbidden_edit_of_a_run_is_restored_and_kept(agent_task: AgentTask) -> None:
    task = begin(agent_task(OWNED))
    wait_for_run(task)
    assert "Validator status: pass" in document(task).read_text(encoding="utf-8")
    ended = end_run(task)
    assert "Validator status: pass" not in document(task).read_text(encoding="utf-8")
    assert say.engines_field_put_back("STATE.md", "Validator status") in ended.memory.ended.restored
    kept = Path(task.places.objects(), ended.memory.ended.kept)
    assert "Validator status: pass" in kept.read_text(encoding="utf-8")


@pytest.mark.parametrize(("script", "is_kept"), [(REQUEST, True), (OWNED, True), ("true", False)])
def test_the_document_is_kept_when_it_asks_or_was_changed(agent_task: AgentTask, script: str, *, is_kept: bool) -> None:
    task = begin(agent_task(script))
    wait_for_run(task)
    left = document(task).read_bytes()
    kept = end_run(task).memory.ended.kept
    assert (Path(task.places.objects(), kept).read_bytes() if kept else b"") == (left if is_kept else b"")


def test_a_request_beside_a_forbidden_edit_still_counts(agent_task: AgentTask) -> None:
    task = begin(agent_task(f"{REQUEST}; {OWNED}"))
    wait_for_run(task)
    ended = end_run(task)
    assert (ended.memory.ended.claim, ended.memory.ended.claim_by) == ("verify", "file")
    assert say.engines_field_put_back("STATE.md", "Validator status") in ended.memory.ended.restored
    text = document(task).read_text(encoding="utf-8")
    assert ("Validator status: pass" in text, "\nPhase: implement\n" in text) == (False, True)


def test_a_locked_field_that_the_run_changed_is_put_back(agent_task: AgentTask) -> None:
    task = begin(agent_task('sed -i "s/^Done gate:.*/Done gate: less/" "$DETENT_TASK_DIR/STATE.md"'))
    wait_for_run(task)
    ended = end_run(task)
    assert f"\nDone gate: {FRAME['Done gate']}\n" in document(task).read_text(encoding="utf-8")
    assert say.locked_put_back('STATE.md: "Done gate"', "implement") in ended.memory.ended.restored


def test_a_damaged_document_is_repaired_and_kept_aside(agent_task: AgentTask) -> None:
    task = begin(agent_task("printf '\\377\\376\\000' > \"$DETENT_TASK_DIR/STATE.md\""))
    wait_for_run(task)
    ended = end_run(task)
    assert ended.native.read().state == "implement"
    assert ended.memory.ended.restored
    assert any(path.read_bytes() == b"\xff\xfe\x00" for path in document(task).parent.iterdir() if path.is_file())


def test_run_ended_for_a_bound_is_a_timeout(agent_task: AgentTask) -> None:
    task = begin(agent_task("exec sleep 1000"))
    Path(task.places.run(1), BOUND).write_bytes(b"turns 3 of 2")
    task = let_drive(task, "ann", on=False)
    ended = stopped(task).memory.ended
    assert (ended.exit, ended.how, ended.by_person) == ("timeout", "turns 3 of 2", False)


@pytest.mark.parametrize("said", [True, False])
def test_a_run_is_ended_by_person_only_after_a_stop(agent_task: AgentTask, *, said: bool) -> None:
    task = begin(agent_task("exec sleep 1000"))
    task = let_drive(task, "ann", on=not said)
    assert stopped(task).memory.ended.by_person is said


def test_run_with_a_killed_keeper_is_lost_and_dead(agent_task: AgentTask) -> None:
    task = begin(agent_task("exec sleep 1000"))
    identity = look(task.places.run(1)).identity
    assert identity is not None
    os.kill(identity.keeper_pid, signal.SIGKILL)
    wait_for_run(task)
    ended = end_run(task).memory.ended
    assert (ended.exit, ended.how, ended.by_person) == ("lost", "lost", False)
    gone(identity.child_pid)


def test_what_a_lost_keeper_left_is_ended_with_its_run(agent_task: AgentTask) -> None:
    task = agent_task('setsid sleep 1000 & echo $! > "$DETENT_OUT/left"; exec sleep 1000')
    force_level(task.project, NONE)  # no sandbox ends it
    task = begin(task)
    mark = Path(task.memory.head.home, "out", "left")
    until(lambda: mark.exists() and mark.read_text(encoding="utf-8").endswith("\n"))
    left = int(mark.read_text(encoding="utf-8"))
    identity = look(task.places.run(1)).identity
    assert identity is not None
    os.kill(identity.keeper_pid, signal.SIGKILL)
    wait_for_run(task)
    assert lives(left)
    end_run(task)
    assert not lives(left)


def test_run_without_quota_is_none_of_those_a_budget_allows() -> None:
    usage = Usage()
    assert [used(RunSeen("ended"), usage, name)["runs"] for name in ("quota", "failed", "finished")] == [0, 1, 1]
