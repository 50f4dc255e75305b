"""How a document is read, and what is told of one with faults: the whole before its parts, and no more than is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.packs.lights_out.checks.documents import code_blocks, spans
from detent.packs.lights_out.words import documents as documents_words
from detent.packs.lights_out.words import plans as plans_words
from detent.packs.lights_out.words import reports as reports_words
from tests.unit.packs.lights_out.pipeline import Project

DESIGN, DELIVERY, SCOPE = "scaffolding/design.md", "DELIVERY.md", "scaffolding/scope.md"
SECTIONS = (
    "Architecture",
    "Directory Structure",
    "Interfaces",
    "External Integrations",
    "Observability",
    "Complexity Exceptions",
    "Open Questions",
)
OUTLINE = ' with "## Architecture": - NAME: what this component does'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path, "shed")


# --- the document as a whole ---


def test_of_document_that_is_not_there_only_that_is_told(project: Project) -> None:
    project.path(DESIGN).unlink()
    fact = project.fact("design_doc")
    assert (fact.ok, fact.why) == (False, documents_words.no_file("design.md"))
    assert fact.fix.startswith(f"write design.md{OUTLINE}")
    assert all(f'"## {name}": ' in fact.fix for name in SECTIONS)


def test_of_an_empty_document_only_that_is_told(project: Project) -> None:
    project.write(DESIGN, "")
    fact = project.fact("design_doc")
    assert (fact.ok, fact.why) == (False, documents_words.problems("design.md", [documents_words.empty()], -5))
    assert fact.fix.startswith(f"write design.md{OUTLINE}")


def test_a_document_is_read_up_to_half_a_million_characters(project: Project) -> None:
    whole = project.read(DESIGN)
    for length, is_ok in ((500_000, True), (500_001, False)):
        filler = "x" * (length - len(whole) - len("<!--  -->\n"))
        project.write(DESIGN, f"{whole}<!-- {filler} -->\n")
        assert len(project.read(DESIGN)) == length
        fact = project.fact("design_doc")
        assert fact.ok is is_ok, fact.why
    assert (fact.why, fact.fix) == (
        documents_words.problems("design.md", [documents_words.too_long(500000)], -5),
        documents_words.too_long(500000).next_step,
    )


def test_of_a_section_that_stands_there_twice_none_counts(project: Project) -> None:
    project.write(DESIGN, f"{project.read(DESIGN)}\n## Interfaces\n\nmain()\n")
    fact = project.fact("design_doc")
    assert fact.why == documents_words.problems("design.md", [documents_words.section_repeated("Interfaces", 2)], -5)
    assert fact.fix == documents_words.section_repeated("Interfaces", 2).next_step


# --- several faults at once ---


def test_six_faults_are_told_and_the_rest_is_counted(project: Project) -> None:
    lacks = [documents_words.no_section(name) for name in SECTIONS]
    project.write(DESIGN, "# Design\n")
    fact = project.fact("design_doc")
    assert fact.why == documents_words.problems("design.md", lacks[:6], 1)
    examples = [name for name in SECTIONS if documents_words.under(name, "") in fact.fix]
    assert examples == list(SECTIONS[:3]), "and three examples"
    project.write(DESIGN, "# Design\n\n## Architecture\n\n- words: counts\n")
    assert project.fact("design_doc").why == documents_words.problems("design.md", lacks[1:], 0)


def test_missing_sections_are_named_before_faults_of_a_part(project: Project) -> None:
    project.replace_section(DELIVERY, "Incident Response", "Call me.")
    project.remove_section(DELIVERY, "Summary")
    project.change(SCOPE, "Stateful: no", "Stateful: yes")
    reasons = (
        documents_words.no_section("Summary"),
        documents_words.no_section("Data Persistence"),
        reports_words.no_rollback_line("Incident Response", "Rollback"),
    )
    assert project.fact("delivery_doc").why == documents_words.problems("DELIVERY.md", reasons, 0)


def test_the_same_fault_is_told_once(project: Project) -> None:
    project.replace_section(DESIGN, "Open Questions", "- Which port?\n- Which port?")
    why = documents_words.problems("design.md", [plans_words.not_resolved("Which port?", "Open Questions")], -5)
    assert project.fact("design_doc").why == why


@pytest.mark.parametrize(("length", "shown"), [(60, "y" * 60), (61, "y" * 60 + "...")])
def test_somebodys_words_are_quoted_up_to_a_length(project: Project, length: int, shown: str) -> None:
    project.replace_section(DESIGN, "Open Questions", f"- {'y' * length}\n  and more below")
    assert project.fact("design_doc").why == documents_words.problems(
        "design.md", [plans_words.not_resolved(shown, "Open Questions")], -5
    )


def test_fault_without_example_leaves_the_other_examples_as_they_are(project: Project) -> None:
    project.replace_section("scaffolding/reconcile.md", "Drift", "Some.")
    fact = project.fact("drift", value="BLOCKED")
    assert fact.why == documents_words.problems(
        "reconcile.md",
        [reports_words.other_outcome("Outcome", "CLEAN", "BLOCKED"), documents_words.lists_nothing("Drift")],
        -4,
    )
    assert fact.fix.startswith(
        documents_words.under("Drift", "- WHAT DIFFERS; class: structural; fix: WHICH DOCUMENT NOW SAYS WHAT")
    )


# --- what is in it ---


def test_the_words_of_an_item_may_begin_below_its_marker(project: Project) -> None:
    project.replace_section(DESIGN, "Open Questions", "-\n  Which port?")
    problem = plans_words.not_resolved("Which port?", "Open Questions")
    assert project.fact("design_doc").why == documents_words.problems("design.md", [problem], 0)


def test_a_table_beside_a_list_is_no_item_of_it(project: Project) -> None:
    item = "- performance: the hot path was read; one pass over the data.\n"
    project.change("scaffolding/review.md", item, f"{item}\n| tool | runs |\n|---|---|\n| ruff | 2 |\n")
    fact = project.fact("findings")
    assert fact.ok, fact.why


@pytest.mark.parametrize("more", ["Round: 2", "- ...", "<fill in>"])
def test_beside_none_a_round_or_filler_says_nothing(project: Project, more: str) -> None:
    project.replace_section(DESIGN, "External Integrations", f"None.\n\n{more}")
    fact = project.fact("design_doc")
    assert fact.ok, fact.why


def test_code_block_ends_with_its_fence_or_with_other_words() -> None:
    assert code_blocks("```\nmake a\n```\n```\nmake b\n```\n") == ("make a", "make b")
    indented = code_blocks("First:\n\n    make a\n\n    make b\n\nThen:\n\n    make c\n")
    assert [block.split() for block in indented] == [["make", "a", "make", "b"], ["make", "c"]]


def test_code_spans_are_looked_for_in_values_of_sensible_length() -> None:
    assert spans("x" * 9_997 + "`a`") == ("a",)
    assert spans("x" * 9_998 + "`a`") == ()
