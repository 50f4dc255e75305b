"""The exit code of a single pass says whether it did its work (phase, real processes)."""

from __future__ import annotations

import pytest

from tests.e2e.agent_runs import Agents

FAILED = {
    "failed": ("echo '# on' >> app.py; exit 3", "agent run #1 failed"),
    "killed": ("kill -9 $$", "agent run #1 "),
}


@pytest.mark.parametrize("how", FAILED)
def test_a_pass_whose_agent_crashed_exits_with_1(agents: Agents, how: str) -> None:
    script, words = FAILED[how]
    agents.honest(implement=script)
    task = agents.task()
    done = task.run("--once", expect=1)
    assert words in done.out
    assert task.state() == "implement"


@pytest.mark.requirement("S0.59")
def test_a_pass_that_ran_out_of_time_exits_with_1(agents: Agents) -> None:
    agents.honest(implement="meet here")
    agents.meeting()
    task = agents.task("[budget.run]\nminutes = 0.005")
    done = task.run("--once", expect=1)
    assert "took too long and was ended" in done.out
    assert (task.state(), len(task.entries("run_planned"))) == ("implement", 1)


def test_a_second_crash_stops_the_task_with_6(agents: Agents) -> None:
    agents.honest(implement="exit 3")
    task = agents.task()
    task.run("--once", expect=1)
    task.run("--once", expect=6)


def test_agent_that_failed_after_its_accepted_move_did_its_work(agents: Agents) -> None:
    agents.honest(implement="echo '# on' >> app.py; candidate; detent move verify; exit 3")
    task = agents.task()
    task.run("--once", expect=0)
    assert task.state() == "verify"


def test_a_pass_of_several_tasks_says_the_worst(agents: Agents) -> None:
    agents.honest()
    first = agents.task()
    agents.script("implement", "exit 3", task="other")
    other = agents.task(task_id="other", repo=first.repo)
    done = first("run", "--once", "--jobs", "2", first.id, "other", cwd=first.repo)
    assert done.code == 1, done
    assert [len(task.entries("run_planned")) for task in (first, other)] == [1, 1]
