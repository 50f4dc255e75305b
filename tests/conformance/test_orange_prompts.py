"""Each state of the review loop has a prompt of its own: every instruction of the document is in it, and no other's."""

from __future__ import annotations

import os

import pytest

from detent.effects.host.sandbox import best_level
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from tests.e2e.orange_task import Oranges

# What the prompt of each state must say; the words are ours, the instructions are the document's.
WORKER = {
    "task": "Task: parse empty lines",
    "branch": "Branch: orange/lines",
    "requirements": "`## Context` and `## Notes`",
    "work": "Implement it, test it, commit it.",
    "handoff": "write `## Handoff` in TASK.md",
    "done": "DONE: ",
    "remaining": "REMAINING: ",
    "decisions": "DECISIONS: ",
    "uncertain": "UNCERTAIN: ",
    "ask": "`orange task update --status agent-review`",
    "question": "`orange task update --status clarification`",
    "no push": "Do not push",
    "no reviewing": "Never ask for `reviewing`",
    "fails": "(the command will fail if `## Handoff` is missing)",
}
AGAIN = {
    "task": "Task: parse empty lines",
    "branch": "Branch: orange/lines",
    "round": "Review round: 1\n",
    "read": "Read `## Review` in TASK.md",
    "fix": "Fix every issue",
    "handoff": "Bring `## Handoff` up to date with what you changed",
    "ask": "`orange task update --status agent-review`",
    "no push": "Do not push",
    "no reviewing": "Never ask for `reviewing`",
    "fails": "(the command will fail if `## Handoff` is missing",
}
REVIEWER = {
    "task": "Task: parse empty lines",
    "branch": "Branch: orange/lines",
    "round": "Review round: 1 of 2\n",
    "requirements": "the summary and `## Context`",
    "handoff": "Read `## Handoff`: what was done, and what its writer is not sure of",
    "diff": "`git diff origin/HEAD...HEAD`",
    "review": "Write `## Review` in TASK.md",
    "verdict first": "first the verdict: PASS or FAIL",
    "issues": "every issue",
    "praise": "what was done well",
    "pass": "PASS: `orange task update --status reviewing`",
    "fail": "FAIL: `orange task update --status working`",
    "no comments": "Post no comments on GitHub",
    "only here": "all feedback goes into TASK.md",
    "fails": "(the command will fail if `## Review` is missing or gives no verdict)",
}
CLARIFIER = {
    "task": "Task: parse empty lines",
    "branch": "Branch: orange/lines",
    "questions": "Write `## Questions` in TASK.md: two or three specific questions",
    "wait": "Then wait",
    "summary": '`orange task update --summary "..."`',
    "notes": "Write down in `## Notes`",
    "resume": "`orange task update --status working`",
}
STUCK = {
    "task": "Task: parse empty lines",
    "branch": "Branch: orange/lines",
    "round": "Review round: 2\n",
    "why": "`## Review` and `## Handoff` in TASK.md show what\nwent wrong",
    "read": "Read all of TASK.md.",
    "cause": "Remove the cause.",
    "handoff": "Write `## Handoff` with what you changed.",
    "ask": "`orange task update --status agent-review`",
    "fails": "(the command will fail if `## Handoff` is missing",
}
ASSISTANT = {
    "task": "Task: parse empty lines",
    "branch": "Branch: orange/lines",
    "read": "Read `## Handoff` and `## Review` in TASK.md",
    "diff": "`git diff origin/HEAD...HEAD`",
    "answer": "answer what is asked",
    "no decision": "The\ndecision is not yours.",
}
WAYS = {
    "worker": (("working",), WORKER),
    "worker again": (("working", "agent-review", "working"), AGAIN),
    "reviewer": (("working", "agent-review"), REVIEWER),
    "clarification": (("clarification",), CLARIFIER),
    "stuck": (("working", "agent-review", "working", "agent-review", "stuck"), STUCK),
    "assistant": (("working", "agent-review", "reviewing"), ASSISTANT),
}
FIRST_LINES = {
    "worker": "You implement a task.",
    "worker again": "You fix what a review found.",
    "reviewer": "You review how well a task was implemented.",
    "clarification": "This task waits for a person",
    "stuck": "You take up a task that is stuck.",
    "assistant": "A person reviews this task; you assist.",
}


def prompt_of(oranges: Oranges, *states: str) -> str:
    """What a run in the last of these states is told."""
    task = oranges.orange(*states)
    oranges.script(states[-1], "true")
    task.respawn()
    return task.prompt(1)


@pytest.mark.requirement("S3.49", "S3.50", "S3.51", "S3.52", "S3.53", "S3.54", "S3.55")
@pytest.mark.parametrize("name", WAYS)
def test_prompt_says_all_its_state_needs_and_nothing_of_others(oranges: Oranges, name: str) -> None:
    states, wanted = WAYS[name]
    prompt = prompt_of(oranges, *states)
    lacking = {what: words for what, words in wanted.items() if words not in prompt}
    assert not lacking
    assert {other for other, words in FIRST_LINES.items() if words in prompt} == {name}
    assert "{" not in prompt.partition("## You may")[0]  # every placeholder is filled


def test_every_state_with_a_prompt_has_its_facts() -> None:
    states = load("orange", vocabulary())[0].states.values()
    assert {state.name for state in states if state.prompt} == {names[-1] for names, _ in WAYS.values()}


@pytest.mark.requirement("S3.52")
def test_from_second_round_on_a_failed_review_leads_to_stuck(oranges: Oranges) -> None:
    prompt = prompt_of(oranges, "working", "agent-review", "working", "agent-review")
    assert "Review round: 2 of 2\n" in prompt
    assert "FAIL: `orange task update --status stuck`" in prompt


@pytest.mark.requirement("S3.52")
def test_beyond_the_limit_the_round_is_shown_with_it(oranges: Oranges) -> None:
    prompt = prompt_of(oranges, "working", "agent-review", "working", "agent-review", "stuck", "agent-review")
    assert "Review round: 3 (limit 2)\n" in prompt
    assert "FAIL: `orange task update --status stuck`" in prompt


@pytest.mark.requirement("S3.52")
def test_diff_a_reviewer_is_told_to_read_shows_the_work(oranges: Oranges) -> None:
    oranges.honest(agent_review="git diff origin/HEAD...HEAD; git rev-parse origin/HEAD")
    task = oranges.orange(level=best_level(os.environ).level)
    task.run()
    assert "+# worked on in run 1" in task.output(2)
    baseline = task.entries("created")[0]["baseline"]
    assert baseline in task.output(2)
    assert f"(it starts from {baseline})" in task.prompt(2)


def test_person_s_reason_for_changes_is_told_to_the_worker(oranges: Oranges) -> None:
    task = oranges.orange(
        "working", "agent-review", "reviewing", more='[machine.orange]\noptions = ["changes-requested"]'
    )
    oranges.script("working", "true")
    assert task("reject", task.id, "--reason", "a test for tabs is missing", cwd=task.repo).code == 0
    task.run()
    assert "> a test for tabs is missing" in task.prompt(1)
    assert "a test for tabs is missing" in task.text()  # and stands in Notes
