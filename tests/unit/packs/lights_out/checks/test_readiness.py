"""The hand-over to the build, and the tests it plans: each single thing that lacks closes the gate and is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.packs.lights_out.checks.readiness import planned_tests, truths_of
from detent.packs.lights_out.words import documents as documents_words
from detent.packs.lights_out.words import plans as plans_words
from detent.packs.lights_out.words import verification as verification_words
from detent.words.message import code_of
from tests.unit.packs.lights_out.pipeline import Project, Spoil, changed, replaced

READINESS, SCOPE, TEST = "scaffolding/readiness.md", "scaffolding/scope.md", "tests/test_words.py"
LINKS, COVERAGE, ORDER = "Key Links", "Acceptance Criteria Coverage", "Build Order"
COVERED = (
    "- AC-1: test: tests/test_words.py; proof: run it",
    "- AC-2: test: tests/test_words.py; proof: time it",
    "- AC-3: test: tests/test_words.py; proof: run it",
)
LINKED = tuple(line.replace("test:", "design: `words.py`; test:") for line in COVERED)


def covered(*lines: str) -> Spoil:
    return replaced(READINESS, COVERAGE, "\n".join(lines))


def linked(*lines: str) -> Spoil:
    return replaced(READINESS, LINKS, "\n".join(lines))


def verdict(text: str) -> Spoil:
    return replaced(READINESS, "Verdict", text)


def truths(text: str) -> Spoil:
    return replaced(READINESS, "Truths", text)


def questions(text: str) -> Spoil:
    return replaced(READINESS, "Clarifications Needed", text)


CLOSED: list[tuple[Spoil, str]] = [
    (verdict("NOT READY"), verification_words.not_ready("Verdict", "NOT READY", "READY")),
    (verdict("Not-ready, AC-2 lacks a proof"), verification_words.not_ready("Verdict", "NOT READY", "READY")),
    (verdict("READY\n\nNOT READY"), verification_words.not_ready("Verdict", "", "READY")),
    (verdict("READY / NOT READY"), verification_words.not_ready("Verdict", "", "READY")),
    (verdict("READY once AC-2 is clear"), verification_words.not_ready("Verdict", "", "READY")),
    (verdict("```\nREADY\n```"), verification_words.not_ready("Verdict", "", "READY")),
    (verdict("> READY"), verification_words.not_ready("Verdict", "", "READY")),
    (verdict("~~READY~~ nearly"), verification_words.not_ready("Verdict", "", "READY")),
    (truths("Everything is known."), verification_words.no_truths("Truths")),
    (truths("- files are UTF-8"), verification_words.no_truths("Truths")),
    (
        truths("- T-1: are files UTF-8?"),
        verification_words.truth_is_question("T-1", "Truths", "are files UTF-8?", "Clarifications Needed"),
    ),
    (
        truths("- T-1: files are UTF-8\n- T-2: probably small"),
        verification_words.truth_is_question("T-2", "Truths", "probably small", "Clarifications Needed"),
    ),
    (truths("- T-1: it is unclear what a word is"), "T-1"),
    (truths("- T-1: Is stdin wanted"), verification_words.truth_twice("T-1", "Truths", "Clarifications Needed")),
    (questions("- Is stdin wanted?"), verification_words.question_open("Is stdin wanted?")),
    (
        questions("- Is stdin wanted?; changes pass/fail: yes"),
        verification_words.question_open("Is stdin wanted?; changes pass/fail: yes"),
    ),
    (
        questions("- Is stdin wanted?; resolved: TBD"),
        verification_words.question_open("Is stdin wanted?; resolved: TBD"),
    ),
    (questions("- Is stdin wanted?; resolved:"), verification_words.question_open("Is stdin wanted?; resolved:")),
    (
        questions("Which encoding?\n\n- Is stdin wanted?; resolved: no"),
        documents_words.asks_elsewhere("Clarifications Needed"),
    ),
    (questions("There are some."), documents_words.lists_nothing("Clarifications Needed")),
    (covered(*COVERED[:2]), plans_words.criterion_missing("AC-3", "Acceptance Criteria Coverage")),
    (covered(*COVERED, COVERED[0]), plans_words.criterion_twice("AC-1", "Acceptance Criteria Coverage")),
    (
        covered(*COVERED, "- AC-4: test: tests/t.py; proof: x"),
        plans_words.criterion_unknown("AC-4", "Acceptance Criteria Coverage"),
    ),
    (
        covered("- AC-1: test: tests/test_words.py", *COVERED[1:]),
        verification_words.entry_lacks("AC-1", "Acceptance Criteria Coverage", ["proof"]),
    ),
    (
        covered("- AC-1: proof: run it", *COVERED[1:]),
        verification_words.entry_lacks("AC-1", "Acceptance Criteria Coverage", ["test"]),
    ),
    (
        covered("- AC-1", *COVERED[1:]),
        verification_words.entry_lacks("AC-1", "Acceptance Criteria Coverage", ["test", "proof"]),
    ),
    # What stands behind an item or a subsection is none of it.
    (
        covered(*COVERED[:2], "- AC-3: test: tests/test_words.py", "", "proof: run it"),
        verification_words.entry_lacks("AC-3", "Acceptance Criteria Coverage", ["proof"]),
    ),
    (
        covered(*COVERED[:2], "- AC-3: test: tests/test_words.py", "", "### Notes", "", "proof: run it"),
        verification_words.entry_lacks("AC-3", "Acceptance Criteria Coverage", ["proof"]),
    ),
    (
        covered(*COVERED[:2], "### AC-3", "", "test: tests/test_words.py", "", "### Notes", "", "proof: run it"),
        verification_words.entry_lacks("AC-3", "Acceptance Criteria Coverage", ["proof"]),
    ),
    (
        covered("- AC-1: test: TODO; proof: run it", *COVERED[1:]),
        verification_words.entry_lacks("AC-1", "Acceptance Criteria Coverage", ["test"]),
    ),
    (
        covered("- AC-1: test: by hand; proof: run it", *COVERED[1:]),
        verification_words.test_names_no_file("AC-1", "Acceptance Criteria Coverage"),
    ),
    (
        covered("```", COVERED[0], "```", "", *COVERED[1:]),
        plans_words.criterion_missing("AC-1", "Acceptance Criteria Coverage"),
    ),
    (
        covered("<!--", COVERED[0], "-->", "", *COVERED[1:]),
        plans_words.criterion_missing("AC-1", "Acceptance Criteria Coverage"),
    ),
    (
        covered("| AC | Test | Proof |", "|---|---|---|", "| AC-1 | tests/test_words.py | |", *COVERED[1:]),
        verification_words.entry_lacks("AC-1", "Acceptance Criteria Coverage", ["proof"]),
    ),
    (
        covered("| AC-1 | tests/test_words.py | run it |", "", *COVERED[1:]),
        plans_words.criterion_missing("AC-1", "Acceptance Criteria Coverage"),
    ),
    # Rows without a rule below the heads are no table.
    (
        covered("| AC | Test | Proof |", "| a | b | c |", "| AC-1 | tests/test_words.py | x |", "", *COVERED[1:]),
        plans_words.criterion_missing("AC-1", "Acceptance Criteria Coverage"),
    ),
    (linked(*LINKED[1:]), plans_words.criterion_missing("AC-1", "Key Links")),
    (
        linked(LINKED[0].replace("design: `words.py`; ", ""), *LINKED[1:]),
        verification_words.entry_lacks("AC-1", "Key Links", ["design"]),
    ),
    (
        linked(LINKED[0].replace("words.py`;", "other.rs`;"), *LINKED[1:]),
        verification_words.other_design("AC-1", "Key Links", "design.md"),
    ),
    (
        linked(LINKED[0].replace("`words.py`", "somewhere"), *LINKED[1:]),
        verification_words.other_design("AC-1", "Key Links", "design.md"),
    ),
    (replaced(READINESS, ORDER, "1. AC-1\n2. AC-3"), documents_words.leaves_out("Build Order", ["AC-2"])),
    (replaced(READINESS, ORDER, "1. AC-1 to AC-3"), documents_words.leaves_out("Build Order", ["AC-2"])),
    (
        replaced(READINESS, ORDER, "1. AC-1\n2. AC-2\n\n```\nAC-3\n```"),
        documents_words.leaves_out("Build Order", ["AC-3"]),
    ),
    (replaced(READINESS, ORDER, "AC-1, AC-20, AC-3"), documents_words.leaves_out("Build Order", ["AC-2"])),
    # A criterion that got another name is another criterion.
    (changed(SCOPE, "- AC-3:", "- AC-4:"), plans_words.criterion_missing("AC-4", "Key Links")),
    (changed(SCOPE, "- AC-3:", "- AC-03:"), plans_words.criterion_unknown("AC-3", "Key Links")),
    (changed(SCOPE, "- AC-3:", "- AC-1:"), documents_words.no_criteria("scope.md")),
    (replaced(SCOPE, "Acceptance Criteria", "none yet"), documents_words.no_criteria("scope.md")),
]


@pytest.mark.parametrize(("spoil", "why"), CLOSED)
def test_one_thing_that_lacks_closes_hand_over_and_is_named(tmp_path: Path, spoil: Spoil, why: str) -> None:
    project = Project(tmp_path, "shed")
    spoil(project)
    fact = project.fact("readiness_doc")
    assert not fact.ok
    assert why in fact.why
    assert fact.fix


@pytest.mark.parametrize(
    "section",
    [
        *("Verdict", "Truths", "Scope Reduction Risks", "Clarifications Needed", "Complexity Exceptions"),
        *(LINKS, COVERAGE, ORDER),
    ],
)
def test_a_section_that_is_not_there_has_no_other_faults(tmp_path: Path, section: str) -> None:
    project = Project(tmp_path, "shed")
    project.remove_section(READINESS, section)
    fact = project.fact("readiness_doc")
    assert fact.why == documents_words.problems("readiness.md", [documents_words.no_section(section)], -5)
    assert fact.fix.startswith(documents_words.under(section, ""))


def test_an_unknown_criterion_is_the_only_problem_of_its_line(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    covered(*COVERED, "- AC-4: by hand")(project)
    why = documents_words.problems(
        "readiness.md", [plans_words.criterion_unknown("AC-4", "Acceptance Criteria Coverage")], -5
    )
    assert project.fact("readiness_doc").why == why


OPEN: list[Spoil] = [
    verdict("**READY**: nothing is missing"),
    verdict("Verdict: Ready"),
    truths("### T-1: files are UTF-8\n\nSeen in the brief."),
    questions("Nothing is open."),
    questions("- Is stdin wanted?\n  - **Resolved:** no"),
    covered(*(f"### AC-{number}\n\n- Test: `tests/test_words.py`\n- Proof: run it\n" for number in (1, 2, 3))),
    covered(*COVERED[:2], "### AC-3", "", "test: tests/test_words.py", "", "#### Notes", "", "proof: run it"),
    covered(*(f"* **AC-{number}** \u2013 test: tests/test_words.py::a; **proof**: run it" for number in (1, 2, 3))),
    covered(
        "| AC | Planned test | Runtime proof |",
        "|---|:---|---|",
        *(f"| AC-{number} | `tests/test_words.py` | run it |" for number in (1, 2, 3)),
    ),
    # A row may have a cell too many; what stands below a table is no row of it.
    *(
        covered(
            "| AC | Test | Proof |",
            "|---|---|---|",
            *(f"| AC-{number} | tests/test_words.py | run it | later |" for number in (1, 2, 3)),
            *below,
        )
        for below in (("AC-1 was the hardest",), ("", "AC-1 | AC-2 were the hardest"))
    ),
    linked(
        "| Criterion | Design | Test | Proof |",
        "| --- | --- | --- | --- |",
        *(f"| **AC-{number}** | `main` | tests/test_words.py | run it |" for number in (1, 2, 3)),
    ),
    linked(*(line.replace("`words.py`", "the Interfaces section") for line in LINKED)),
    linked(*(line.replace("; ", " -> ") for line in LINKED)),
    replaced(READINESS, ORDER, "1. `AC-2` and **AC-1**\n2. (AC-3)"),
]


@pytest.mark.parametrize("change", OPEN)
def test_what_is_written_otherwise_is_read_all_the_same(tmp_path: Path, change: Spoil) -> None:
    project = Project(tmp_path, "shed")
    change(project)
    fact = project.fact("readiness_doc")
    assert fact.ok, fact.why


def test_truths_and_planned_tests_are_read(tmp_path: Path) -> None:
    readiness = Project(tmp_path, "house").read(READINESS)
    assert planned_tests(readiness)["AC-3"] == ("tests/test_load.py",)
    assert truths_of("- T-1: a\n- other\n- **T-2**: b\n  c\n") == {"T-1": "a", "T-2": "b\nc"}


def test_a_planned_test_is_read_only_so_far(tmp_path: Path) -> None:
    def planned(test: str) -> tuple[str, ...]:
        return planned_tests(f"## {COVERAGE}\n\n- AC-1: test: {test}; proof: run it\n")["AC-1"]

    names = [f"tests/test_{number}.py" for number in range(21)]
    assert planned(" ".join(names)) == tuple(names[:20])
    assert planned("w " * 998 + "a/b") == ("a/b",)
    assert planned("w " * 999 + "a/b") == ()
    project = Project(tmp_path, "shed")
    covered("- AC-1: test: " + "w " * 999 + "a/b; proof: run it", *COVERED[1:])(project)
    assert (
        verification_words.test_names_no_file("AC-1", "Acceptance Criteria Coverage")
        in project.fact("readiness_doc").why
    )


# --- the tests themselves ---


TESTED: list[tuple[Spoil, str]] = [
    (
        changed(TEST, "test_ac_2_counts", "test_counts"),
        verification_words.criterion_not_named("AC-2", ("tests/test_words.py",)),
    ),
    (
        changed(TEST, "test_ac_2_counts", "test_ac_20_counts"),
        verification_words.criterion_not_named("AC-2", ("tests/test_words.py",)),
    ),
    (
        changed(TEST, "test_ac_2_counts", "test_back_2_counts"),
        verification_words.criterion_not_named("AC-2", ("tests/test_words.py",)),
    ),
    (
        lambda project: project.path(TEST).unlink(),
        verification_words.criterion_not_named("AC-1", ("tests/test_words.py",)),
    ),
    (lambda project: project.write(TEST, ""), verification_words.criterion_not_named("AC-3", ("tests/test_words.py",))),
    (covered(*COVERED[:2]), verification_words.no_test_planned("readiness.md", "AC-3")),
    (
        covered("- AC-1: test: ../outside.py; proof: x", *COVERED[1:]),
        verification_words.criterion_not_named("AC-1", ("../outside.py",)),
    ),
    (
        covered("- AC-1: test: tests/other.py; proof: x", *COVERED[1:]),
        verification_words.criterion_not_named("AC-1", ("tests/other.py",)),
    ),
    (changed(SCOPE, "- AC-3:", "- AC-4:"), verification_words.no_test_planned("readiness.md", "AC-4")),
    (replaced(SCOPE, "Acceptance Criteria", "none yet"), verification_words.criteria_untestable("scope.md")),
]


@pytest.mark.parametrize(("spoil", "why"), TESTED)
def test_a_criterion_without_a_test_is_named(tmp_path: Path, spoil: Spoil, why: str) -> None:
    project = Project(tmp_path, "shed")
    assert project.fact("ac_tests").ok
    spoil(project)
    fact = project.fact("ac_tests")
    assert not fact.ok
    assert why in fact.why


def test_six_untested_criteria_are_named_with_one_example(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    lines = [f"- AC-{number}: prints {number} lines" for number in range(11, 19)]
    project.replace_section(SCOPE, "Acceptance Criteria", "\n".join(lines))
    covered(*(f"- AC-{number}: test: tests/test_words.py; proof: run it" for number in range(11, 19)))(project)
    fact = project.fact("ac_tests")
    unnamed = [
        verification_words.criterion_not_named(f"AC-{number}", ["tests/test_words.py"]) for number in range(11, 17)
    ]
    assert fact.why == "; ".join(unnamed)
    assert fact.fix == verification_words.name_the_test("AC-11")
    project.replace_section(SCOPE, "Acceptance Criteria", "none yet")
    fact = project.fact("ac_tests")
    assert (fact.ok, fact.why, fact.fix) == (False, verification_words.criteria_untestable("scope.md"), "do it")


def test_design_title_and_empty_heading_are_no_places(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    project.write("scaffolding/design.md", project.read("scaffolding/design.md") + "\n##\n\nwords\n")
    title = project.read("scaffolding/design.md").partition("\n")[0].strip("# ")
    linked(LINKED[0].replace("`words.py`", f"the {title}"), *LINKED[1:])(project)
    assert code_of(project.fact("readiness_doc").why) == "documents.problems"


@pytest.mark.parametrize("name", ["test_AC2_x", "AC-2: counts", "testAc2", "@covers('AC-2')", "ac_2"])
def test_a_test_may_name_its_criterion_as_its_language_can(tmp_path: Path, name: str) -> None:
    project = Project(tmp_path, "shed")
    project.change(TEST, "test_ac_2_counts_a_large_file_in_time", name)
    assert project.fact("ac_tests").ok
