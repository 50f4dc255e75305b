"""What JSON reviews, decisions and signals come to, with the place that says so and the words that are told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from detent.packs.global_ import words as say
from detent.packs.global_.reviews import DECISIONS, read_code_review, read_plan_review
from detent.store.journal.memory import Filing
from detent.words import artifacts as artifacts_words
from tests.unit.gates.test_json_gates import CODE_REVIEW, DECISION, PLAN_REVIEW, REPORT, Desk

CLEAR, NEEDS = {"ok": True, "blocked": False}, "needs_changes"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# --- a review of a plan: what it comes to, and which place decides ---

PLAN_REVIEWS: Mapping[str, tuple[dict[str, Any], str, str, str]] = {
    # A block counts first.
    "blocked": ({**CLEAR, "blocked": True}, "blocked", "/blocked", say.is_blocked()),
    "blocked below": ({**CLEAR, "aggregate": {"blocked": True}}, "blocked", "/aggregate/blocked", say.is_blocked()),
    "blocked in another spelling": (
        {**CLEAR, "aggregated": {"blocked": True}},
        "blocked",
        "/aggregated/blocked",
        say.is_blocked(),
    ),
    **{
        f"{key} blocked": ({**CLEAR, key: "Blocked"}, "blocked", f"/{key}", say.says(("blocked",)))
        for key in ("decision", "signal", "status", "verdict")
    },
    **{
        f"{key} blocked below": (
            {**CLEAR, "aggregate": {key: "blocked"}},
            "blocked",
            f"/aggregate/{key}",
            say.says(("blocked",)),
        )
        for key in ("decision", "verdict")
    },
    "a reviewer who is blocked": (
        {**CLEAR, "reviewers": [{"ok": True}, {"name": "ann", "ok": True, "blocked": True}]},
        "blocked",
        "/reviewers/1",
        say.blocked_by('"ann"'),
    ),
    "a reviewer who blocks": (
        {**CLEAR, "reviews": [{"ok": False, "severity": "Blocker"}]},
        "blocked",
        "/reviews/0",
        say.blocked_by("0"),
    ),
    "a reviewer who only warns of what blocks": ({**CLEAR, "reviewers": [{"severity": "blocking"}]}, "ok", "", ""),
    "a blocking issue with a message": (
        {**CLEAR, "issues": [{"severity": "blocking", "message": "no tests", "title": "t"}]},
        "blocked",
        "/issues/0",
        say.blocking_issue('"no tests"'),
    ),
    "a blocking issue with a title": (
        {**CLEAR, "issues": [{"severity": "minor"}, {"severity": "blocker", "title": "no tests"}]},
        "blocked",
        "/issues/1",
        say.blocking_issue('"no tests"'),
    ),
    "a blocking issue without words": (
        {**CLEAR, "issues": [{"severity": "blocking"}]},
        "blocked",
        "/issues/0",
        say.blocking_issue('{"severity": "blocking"}'),
    ),
    "a reviewer's blocking issue": (
        {**CLEAR, "reviews": [{"ok": True}, {"issues": [{"severity": "x"}, {"severity": "blocking", "message": "m"}]}]},
        "blocked",
        "/reviews/1/issues/1",
        say.blocking_issue('"m"'),
    ),
    # Then a no.
    "not ok": ({**CLEAR, "ok": False}, NEEDS, "/ok", say.not_ok()),
    "not ok below": ({**CLEAR, "aggregate": {"ok": False}}, NEEDS, "/aggregate/ok", say.not_ok()),
    "needs changes": ({**CLEAR, "needs_changes": True}, NEEDS, "/needs_changes", say.needs_changes()),
    "needs no changes": ({**CLEAR, "needs_changes": False}, "ok", "", ""),
    "flaws": (
        {**CLEAR, "structural_flaws": ["no tests"], "structural_flaw": True},
        NEEDS,
        "/structural_flaws",
        say.structural_flaw('["no tests"]'),
    ),
    "a flaw": (
        {**CLEAR, "structural_flaws": [], "structural_flaw": True},
        NEEDS,
        "/structural_flaw",
        say.structural_flaw("true"),
    ),
    "no flaw": ({**CLEAR, "structural_flaws": [], "structural_flaw": False}, "ok", "", ""),
    **{
        f"{key} no": ({**CLEAR, key: "Changes requested"}, "needs_changes", f"/{key}", say.says(("changes_requested",)))
        for key in ("decision", "signal", "status", "verdict")
    },
    **{
        f"says {word}": ({**CLEAR, "aggregate": {"verdict": word}}, NEEDS, "/aggregate/verdict", f"it says {word}")
        for word in ("needs_changes", "request_changes", "rejected", "reject", "fail", "failed", "plan_flawed")
    },
    # An unknown value may be a no.
    "a verdict in its own words": (
        {**CLEAR, "verdict": "Rejected: no tests"},
        "",
        "/verdict",
        say.no_verdict('"Rejected: no tests"', ("ok", "needs_changes", "blocked")),
    ),
    "a decision in its own words below": (
        {**CLEAR, "decision": "ok", "aggregate": {"decision": "lgtm"}},
        "",
        "/aggregate/decision",
        say.no_verdict('"lgtm"', ("ok", "needs_changes", "blocked")),
    ),
    "own words beside a clear no": (
        {"verdict": "hm", "ok": False, "blocked": False},
        NEEDS,
        "/ok",
        say.not_ok(),
    ),
    "a status in its own words": ({**CLEAR, "status": "completed", "signal": "done", "verdict": ""}, "ok", "", ""),
    # Then a yes without a block.
    **{
        f"says {word}": ({"verdict": word}, "ok", "", "")
        for word in ("ok", "approved", "approve", "accepted", "accept", "pass", "Passed")
    },
    "ok here, not blocked there": ({"ok": True, "aggregate": {"blocked": False}}, "ok", "", ""),
    "ok there, not blocked here": ({"blocked": False, "aggregated": {"ok": True}}, "ok", "", ""),
    "a status is no verdict": (
        {"status": "ok"},
        "",
        "/ok",
        say.ok_missing(),
    ),
    "only ok": ({"ok": True}, "", "/blocked", say.blocked_missing()),
    "an aggregate that is no object": (
        {"blocked": False, "aggregate": "ok"},
        "",
        "/ok",
        say.ok_missing(),
    ),
}


@pytest.mark.parametrize("how", PLAN_REVIEWS)
def test_a_plan_review_comes_to_one_word_from_one_place(how: str) -> None:
    review, *said = PLAN_REVIEWS[how]
    read = read_plan_review(review)
    assert [read.word, read.pointer, read.why] == said


# --- a review of code ---

BLOCKING = {"severity": "blocking"}
CODE_REVIEWS: Mapping[str, tuple[dict[str, Any], str, str, str]] = {
    "nothing": ({"issues": []}, "ok", "", ""),
    say.plan_flawed(): (
        {"verdict": "failed", "signal": "plan flawed", "issues": [BLOCKING]},
        "plan",
        "/signal",
        say.plan_flawed(),
    ),
    "an issue about the plan": (
        {"issues": [BLOCKING, {**BLOCKING, "about": "planning", "message": "no file for it"}]},
        "plan",
        "/issues/1",
        say.issue_of_plan('"no file for it"'),
    ),
    "an issue about the plan without words": (
        {"issues": [{**BLOCKING, "target": "plan"}]},
        "plan",
        "/issues/0",
        say.issue_of_plan('{"severity": "blocking", "target": "plan"}'),
    ),
    "a small issue about the plan in a review that says no": (
        {"ok": False, "issues": [{"severity": "minor", "target": "plan", "message": "m"}]},
        "plan",
        "/issues/0",
        say.issue_of_plan('"m"'),
    ),
    "a small issue about the plan beside one of the code that blocks": (
        {"issues": [{"severity": "minor", "target": "plan"}, {**BLOCKING, "message": "m"}]},
        NEEDS,
        "/issues/1",
        say.blocking_issue('"m"'),
    ),
    "who blocks is told before who says no": (
        {"ok": False, "issues": [{**BLOCKING, "message": "m"}]},
        NEEDS,
        "/issues/0",
        say.blocking_issue('"m"'),
    ),
    "a verdict in its own words": (
        {"ok": True, "verdict": "not yet", "issues": []},
        "",
        "/verdict",
        say.no_verdict('"not yet"', ("ok", "needs_changes", "blocked")),
    ),
    "own words beside an issue that blocks": (
        {"verdict": "not yet", "issues": [{**BLOCKING, "message": "m"}]},
        NEEDS,
        "/issues/0",
        say.blocking_issue('"m"'),
    ),
    "a verdict that passes": ({"decision": "approve", "verdict": "Pass", "issues": []}, "ok", "", ""),
    "it only says no": ({"ok": False, "issues": []}, NEEDS, "/ok", say.not_ok()),
}


@pytest.mark.parametrize("how", CODE_REVIEWS)
def test_a_code_review_comes_to_one_word_from_one_place(how: str) -> None:
    review, *said = CODE_REVIEWS[how]
    read = read_code_review(review)
    assert [read.word, read.pointer, read.why] == said


@pytest.mark.parametrize(
    ("gate", "why"),
    [
        ("plan_ok", say.other_answer(say.is_blocked(), "blocked", "ok")),
        ("plan_needs_changes", say.other_answer(say.is_blocked(), "blocked", "needs_changes")),
    ],
)
def test_a_gate_says_what_a_review_came_to_instead(desk: Desk, gate: str, why: str) -> None:
    desk.put(PLAN_REVIEW, {"ok": True, "blocked": True})
    fact = desk.fact(gate)
    assert (fact.ok, fact.why) == (False, artifacts_words.at(PLAN_REVIEW, "/blocked", why))
    assert desk.fact("plan_blocked").note == say.is_blocked()


def test_gate_tells_a_plain_yes_from_no_answer(desk: Desk) -> None:
    desk.put(PLAN_REVIEW, CLEAR)
    assert desk.fact("plan_blocked").why == artifacts_words.at(
        PLAN_REVIEW, "", say.other_answer(say.says(("ok",)), "ok", "blocked")
    )
    desk.put(PLAN_REVIEW, {"blocked": False})
    assert desk.fact("plan_blocked").why.endswith(
        artifacts_words.at("review/plan-review.json", "/ok", say.other_answer(say.ok_missing(), "", "blocked"))
    )


@pytest.mark.parametrize(
    ("gate", "name"),
    [
        *(("plan_ok", PLAN_REVIEW), ("review_clear", CODE_REVIEW), ("decision_accepted", DECISION)),
        *(("plan_unclear", REPORT),),
    ],
)
def test_unreadable_review_says_nothing_and_is_remembered_on_entry(desk: Desk, gate: str, name: str) -> None:
    fact = desk.fact(gate)
    assert (fact.ok, fact.why) == (False, artifacts_words.json_missing(name))
    desk.put(name, "{")
    fact = desk.fact(gate)
    assert (fact.ok, fact.why.partition(": ")[0]) == (False, name)
    assert fact.proof, "what lay there is known by its hash, though it says nothing"


def test_code_review_that_person_wrote_is_about_whatever_is_there(desk: Desk) -> None:
    desk.put(CODE_REVIEW, {"issues": []})
    for filing in (Filing(), Filing(tree="another"), Filing(tree="another", files={REPORT: "filed"})):
        desk.filing = filing
        assert desk.fact("review_clear").ok, filing


# --- decisions ---


def at(place: str, problem: str) -> str:
    return artifacts_words.at(DECISION, place, problem)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"verdict": "fine", "accepted": True}, at("/verdict", say.no_decision('"fine"', DECISIONS))),
        ({"accepted": False}, at("/accepted", say.no_decision("false", DECISIONS))),
        ({"verdict": "accepted", "decision": "revert"}, at("", say.decides_nothing(["accepted", "revert"]))),
        ({"status": "revert", "reason": "red"}, at("/status", say.decision_differs("revert", "accepted"))),
        ({"reason": "hm"}, at("/verdict", say.decision_differs("", "accepted"))),
    ],
)
def test_what_a_decision_lacks_is_told_with_its_place(desk: Desk, said: dict[str, Any], why: str) -> None:
    desk.put(DECISION, said)
    fact = desk.fact("decision_accepted")
    assert not fact.ok
    assert fact.why == why


def test_one_decision_may_be_said_in_several_words(desk: Desk) -> None:
    desk.put(DECISION, {"verdict": "accept", "decision": "approved", "accepted": True, "reason": "r" * 400})
    fact = desk.fact("decision_accepted")
    assert (fact.ok, fact.note) == (True, "r" * 300)
    desk.put(DECISION, {"verdict": "accept"})
    assert desk.fact("decision_accepted").note == ""


# --- signals ---


def test_a_signal_comes_with_its_reason(desk: Desk) -> None:
    desk.put(REPORT, {"signal": "Plan unclear", "reason": "r" * 400})
    fact = desk.fact("plan_unclear")
    assert (fact.ok, fact.note) == (True, "r" * 300)


@pytest.mark.parametrize(
    ("said", "place", "why"),
    [
        ({"signal": "blocked"}, "/signal", say.signal_differs("blocked", ["needs_changes", "plan_unclear"])),
        ({"status": "blocked"}, "/status", say.signal_differs("blocked", ["needs_changes", "plan_unclear"])),
        ({}, "/signal", say.signal_differs("", ["needs_changes", "plan_unclear"])),
        ({"signal": "plan_unclear", "status": "blocked"}, "/signal", say.unclear_signal(["plan_unclear", "blocked"])),
    ],
)
def test_what_a_signal_lacks_is_told_with_its_place(desk: Desk, said: dict[str, Any], place: str, why: str) -> None:
    desk.put(REPORT, {**said, "reason": "step 2"})
    assert desk.fact("plan_unclear").why == artifacts_words.at(REPORT, place, why)


def test_the_same_signal_may_stand_there_twice(desk: Desk) -> None:
    desk.put(REPORT, {"signal": "plan_unclear", "status": "plan-unclear", "reason": "step 2"})
    assert desk.fact("plan_unclear").ok
    assert desk.fact("nothing_signalled").why == artifacts_words.at(REPORT, "/signal", say.signals("plan_unclear"))


def test_no_signal_is_nobodys_proof(desk: Desk) -> None:
    """The gate asks for what is new; a report that is not there, or says nothing, need not be."""
    for report in (None, {"status": "completed", "reason": "all done"}):
        if report:
            desk.put(REPORT, report)
        fact = desk.fact("nothing_signalled")
        assert (fact.ok, fact.why, fact.by_hand) == (True, "", False)


@pytest.mark.parametrize(
    ("report", "why"),
    [
        ("{", f"{REPORT}: "),
        (
            {"signal": "blocked", "status": "done", "reason": "r"},
            artifacts_words.at(REPORT, "/signal", say.unclear_signal(["blocked", "done"])),
        ),
        ({"status": "blocked", "reason": "r"}, artifacts_words.at(REPORT, "/status", say.signals("blocked"))),
    ],
)
def test_a_report_that_is_there_is_read(desk: Desk, report: object, why: str) -> None:
    desk.put(REPORT, report)
    fact = desk.fact("nothing_signalled")
    assert not fact.ok
    assert fact.why.startswith(why)
