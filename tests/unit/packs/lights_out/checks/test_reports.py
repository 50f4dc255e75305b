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
    assert (fact.ok, fact.parts, fact.fix) == (False, (), "fix them, then have the review look again")
    assert fact.why == f"review.md: open (Critical and Required): {'; '.join(heads[:5])}"


@pytest.mark.parametrize(
    ("check", "name", "section", "asked"),
    [
        ("findings", REVIEW, "Axes", REVIEW_AXES),
        ("findings", REVIEW, "Explicit Checks", EXPLICIT_CHECKS),
        ("drift", RECONCILE, "Axes", DRIFT_AXES),
    ],
)
def test_the_example_of_a_section_names_each_of_its_items_once(
    tmp_path: Path, check: str, name: str, section: str, asked: tuple[str, ...]
) -> None:
    project = Project(tmp_path, "shed")
    project.remove_section(name, section)
    fact = project.fact(check)
    assert fact.fix.startswith(f'under "## {section}": - {asked[0]}: ')
    assert [fact.fix.count(one) for one in asked] == [1] * len(asked)


UNCLEAR: list[tuple[Spoil, str]] = [
    (found("- It lies; axis: security; status: open"), '"It lies; axis: security; status: open" has no severity of'),
    (found("- It lies; severity: Critical; status: open"), "has no axis of: correctness, readability"),
    (found("- It lies; severity: Critical; axis: taste; status: open"), "has no axis of"),
    (found("- It lies; severity: Critical; axis: security"), "has no status of: open, fixed, resolved"),
    (
        found("- It lies; severity: Critical; axis: security; status: fixed; status: open"),
        "has more than one status: fixed, open",
    ),
    (
        found("- It lies; severity: Nit; severity: Critical; axis: security; status: fixed"),
        "has more than one severity: Nit, Critical",
    ),
    (found("### Critical: it lies", "", OPEN.format("Nit", "fixed")), 'speaks of "Critical" outside of its list'),
    (
        found(
            "| what | severity | status |",
            "|---|---|---|",
            "| lies | Required | open |",
            "",
            OPEN.format("Nit", "fixed"),
        ),
        "outside of its list",
    ),
    (found("One is still open.", "", OPEN.format("Nit", "fixed")), 'speaks of "open" outside of its list'),
    (
        found(OPEN.format("Nit", "fixed"), "  - more; severity: Critical; status: open"),
        "more than one severity: Nit, Critical",
    ),
    (found("None except the Critical one."), "neither lists anything nor says none"),
    (found("No blocking findings but one in login"), "neither lists anything nor says none"),
    (found("None of this works"), "neither lists anything nor says none"),
    (found("Nothing works."), "neither lists anything nor says none"),
    (found("It lies, severity Critical"), documents_words.lists_nothing("Findings")),
    (found("None.", "", OPEN.format("Nit", "open")), "is neither resolved nor documented"),
    *((changed(REVIEW, f"- {axis}: ", "- other: "), f'"## Axes" says nothing to "{axis}"') for axis in REVIEW_AXES),
    *(
        (changed(REVIEW, f"- {one}: ", f"> {one}: "), f'"## Explicit Checks" says nothing to "{one}"')
        for one in EXPLICIT_CHECKS
    ),
    (changed(REVIEW, "- readability: names say what they do.", "- readability: TODO"), 'says nothing to "readability"'),
    (
        changed(REVIEW, "- readability: names say what they do.", "- readability: Readability"),
        'says nothing to "readability"',
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
    assert (fact.ok, f'"## Axes" says nothing to "{axis}"' in fact.why) == (False, True)
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
    assert 'class: structural" has more than one class: cosmetic, structural' in project.fact("drift").why
    for drift in ("x moved; class: large; fix: design.md follows", "x moved; class: large"):
        project.replace_section(RECONCILE, "Drift", f"- {drift}")
        fact = project.fact("drift")
        assert fact.why == f'reconcile.md: "{drift}" has no class of: cosmetic, structural, spec-violating'
        assert fact.fix.startswith('under "## Drift": - WHAT DIFFERS; class: structural; fix: ')


BLOCKS: list[tuple[Spoil, str]] = [
    (replaced(RECONCILE, "Drift", STRUCTURAL), "BLOCKED lists no spec-violating drift"),
    (without(RECONCILE, "Report"), 'no section "## Report"'),
    (replaced(RECONCILE, "Report", "It is blocked."), "not exactly one report"),
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
        ("It does not work.", "not exactly one report"),
        ("BLOCKED: [what's wrong]. Options: [A, B, C]. Recommendation: [X].", "does not say what is wrong"),
        ("BLOCKED: the key is gone. Options: [A, B, C]. Recommendation: [X].", "fewer than two ways"),
        ("BLOCKED: the key is gone. Options: [ask for it]. Recommendation: ask for it.", "fewer than two ways"),
        ("BLOCKED: the key is gone. Options: [ask, ask]. Recommendation: ask.", "fewer than two ways"),
        ("BLOCKED: the key is gone. Options: [ask, B, ]. Recommendation: ask.", "fewer than two ways"),
        ("BLOCKED: the key is gone. Options: [ask, wait]. Recommendation: [X].", "Recommendation names none"),
        ("BLOCKED: the key is gone. Options: [ask, wait]. Recommendation:", "Recommendation names none"),
        ("BLOCKED: the key is gone. Options: [ask, wait].", "not exactly one report"),
        ("BLOCKED: the key is gone. Recommendation: wait.", "not exactly one report"),
        ("BLOCKED: TODO. Options: [ask, wait]. Recommendation: wait.", "does not say what is wrong"),
        ("```\nBLOCKED: gone. Options: [ask, wait]. Recommendation: wait.\n```", "not exactly one report"),
        ("<!-- BLOCKED: gone. Options: [ask, wait]. Recommendation: wait. -->", "not exactly one report"),
        ("> BLOCKED: gone. Options: [ask, wait]. Recommendation: wait.", "not exactly one report"),
        ("BLOCKED: a b. Options: [ask, wait]. Recommendation: ask.\n\nBLOCKED: c d.", "not exactly one report"),
    ],
)
def test_a_block_that_is_none_is_told(tmp_path: Path, text: str, why: str) -> None:
    project = Project(tmp_path, "shed")
    project.write(BLOCKED, f"{text}\n")
    fact = project.fact("blocked_doc")
    assert not fact.ok
    assert fact.is_meant
    assert why in fact.why
    assert "BLOCKED: " in fact.fix


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
    assert fact.fix == f"write in blocked.md: {BLOCKED_LINE}"


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
