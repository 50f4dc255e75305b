"""Tests of the verdict grammar, decision by decision."""

from __future__ import annotations

import pytest

from detent.gates.verdict import read_verdict, verdicts_on
from detent.words import gates as say
from tests.unit.gates.world import World

WORDS = ("PASS", "FAIL")


@pytest.mark.parametrize(
    "text",
    [
        "Verdict: PASS",
        "verdict: pass",
        "VERDICT:PASS",
        "Verdict = PASS",
        "**Verdict:** PASS",
        "**Verdict**: **PASS**",
        "__Verdict:__ __PASS__",
        "*Verdict:* _PASS_",
        "`Verdict: PASS`",
        "### Verdict: PASS",
        "Verdict: PASS\n---",
        "- Verdict: PASS",
        "1. **Verdict: PASS.**",
        "Verdict: PASS, all is well",
        "Verdict: PASS \u2014 not a single problem",
        "Verdict (round 2): PASS",
        "Final verdict: PASS",
        "The verdict is PASS",
        "Verdict \u2013 PASS",
        "Verdict:\n\nPASS",
        "### Verdict\n\nPASS",
        "Verdict: ~~FAIL~~ PASS",
        "Verdict: PASS\n\nverdict: pass",
        "it would FAIL without the fix\n\nVerdict: PASS",
    ],
)
def test_an_explicit_verdict_is_read_in_any_dress(text: str) -> None:
    assert read_verdict(text, WORDS) == "PASS"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("all tests pass\n\nVerdict: FAIL", "FAIL"),
        ("PASS\n\nVerdict: FAIL", "FAIL"),
        ("Verdict: FAIL\n\nPASS\n\nPASS", "FAIL"),
        ("PASS criteria were looked at\n\nFinal verdict: FAIL", "FAIL"),
        ("everything may fail\n\nPASS", "PASS"),
        ("the tests pass\nand some fail\n\n**FAIL**", "FAIL"),
        ("the tests pass\nand some fail\n\nFAIL.", "FAIL"),
        ("the tests pass\nand some fail\n\nFAIL !!!", "FAIL"),
        ("PASS: the old bug that made it fail is gone\nso", None),
        ("PASS with remarks\nthe remarks do not let it fail", "PASS"),
        ("All tests pass.\nNothing else to say.", "PASS"),
        ("We looked.\nThe tests pass.\nSo does the lint.", "PASS"),
        ("The tests pass.\nThe lint may fail.", None),
    ],
)
def test_the_order_of_the_rules(text: str, verdict: str | None) -> None:
    """Explicit line, bare line, first line that starts with a word, and only then the word anywhere."""
    assert read_verdict(text, WORDS) == verdict


@pytest.mark.parametrize(
    "text", ["PASS", "pass", "**PASS**", "- PASS", "`PASS`.", "\u2705 PASS", "(PASS)", "[x] PASS", "# PASS"]
)
def test_a_bare_word_is_a_verdict(text: str) -> None:
    assert read_verdict(f"some words first\n\n{text}", WORDS) == "PASS"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing of the kind",
        "bypassed, passed, passes, passing",
        "PASS_WITH_NOTES",
        "Verdict: PASS or FAIL",
        "Verdict: PASS | FAIL",
        "Verdict: <PASS or FAIL>",
        "Verdict: PASS\n\nVerdict: FAIL",
        "PASS\n\nFAIL",
        "PASS / FAIL",
        "Verdict: maybe\n\nPASS",
        "Verdict: maybe\n\nVerdict: PASS",
        "Verdict: NOT PASS",
        "Verdict: can't PASS this",
        "Verdict: PASS?",
        "Verdict: PASS if the tests are fixed",
        "Verdict: PASS pending a second look",
        "Verdict: the tests PASS",
        "This does not PASS",
        "I can\u2019t let this pass",
        "It would pass with more work",
        "non-PASS",
        "PASS?",
        "~~PASS~~",
        "Verdict: ~~PASS~~",
        "- [ ] PASS",
        "- [ ] PASS\n- [ ] FAIL",
        "> PASS",
        "> Verdict: PASS",
        "- > Verdict: PASS",
        "```\nVerdict: PASS\n```",
        "~~~\nPASS",
        "    Verdict: PASS",
        "<!-- Verdict: PASS -->",
        "<!--\nPASS\n-->",
        "<div>\nVerdict: PASS\n</div>",
        "[verdict]: PASS",
    ],
)
def test_everything_else_is_no_verdict(text: str) -> None:
    assert read_verdict(text, WORDS) is None


def test_other_words_can_be_asked_for() -> None:
    assert read_verdict("Verdict: needs work", ("approved", "needs work")) == "needs work"
    assert read_verdict("Verdict: Approved", ("approved", "needs work")) == "approved"
    assert read_verdict("Verdict: PASS", ("approved", "needs work")) is None


