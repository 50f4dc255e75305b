"""What an agent of a `phase` task is told, read from the prompts of real runs in each of the six working phases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo, environment_in
from tests.e2e.agent_runs import Agents
from tests.e2e.phase_task import FRAME, QUESTIONS

RELATION = json.loads((Path(__file__).parents[1] / "data/relations/000_phase.json").read_text(encoding="utf-8"))
WORKING = ("intake", "shape", "implement", "verify", "repair", "review")
FRAMED = "; ".join(f"field '{label}' '{value}'" for label, value in FRAME.items())


@pytest.fixture(scope="module")
def all_prompts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The first prompt of each phase."""
    folder = tmp_path_factory.mktemp("prompts")
    environment = environment_in(folder)
    agents = Agents(Detent(folder, environment), MakeRepo(folder / "repositories", environment), folder)
    try:
        agents.honest(intake=FRAMED, shape="field 'Current result' framed", repair="section Repairs '- the sum'")
        agents.script("verify", "section 'Failed checks' '- the sum is wrong'", run=4)
        task = agents.task()
        task.set(dict.fromkeys(FRAME, ""))
        task.run(expect=0)
        found: dict[str, str] = {}
        for planned in task.entries("run_planned"):
            found.setdefault(planned["state"], task.prompt(planned["run"]))
        task.audit()
        yield found
    finally:
        agents.close()


# What the document tells the agent of each phase, as facts: what it may and must not do, files, fields, labels, exits.
FRAME_FIELDS = ("`Objective`", "`Done gate`", "`Not doing`", "`Reality constraints`")
LABELS = ("`real_working`", "`real_read_only`", "`blocked_hidden`", "`unknown_do_not_show`")
ASKS = ("after `Blockers:`", "after `Next step:`", "ask for needs_user_decision")
FACTS = {
    "intake": (
        *FRAME_FIELDS,
        *("not locked yet", "read the request", "- edit code", "ask what is missing"),
        *("excluded, or `none`", "`none` is no answer"),
        *("question after `Blockers:` in STATE.md", "the task then waits"),
    ),
    "shape": (
        *(*FRAME_FIELDS, "`Validation plan`", "commands that prove the done gate", "`User facing`", *LABELS, *ASKS),
        *("## Visible features", "STATE.md or EVIDENCE.md", "no agent can change it", "ask for blocked", "- edit code"),
        *("kickoff frame", "every visible feature"),
    ),
    "implement": (
        *("- edit code, docs and scripts", "- create artifacts", "- run exploratory checks", "- update substeps"),
        *("may take several runs", "code or docs", "state", "evidence", "blocker", "risk", "stops the task"),
        *("candidate solution", "`Candidate done`", "`Evidence location`", "`Evidence link`", "TASKS.md"),
        *("text, Markdown, image or exported file", "full https:// address", "another computer", *ASKS),
        *("ask for blocked", "- change the frame", "locked now: Objective, Done gate"),
    ),
    "verify": (
        *("- run tests", "- run scenario checks", "- inspect outputs", "- collect evidence"),
        *("- mark failed categories", "- broad new feature work", "the claim itself proves nothing"),
        *("All required checks pass: review", "safe, bounded fix", "## Failed checks", "ask for repair"),
        *("Scope, risk or an ambiguity", *ASKS, "Impossible with what is true here", "ask for blocked"),
        *("## Manual evidence", "artifacts/"),
    ),
    "review": (
        *("the result and the diff", "matches the objective", "no fake backend", "shown as real"),
        *("no feature is visible that is ambiguous or works by half", "docs and artifacts", "minimal and sensible"),
        *("from the files alone", "## Gate answers", "Verdict: PASS", "Verdict: FAIL", "It passes: done"),
        *("can be fixed", "## Failed checks", "ask for repair", "product trade-off is unclear", *ASKS, "- edit code"),
    ),
    "repair": (
        *("bounded repair", "and nothing else", "Open-ended implementation is banned", "must go back to verify"),
        *("- fix known failed checks", "- tighten docs and evidence", "- hide or disable an untruthful feature"),
        *("- open-ended implementation", "## Repairs", *ASKS, "ask for blocked", "- the sum is wrong"),
    ),
}


def test_there_are_facts_for_every_working_phase(all_prompts: dict[str, str]) -> None:
    assert set(FACTS) == set(all_prompts) == set(WORKING)


@pytest.mark.requirement("S0.58")
@pytest.mark.told("S0.16", "S0.18", "S0.19", "S0.20", "S0.27", "S0.28")
@pytest.mark.parametrize("phase", WORKING)
def test_a_prompt_carries_every_instruction_of_the_document(all_prompts: dict[str, str], phase: str) -> None:
    text = " ".join(all_prompts[phase].split()).lower()
    assert [fact for fact in FACTS[phase] if fact.lower() not in text] == []


@pytest.mark.requirement("S0.64")
@pytest.mark.parametrize("phase", WORKING)
def test_prompt_names_its_phase_and_the_allowed_next_phases_only(all_prompts: dict[str, str], phase: str) -> None:
    allowed = {edge["to"] for edge in RELATION["transitions"] if edge["from"] == phase}
    assert f"The task is in state **{phase}**" in all_prompts[phase]
    assert set(re.findall(rf"^### {phase} -> (\w+)$", all_prompts[phase], re.MULTILINE)) == allowed
    assert set(re.findall(r"detent move (\w+)", all_prompts[phase])) - {"STATE"} == allowed
    for heading in ("## You may", "## You must not", "## Allowed next states, and what each needs"):
        assert heading in all_prompts[phase]


@pytest.mark.requirement("S0.64")
@pytest.mark.parametrize("phase", WORKING)
def test_every_update_that_a_move_still_needs_is_spelled_out(all_prompts: dict[str, str], phase: str) -> None:
    missing = re.findall(r"^- \[ \] (.*)$", all_prompts[phase], re.MULTILINE)
    assert missing
    assert [line for line in missing if "To do: " not in line and "the engine runs" not in line] == []


def test_link_is_asked_for_without_saying_that_there_are_artifacts(all_prompts: dict[str, str]) -> None:
    lines = all_prompts["implement"].partition("evidence_linked: ")[2].splitlines()[0]
    assert lines.startswith("needed once there is a file under artifacts/. To do: link in STATE.md to what lies under")


def test_review_is_told_every_question_of_the_gate(all_prompts: dict[str, str]) -> None:
    assert [question for question in QUESTIONS if f'"- {question}: yes, by ' not in all_prompts["review"]] == []
