"""An agent that says no is not overruled: global, orange, ralf and lights-out, each with real processes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.lightsout_pipeline import HONEST, Lights
from tests.conformance.ralf_threads import SPEC, Threads
from tests.conftest import Detent, MakeRepo
from tests.e2e.agent_runs import Agents
from tests.e2e.global_task import CODE_OK, CODER, make_global, out
from tests.e2e.orange_task import Oranges

BLOCKED = "BLOCKED: the brief contradicts itself. Options: [ask, guess]. Recommendation: ask."


@pytest.fixture
def agents(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Agents]:
    made = Agents(detent, repo, tmp_path)
    yield made
    made.close()


# --- global ---


def test_global_coder_that_asks_for_planning_does_not_reach_review(agents: Agents) -> None:
    task = make_global(agents)
    agents.script("codegen", f"{CODER}; detent move planning || true", run=3)
    task.run("--once")
    task.run("--once")
    done = task.run("--once", expect=1)
    assert (task.phase, task.last("run_ended")["no"]) == ("codegen", {"asked": "planning"})
    assert "refused: codegen -> planning" in done.out
    agents.script("codegen", "true")
    task.run(expect=4)  # the next run replaces the no: its work is judged
    assert "The last request was refused" in task.prompt(4)
    assert task.path_of_moves()[-3:] == ["review", "test", "accept"]
    task.audit()


@pytest.mark.parametrize(
    "report",
    [{"signal": "stuck", "reason": "I can't read step 2"}, {"reason": "I can't read step 2"}],
    ids=["unknown", "none"],
)
def test_global_an_unknown_signal_does_not_let_the_code_pass(agents: Agents, report: dict[str, str]) -> None:
    task = make_global(agents)
    line = json.dumps(report).replace("'", "'\\''")
    agents.script("codegen", f"{CODER}; out codegen-report.json '{line}'", run=3)
    for _ in range(3):
        task.run("--once")
    assert task.phase == "codegen", task.path_of_moves()
    assert "codegen-report.json" in task.last("unmoved")["why"]
    task.audit()


def test_global_empty_report_of_coder_does_not_let_code_pass(agents: Agents) -> None:
    task = make_global(agents)
    agents.script("codegen", f'{CODER}; : > "$DETENT_OUT/codegen-report.json"', run=3)
    for _ in range(3):
        task.run("--once")
    assert task.phase == "codegen", task.path_of_moves()


@pytest.mark.parametrize(("severity", "phase"), [("critical", "codegen"), ("Must-Fix", "codegen"), ("spicy", "review")])
def test_global_grave_issue_does_not_pass_because_of_ok(agents: Agents, severity: str, phase: str) -> None:
    task = make_global(agents)
    review = {"ok": True, "issues": [{"severity": severity, "message": "the sum is wrong"}]}
    agents.script("review", out("code-review.json", review), run=4)
    for _ in range(4):
        task.run("--once")
    assert task.phase == phase, task.path_of_moves()
    assert phase == "codegen" or "is no severity" in task.last("unmoved")["why"]


def test_global_a_review_run_requesting_planning_does_not_reach_test(agents: Agents) -> None:
    task = make_global(agents)
    agents.script("review", f"{CODE_OK}; detent move planning || true", run=4)
    for _ in range(4):
        task.run("--once")
    assert (task.phase, "test" in task.path_of_moves()) == ("review", False)
    task.audit()


def test_global_review_that_says_no_still_sends_the_code_back(agents: Agents) -> None:
    task = make_global(agents)
    no = {"ok": False, "issues": [{"severity": "blocking", "message": "wrong sum"}]}
    agents.script("review", f"{out('code-review.json', no)}; detent move done || true", run=4)
    for _ in range(4):
        done = task.run("--once")
    assert task.path_of_moves()[-1] == "codegen"
    assert "refused: review does not lead to done" in done.out
    task.run("--once")
    assert "review does not lead to done" in task.prompt(5)
    task.audit()


# --- orange: its document decides from artifacts after any exit ---


def test_orange_exit_monitoring_uses_artifacts_after_a_refused_request(oranges: Oranges) -> None:
    oranges.honest(
        working="work; handoff; orange task update --status done || true",
        agent_review="review PASS; orange task update --status done || true",
    )
    task = oranges.orange()
    done = task.run(expect=4)
    assert task.path_of_moves() == ["working", "agent-review", "reviewing"]
    assert "agent run #1 asked for done: refused: working -> done is forbidden" in done.out
    task.audit()


def test_orange_a_question_reaches_a_person_despite_a_handoff(oranges: Oranges) -> None:
    oranges.honest(working="work; handoff; orange task update --status clarification")
    task = oranges.orange()
    task.run(expect=4)
    assert task.path_of_moves() == ["working", "clarification"]
    task.audit()


# --- ralf ---


def test_ralf_a_request_to_stop_cancels_a_promise(threads: Threads) -> None:
    threads.script("Running", "ready; detent move Paused || true; promise", run=1)
    threads.script("Running", "count; promise")
    thread = threads.thread()
    thread.to("Running")
    done = thread.run("--once", expect=1)
    assert (thread.state(), "refused: Running -> Paused" in done.out) == ("Running", True)
    thread.run(expect=4)
    assert (thread.state(), threads.counted()) == ("Implemented", ["Running one"])
    thread.audit()


def test_ralf_a_spent_limit_is_reached_after_a_refused_request(threads: Threads) -> None:
    threads.script("Running", "detent move Abandoned || true; promise")
    thread = threads.thread(more="[machine.ralf.limits]\niteration = 2")
    thread.to("Running")
    thread.run(expect=4)
    assert (thread.state(), thread.last("moved")["edge"]) == ("Stuck", "max-iterations-or-all-models-exhausted")
    thread.audit()


def test_ralf_a_verifier_may_fail_a_green_criterion(threads: Threads) -> None:
    threads.script("Running", "ready; promise")
    verdicts = "- C1: FAIL, the word stands in a comment\\n- C2: PASS, seen"
    threads.script("Verifying", f'report verification.md Verification "{verdicts}"')
    thread = threads.thread()
    thread.to("Running", f"{SPEC}- it reads well\n")
    thread.run("--once")
    thread.run("--once")
    assert thread.last("moved")["edge"] == "criteria-failed-iterations-remain"
    thread.audit()


# --- lights-out ---


@pytest.mark.parametrize(
    ("state", "moves"),
    [
        ("Expanding", ["ExpandRetrying", "BlockedOnGate"]),
        ("Designing", ["DesignRetrying", "BlockedOnGate"]),
        ("Deploying", ["DeployRetrying", "BlockedOnGate"]),
    ],
)
def test_lightsout_report_of_stop_fails_gate_and_asks_a_person(lights: Lights, state: str, moves: list[str]) -> None:
    line = lights.at(state, **{state: f"{HONEST[state]}; echo '{BLOCKED}' > scaffolding/blocked.md"})
    done = line.run(expect=4)
    assert line.path_of_moves()[-2:] == moves, done
    assert "the brief contradicts itself" in done.out
    line.audit()


def test_lightsout_a_refused_request_keeps_the_gate_from_passing(lights: Lights) -> None:
    line = lights.at("Designing", Designing=f"{HONEST['Designing']}; detent move BlockedOnGate || true")
    done = line.run("--once", expect=1)
    assert (line.state(), "refused: Designing does not lead to BlockedOnGate" in done.out) == ("Designing", True)
    line.audit()


def test_lightsout_a_failed_gate_is_retried_after_a_refused_request(lights: Lights) -> None:
    line = lights.at("Designing", Designing="echo no > scaffolding/design.md; detent move BlockedOnGate || true")
    line.run("--once")
    assert line.path_of_moves()[-2:] == ["DesignRetrying", "Designing"]
    lights.script("Designing", HONEST["Designing"])
    line.run("--once")
    assert "DesignGatePassed" in line.path_of_moves()
    line.audit()
