"""The artifact gates of the review loop, asked through the command line: only what TASK.md says counts."""

from __future__ import annotations

import json

import pytest

from detent.gates.verdict import read_verdict
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from tests.e2e.orange_task import Oranges, OrangeTask

NO_HANDOFF = {
    "nothing": "",
    "only white space": "\n## Handoff\n   \n\t\n",
    "only a comment": "\n## Handoff\n<!-- DONE: it works -->\n",
    "a placeholder": "\n## Handoff\nTODO\n",
    "another level": "\n### Handoff\nDONE: it works\n",
    "inside a fence": "\n```\n## Handoff\nDONE: it works\n```\n",
    "another name": "\n## Handoff notes\nDONE: it works\n",
    "a later empty one": "\n## Handoff\nDONE: it works\n\n## Handoff\n",
    "only a round": "\n## Handoff\nRound: 2\n",
}
HANDOFF = {
    "plain": "\n## Handoff\nDONE: it works\n",
    "another case and a colon": "\n## HANDOFF:\nDONE: it works\n",
    "a list": "\n## Handoff\n- DONE: it works\n- REMAINING: nothing\n",
    "behind other sections": "\n## Notes\nfoo\n\n## Handoff\nit works\n\n## Later\n",
}
VERDICTS = {
    "PASS": "pass",
    "FAIL": "fail",
    "pass": "pass",
    "**PASS**": "pass",
    "PASS: all good": "pass",
    "Verdict: FAIL": "fail",
    "### Verdict: PASS": "pass",
    "All tests pass.\n\nVerdict: FAIL": "fail",
    "Looked at everything, and it is a PASS from me.": "pass",
    "PASS\n\nOne test used to fail; it does not any more.": "pass",
    "PASSED with bypass": None,
    "PASS or FAIL, hard to say": None,
    "Verdict: PASS\nVerdict: FAIL": None,
    "It did not pass.": None,
    "If the tests ran I would write PASS.\nThey fail.": None,
    "> PASS\n\nis what the worker wrote": None,
    "```\nPASS\n```": None,
    "<!-- PASS -->": None,
    "nothing to say": None,
    "": None,
}


def names(task: OrangeTask, target: str) -> dict[str, dict[str, str]]:
    """What a refused `task update` says is missing, by gate."""
    done = task("task", "update", "--status", target, "--json")
    assert done.code == 1, done
    return {need["gate"]: need for need in done.json()["refusal"]["missing"]}


@pytest.mark.requirement("S3.3", "S3.13", "S3.18")
@pytest.mark.parametrize("body", NO_HANDOFF.values(), ids=NO_HANDOFF)
def test_without_a_real_handoff_nothing_is_reviewed(oranges: Oranges, body: str) -> None:
    task = oranges.orange("working")
    task.file.write_text(task.text() + body, encoding="utf-8")
    missing = names(task, "agent-review")
    assert list(missing) == ["handoff"]
    assert task.state() == task.head()["status"] == "working"


@pytest.mark.requirement("S3.13", "S3.18", "S3.20")
@pytest.mark.parametrize("body", HANDOFF.values(), ids=HANDOFF)
def test_a_handoff_opens_the_review(oranges: Oranges, body: str) -> None:
    task = oranges.orange("working")
    task.file.write_text(task.text() + body, encoding="utf-8")
    task.update("agent-review", expect=0)
    assert (task.state(), task.head()["status"], task.head()["review_round"]) == ("agent-review", "agent-review", "1")


def test_a_handoff_in_the_head_is_no_section(oranges: Oranges) -> None:
    task = oranges.orange("working")
    task.file.write_text(task.text().replace("session:", "note: |\n  ## Handoff\n  DONE: it works\nsession:"), "utf-8")
    assert list(names(task, "agent-review")) == ["handoff"]


@pytest.mark.requirement("S3.22")
def test_refusal_names_file_heading_and_example_that_opens_the_gate(oranges: Oranges) -> None:
    task = oranges.orange("working")
    said = names(task, "agent-review")["handoff"]
    assert said["why"] == 'TASK.md has no section "## Handoff"'
    assert '"## Handoff" in TASK.md' in said["fix"]
    task.add("Handoff", said["fix"].split('"')[3])  # the first line it gives as an example
    task.update("agent-review", expect=0)


@pytest.mark.requirement("S3.14", "S3.15", "S3.16", "S3.19")
@pytest.mark.parametrize(("body", "verdict"), VERDICTS.items(), ids=[repr(body)[:40] for body in VERDICTS])
def test_the_verdict_is_read_from_the_review_alone(body: str, verdict: str | None) -> None:
    found = read_verdict(body, ("PASS", "FAIL"))
    assert (found.lower() if found else None) == verdict


