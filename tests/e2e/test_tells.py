"""STATE.md alone says that a task is stopped, blocked, waits or is done (phase, real processes); README is true."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.agent_runs import Agents
from tests.e2e.phase_task import BLOCKED, CHECK, PhaseTask

BLOCKS = f"count; field Blockers '{BLOCKED['Blockers']}'"


@pytest.mark.requirement("S0.3", "S0.67")
def test_a_task_without_progress_says_that_it_is_stopped(agents: Agents) -> None:
    task = agents.task()
    task.run(expect=6)
    assert task.field("Phase") == "implement"
    assert task.field("Status") == "stopped: no material progress: 2 agent run(s) changed nothing"
    assert task("resume", "--reason", "try again", task.id, cwd=task.repo).code == 0
    assert task.field("Status") == "resumed"
    task.audit()


@pytest.mark.requirement("S0.3")
@pytest.mark.parametrize("words", ["", "half of it is done"], ids=["blank", "filled"])
def test_blocked_task_shows_its_blocker_and_the_agent_s_words(agents: Agents, words: str) -> None:
    filled = f"; field Status '{words}'; field 'Next step' 'ask Ann'" if words else ""
    agents.honest(implement=f"{BLOCKS}{filled}; detent move blocked")
    task = agents.task()
    task.run(expect=4)
    assert task.field("Phase") == "blocked"
    before = f" (before: {words})" if words else ""
    assert task.field("Status") == f"blocked: the key is missing{before}"
    assert task.field("Current result") == "not finished: it is blocked"
    wanted = (
        "ask Ann"
        if words
        else 'a person removes what blocks it, then runs: detent resume words --reason "what was done"'
    )
    assert task.field("Next step") == wanted
    assert task("resume", "--reason", "here is the key", task.id, cwd=task.repo).code == 0
    assert task.field("Status") == (words or "resumed")
    assert task.field("Current result") == ""
    assert task.field("Next step") == ("ask Ann" if words else "")
    task.audit()


@pytest.mark.requirement("S0.3")
def test_a_question_says_that_a_decision_is_waited_for(agents: Agents) -> None:
    agents.honest(implement=f"{BLOCKS}; field 'Next step' 'A) buy one'; detent move needs_user_decision")
    task = agents.task()
    task.run(expect=4)
    assert task.field("Status") == "waiting for a decision: the key is missing"
    task.audit()


def test_question_in_intake_says_that_an_answer_is_waited_for(agents: Agents) -> None:
    agents.honest(intake="field Blockers 'which parser is meant?'")
    task = agents.task()
    task.set({"Done gate": ""})
    task.run(expect=4)
    assert task.field("Phase") == "intake"
    assert task.field("Status") == "waiting for an answer: which parser is meant?"
    assert task("answer", "the new one", task.id, cwd=task.repo).code == 0
    assert task.field("Status") == "resumed"
    task.audit()


@pytest.mark.requirement("S0.3")
def test_a_done_task_says_so_and_leaves_no_blank(agents: Agents) -> None:
    agents.honest()
    task = agents.task()
    task.run(expect=0)
    assert [task.field(label) for label in ("Phase", "Status")] == ["done", "done"]
    assert task.field("Current result") == "done: verified and reviewed, see Evidence link"
    assert task.field("Next step") == "none: the task is done"
    task.audit()


def test_words_of_a_done_task_are_no_tampering(agents: Agents) -> None:
    agents.honest(review="count; review PASS; field Status 'looks good'; field 'Current result' 'it counts'; true")
    task = agents.task()
    task.run(expect=0)
    assert task.field("Status") == "done (before: looks good)"
    assert task.field("Current result") == "it counts"
    assert task.entries("restored") == []
    task.audit()


def test_refusal_in_the_readme_is_printed_as_it_stands_there(at: Callable[[str], PhaseTask]) -> None:
    readme = Path(__file__).resolve().parents[2].joinpath("README.md").read_text(encoding="utf-8")
    shown = readme.partition("$ detent move review\n")[2].partition("```")[0]
    assert shown.count("'python3 -m unittest -q' failed on this tree (exit 1): FAILED (failures=1)") == 1
    task = at("verify")
    (task.repo / "app.py").write_text("broken\n", encoding="utf-8")
    quiet = shown.replace("'python3 -m unittest -q'", repr(CHECK)).replace(": FAILED (failures=1)", "")
    assert task.refused("review") == quiet
