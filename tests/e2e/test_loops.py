"""Loops end: the same refusal three times stops a task, an idle run gets one more try, and only real gains count."""

from __future__ import annotations

import json

import pytest

from tests.e2e.agent_runs import Agents
from tests.e2e.global_task import CODER, make_global

BUSY = 'echo "# $DETENT_RUN_NUMBER" >> app.py'
LINKLESS = f'count; {BUSY}; candidate; field "Evidence link" ""'


def test_the_same_refusal_after_three_runs_stops_the_task(agents: Agents) -> None:
    agents.honest(implement=LINKLESS)
    task = agents.task()
    done = task.run(expect=6)
    assert agents.counted() == ["implement 1", "implement 2", "implement 3"]
    assert "the same refusal after 3 runs" in done.out
    inbox = task("inbox", cwd=task.repo).out
    assert "evidence_linked" in inbox
    assert '"Evidence link:" is empty' in inbox
    assert "detent resume words" in inbox
    task.audit()


def test_a_resume_begins_the_count_anew(agents: Agents) -> None:
    agents.honest(implement=LINKLESS)
    task = agents.task()
    task.run(expect=6)
    assert task("resume", "--reason", "try the link", task.id, cwd=task.repo).code == 0
    task.run(expect=6)
    assert len(agents.counted()) == 6
    task.audit()


def test_other_refusals_in_between_do_not_hide_the_same_one(agents: Agents) -> None:
    agents.honest(implement=LINKLESS)
    agents.script("implement", f'count; {BUSY}; candidate; field "Candidate done" no', run=2)
    task = agents.task()
    task.run(expect=6)
    assert len(agents.counted()) == 4


def test_a_command_that_stays_red_is_one_refusal(agents: Agents) -> None:
    agents.honest(verify='count; field "Current result" "run $DETENT_RUN_NUMBER"; detent move review')
    agents.script("implement", "sed -i 's/left + right/right/' app.py; candidate; detent move verify")
    task = agents.task()
    done = task.run(expect=6)
    assert agents.counted() == ["verify 2", "verify 3", "verify 4"]
    assert "validation_passed" in done.out
    task.audit()


def test_idle_run_gets_another_try_with_the_reason(agents: Agents) -> None:
    agents.honest()
    agents.script("implement", "count; true", run=1)
    task = agents.task()
    task.run(expect=0)
    assert agents.counted()[0] == "implement 1"
    assert 'STATE.md: "Evidence location:" names no file' in task.prompt(2)
    task.audit()


@pytest.mark.parametrize("words", [("run", "--once"), ("respawn", "--once")])
def test_an_idle_run_of_a_single_pass_stops_the_task(agents: Agents, words: tuple[str, ...]) -> None:
    agents.honest(implement="count; true")
    task = agents.task()
    done = task(*words, task.id, cwd=task.repo)
    assert (done.code, agents.counted()) == (6, ["implement 1"])
    assert "no material progress" in done.out
    task.audit()


@pytest.mark.parametrize(
    ("again", "is_gain"),
    [
        ('echo "other words $DETENT_RUN_NUMBER" > "$DETENT_TASK_DIR/artifacts/r.txt"', False),
        ('echo new > "$DETENT_TASK_DIR/artifacts/r$DETENT_RUN_NUMBER.txt"', True),
        ('field "Current result" "step $DETENT_RUN_NUMBER"', True),
        ('field "Candidate done" yes', True),
        (BUSY, True),
    ],
    ids=["artifact rewritten", "new artifact", "field", "gate opened", "tree"],
)
def test_only_real_gains_are_progress(agents: Agents, again: str, is_gain: bool) -> None:
    agents.honest()
    agents.script("implement", 'echo first > "$DETENT_TASK_DIR/artifacts/r.txt"; field "Current result" begun', run=1)
    agents.script("implement", again, run=2)
    task = agents.task()
    task.run("--once", expect=0)
    task.run("--once")
    assert [entry["progress"] for entry in task.entries("unmoved")] == [True, is_gain]
    task.audit()


def test_global_the_same_refusal_three_times_stops_the_task(agents: Agents) -> None:
    task = make_global(agents)
    report = json.dumps({"signal": "stuck", "reason": "step 2"})
    agents.script("codegen", f"{CODER}; echo \"# $DETENT_RUN_NUMBER\" >> app.py; out codegen-report.json '{report}'")
    done = task.run(expect=6)
    assert [entry["state"] for entry in task.entries("run_planned")].count("codegen") == 3
    assert "nothing_signalled" in done.out
    task.audit()
