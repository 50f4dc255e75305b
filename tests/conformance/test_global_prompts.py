"""What an agent of a `global` task is told, read from the prompts of real runs in each phase that has an agent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo, environment_in
from tests.e2e.agent_runs import Agents
from tests.e2e.global_task import make_global, out

RELATION = json.loads((Path(__file__).parents[1] / "data/relations/001_global.json").read_text(encoding="utf-8"))
WITH_AGENT = ("planning", "plan_review", "codegen", "review")
BY_PERSON = {("planning", "planning"), ("codegen", "codegen")}  # re-plan and re-run are a person's /redo
SENT_BACK = {"ok": False, "issues": [{"severity": "blocking", "target": "code", "message": "the sum is wrong"}]}
BLOCKED = {"ok": False, "blocked": True, "issues": [{"severity": "blocking", "message": "name the tests"}]}


@pytest.fixture(scope="module")
def all_prompts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    """The prompts of each phase, in order; the plan and the code are sent back once."""
    folder = tmp_path_factory.mktemp("prompts")
    environment = environment_in(folder)
    agents = Agents(Detent(folder, environment), MakeRepo(folder / "repositories", environment), folder)
    try:
        task = make_global(agents)
        agents.script("plan_review", out("plan-review.json", BLOCKED), run=2)
        agents.script("planning", out("planning.ai.json", {"summary": "with tests", "open_questions": []}), run=3)
        agents.script("review", out("code-review.json", SENT_BACK), run=6)
        task.run(expect=4)
        assert task.phase == "accept"
        found: dict[str, list[str]] = {}
        for planned in task.entries("run_planned"):
            found.setdefault(planned["state"], []).append(task.prompt(planned["run"]))
        task.audit()
        yield found
    finally:
        agents.close()


# What the document tells the agent of each phase, as facts: artifacts, keys, severities, signals, where each leads.
FACTS = {
    "planning": (
        *("`planning.ai.json`", "planning/planning.ai.json", "`plan.files.json`", "`open_questions`", "blocking"),
        *("waits for a person", "every path", "sends the task back here", "change any file of the repository"),
    ),
    "plan_review": (
        *("planning/planning.ai.json", "plan.files.json", "review/plan-review.json", "`ok`", "`blocked`", "`issues`"),
        *('"blocking" | "major" | "minor"', "`structural_flaws`", "contradicts", "change the plan"),
        *("(review ok)", "(review needs changes)", "(review blocked)"),
    ),
    "codegen": (
        *("planning/planning.ai.json", "plan.files.json", "code/diff.patch", "code/files/", "review/code-review.json"),
        *("eval/eval-report.json", "Run the tests yourself", "codegen-report.json", "`reason`", "`plan_unclear`"),
        *("`needs_changes`", "`plan_incomplete`", "`scope_mismatch`", "`blocked`", "essential part is missing"),
        *("change files that the plan does not name", "(codegen completed)", "(scope mismatch)", "(plan unclear)"),
        *("locked now: planning/, plan.files.json",),
    ),
    "review": (
        *("code/diff.patch", "planning/planning.ai.json", "review/code-review.json", "`ok`", "`issues`"),
        *('"blocking" | "major" | "minor"', '"code" | "plan"', "to planning where", "else to the coder"),
        *("goes on to the tests", "(review passes)", "(needs code changes)", "(plan flawed)", "fix what you find"),
    ),
}


def test_there_are_facts_for_every_phase_with_an_agent(all_prompts: dict[str, list[str]]) -> None:
    assert set(FACTS) == set(all_prompts) == set(WITH_AGENT)


@pytest.mark.told("S1.59")
@pytest.mark.parametrize("phase", WITH_AGENT)
def test_a_prompt_carries_every_instruction_of_the_document(all_prompts: dict[str, list[str]], phase: str) -> None:
    for prompt in all_prompts[phase]:
        text = " ".join(prompt.split()).lower()
        assert [fact for fact in FACTS[phase] if fact.lower() not in text] == []


@pytest.mark.requirement("S1.52")
@pytest.mark.parametrize("phase", WITH_AGENT)
def test_prompt_names_the_phases_that_its_work_may_lead_to(all_prompts: dict[str, list[str]], phase: str) -> None:
    allowed = {edge["to"] for edge in RELATION["transitions"] if edge["from"] == phase} - {
        to for source, to in BY_PERSON if source == phase
    }
    for prompt in all_prompts[phase]:
        assert set(re.findall(rf"^### {phase} -> (\w+)", prompt, re.MULTILINE)) == allowed


def test_no_update_that_is_asked_for_contradicts_another(all_prompts: dict[str, list[str]]) -> None:
    """The engine writes the patch, so no line of it is the agent's; a plan without a question needs no answer."""
    again = all_prompts["codegen"][1].partition("diff_changed: ")[2].splitlines()[0]
    assert again.endswith("the same change again is no answer")
    first = all_prompts["planning"][0].partition("questions_closed: ")[2].splitlines()[0]
    assert 'To do: write "open_questions": [] in planning.ai.json' in first


def test_what_sent_work_back_is_quoted_to_the_next_run(all_prompts: dict[str, list[str]]) -> None:
    assert 'an issue: "name the tests"' in all_prompts["planning"][1]
    assert 'a blocking issue: "the sum is wrong"' in all_prompts["codegen"][1]
