"""How runs end: every exit class, every bound, what is counted, and when a task stops by itself."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agent_runs import HONEST, Agents, AgentTask
from tests.unit.effects.host.keeper.keeper_runs import lives

BUSY = 'echo "# $DETENT_RUN_NUMBER" >> app.py'


def ends(task: AgentTask) -> list[tuple[str, str]]:
    return [(entry["exit"], entry["how"]) for entry in task.entries("run_ended")]


@pytest.mark.parametrize(
    ("script", "more", "exit_class", "how", "words"),
    [
        ("exit 3", "", "failed", "exited", "failed"),
        ("kill -9 $$", "", "killed", "exited", "was killed"),
        ("echo up; exec sleep 1000", "[budget.run]\nminutes = 0.005", "timeout", "timeout", "took too long"),
        ("echo up; exec sleep 1000", "[budget.run]\nstall_minutes = 0.005", "timeout", "stall", "took too long"),
        ("exec yes", "", "failed", "output_limit", "failed"),
        ('sleep 1000 & echo $! > "$SCRIPTS/left"; kill -9 $PPID; sleep 1000', "", "lost", "lost", "was lost"),
    ],
    ids=["failed", "killed", "timeout", "stall", "flood", "lost"],
)
def test_crashed_run_is_counted_and_leaves_the_task_there(
    agents: Agents, script: str, more: str, exit_class: str, how: str, words: str
) -> None:
    agents.script("implement", script)
    task = agents.task(more)
    done = task.run("--once", expect=1)
    assert ends(task) == [(exit_class, how)]
    crashed = task.last("crashed")
    assert (crashed["exit"], crashed["after"]["counters"]) == (exit_class, {"runs": 1, "crashes": 1})
    assert (crashed["after"]["exit"], task.state()) == (exit_class, "implement")
    assert f"agent run #1 {words}" in done.out
    if how == "output_limit":
        assert (task.run_dir(1) / "events").stat().st_size <= 64 * 1024 * 1024
    if how == "lost":
        assert not lives(int((agents.scripts / "left").read_text()))
    task.audit()


def test_two_crashes_in_row_stop_task_until_person_goes_on(agents: Agents) -> None:
    agents.honest(implement="count; echo 'no such model' >&2; exit 3")
    task = agents.task('[notify]\ncommand = "echo $DETENT_REST $DETENT_TASK >> $SCRIPTS/notified; exit 7"')
    done = task.run(expect=6)
    assert "stopped: words is in implement: 2 crashes in a row" in done.out
    assert "next: detent resume words" in done.out
    assert "the notify command ended with 7" in done.err
    assert (agents.scripts / "notified").read_text() == "stopped words\n"
    assert task.last("crashed")["after"]["registers"]["stopped"] == "2 crashes in a row"
    assert task.run(expect=6).out.startswith("stopped:")
    assert task("respawn", task.id, cwd=task.repo).code == 6
    assert agents.counted() == ["implement 1", "implement 2"]
    moved = task("move", "verify", "--as", "agent")
    assert (moved.code, "stopped: 2 crashes in a row" in moved.out) == (1, True)
    assert task("resume", "--reason", "the model is back", task.id, cwd=task.repo).code == 0
    agents.script("implement", HONEST["implement"])
    task.run(expect=0)
    assert "the model is back" in task.prompt(3)
    task.audit()


def test_a_crash_between_two_good_runs_is_forgotten(agents: Agents) -> None:
    agents.honest()
    agents.script("implement", f"{BUSY}; exit 3", run=1)
    agents.script("verify", "exit 3", run=3)
    task = agents.task()
    task.run(expect=0)
    assert [entry["exit"] for entry in task.entries("crashed")] == ["failed", "failed"]
    assert "agent run #1 in this state ended as failed" in task.prompt(2)


@pytest.mark.requirement("S0.60", "S0.63", "S0.66", "S0.67")
def test_a_run_without_progress_stops_the_task_and_names_it(agents: Agents) -> None:
    agents.script("implement", "count; echo 'I am done!'")
    task = agents.task()
    done = task.run(expect=6)
    assert (ends(task), agents.counted()) == ([("finished", "exited")] * 2, ["implement 1", "implement 2"])
    assert task.last("unmoved")["progress"] is False
    assert task.last("unmoved")["after"]["counters"] == {"runs": 2, "idle": 2}
    assert "stopped: words is in implement: no material progress: 2 agent run(s) changed nothing" in done.out
    assert task.json("run", task.id, cwd=task.repo)["rest"] == "stopped"
    for look in ("status", "next"):
        assert f"detent resume {task.id}\n" in task(look, task.id, cwd=task.repo).out
    task("resume", task.id, cwd=task.repo)
    assert task.json("status", task.id, cwd=task.repo)["registers"].get("stopped") is None
    task.audit()


@pytest.mark.requirement("S0.15", "S0.66")
@pytest.mark.parametrize(
    "gain",
    [
        BUSY,
        'field "Current result" "half of it"',
        'echo found > "$DETENT_TASK_DIR/artifacts/found.txt"',
        'field Blockers "the key is missing"',
    ],
    ids=["code", "state", "evidence", "blocker"],
)
def test_each_kind_of_gain_is_progress(agents: Agents, gain: str) -> None:
    agents.script("implement", gain, run=1)
    agents.script("implement", "candidate; field Blockers none", run=2)
    task = agents.task()
    task.run("--once", expect=0)
    assert task.last("unmoved")["progress"] is True
    task.run("--once", expect=0)
    assert (task.state(), [entry["state"] for entry in task.entries("run_planned")]) == ("verify", ["implement"] * 2)


@pytest.mark.requirement("S0.15")
def test_progress_goes_on_up_to_the_limit_of_runs(agents: Agents) -> None:
    agents.script("implement", f"count; {BUSY}")
    task = agents.task("[machine.phase.limits]\nruns = 2")
    done = task.run(expect=6)
    assert agents.counted() == ["implement 1", "implement 2"]
    assert "2 agent runs since a person last acted" in done.out
    assert task.last("stopped")["by"] == "engine"
    task("resume", task.id, cwd=task.repo)
    task.run(expect=6)
    assert len(agents.counted()) == 4
    task.audit()


# --- quota ---


def said(*events: dict[str, Any]) -> str:
    return "\n".join(f"cat <<'EVENT'\n{json.dumps(event)}\nEVENT" for event in events)


LIMIT = "You've hit your usage limit. Try again in 2 hours."


@pytest.mark.parametrize(
    ("events", "script", "is_told"),
    [
        ("codex", said({"type": "turn.failed", "error": {"message": LIMIT}}) + "\nexit 1", True),
        ("claude", said({"type": "result", "is_error": True, "api_error_status": 429, "result": "no more"}), False),
        ("text", "echo '429 Too Many Requests, retry-after: 7200'; exit 1", True),
    ],
)
def test_a_quota_counts_nothing_and_names_when_to_go_on(
    agents: Agents, events: str, script: str, is_told: bool
) -> None:
    agents.script("implement", f"count\n{script}")
    task = agents.task(events=events)
    done = task.run(expect=6)
    ended = task.last("run_ended")
    assert (ended["exit"], ended["after"]["counters"]) == ("quota", {})
    assert task.last("unmoved")["after"]["registers"].get("stopped") is None
    assert f"out of quota: words is in implement; it may go on at {ended['wake']}" in done.out
    hours = int(ended["wake"][11:13]) * 60 + int(ended["wake"][14:16])
    begun = int(ended["time"][11:13]) * 60 + int(ended["time"][14:16])
    assert (hours - begun) % 1440 in ((120, 121) if is_told else (15, 16))
    assert task.json("run", task.id, cwd=task.repo)["rest"] == "quota"
    assert agents.counted() == ["implement 1"]  # it waits
    task("respawn", task.id, cwd=task.repo)
    assert agents.counted() == ["implement 1", "implement 2"]  # unless a person asks
    task.audit()


def test_an_agent_that_only_writes_about_quotas_has_finished(agents: Agents) -> None:
    agents.script("implement", f"{BUSY}; echo 'rate limit: try again in 2 hours'")
    task = agents.task()
    task.run("--once", expect=0)
    assert task.last("run_ended")["exit"] == "finished"


def test_an_agent_that_never_said_it_ended_has_not_finished(agents: Agents) -> None:
    agents.script("implement", f"{BUSY}\n" + said({"type": "turn.started"}))
    task = agents.task(events="codex")
    task.run("--once", expect=1)
    assert task.last("run_ended")["exit"] == "failed"


def test_impossible_events_do_no_harm(agents: Agents) -> None:
    wild: list[dict[str, Any]] = [
        {"type": "thread.started", "thread_id": "--dangerously-do-anything"},
        {"type": "turn.completed", "usage": {"input_tokens": float("inf"), "output_tokens": 10**400}},
        {"type": "turn.failed", "error": {"message": "\ud800 broken " + "x" * 3_000_000}},
    ]
    agents.script("implement", f"{BUSY}\n{said(*wild)}\n echo '[[[' ; echo null; exit 1", run=1)
    agents.script("implement", BUSY, run=2)
    task = agents.task(events="codex")
    task.run("--once", expect=1)
    ended = task.last("run_ended")
    assert (ended["exit"], ended["session"], ended["usage"]["input_tokens"]) == ("failed", "", 0)
    assert ended["errors"][0].startswith("\ud800 broken")
    task.run("--once")
    assert "\\ud800 broken" in task.prompt(2)
    task.audit()


# --- budgets ---

TURN = said(
    {
        "type": "message_end",
        "message": {"role": "assistant", "usage": {"input": 300, "output": 200, "cost": {"total": 0.5}}},
    }
)


@pytest.mark.parametrize(
    ("bound", "how"),
    [("turns = 1", "turns 2 of 1"), ("tokens = 900", "tokens 1000 of 900"), ("usd = 0.9", "usd 1 of 0.9")],
)
def test_bound_of_run_ends_the_run_and_not_the_task(agents: Agents, bound: str, how: str) -> None:
    agents.script("implement", f"{TURN}\n{TURN}\nexec sleep 1000", run=1)
    agents.script("implement", "candidate\n" + said({"type": "agent_end"}), run=2)
    task = agents.task(f"[budget.run]\n{bound}", events="pi")
    task.run("--once", expect=1)
    assert ends(task) == [("timeout", how)]
    assert task.last("crashed")["after"]["counters"] == {"runs": 1, "crashes": 1}
    task.run("--once", expect=0)
    assert task.state() == "verify"
    usage = task.json("run", "--once", task.id, cwd=task.repo)["usage"]
    assert (usage["turns"], usage["input_tokens"], usage["cost_usd"]) == (2, 600, 1.0)
    task.audit()


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        ("runs = 1", "budget: 1.00 of 1 agent runs are used"),
        ("usd = 0.5", "budget: 0.50 of 0.5 USD are used"),
        ("hours = 0.000001", "of 1e-06 hours of agent runs are used"),
    ],
)
def test_a_bound_of_the_task_stops_the_task(agents: Agents, bound: str, words: str) -> None:
    agents.script("implement", f"count; {BUSY}\n{TURN}\n" + said({"type": "agent_end"}))
    task = agents.task(f"[budget.task]\n{bound}", events="pi")
    done = task.run(expect=6)
    assert agents.counted() == ["implement 1"]
    assert words in done.out
    assert words in task.last("stopped")["why"]
    # Going on does not bring the money back: a person sees the same again instead of a run.
    task("resume", task.id, cwd=task.repo)
    assert (task.run(expect=6).out.startswith("stopped:"), len(agents.counted())) == (True, 1)
    task.audit()


@pytest.mark.requirement("S0.73")
def test_any_program_is_agent_and_a_missing_one_is_named(agents: Agents, tmp_path: Path) -> None:
    agents.honest()
    task = agents.task()
    task.run(expect=0)
    settings = '[agents]\ndefault = "mine"\n[agents.mine]\nargv = ["no-such-agent"]'
    repo = agents.make_repo("bare", {"README.md": "x\n", "detent.toml": settings})
    bare = agents.task(task_id="bare", repo=repo)
    done = bare.run()
    assert done.code not in (0, 3), done
    assert "no-such-agent is not on PATH" in done.err
    assert bare.entries("run_planned") == []


def test_respawn_without_waiting_reaches_the_watching_process(agents: Agents) -> None:
    meeting = agents.meeting()
    agents.honest()
    agents.script("implement", BUSY, run=1)
    agents.script("implement", f"meet here; {HONEST['implement']}", run=2)
    task = agents.task()
    task.run("--once")
    bell = task.repo / ".git" / "detent" / "bell"
    os.mkfifo(bell)
    listening = os.open(bell, os.O_RDWR | os.O_NONBLOCK)
    try:
        respawned = task("respawn", "--once", "--no-wait", task.id, cwd=task.repo)
        assert (respawned.code, "agent run #2 is under way" in respawned.out) == (0, True), respawned
        assert meeting.reached()[0] == 2
        assert os.read(listening, 10) == b"!"
    finally:
        os.close(listening)
        meeting.go()
    task.run(expect=0)