@pytest.mark.requirement("S3.14", "S3.15", "S3.16", "S3.19", "S3.27")
@pytest.mark.parametrize(
    ("body", "allowed"),
    [
        ("PASS\nfine", "reviewing"),
        ("FAIL\na test is missing", "working"),
        ("All tests pass.\n\nVerdict: FAIL", "working"),
        ("FAIL\n\n## Review\nPASS", "reviewing"),  # the last section of a name counts
        ("FAIL\n\n### Review\nPASS: the worker's own words", "working"),  # a line of its own is clearer
        ("no verdict", ""),
        ("PASS\nFAIL", ""),
        ("> PASS", ""),
        ("```\nPASS\n```", ""),
        ("<!-- PASS -->", ""),
    ],
)
def test_a_review_opens_just_the_move_of_its_verdict(oranges: Oranges, body: str, allowed: str) -> None:
    task = oranges.orange("working", "agent-review")
    task.add("Review", body)
    for target in ("stuck", "working", "reviewing"):
        if target != allowed:
            task.update(target, expect=1)
            assert task.state() == "agent-review"
    if allowed:
        task.update(allowed, expect=0)
        assert task.state() == allowed


@pytest.mark.requirement("S3.16")
def test_a_second_failed_review_leads_to_stuck_and_nowhere_else(oranges: Oranges) -> None:
    task = oranges.orange("working", "agent-review", "working", "agent-review")
    assert task.head()["review_round"] == "2"
    task.judged("FAIL")
    refused = names(task, "working")
    assert refused["review_round"]["why"] == "review_round has reached its limit of 2"
    task.update("stuck", expect=0)


def test_handoff_or_review_of_an_earlier_round_does_not_count(oranges: Oranges) -> None:
    task = oranges.orange("working", "agent-review", "working")
    stale = names(task, "agent-review")["handoff"]
    assert "unchanged since working was entered" in stale["why"]
    assert "Round: 2" in stale["fix"]
    handoff = task.text().partition("## Handoff\n")[2].partition("\n## ")[0]
    task.add("Handoff", f"{handoff}\nRound: 2")
    task.update("agent-review", expect=0)
    assert "unchanged since agent-review was entered" in names(task, "working")["review_failed"]["why"]


@pytest.mark.requirement("S3.58")
def test_map_and_gates_are_data_and_moves_are_validated(oranges: Oranges) -> None:
    """What the document wants as functions: the map, the gates, and an answer that says valid or why not."""
    export = oranges.detent("machine", "export", "orange", "--format", "json").json()
    allowed = {(row["from"], row["to"]) for row in export["transitions"]}
    assert ("working", "agent-review") in allowed
    assert len(allowed) == 18
    machine = load("orange", vocabulary())[0]
    gated = {
        (edge.source, edge.target): way.needs
        for edge in machine.edges()
        for way in edge.ways
        if way.needs and "agent" in way.by
    }
    assert gated == {
        ("working", "agent-review"): ("handoff",),
        ("agent-review", "reviewing"): ("review_passed",),
        ("agent-review", "working"): ("review_failed",),
        ("agent-review", "stuck"): ("review_failed",),
        ("stuck", "agent-review"): ("handoff",),
    }
    task = oranges.orange("working")
    edges = {edge["to"]: edge for edge in task.json("next")["edges"]}
    assert (edges["agent-review"]["open"], edges["clarification"]["open"]) == (False, True)
    assert json.dumps(edges["agent-review"]["missing"])


def test_run_of_another_role_leaves_a_role_s_files(oranges: Oranges) -> None:
    oranges.honest(agent_review="review FAIL; orange task update --status working")
    oranges.script("working", "work; handoff second; sed -i 's/^FAIL/PASS/' $task; orange task complete", run=3)
    tampering = "sed -i 's/DONE: it works/DONE: a lot/; s/^DONE: second/DONE: all/' $task; handoff mine"
    oranges.script("agent-review", f"{tampering}; review PASS; orange task update --status reviewing", run=4)
    task = oranges.orange()
    said = task.run(expect=4).out
    assert task.state() == "reviewing"
    assert 'TASK.md: "## Handoff" is for the worker, not the reviewer, and was put back' in said
    assert 'TASK.md: "## Review" is for the reviewer, not the worker, and was put back' in said
    text = task.text()
    assert [line for line in text.splitlines() if line.startswith("DONE:")] == [
        *("DONE: it works, by run 1", "DONE: second, by run 3"),
    ]
    assert [line for line in text.splitlines() if line in ("PASS", "FAIL")] == ["FAIL", "PASS"]
    assert 'locked now: summary, branch, TASK.md: "## Context", TASK.md: "## Handoff"' in task.prompt(2)
    task.audit()


def test_a_person_may_change_what_a_role_wrote(oranges: Oranges) -> None:
    task = oranges.orange("working", "agent-review")
    changed = task.text().replace("DONE: it works", "DONE: it works on empty lines too")
    task.file.write_text(changed, encoding="utf-8")
    task.judged("PASS")
    task.update("reviewing", expect=0)
    assert "DONE: it works on empty lines too" in task.text()