@pytest.mark.parametrize("unit", ["no ", "- ", "~~", "_", "not PASS ", "Verdict: ", "verdict (", "> "])
def test_a_large_hostile_line_is_read(unit: str) -> None:
    """Linear, or this would not end."""
    text = "PASS " + unit * (200_000 // len(unit))
    assert read_verdict(text, WORDS) == (None if "PASS" in unit else "PASS")
    assert read_verdict(f"{text}\n\nVerdict: FAIL", WORDS) == "FAIL"


# --- the check around it ---

REVIEW = "## Review\n\n{}\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", say.section_missing("EVIDENCE.md", "Review")),
        ("### Review\n\nVerdict: PASS\n", say.section_missing("EVIDENCE.md", "Review")),
        ("```\n## Review\n\nVerdict: PASS\n```\n", say.section_missing("EVIDENCE.md", "Review")),
        ("<!--\n## Review\n\nVerdict: PASS\n-->\n", say.section_missing("EVIDENCE.md", "Review")),
        ("## Reviewers\n\nVerdict: PASS\n", say.section_missing("EVIDENCE.md", "Review")),
        (REVIEW.format(""), say.section_blank("EVIDENCE.md", "Review")),
        (REVIEW.format("TODO"), say.section_blank("EVIDENCE.md", "Review")),
        (REVIEW.format("<!-- Verdict: PASS -->"), say.section_blank("EVIDENCE.md", "Review")),
        (REVIEW.format("Round: 2"), say.section_blank("EVIDENCE.md", "Review")),
        (
            REVIEW.format("```\nVerdict: PASS\n```"),
            say.no_clear_verdict("EVIDENCE.md", "Review", ["PASS", "FAIL"]),
        ),
        (REVIEW.format("Verdict: PASS/FAIL"), say.no_clear_verdict("EVIDENCE.md", "Review", ["PASS", "FAIL"])),
        (REVIEW.format("Verdict: FAIL"), say.verdict_differs("EVIDENCE.md", "Review", "FAIL", "PASS")),
        (
            REVIEW.format("Verdict: PASS") + REVIEW.format("Verdict: FAIL"),
            say.verdict_differs("EVIDENCE.md", "Review", "FAIL", "PASS"),
        ),
    ],
)
def test_a_review_that_does_not_pass_says_why(world: World, text: str, why: str) -> None:
    world.evidence(text)
    fact = world.fact("review_passed")
    assert not fact.ok
    assert fact.why.startswith(why)
    assert 'EVIDENCE.md with a line "Verdict: PASS"' in fact.fix


@pytest.mark.parametrize(
    "text",
    [
        REVIEW.format("Verdict: PASS"),
        "## review:\n\npass\n",
        "## **Review**\n\n### Verdict: PASS\n",
        REVIEW.format("Verdict: FAIL") + REVIEW.format("Verdict: PASS"),
        "Review\n------\n\nPASS\n",
    ],
)
def test_a_review_that_passes(world: World, text: str) -> None:
    world.evidence(text)
    assert world.fact("review_passed").ok
    assert not world.fact("review_failed").ok


def test_a_review_that_fails_opens_the_other_gate(world: World) -> None:
    world.evidence(REVIEW.format("Verdict: FAIL, two checks are red"))
    assert world.fact("review_failed").ok
    assert not world.fact("review_passed").ok


@pytest.mark.parametrize(
    "line",
    [
        "- C1: PASS, seen in app.log",
        "- c1: pass",
        "- [x] C1: PASS",
        "- [X] **C1**: PASS",
        "* `C1` \u2013 Pass",
        "1. C1 PASS",
        "C1. PASS",
        "C1) PASS",
        "CRITERION 1: PASS",
        "Criterion #1 - PASS: it is there",
        "| C1 | PASS |",
        "C1: PASS\n\nC1: PASS",
        "~~C1: FAIL~~\n\nC1: PASS",
    ],
)
def test_a_line_about_one_criterion_is_read_in_any_dress(line: str) -> None:
    assert {verdict for verdict, _ in verdicts_on(f"Round: 1\n\n{line}\n\n- C11: FAIL\n", "C1", WORDS)} == {"PASS"}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", set()),
        ("- [ ] C1: PASS", set()),
        ("> C1: PASS", set()),
        ("```\nC1: PASS\n```", set()),
        ("- C10: PASS", set()),
        ("- C1-b: PASS", set()),
        ("- XC1: PASS", set()),
        ("- CRITERION 10: PASS", set()),
        ("- [x] C1", {None}),
        ("- [x] C1: FAIL", {"FAIL"}),
        ("- C1: fail", {"FAIL"}),
        ("- C1: pass or fail", {None}),
        ("- C1: does not pass", {None}),
        ("- C1 passes", {None}),
        ("- C1 pass rate is low", {None}),
        ("- C1: PASS\n- C1: FAIL", {"PASS", "FAIL"}),
        ("- C1: PASS\n- Criterion 1: FAIL", {"PASS", "FAIL"}),
    ],
)
def test_line_that_is_not_clear_about_criterion_is_no_pass(line: str, found: set[str | None]) -> None:
    assert {verdict for verdict, _ in verdicts_on(line, "C1", WORDS)} == found


def test_named_criterion_is_called_by_its_name() -> None:
    assert [verdict for verdict, _ in verdicts_on("- ac-7: pass", "AC-7", WORDS)] == ["PASS"]
    assert verdicts_on("- criterion 7: PASS", "AC-7", WORDS) == ()
