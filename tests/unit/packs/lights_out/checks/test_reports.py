"""Findings, drift and blocks: what is open is told, what can't be judged opens neither way, a template is no report."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.packs.lights_out.checks.reports import BLOCKED_LINE, DRIFT_AXES, EXPLICIT_CHECKS, REVIEW_AXES, read_block
from detent.packs.lights_out.words import documents as documents_words
from detent.packs.lights_out.words import reports as reports_words
from detent.words.message import code_of
from tests.unit.packs.lights_out.pipeline import Project, Spoil, changed, replaced, without

REVIEW, RECONCILE, BLOCKED = "scaffolding/review.md", "scaffolding/reconcile.md", "scaffolding/blocked.md"
OPEN = "- It lies; severity: {}; axis: correctness; status: {}"


def found(*lines: str) -> Spoil:
    return replaced(REVIEW, "Findings", "\n".join(lines))


# --- findings ---


@pytest.mark.parametrize(
    ("severity", "status", "none_open", "some_open"),
    [
        ("Critical", "open", False, True),
        ("Required", "open", False, True),
        ("**required**", "`OPEN`", False, True),
        ("Critical", "fixed", True, False),
        ("Required", "resolved", True, False),
        ("Nit", "documented", True, False),
        ("Optional", "fixed", True, False),
        # What can't be judged proves neither.
        ("Critical", "documented", False, False),
        ("Critical", "wontfix", False, False),
        ("Critical", "open or fixed", False, False),
        ("Severe", "open", False, False),
        ("Critical | Required", "open", False, False),
        ("Nit", "open", False, False),
        ("<severity>", "open", False, False),
    ],
)
def test_findings_are_open_or_not(tmp_path: Path, severity: str, status: str, none_open: bool, some_open: bool) -> None:
    project = Project(tmp_path, "shed")
    found(OPEN.format(severity, status))(project)
    assert project.fact("findings").ok is none_open
    assert project.fact("findings", value="some open").ok is some_open


def test_an_open_finding_is_told(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    found(OPEN.format("Nit", "fixed"), OPEN.format("Critical", "open"))(project)
    fact = project.fact("findings")
    assert code_of(fact.why) == "reports.some_open"
    project.change(REVIEW, "status: open", "status: fixed")
    assert project.fact("findings").ok
    assert project.fact("findings", value="some open").why == reports_words.none_open(
        "review.md", "Critical and Required"
    )


def test_open_findings_are_the_reason_of_a_closed_gate(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    found(*(f"- lie {number}; severity: Critical; axis: security; status: open" for number in range(7)))(project)
    heads = [f"lie {number}; severity: Critical; axis: security; status: open" for number in range(7)]
    fact = project.fact("findings", value="some open")
    assert (fact.ok, fact.why, fact.parts) == (True, "", tuple((head, False, "") for head in heads))
    fact = project.fact("findings")
    refusal = reports_words.some_open("review.md", "Critical and Required", heads[:5])
    assert (fact.ok, fact.parts, fact.why, fact.fix) == (False, (), refusal, refusal.next_step)


@pytest.mark.parametrize(
    ("check", "name", "section", "words"),
    [
        ("findings", REVIEW, "Axes", REVIEW_AXES),
        ("findings", REVIEW, "Explicit Checks", EXPLICIT_CHECKS),
        ("drift", RECONCILE, "Axes", DRIFT_AXES),
    ],
)
def test_example_of_a_section_names_each_of_its_items_once(
    tmp_path: Path, check: str, name: str, section: str, words: tuple[str, ...]
) -> None:
    project = Project(tmp_path, "shed")
    project.remove_section(name, section)
    fact = project.fact(check)
    assert fact.fix.startswith(documents_words.under(section, f"- {words[0]}: "))
    assert [fact.fix.count(word) for word in words] == [1] * len(words)


UNCLEAR: list[tuple[Spoil, str]] = [
    (
        found("- It lies; axis: security; status: open"),
        reports_words.no_choice(
            "It lies; axis: security; status: open", "severity", ("Critical", "Required", "Optional", "Nit")
        ),
    ),
    (
        found("- It lies; severity: Critical; status: open"),
        reports_words.no_choice(
            "It lies; severity: Critical; status: open",
            "axis",
            ("correctness", "readability", "architecture", "security", "performance"),
        ),
    ),
    (
        found("- It lies; severity: Critical; axis: taste; status: open"),
        reports_words.no_choice(
            "It lies; severity: Critical; axis: taste; status: open",
            "axis",
            ("correctness", "readability", "architecture", "security", "performance"),
        ),
    ),
    (
        found("- It lies; severity: Critical; axis: security"),
        reports_words.no_choice("It lies; severity: Critical; axis: security", "status", ("open", "fixed", "resolved")),
    ),
    (
        found("- It lies; severity: Critical; axis: security; status: fixed; status: open"),
        reports_words.several_choices(
            "It lies; severity: Critical; axis: security; status: fixed; ...", "status", "fixed, open"
        ),
    ),
    (
        found("- It lies; severity: Nit; severity: Critical; axis: security; status: fixed"),
        reports_words.several_choices(
            "It lies; severity: Nit; severity: Critical; axis: security; ...", "severity", "Nit, Critical"
        ),
    ),
    (
        found("### Critical: it lies", "", OPEN.format("Nit", "fixed")),
        reports_words.outside_list("Findings", "Critical"),
    ),
    (
        found(
            "| what | severity | status |",
            "|---|---|---|",
            "| lies | Required | open |",
            "",
            OPEN.format("Nit", "fixed"),
        ),
        reports_words.outside_list("Findings", "Required"),
    ),
    (found("One is still open.", "", OPEN.format("Nit", "fixed")), reports_words.outside_list("Findings", "open")),
    (
        found(OPEN.format("Nit", "fixed"), "  - more; severity: Critical; status: open"),
        reports_words.several_choices(
            "It lies; severity: Nit; axis: correctness; status: fixed", "severity", "Nit, Critical"
        ),
    ),
    (found("None except the Critical one."), documents_words.lists_nothing("Findings")),
    (found("No blocking findings but one in login"), documents_words.lists_nothing("Findings")),
    (found("None of this works"), documents_words.lists_nothing("Findings")),
    (found("Nothing works."), documents_words.lists_nothing("Findings")),
    (found("It lies, severity Critical"), documents_words.lists_nothing("Findings")),
    (
        found("None.", "", OPEN.format("Nit", "open")),
        reports_words.not_documented("It lies; severity: Nit; axis: correctness; status: open"),
    ),
    *(
        (changed(REVIEW, f"- {axis}: ", "- other: "), documents_words.topic_missing("Axes", axis, ""))
        for axis in REVIEW_AXES
    ),
    *(
        (changed(REVIEW, f"- {check}: ", f"> {check}: "), documents_words.topic_missing("Explicit Checks", check, ""))
        for check in EXPLICIT_CHECKS
    ),
    (
        changed(REVIEW, "- readability: names say what they do.", "- readability: TODO"),
        documents_words.topic_missing("Axes", "readability", "WHAT WAS LOOKED AT"),
    ),
    (
        changed(REVIEW, "- readability: names say what they do.", "- readability: Readability"),
        documents_words.topic_missing("Axes", "readability", "WHAT WAS LOOKED AT"),
    ),
    (
        changed(REVIEW, "- readability:", "- security: x\n- readability:"),
        documents_words.topic_twice("Axes", "security", "WHAT WAS LOOKED AT"),
    ),
]


@pytest.mark.parametrize(("spoil", "why"), UNCLEAR)
def test_a_review_that_cannot_be_judged_opens_neither_way(tmp_path: Path, spoil: Spoil, why: str) -> None:
    project = Project(tmp_path, "shed")
    spoil(project)
    for value in ("none open", "some open"):
        fact = project.fact("findings", value=value)
        assert not fact.ok
        assert why in fact.why
        assert fact.fix


# --- drift ---


@pytest.mark.parametrize("axis", DRIFT_AXES)
@pytest.mark.parametrize(
    "new", ["", "- {axis}:", "- {axis}: <clean | which>", "<!-- - {axis}: clean -->", "`- {axis}: clean`"]
)
def test_each_axis_of_a_reconciliation_is_asked_for(tmp_path: Path, axis: str, new: str) -> None:
    project = Project(tmp_path, "shed")
    line = next(line for line in project.read(RECONCILE).splitlines() if line.startswith(f"- {axis}:"))
    project.change(RECONCILE, line, new.format(axis=axis))
    fact = project.fact("drift")
    assert (
        fact.ok,
        fact.why
        == documents_words.problems(
            "reconcile.md", [documents_words.topic_missing("Axes", axis, "clean (or: not applicable, REASON)")], -5
        ),
    ) == (False, True)
    project.write(
        RECONCILE,
        Project(tmp_path / "again", "shed").read(RECONCILE).replace(line, f"- {axis}: not applicable, no code yet"),
    )
    assert project.fact("drift").ok, "an axis without a subject may say so"


STRUCTURAL = "- x moved; class: structural; fix: design.md follows"
COSMETIC = "- a typo; class: cosmetic; fix: mended"
VIOLATING = "- it also refunds; class: spec-violating"


@pytest.mark.parametrize(
    ("outcome", "drift", "is_ok"),
    [
        ("CLEAN", "None.", True),
        ("CLEAN", COSMETIC, True),
        ("CLEAN", "x moved", False),
        ("CLEAN", STRUCTURAL, False),
        ("CLEAN", VIOLATING, False),
        ("REPAIRED", STRUCTURAL, True),
        ("REPAIRED", COSMETIC, True),
        ("REPAIRED", "None.", False),
        ("REPAIRED", f"{STRUCTURAL}\n{VIOLATING}", False),
        ("REPAIRED", "- x moved; class: structural", False),
        ("REPAIRED", "- x moved; fix: design.md follows", False),
        ("REPAIRED", "- x moved; class: large; fix: design.md follows", False),
        ("REPAIRED", "x moved", False),
        ("REPAIRED", f"{STRUCTURAL}\n\nAnd a spec-violating refund.", False),
        ("CLEAN", "No drift found.", True),
        ("CLEAN", "None, all documents agree.", True),
    ],
)
def test_an_outcome_fits_its_drift(tmp_path: Path, outcome: str, drift: str, is_ok: bool) -> None:
    project = Project(tmp_path, "shed")
    project.replace_section(RECONCILE, "Outcome", outcome)
    project.replace_section(RECONCILE, "Drift", drift)
    fact = project.fact("drift", value=outcome)
    assert fact.ok is is_ok, fact.why
    for other in {"CLEAN", "REPAIRED", "BLOCKED"} - {outcome}:
        fact = project.fact("drift", value=other)
        assert (fact.ok, f'gives {outcome} under "## Outcome", not {other}' in fact.why) == (False, True)


@pytest.mark.parametrize("text", ["CLEAN or REPAIRED", "CLEAN\n\nBLOCKED", "not CLEAN", "```\nCLEAN\n```", "fine"])
def test_an_outcome_that_is_not_clear_is_none(tmp_path: Path, text: str) -> None:
    project = Project(tmp_path, "shed")
    project.replace_section(RECONCILE, "Outcome", text)
    assert code_of(project.fact("drift").why) == "documents.problems"


def test_drift_of_two_classes_is_told_as_such(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    project.replace_section(RECONCILE, "Drift", f"{COSMETIC}; class: structural")
    item = "a typo; class: cosmetic; fix: mended; class: structural"
    problem = reports_words.several_choices(item, "class", "cosmetic, structural")
    assert project.fact("drift").why == documents_words.problems("reconcile.md", [problem], 0)
    for drift in ("x moved; class: large; fix: design.md follows", "x moved; class: large"):
        project.replace_section(RECONCILE, "Drift", f"- {drift}")
        fact = project.fact("drift")
        assert fact.why == documents_words.problems(
            "reconcile.md", [reports_words.no_choice(drift, "class", ("cosmetic", "structural", "spec-violating"))], -5
        )
        assert fact.fix.startswith(
            documents_words.under("Drift", "- WHAT DIFFERS; class: structural; fix: WHICH DOCUMENT NOW SAYS WHAT")
        )


BLOCKS: list[tuple[Spoil, str]] = [
    (replaced(RECONCILE, "Drift", STRUCTURAL), reports_words.no_such_drift("BLOCKED", "spec-violating", "Drift")),
    (without(RECONCILE, "Report"), documents_words.no_section("Report")),
    (replaced(RECONCILE, "Report", "It is blocked."), reports_words.not_one_block()),
    (changed(RECONCILE, "accept refunds into scope.md, ", ""), reports_words.option_missing(["accept"])),
    (changed(RECONCILE, "revert the code, ", ""), reports_words.option_missing(["revert"])),
    (changed(RECONCILE, ", split refunds into items of their own]", "]"), reports_words.option_missing(["split"])),
]


@pytest.mark.parametrize(("spoil", "why"), BLOCKS)
def test_a_blocked_reconciliation_offers_three_ways(tmp_path: Path, spoil: Spoil, why: str) -> None:
    project = Project(tmp_path, "skyscraper")
    spoil(project)
    fact = project.fact("drift")
    assert not fact.ok
    assert why in fact.why


# --- blocks ---


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("It does not work.", reports_words.not_one_block()),
        ("BLOCKED: [what's wrong]. Options: [A, B, C]. Recommendation: [X].", reports_words.blocked_by_nothing()),
        ("BLOCKED: the key is gone. Options: [A, B, C]. Recommendation: [X].", reports_words.too_few_options()),
        (
            "BLOCKED: the key is gone. Options: [ask for it]. Recommendation: ask for it.",
            reports_words.too_few_options(),
        ),
        ("BLOCKED: the key is gone. Options: [ask, ask]. Recommendation: ask.", reports_words.too_few_options()),
        ("BLOCKED: the key is gone. Options: [ask, B, ]. Recommendation: ask.", reports_words.too_few_options()),
        ("BLOCKED: the key is gone. Options: [ask, wait]. Recommendation: [X].", reports_words.no_recommendation()),
        ("BLOCKED: the key is gone. Options: [ask, wait]. Recommendation:", reports_words.no_recommendation()),
        ("BLOCKED: the key is gone. Options: [ask, wait].", reports_words.not_one_block()),
        ("BLOCKED: the key is gone. Recommendation: wait.", reports_words.not_one_block()),
        ("BLOCKED: TODO. Options: [ask, wait]. Recommendation: wait.", reports_words.blocked_by_nothing()),
        ("```\nBLOCKED: gone. Options: [ask, wait]. Recommendation: wait.\n```", reports_words.not_one_block()),
        ("<!-- BLOCKED: gone. Options: [ask, wait]. Recommendation: wait. -->", reports_words.not_one_block()),
        ("> BLOCKED: gone. Options: [ask, wait]. Recommendation: wait.", reports_words.not_one_block()),
        ("BLOCKED: a b. Options: [ask, wait]. Recommendation: ask.\n\nBLOCKED: c d.", reports_words.not_one_block()),
    ],
)
def test_a_block_that_is_none_is_told(tmp_path: Path, text: str, why: str) -> None:
    project = Project(tmp_path, "shed")
    project.write(BLOCKED, f"{text}\n")
    fact = project.fact("blocked_doc")
    assert not fact.ok
    assert fact.is_meant
    assert why in fact.why
    assert fact.fix == reports_words.write_line(
        "BLOCKED: WHAT IS WRONG. Options: [FIRST, SECOND]. Recommendation: WHICH AND WHY."
    )


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Options: [ask, wait], both cheap.\nRecommendation: ask.", ("ask", "wait")),
        ("Options: [ask, wait]. \\\nRecommendation: ask.", ("ask", "wait")),
        ("Options: [ask (by mail), wait; or stop]. Recommendation: ask.", ("ask (by mail)", "wait", "or stop")),
        ("Options: [ask], [wait]. Recommendation: ask.", ("ask", "wait")),
        ("Options: ask, wait. Recommendation: ask.", ("ask", "wait")),
        ("Options:\n- ask\n- wait\n\nRecommendation: ask.", ("ask", "wait")),
    ],
)
def test_options_of_a_block_end_with_their_bracket(text: str, options: tuple[str, ...]) -> None:
    block = read_block(f"BLOCKED: the key is gone. {text}")
    assert block is not None
    assert (block.options, block.pick) == (options, "ask")


def test_a_missing_block_report_is_asked_for(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    project.path(BLOCKED).unlink()
    fact = project.fact("blocked_doc")
    assert (fact.ok, fact.why, fact.is_meant) == (False, documents_words.no_file("blocked.md"), False)
    assert fact.fix == reports_words.write_block("blocked.md", BLOCKED_LINE)


@pytest.mark.parametrize(
    "text",
    [
        "BLOCKED: the key is gone. Options: [ask for it, wait]. Recommendation: ask for it.",
        "# Report\n\n**BLOCKED:** gone.\n\n**Options:**\n\n1. ask\n2. wait\n\n**Recommendation:** wait",
        "BLOCKED: v1.2 fails. Options: [pin v1.1; drop it]. Recommendation: pin v1.1.\r\n",
    ],
)
def test_a_block_may_be_laid_out_as_one_likes(tmp_path: Path, text: str) -> None:
    project = Project(tmp_path, "shed")
    project.write(BLOCKED, text)
    fact = project.fact("blocked_doc")
    assert fact.ok, fact.why
