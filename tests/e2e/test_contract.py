"""What a run is told to do to open a move is exact: an agent that does what is listed, and no more, is not refused."""

from __future__ import annotations

import re

import pytest

from tests.e2e.agent_runs import Agents
from tests.e2e.global_task import CODE_OK, make_global, out
from tests.e2e.phase_task import QUESTIONS


def move_part(prompt: str, title: str) -> str:
    """The lines under `### FROM -> TO`."""
    found = re.search(rf"^### {re.escape(title)}\n(.*?)(?=^##|\Z)", prompt, re.MULTILINE | re.DOTALL)
    assert found, prompt
    return found[1]


def test_link_for_future_artifacts_is_listed_before_there_are_any(agents: Agents) -> None:
    agents.honest()
    task = agents.task()
    task.run("--once")
    listed = move_part(task.prompt(1), "implement -> verify")
    assert "- [x] evidence_linked" not in listed
    assert "evidence_linked: needed once there is a file under artifacts/. To do: " in listed
    assert '"Evidence link: [proof](artifacts/result.txt)"' in listed


def test_an_agent_that_does_exactly_what_implement_lists_reaches_verify(agents: Agents) -> None:
    agents.honest(
        implement='mkdir -p "$DETENT_TASK_DIR/artifacts"; echo seen > "$DETENT_TASK_DIR/artifacts/result.txt"; '
        'field "Candidate done" yes; field "Evidence location" artifacts/result.txt; '
        'field "Evidence link" "[proof](artifacts/result.txt)"; echo "# on" >> app.py'
    )
    task = agents.task()
    task.run("--once", expect=0)
    assert task.state() == "verify"


def test_review_is_given_every_question_at_once(agents: Agents) -> None:
    agents.honest()
    task = agents.task()
    for _ in range(3):
        task.run("--once", expect=0)
    listed = move_part(task.prompt(3), "review -> done")
    assert [question for question in QUESTIONS if f'"- {question}: yes, by ' not in listed] == []


@pytest.mark.requirement("S0.65")
def test_repair_names_its_way_back_and_contradicts_nothing(agents: Agents) -> None:
    agents.honest(repair='section Repairs "- fixed"; detent move verify')
    agents.script("verify", 'section "Failed checks" "- the page is empty"', run=2)
    task = agents.task()
    for _ in range(3):
        task.run("--once")
    prompt = task.prompt(3)
    assert "must go back to verify" in prompt
    assert "- open-ended implementation" in prompt.partition("## You must not")[2].partition("##")[0]
    forbidden = prompt.partition("## You must not")[2].partition("##")[0]
    for target in re.findall(r"^### repair -> (\w+)", prompt, re.MULTILINE):
        assert target not in forbidden


@pytest.mark.parametrize("runs", [1, 2, 3, 4])
def test_no_prompt_has_an_empty_to_do(agents: Agents, runs: int) -> None:
    task = make_global(agents)
    for _ in range(runs):
        task.run("--once")
    assert not re.search(r"To do:\s*$", task.prompt(runs), re.MULTILINE)


def test_what_only_second_round_needs_is_not_asked_of_first(agents: Agents) -> None:
    task = make_global(agents)
    sent_back = {"ok": False, "issues": [{"severity": "blocking", "target": "code", "message": "wrong sum"}]}
    agents.script("review", out("code-review.json", sent_back), run=4)
    for _ in range(5):
        task.run("--once")
    assert "plan_renewed" not in task.prompt(1)
    assert "diff_changed" not in task.prompt(3)
    assert "diff_changed" in task.prompt(5)


def test_moves_to_one_state_differ_and_ways_are_alternatives(agents: Agents) -> None:
    task = make_global(agents)
    for _ in range(3):
        task.run("--once")
    plan_review, codegen = task.prompt(2), task.prompt(3)
    assert "### plan_review -> planning (review blocked)" in plan_review
    assert "### plan_review -> planning (review needs changes)" in plan_review
    lines = move_part(codegen, "codegen -> planning (scope mismatch)").split("\n")
    assert [line for line in lines if line in ("Either:", "Or:")] == ["Either:", "Or:"]


def test_what_the_work_may_still_break_is_not_ticked(agents: Agents) -> None:
    task = make_global(agents)
    for _ in range(3):
        task.run("--once")
    listed = move_part(task.prompt(3), "codegen -> review (codegen completed)")
    assert "- [ ] in_scope: it holds so far, and is judged again on the files you leave" in listed


def test_code_reviewer_is_told_that_ok_false_sends_work_back(agents: Agents) -> None:
    task = make_global(agents)
    agents.script("review", CODE_OK)
    for _ in range(4):
        task.run("--once")
    assert '`"ok": false`, sends the work back' in task.prompt(4)
