"""A verification: each single thing that lacks closes the gate and is named; a failure comes with steps to see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.packs.lights_out.checks.verification import KINDS, SCANNED
from detent.packs.lights_out.words import documents as documents_words
from detent.packs.lights_out.words import plans as plans_words
from detent.packs.lights_out.words import verification as verification_words
from detent.words.message import code_of
from tests.unit.packs.lights_out.pipeline import Project, Spoil, changed, replaced, without

REPORT, SCOPE, READINESS = "scaffolding/verification.md", "scaffolding/scope.md", "scaffolding/readiness.md"
CRITERIA = "Acceptance Criteria"
FIRST = "printf 'one two\\nthree\\n' > sample.txt; python3 words.py sample.txt"
THIRD = """### AC-3

- Kind: CLI output
- Command: `python3 words.py none.txt`
- Exit: 2
- Result: PASS

```
no such file: none.txt
```
"""


def third(old: str, new: str) -> Spoil:
    return changed(REPORT, THIRD, THIRD.replace(old, new))


CLOSED: list[tuple[str, Spoil, str]] = [
    ("shed", replaced(REPORT, "Verdict", "FAIL"), verification_words.not_ready("Verdict", "FAIL", "PASS")),
    ("shed", replaced(REPORT, "Verdict", "PASS\n\nFAIL"), verification_words.not_ready("Verdict", "", "PASS")),
    (
        "shed",
        replaced(REPORT, "Verdict", "PASS, but not on Windows: FAIL"),
        verification_words.not_ready("Verdict", "", "PASS"),
    ),
    ("shed", replaced(REPORT, "Tests", "All pass."), documents_words.no_command(documents_words.heading("Tests"))),
    (
        "shed",
        replaced(REPORT, "Tests", "Command: `make test`"),
        documents_words.no_output(documents_words.heading("Tests")),
    ),
    ("shed", changed(REPORT, THIRD, ""), plans_words.criterion_missing("AC-3", "Acceptance Criteria")),
    (
        "shed",
        changed(REPORT, THIRD, f"~~~\n{THIRD}~~~\n"),
        plans_words.criterion_missing("AC-3", "Acceptance Criteria"),
    ),
    ("shed", changed(REPORT, THIRD, THIRD + THIRD), plans_words.criterion_twice("AC-3", "Acceptance Criteria")),
    ("shed", third("AC-3", "AC-9"), plans_words.criterion_unknown("AC-9", "Acceptance Criteria")),
    (
        "shed",
        third("- Kind: CLI output\n", ""),
        verification_words.no_kind(
            documents_words.entry_of("AC-3", "Acceptance Criteria"),
            ("CLI output", "HTTP response", "browser check", "sample-data run"),
        ),
    ),
    (
        "shed",
        third("CLI output", "by eye"),
        verification_words.no_kind(
            documents_words.entry_of("AC-3", "Acceptance Criteria"),
            ("CLI output", "HTTP response", "browser check", "sample-data run"),
        ),
    ),
    (
        "shed",
        third("- Command: `python3 words.py none.txt`\n", ""),
        documents_words.no_command(documents_words.entry_of("AC-3", "Acceptance Criteria")),
    ),
    (
        "shed",
        third("`python3 words.py none.txt`", "<command>"),
        documents_words.no_command(documents_words.entry_of("AC-3", "Acceptance Criteria")),
    ),
    (
        "shed",
        third("\n```\nno such file: none.txt\n```\n", ""),
        documents_words.no_output(documents_words.entry_of("AC-3", "Acceptance Criteria")),
    ),
    (
        "shed",
        third("no such file: none.txt\n", "...\n"),
        documents_words.no_output(documents_words.entry_of("AC-3", "Acceptance Criteria")),
    ),
    ("shed", third("Result: PASS", "Result: FAIL"), verification_words.no_pass("AC-3", "PASS", "Acceptance Criteria")),
    ("shed", third("- Result: PASS\n", ""), verification_words.no_pass("AC-3", "PASS", "Acceptance Criteria")),
    (
        "shed",
        third("Result: PASS", "Result: PASS | FAIL"),
        verification_words.no_pass("AC-3", "PASS", "Acceptance Criteria"),
    ),
    (
        "shed",
        third("Result: PASS", "Result: PASS\n- Result: FAIL"),
        verification_words.no_pass("AC-3", "PASS", "Acceptance Criteria"),
    ),
    (
        "shed",
        third("Result: PASS", "Result: not PASS"),
        verification_words.no_pass("AC-3", "PASS", "Acceptance Criteria"),
    ),
    (
        "shed",
        changed(REPORT, "- T-2: a file with umlauts was counted; result: PASS\n", ""),
        verification_words.no_pass("T-2", "PASS", "Truths"),
    ),
    (
        "shed",
        changed(REPORT, "was counted; result: PASS", "was not; result: FAIL"),
        verification_words.no_pass("T-2", "PASS", "Truths"),
    ),
    ("shed", replaced(READINESS, "Truths", "none"), verification_words.no_truth_listed("readiness.md")),
    (
        "shed",
        replaced(REPORT, "Application", "It runs."),
        documents_words.no_command(documents_words.heading("Application")),
    ),
    (
        "shed",
        replaced(REPORT, "Application", "Command: `./run`\n\n```\n\n```"),
        documents_words.no_output(documents_words.heading("Application")),
    ),
    *(
        ("shed", changed(REPORT, f"- {topic}: ", "- else: "), documents_words.topic_missing("Security Scan", topic, ""))
        for topic in SCANNED
    ),
    (
        "shed",
        changed(REPORT, "Critical: none", "Critical: 1, a key in app.js"),
        verification_words.not_said("Security Scan", "Critical: none"),
    ),
    ("shed", changed(REPORT, "Critical: none\n", ""), verification_words.not_said("Security Scan", "Critical: none")),
    ("shed", changed(REPORT, "; matches: yes", ""), verification_words.not_said("Deploy Config", "matches: yes")),
    (
        "shed",
        changed(REPORT, "; matches: yes", "; matches: no"),
        verification_words.not_said("Deploy Config", "matches: yes"),
    ),
    (
        "shed",
        changed(REPORT, "Target: A folder on this computer", "Target: Kubernetes"),
        verification_words.other_target("Deploy Config"),
    ),
    (
        "shed",
        changed(REPORT, "Target: A folder on this computer; ", ""),
        verification_words.other_target("Deploy Config"),
    ),
    (
        "shed",
        changed(REPORT, "Target: A folder on this computer", "Target: on"),
        verification_words.other_target("Deploy Config"),
    ),
    ("shed", changed(REPORT, "Hold: yes", "Hold: no"), verification_words.not_said("Key Links", "Hold: yes")),
    (
        "shed",
        changed(REPORT, "AC-1, AC-2 and AC-3 were", "AC-1 and AC-2 were"),
        documents_words.leaves_out("Key Links", ["AC-3"]),
    ),
    ("house", without(REPORT, "Load Test"), documents_words.no_section("Load Test")),
    (
        "house",
        changed(REPORT, "Concurrency: 50", "Concurrency: 10"),
        verification_words.too_little_load("Load Test", ["AC-3"], 50),
    ),
    ("house", changed(REPORT, "Concurrency: 50\n", ""), verification_words.too_little_load("Load Test", ["AC-3"], 50)),
    (
        "house",
        replaced(REPORT, "Load Test", "Concurrency: 50"),
        documents_words.no_command(documents_words.heading("Load Test")),
    ),
    (
        "skyscraper",
        changed(REPORT, "Concurrency: 100", "Concurrency: 99"),
        verification_words.too_little_load("Load Test", ["AC-BOOK-2"], 100),
    ),
    ("shed", changed(SCOPE, "- AC-3:", "- AC-4:"), plans_words.criterion_missing("AC-4", "Acceptance Criteria")),
    ("shed", replaced(SCOPE, CRITERIA, "none yet"), documents_words.no_criteria("scope.md")),
]


@pytest.mark.parametrize(("tier", "spoil", "why"), CLOSED)
def test_one_thing_that_lacks_closes_the_verification(tmp_path: Path, tier: str, spoil: Spoil, why: str) -> None:
    project = Project(tmp_path, tier)
    spoil(project)
    fact = project.fact("verification_doc")
    assert not fact.ok
    assert why in fact.why


def test_target_may_be_named_by_a_part_of_its_words(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    project.change(REPORT, "Target: A folder on this computer", "Target: *THIS*")
    assert project.fact("verification_doc").ok
    project.change(REPORT, "Target: *THIS*", "Target: fol")
    assert project.fact("verification_doc").ok, "three letters are a name"


@pytest.mark.parametrize("kind", KINDS)
def test_evidence_is_of_a_known_kind(tmp_path: Path, kind: str) -> None:
    project = Project(tmp_path, "shed")
    third("CLI output", f"**{kind.upper()}**")(project)
    fact = project.fact("verification_doc")
    assert fact.ok, fact.why


def test_an_entry_may_be_an_item_with_its_output_below(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    project.change(
        REPORT,
        f"### AC-1\n\n- Kind: CLI output\n- Command: `{FIRST}`\n- Result: PASS\n",
        f"- AC-1: Kind: CLI output; Command: `{FIRST}`; Result: PASS\n",
    )
    fact = project.fact("verification_doc")
    assert fact.ok, fact.why


# --- load ---


def test_load_is_tried_at_the_concurrency_that_is_named(tmp_path: Path) -> None:
    project = Project(tmp_path, "house")
    assert project.fact("verification_doc").ok, "exactly what is asked for is enough"
    project.remove_section(REPORT, "Load Test")
    fact = project.fact("verification_doc")
    assert fact.why == documents_words.problems("verification.md", [documents_words.no_section("Load Test")], -5), (
        "what is not there has no other faults"
    )


@pytest.mark.parametrize(("number", "is_enough"), [("1", True), ("0", False), ("", False)])
def test_load_without_a_number_is_tried_by_one_at_least(tmp_path: Path, number: str, is_enough: bool) -> None:
    project = Project(tmp_path, "house")
    project.change(SCOPE, "50 concurrent users are answered", "users are answered")
    project.change(REPORT, "Concurrency: 50", f"Concurrency: {number}")
    fact = project.fact("verification_doc")
    assert (fact.ok, code_of(fact.why) == "documents.problems") == (is_enough, not is_enough)


# --- a verification that failed ---

STEPS = "\n## Reproduction\n\n- AC-3: command: `python words.py x`; expected: exit 2; got: a traceback\n"


def failed(project: Project, steps: str) -> None:
    third("Result: PASS", "Result: FAIL")(project)
    project.replace_section(REPORT, "Verdict", "FAIL")
    project.write(REPORT, project.read(REPORT) + steps)


def test_a_failure_with_steps_is_one(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    assert not project.fact("verification_doc", value="FAIL").ok
    failed(project, STEPS)
    fact = project.fact("verification_doc", value="FAIL")
    assert fact.ok, fact.why
    assert fact.parts == (("AC-3", False, verification_words.did_not_pass()),), "what failed is why the gate is open"
    fact = project.fact("verification_doc")
    assert (fact.ok, fact.parts) == (False, ())


def test_a_verification_that_passed_is_made_of_no_failures(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    fact = project.fact("verification_doc")
    assert (fact.ok, fact.parts) == (True, ())
    fact = project.fact("verification_doc", value="FAIL")
    assert (fact.ok, fact.parts) == (False, ())


def test_steps_may_be_told_that_belong_to_no_criterion(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    failed(project, f"{STEPS}- command: `make`; expected: exit 0; got: exit 1\n")
    fact = project.fact("verification_doc", value="FAIL")
    assert fact.ok, fact.why


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ("", "documents.problems"),
        ("\n## Reproduction\n\nIt crashed.\n", "documents.problems"),
        (STEPS.replace("command: `python words.py x`; ", ""), "documents.problems"),
        (STEPS.replace("expected: exit 2; ", ""), "documents.problems"),
        (STEPS.replace("got: a traceback", "got: ..."), "documents.problems"),
        (STEPS.replace("AC-3", "AC-1"), "documents.problems"),
    ],
)
def test_a_failure_without_steps_is_told(tmp_path: Path, steps: str, why: str) -> None:
    project = Project(tmp_path, "shed")
    failed(project, steps)
    for value in ("PASS", "FAIL"):
        fact = project.fact("verification_doc", value=value)
        assert (fact.ok, fact.parts) == (False, ())
        assert code_of(fact.why) == why
