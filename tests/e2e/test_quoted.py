"""What failed, and what a reviewer wrote, reaches the next run of a machine that was made for something else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.agent_runs import Agents
from tests.e2e.clone_task import CloneTask
from tests.e2e.global_task import CODER, make_global, out


@pytest.fixture
def agents(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Agents]:
    made = Agents(detent, repo, tmp_path)
    yield made
    made.close()


def test_every_issue_of_a_blocked_review_reaches_the_planner(agents: Agents) -> None:
    task = make_global(agents)
    issues = [{"severity": "minor", "message": "MIND-THE-TITLE"}, {"severity": "blocking", "message": "NAME-THE-TESTS"}]
    agents.script("plan_review", out("plan-review.json", {"ok": False, "blocked": True, "issues": issues}))
    task.run("--once")
    task.run("--once")
    assert task.phase == "planning"
    task.run("--once")
    prompt = task.prompt(task.last("run_planned")["run"])
    assert 'it is blocked; an issue: "NAME-THE-TESTS"; an issue: "MIND-THE-TITLE"' in prompt


def test_output_of_red_tests_reaches_the_coder_and_the_report(agents: Agents) -> None:
    check = "echo login https://me:hunter2@host; echo WHAT-WAS-WRONG; exit 4"
    task = make_global(agents, check=check)
    agents.script("codegen", CODER)
    for _ in range(6):
        if "test" in task.path_of_moves() and task.phase == "codegen":
            break
        task.run("--once")
    assert task.phase == "codegen", task.path_of_moves()
    report = task.read("eval/eval-report.json")["commands"][0]
    assert (report["exit"], report["output"]) == (4, "login https://[redacted]@host\nWHAT-WAS-WRONG")
    task.run("--once")
    prompt = task.prompt(task.last("run_planned")["run"])
    assert "## What failed" in prompt
    assert "> WHAT-WAS-WRONG" in prompt
    assert "hunter2" not in prompt.replace(check, "")


def test_a_word_without_end_does_not_keep_the_engine_busy(detent: Detent, repo: MakeRepo) -> None:
    """The bound is that of a command in the tests, minutes; before there was one, this took longer than a day."""
    task = CloneTask(detent, repo, repo(), check="python3 -c \"print('secret-' * 9000); exit(1)\"")
    task.to("verify")
    done = task("prove")
    assert done.code == 1, done
    assert "red" in done.out
