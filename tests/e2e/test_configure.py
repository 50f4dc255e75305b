"""`detent configure`: a person's setting for one task holds for every later command, and is one journal line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo
from tests.e2e.agent_runs import Agents, AgentTask
from tests.e2e.phase_task import CHECK

WORK = "count; echo '# worked' >> app.py"
MODES = """
format = 1
name = "pace"
title = "two ways of working"
initial = "working"
modes = ["careful", "quick"]
[store]
codec = "markdown_fields"
file = "STATE.md"
state = "Phase"
files = ["STATE.md"]
[state.working]
driver = "person"
[state.checked]
driver = "person"
[state.done]
end = true
[[edge]]
name = "straight"
from = "working"
to = "done"
by = ["person"]
mode = ["quick"]
[[edge]]
name = "check"
from = "working"
to = "checked"
by = ["person"]
[[edge]]
name = "finish"
from = "checked"
to = "done"
by = ["person"]
"""


def configure(task: AgentTask, *words: str) -> Completed:
    return task("configure", *words, task.id, cwd=task.repo)


def status(task: AgentTask) -> Any:
    return task.json("status", task.id, cwd=task.repo)


def test_more_budget_is_what_lets_a_task_go_on(agents: Agents) -> None:
    agents.script("implement", WORK)
    task = agents.task("[budget.task]\nruns = 1")
    assert "next: detent configure" in task.run(expect=6).out
    refused = task("resume", task.id, cwd=task.repo)
    assert (refused.code, "budget: 1.00 of 1 agent runs are used" in refused.out) == (1, True)
    assert "detent configure" in refused.out
    done = configure(task, "--runs", "2", "--budget", "7.5")
    assert (done.code, "2 agent runs, 7.5 USD" in done.out) == (0, True)
    assert "next: detent resume words" in done.out
    assert task("resume", task.id, cwd=task.repo).code == 0
    task.run(expect=6)
    assert agents.counted() == ["implement 1", "implement 2"]
    assert status(task)["budget"] == {"runs": 2, "usd": 7.5}
    assert "budget:              2 agent runs, 7.5 USD" in task("status", task.id, cwd=task.repo).out
    assert "set the budget to 7.5 USD, 2 agent runs" in task("history", task.id, cwd=task.repo).out
    task.audit()


def test_run_without_quota_is_none_of_runs_a_budget_allows(agents: Agents) -> None:
    agents.script("implement", "count; echo '429 Too Many Requests, retry-after: 7200'; exit 1", run=1)
    agents.script("implement", WORK)
    task = agents.task("[budget.task]\nruns = 1")
    task.run(expect=6)
    assert task.last("run_ended")["exit"] == "quota"
    task("respawn", task.id, cwd=task.repo)
    assert agents.counted() == ["implement 1", "implement 2"]
    task.run(expect=6)
    assert task.last("stopped")["why"] == "budget: 1.00 of 1 agent runs are used"
    task.audit()


def test_limit_holds_at_once_also_for_a_run_that_lives(agents: Agents) -> None:
    here = agents.meeting()
    agents.script("implement", f"{WORK}; meet here")
    task = agents.task()
    driving = agents.begin("run", task.id, cwd=task.repo)
    here.reached()
    assert configure(task, "--limit", "runs=1").code == 0
    assert status(task)["limits"]["runs"] == 1
    here.go()
    assert driving.done().code == 6
    assert agents.counted() == ["implement 1"]
    assert task.last("stopped")["why"] == "1 agent runs since a person last acted"
    task.audit()


def test_each_line_is_judged_by_the_limits_of_its_moment(agents: Agents) -> None:
    """Two crashes stop a task, unless a person allowed three; the audit comes to the same."""
    agents.script("implement", "count; echo '# worked' >> app.py; exit 1")
    task = agents.task()
    task.run(expect=6)
    assert len(agents.counted()) == 2
    assert configure(task, "--limit", "crashes=3").code == 0
    assert task("resume", task.id, cwd=task.repo).code == 0
    task.run(expect=6)
    assert len(agents.counted()) == 5
    task.audit()


def test_another_agent_serves_role_and_models_are_tried_in_turn(agents: Agents) -> None:
    agents.script("implement", WORK)
    argv = json.dumps(["sh", "-c", 'echo "$0 $1" >> app.py', "{model}"])
    task = agents.task(f'[agents.other]\nargv = {argv}\nevents = "text"\n[budget.task]\nruns = 3')
    task.run("--once")
    words = ("--agent", "builder=other:small", "--agent", "builder=other:large")
    assert configure(task, *words).code == 0
    task.run(expect=6)
    planned = [(entry["agent"], entry["model"]) for entry in task.entries("run_planned")]
    assert planned[0] == ("scripted", "")
    assert sorted(planned[1:]) == [("other", "large"), ("other", "small")]
    assert status(task)["agents"] == {"builder": ["other:small", "other:large"]}
    task.audit()


def test_check_is_added_to_plan_and_to_what_is_locked(agents: Agents) -> None:
    agents.honest(implement="count; echo '# worked on' >> app.py; candidate")
    task = agents.task()
    task.run("--once")
    assert task.state() == "verify"
    assert configure(task, "--check", "test -e seal", "--reason", "it must be sealed").code == 0
    plan = f"- cmd: {CHECK}\n- cmd: test -e seal"
    assert plan in (task.folder / "STATE.md").read_text(encoding="utf-8")
    done = task("prove", task.id, cwd=task.repo)
    assert (done.code, f"ok   {CHECK}" in done.out, "red  test -e seal" in done.out) == (1, True, True)
    (task.tree / "seal").write_text("", encoding="utf-8")
    assert task("prove", task.id, cwd=task.repo).code == 0
    # It is locked like the rest of the frame: when an agent removes it, it is restored.
    state = task.folder / "STATE.md"
    state.write_text(state.read_text(encoding="utf-8").replace("\n- cmd: test -e seal", ""), encoding="utf-8")
    task("prove", task.id, cwd=task.repo)
    assert plan in state.read_text(encoding="utf-8")
    task.audit()


def test_check_of_frame_that_is_open_only_stands_in_plan(agents: Agents) -> None:
    task = agents.task()
    done = configure(task, "--check", "make lint")
    assert (done.code, "  check:   make lint\n" in done.out) == (0, True), done
    assert task.last("configured")["locked"] == {}
    assert f"- cmd: {CHECK}\n- cmd: make lint" in (task.folder / "STATE.md").read_text(encoding="utf-8")
    task.audit()


def test_check_waits_for_the_run_that_writes_the_same_file(agents: Agents) -> None:
    here = agents.meeting()
    agents.script("implement", f"{WORK}; meet here")
    task = agents.task("[budget.task]\nruns = 1")
    driving = agents.begin("run", task.id, cwd=task.repo)
    here.reached()
    before = (task.folder / "STATE.md").read_bytes()
    done = configure(task, "--check", "make lint", "--budget", "5")
    assert (done.code, "agent run #1 works on this task" in done.err) == (1, True)
    assert (task.folder / "STATE.md").read_bytes() == before
    assert task.entries("configured") == []  # all or nothing
    here.go()
    driving.done()


def test_what_holds_already_is_not_written_again(agents: Agents) -> None:
    task = agents.task()
    words = ("--budget", "5", "--limit", "runs=4", "--check", "make lint", "--agent", "judge=scripted")
    assert configure(task, *words).code == 0
    before = (task.control / "journal.jsonl").read_bytes()
    again = configure(task, *words)
    assert (again.code, "holds already" in again.out) == (0, True)
    assert (task.control / "journal.jsonl").read_bytes() == before


def test_a_mode_is_switched_at_any_time(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    (tmp_path / "pace.toml").write_text(MODES, encoding="utf-8")
    path = repo(files=SAMPLE_FILES)
    made = detent("new", tmp_path / "pace.toml", "hurry", "--id", "hurry", "--json", cwd=path)
    assert made.code == 0, made
    assert "belongs to mode quick" in detent("move", "done", "hurry", cwd=path).out
    assert detent("configure", "--mode", "quick", "hurry", cwd=path).code == 0
    assert detent("status", "hurry", "--json", cwd=path).json()["mode"] == "quick"
    assert detent("configure", "--mode", "careful", "hurry", cwd=path).code == 0
    assert detent("move", "done", "hurry", cwd=path).code == 1
    assert detent("configure", "--mode", "quick", "hurry", cwd=path).code == 0
    refused = detent("configure", "--check", "make", "hurry", cwd=path)
    assert (refused.code, "pace keeps no commands of a task" in refused.err) == (2, True)
    assert detent("move", "done", "hurry", cwd=path).code == 0
    assert detent("audit", "hurry", cwd=path).code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "something to set"),
        (("--budget", "0"), "above 0"),
        (("--runs", "none"), "whole number from 1"),
        (("--runs", "0"), "whole number from 1"),
        (("--limit", "runs"), "whole number from 1"),
        (("--limit", "runs=0"), "for example: --limit runs=5"),
        (("--limit", "moons=3"), "phase has no limit 'moons'"),
        (("--mode", "quick"), "phase has no mode 'quick'"),
        (("--agent", "cook=scripted"), "phase has no role 'cook'"),
        (("--agent", "judge=nobody"), "there is no such agent"),
    ],
)
def test_what_cannot_hold_is_refused(agents: Agents, words: tuple[str, ...], said: str) -> None:
    task = agents.task()
    done = configure(task, *words)
    assert (done.code, said in done.err) == (2, True), done
    assert task.entries("configured") == []


def test_an_agent_run_configures_nothing(agents: Agents) -> None:
    agents.script("implement", f'detent configure --budget 100 --repo "{agents.scripts}/.." || echo refused; {WORK}')
    task = agents.task("[budget.task]\nruns = 1")
    task.run()
    assert "refused" in task.output(1)
    assert task.entries("configured") == []


def test_what_the_audit_of_dependencies_was_told_is_shown(agents: Agents) -> None:
    url = "https://osv.example.org/v1/query"
    task = agents.task(f'[audit]\naccept = ["CVE-2024-1234", "GHSA-aaaa-bbbb-cccc"]\nosv_url = "{url}"')
    shown = f"accepts CVE-2024-1234, GHSA-aaaa-bbbb-cccc; asks {url}"
    assert f"audit:               {shown}\n" in task("status", task.id, cwd=task.repo).out
    assert f"  audit:   {shown}\n" in configure(task, "--budget", "3").out
    assert status(task)["audit"] == {"accept": ["CVE-2024-1234", "GHSA-aaaa-bbbb-cccc"], "osv_url": url}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("accepts = []", "audit: unknown key 'accepts', perhaps 'accept' was meant"),
        ("osvurl = ''", "audit: unknown key 'osvurl', perhaps 'osv_url' was meant"),
        ("colour = 1", "audit: unknown key 'colour'\n"),
    ],
)
def test_a_misspelt_key_of_the_audit_is_told(agents: Agents, setting: str, words: str) -> None:
    repo = agents.make_repo(files={**SAMPLE_FILES, "detent.toml": agents.settings(f"[audit]\n{setting}")})
    refused = agents.detent("new", "count", "--check", CHECK, cwd=repo)
    assert (refused.code, words in refused.err) == (2, True), refused
    looked = agents.detent("doctor", "--quick", cwd=repo)
    assert words.rstrip() in looked.out, looked


def test_every_machine_that_ships_takes_a_check(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    assert detent("new", "orange", "count", "--id", "o", "--check", CHECK, cwd=path).code == 0
    assert detent("new", "ralf", "count", "--id", "r", "--check", CHECK, cwd=path).code == 0


def test_kind_of_the_change_is_the_persons_alone(agents: Agents) -> None:
    task = agents.task()
    assert configure(task, "--kind", "novel").code == 2
    first = configure(task, "--kind", "refactor", "--reason", "no behaviour changes")
    assert first.code == 0, first
    assert "kind:    refactor" in first.out
    assert "holds already" in configure(task, "--kind", "refactor").out
    assert "the kind of the change to refactor" in task("history", task.id, cwd=task.repo).out
    assert task("audit", task.id, cwd=task.repo).code == 0
    inside = {"DETENT_ROLE": "builder"}
    refused = task("configure", "--kind", "docs", task.id, cwd=task.repo, environment=inside)
    assert refused.code != 0
