"""`detent init` writes a budget that is really kept: money where the agent says what it costs, else runs and hours."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.e2e.agent_runs import Agents
from tests.e2e.stubs import bare_path, put_program

COST = {"type": "result", "subtype": "success", "is_error": False, "result": "done", "total_cost_usd": 0.4}


@pytest.mark.parametrize(
    ("agent", "bounds"),
    [("pi", {"usd": 10}), ("claude", {"usd": 10}), ("codex", {"runs": 20, "hours": 4}), ("", {"runs": 20, "hours": 4})],
)
def test_init_writes_a_budget_for_every_task(
    detent: Detent, repo: MakeRepo, tmp_path: Path, agent: str, bounds: dict[str, int]
) -> None:
    environment = bare_path(tmp_path / "bin", "git", "sh")
    if agent:
        put_program(tmp_path / "bin", agent, "echo 1.2.3")
    where = repo("repo", SAMPLE_FILES)
    done = detent("init", cwd=where, environment=environment)
    assert done.code == 0, done
    assert tomllib.loads((where / "detent.toml").read_text())["budget"]["task"] == bounds


def test_spent_money_stops_task_and_names_command_that_gives_more(agents: Agents) -> None:
    agents.script("implement", f"count; echo '# on' >> app.py; echo '{json.dumps(COST)}'")
    task = agents.task("[budget.task]\nusd = 0.5", events="claude")
    done = task.run(expect=6)
    assert agents.counted() == ["implement 1", "implement 2"]
    assert "budget: 0.80 of 0.5 USD are used" in done.out
    assert "next: detent configure --budget USD words, then: detent resume words" in done.out
    assert "detent configure --budget USD words" in task("inbox", cwd=task.repo).out
    assert task("configure", "--budget", "5", task.id, cwd=task.repo).code == 0
    assert task("resume", "--reason", "worth it", task.id, cwd=task.repo).code == 0
    task.audit()


def test_spent_hours_end_the_run_and_stop_the_task(agents: Agents) -> None:
    agents.script("implement", "count; echo '# on' >> app.py; echo up; exec sleep 1000")
    task = agents.task("[budget.task]\nhours = 0.0001")
    done = task.run(expect=6)
    assert task.entries("run_ended")[0]["how"] == "timeout"
    assert "hours of agent runs are used" in done.out
    assert "detent configure --hours N words" in done.out
    task.audit()


def test_one_run_may_not_cost_more_than_is_left(agents: Agents) -> None:
    agents.script("implement", f"count; echo '{json.dumps(COST)}'; exec sleep 1000")
    task = agents.task("[budget.task]\nusd = 0.1", events="claude")
    done = task.run(expect=6)
    assert task.entries("run_ended")[0]["how"] == "usd 0.4 of 0.1"
    assert "USD are used" in done.out
    task.audit()
