"""What run, watch and history say of an `orange` task is true: no agent, a full pool, a cancelled task, no verdict."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.effects.host.access import BUBBLEWRAP
from detent.effects.host.sandbox import best_level
from detent.runner.drive.mandate import CANCEL, let_drive, stop_and_wait
from detent.runner.task.open import open_task
from tests.e2e.agent_runs import WAIT_S
from tests.e2e.orange_task import Oranges


def test_without_its_agent_a_task_stays_in_pending(oranges: Oranges) -> None:
    task = oranges.orange(more='[agents.absent]\nargv = ["no-such-program-here"]')
    assert task("configure", "--agent", "worker=absent", task.id, cwd=task.repo).code == 0
    done = task.run(expect=4)
    assert "no agent is installed for worker (absent)" in done.out
    assert "detent configure --agent worker=AGENT" in done.out
    assert task.state() == "pending"
    assert task.entries("moved") == []
    assert not task.tree.exists(), "no clone was made"
    letter = task("inbox", cwd=task.repo).out
    assert "no agent is installed for worker (absent)" in letter
    assert "next: install an agent, or name one: detent configure --agent worker=AGENT" in letter


def test_agent_with_an_unopenable_file_is_refused_before_start(oranges: Oranges, disk_path: Path) -> None:
    if (level := best_level(os.environ).level) != BUBBLEWRAP:
        pytest.skip(f"only bubblewrap gives each run a temporary folder of its own; this host has {level}")
    program = disk_path / "agent.sh"
    program.write_text("exit 0\n", encoding="utf-8")
    task = oranges.orange(level=level, more=f'[agents.hidden]\nargv = ["sh", "{program}"]')
    assert task("configure", "--agent", "worker=hidden", task.id, cwd=task.repo).code == 0
    update = task("task", "update", "--status", "working")
    assert (update.code, task.state()) == (5, "pending"), update
    refused = task.run(expect=5)
    assert (task.state(), task.head()["status"], task.tree.exists()) == ("pending", "pending", False)
    assert f"agent hidden is started with {program}, which no agent run can open" in refused.err
    assert "[sandbox] show" in refused.err
    assert (task.entries("run_planned"), task.entries("crashed")) == ([], [])


def test_a_task_that_waits_for_a_home_says_so(oranges: Oranges) -> None:
    first = oranges.orange("working", more="[pool]\nsize = 1")
    second = oranges.orange(task_id="second", repo=first.repo)
    assert "no task home is free" in second.run(expect=1).err
    letter = second("inbox", cwd=first.repo).out
    assert "no task home is free" in letter
    assert "next: finish or cancel one of them" in letter
    for words in (("run", "--all"), ("run", "lines", "second")):
        watched = second(*words, cwd=first.repo)
        assert "pending waits for a person" not in watched.out
        assert "no task home is free" in watched.out


@pytest.mark.parametrize("words", [("run",), ("run", "--all")])
def test_a_cancelled_task_needs_no_person(oranges: Oranges, words: tuple[str, ...]) -> None:
    oranges.honest()
    task = oranges.orange("working")
    assert task("start", task.id, cwd=task.repo).code == 0
    assert task("cancel", task.id, cwd=task.repo).code == 0
    done = task(*words, *(() if "--all" in words else (task.id,)), cwd=task.repo)
    assert "needs a person" not in done.out
    assert done.code == 0, done


def test_a_run_of_a_task_cancelled_meanwhile_needs_no_person(oranges: Oranges) -> None:
    here = oranges.meeting()
    oranges.script("working", "meet here; sleep 1000")
    task = oranges.orange()
    driving = oranges.begin("run", task.id, cwd=task.repo)
    here.reached()
    opened = open_task(task.id, str(task.repo))
    _, is_gone = stop_and_wait(let_drive(opened, "Ann", on=False, reason=CANCEL), WAIT_S)  # as cancel begins
    assert is_gone
    assert task("cancel", task.id, cwd=task.repo).code == 0
    done = driving.done()
    assert (done.code, "needs a person" in done.out) == (0, False), done
    assert "done: lines is in cancelled" in done.out
    task.audit()


@pytest.mark.requirement("S3.48")
def test_a_review_without_a_verdict_is_told_as_such(oranges: Oranges) -> None:
    oranges.script("agent-review", "section Review 'hard to say'; exit 1")
    task = oranges.orange("working", "agent-review")
    task.run(expect=4)
    reasons = [line["reason"] for line in task.log() if line["type"] == "agent.crashed"]
    assert reasons[0] == 'TASK.md gives no clear verdict under "## Review": PASS or FAIL'
