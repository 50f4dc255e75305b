"""Scope, preferences and given material: each single thing that lacks closes the gate and is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.packs.lights_out.checks.acceptance import tier_of
from detent.packs.lights_out.checks.scope import is_yes
from detent.packs.lights_out.words import documents as documents_words
from detent.packs.lights_out.words import plans as plans_words
from detent.store.journal.observed import TreeFile
from detent.words import gates as gates_words
from detent.words.message import code_of
from tests.unit.packs.lights_out.pipeline import Project, Spoil, changed, replaced

SCOPE, PREFERENCES = "scaffolding/scope.md", "preferences.md"
CRITERIA = "Acceptance Criteria"


def criteria(*lines: str) -> Spoil:
    return replaced(SCOPE, CRITERIA, "\n".join(lines))


CLOSED: list[tuple[Spoil, str]] = [
    (
        criteria("- AC-1: works well", "- AC-2: answers within 1 s"),
        plans_words.not_observable("AC-1", "works well"),
    ),
    (criteria("- AC-1: prints the count", "- AC-2: shows help"), plans_words.no_threshold("Acceptance Criteria")),
    (criteria("- AC-1: runs on Python 3"), plans_words.no_threshold("Acceptance Criteria")),
    (criteria("- AC-1: prints within 1 s", "- AC-1: shows help"), plans_words.id_twice("AC-1")),
    (criteria("- AC-1a: prints within 1 s", "- AC-1A: shows help"), plans_words.id_twice("AC-1a")),
    (
        criteria("- AC-1: prints within 1 s", "- ac-1: shows help"),
        plans_words.no_id("ac-1: shows help", "Acceptance Criteria"),
    ),
    (criteria("- AC-1: prints within 1 s", "- it is fast"), plans_words.no_id("it is fast", "Acceptance Criteria")),
    (
        criteria("| id | what |", "|---|---|", "| AC-1 | within 1 s |", "| 2 | shows help |"),
        plans_words.no_id("2; what: shows help", "Acceptance Criteria"),
    ),
    (
        criteria("| id | what |", "|---|---|", "| AC-1 | within 1 s |", "| AC-1 | shows help |"),
        plans_words.id_twice("AC-1"),
    ),
    (criteria("- prints within 1 s"), plans_words.names_no_criteria("Acceptance Criteria")),
    (criteria("- AC-N: prints within 1 s"), plans_words.names_no_criteria("Acceptance Criteria")),
    (criteria("- AC-1: <what must hold>", "- AC-2: within 1 s"), plans_words.not_decided("AC-1")),
    (criteria("- AC-1: TODO", "- AC-2: within 1 s"), plans_words.not_decided("AC-1")),
    (criteria("- AC-1: prints within TBD", "- AC-2: within 1 s"), plans_words.not_decided("AC-1")),
    (criteria("- AC-1:", "- AC-2: within 1 s"), plans_words.not_decided("AC-1")),
    (criteria("```", "- AC-1: prints within 1 s", "```"), plans_words.names_no_criteria("Acceptance Criteria")),
    (criteria("> - AC-1: prints within 1 s"), plans_words.names_no_criteria("Acceptance Criteria")),
    (criteria("- ~~AC-1: prints within 1 s~~", "- AC-2: prints 3 lines"), plans_words.no_id("", "Acceptance Criteria")),
    (
        criteria("- AC-1: within 1 s", "", "**AC-2**: shows help"),
        plans_words.no_item("AC-2", "Acceptance Criteria"),
    ),
    (criteria("AC-1: prints within 1 s"), plans_words.names_no_criteria("Acceptance Criteria")),
    (replaced(SCOPE, "Estimated Cost", "cheap"), plans_words.no_figure("Estimated Cost")),
    (replaced(SCOPE, "Estimated Cost", "$120 per year"), plans_words.no_monthly_figure("Estimated Cost")),
    (
        replaced(SCOPE, "Estimated Cost", "$0 for hosting, 10 EUR for the name"),
        plans_words.no_monthly_figure("Estimated Cost"),
    ),
    (replaced(SCOPE, "Estimated Cost", "0 euros, later USD 5"), plans_words.no_monthly_figure("Estimated Cost")),
    (replaced(SCOPE, "Estimated Cost", "about 5"), plans_words.no_figure("Estimated Cost")),
    (replaced(SCOPE, "Estimated Cost", "```\n$5 per month\n```"), plans_words.no_figure("Estimated Cost")),
    (
        replaced(SCOPE, "Quality Tier", "shed | house | skyscraper"),
        plans_words.not_one_tier("Quality Tier", ("shed", "house", "skyscraper")),
    ),
    (
        replaced(SCOPE, "Quality Tier", "villa"),
        plans_words.not_one_tier("Quality Tier", ("shed", "house", "skyscraper")),
    ),
    (
        replaced(SCOPE, "Quality Tier", "not a shed"),
        plans_words.not_one_tier("Quality Tier", ("shed", "house", "skyscraper")),
    ),
    (
        replaced(SCOPE, "Quality Tier", "shed\n\nhouse"),
        plans_words.not_one_tier("Quality Tier", ("shed", "house", "skyscraper")),
    ),
    (
        replaced(SCOPE, "Quality Tier", "```\nshed\n```"),
        plans_words.not_one_tier("Quality Tier", ("shed", "house", "skyscraper")),
    ),
    (
        changed(SCOPE, "Small enough: yes, by expander, see docs/input/brief.md", "One file."),
        plans_words.small_unanswered("Small enough", "Smallest Useful Version", gates_words.not_answered()),
    ),
    (changed(SCOPE, "Small enough: yes,", "Small enough: no,"), gates_words.no_clear_yes()),
    (changed(SCOPE, "by expander, ", ""), gates_words.answer_without_name()),
    (changed(SCOPE, "see docs/input/brief.md", "see docs/none.md"), gates_words.answer_without_proof()),
    (changed(SCOPE, "see docs/input/brief.md", "see scope.md"), gates_words.answer_without_proof()),
    (changed(SCOPE, "Conflicts: none", "As it says."), plans_words.label_unanswered("Conflicts", "Stack")),
    (
        changed(SCOPE, "Conflicts: none", "Conflicts: <none | which>"),
        plans_words.label_unanswered("Conflicts", "Stack"),
    ),
    (changed(SCOPE, "Stateful: no", "Stateful: yes/no"), plans_words.label_unanswered("Stateful", "Data Model")),
    (changed(SCOPE, "Stateful: no", "Nothing else."), plans_words.label_unanswered("Stateful", "Data Model")),
    (lambda project: project.path(".gitignore").unlink(), plans_words.no_ignore_file(".gitignore")),
]


@pytest.mark.parametrize(("spoil", "why"), CLOSED, ids=lambda value: value if isinstance(value, str) else "")
def test_one_thing_that_lacks_closes_the_scope_and_is_named(tmp_path: Path, spoil: Spoil, why: str) -> None:
    project = Project(tmp_path, "shed")
    spoil(project)
    fact = project.fact("scope_doc")
    assert not fact.ok
    assert why in fact.why
    assert "under" in fact.fix or "write" in fact.fix, "the refusal says what to write"


OPEN: list[Spoil] = [
    criteria("- **AC-1**: prints the count", "* [ ] AC-2 \u2013 exit code 0", "1. `AC-X-3`: at most 5 s"),
    criteria("### AC-1: prints the count", "", "- within 1 s", "- on any system", "", "### AC-2", "", "Shows help."),
    criteria("### Counting", "", "- AC-1: prints the count in 2 s", "", "### Help", "", "- AC-2: shows help"),
    criteria("| id | criterion |", "|---|---|", "| AC-1 | prints the count within 1 s |", "| AC-2 | shows help |"),
    criteria("- AC-1: a todo that is added is shown within 1 s"),
    criteria("- AC-1: `list <name>` prints 3 lines"),
    replaced(SCOPE, "Estimated Cost", "$0 \u2013 static hosting"),
    replaced(SCOPE, "Estimated Cost", "12 EUR monthly"),
    replaced(SCOPE, "Estimated Cost", "EUR 0.00, 0 dollars and \u00a30"),
    replaced(SCOPE, "Estimated Cost", "about \u20ac5.50/mo for the VPS, $0 for the rest"),
    replaced(SCOPE, "Quality Tier", "**Tier: Skyscraper**"),
    replaced(SCOPE, "Quality Tier", "house, because others rely on it"),
    changed(
        SCOPE,
        "Small enough: yes, by expander, see docs/input/brief.md",
        "**Small enough:** yes, by Ada: `preferences.md`",
    ),
]


@pytest.mark.parametrize("change", OPEN)
def test_what_is_written_otherwise_is_read_all_the_same(tmp_path: Path, change: Spoil) -> None:
    project = Project(tmp_path, "shed")
    change(project)
    fact = project.fact("scope_doc")
    assert fact.ok, fact.why


def test_there_are_at_most_so_many_criteria(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    lines = [f"- AC-{number}: prints {number} lines" for number in range(1, 202)]
    criteria(*lines)(project)
    assert project.fact("scope_doc").why == documents_words.problems(
        "scope.md", [plans_words.too_many_criteria(200)], -5
    )
    criteria(*lines[:-1])(project)
    assert project.fact("scope_doc").ok


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    for section in ("Problem", "Data Model", "Deferred"):
        project.remove_section(SCOPE, section)
    project.replace_section(SCOPE, "Quality Tier", "villa")
    why = project.fact("scope_doc").why
    assert all(f'"## {name}"' in why for name in ("Problem", "Data Model", "Deferred", "Quality Tier"))


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        *(("yes", True), ("**Yes**, by Ann", True), ("no", False), ("`NO`, nothing is kept", False)),
        *(("", None), ("maybe", None), ("yes/no", None), ("no?", None), ("yes | no", None), ("nothing", None)),
    ],
)
def test_label_takes_yes_or_no_alone(value: str, answer: bool | None) -> None:
    assert is_yes(value) is answer


def test_a_tier_counts_only_where_the_scope_settles_on_it() -> None:
    assert tier_of("## Quality Tier\n\nhouse\n") == "house"
    assert tier_of("## Quality Tier\n\nhouse\n\n## Quality Tier\n\nshed\n") == ""
    assert tier_of("```\n## Quality Tier\n\nhouse\n```\n") == ""


@pytest.mark.parametrize("tier", ["shed", "house", "skyscraper"])
def test_preferences_say_what_each_tier_means(tmp_path: Path, tier: str) -> None:
    project = Project(tmp_path, "shed")
    line = next(line for line in project.read(PREFERENCES).splitlines() if line.startswith(f"- {tier}:"))
    for new in ("", f"- {tier}:", f"- {tier}: TODO", f"<!-- {line} -->", f"> {line}"):
        project.write(PREFERENCES, project.read(PREFERENCES).replace(line, new))
        fact = project.fact("preferences_doc")
        assert (
            fact.ok,
            fact.why == documents_words.problems("preferences.md", [plans_words.tier_unexplained(tier)], -5),
        ) == (False, True), new
        project.write(
            PREFERENCES,
            project.read(PREFERENCES).replace(new, line) if new else Project(tmp_path / tier, "shed").read(PREFERENCES),
        )
    assert project.fact("preferences_doc").ok


# --- what was given ---


def test_every_file_that_was_given_is_named_in_the_scope(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    project.write("docs/input/prices.pdf", "%PDF")
    fact = project.fact("inputs_used")
    assert (fact.ok, fact.why) == (
        False,
        documents_words.problems("scope.md", [plans_words.input_unused(["docs/input/prices.pdf"], "scope.md")], -5),
    )
    project.change(SCOPE, "Counting several files", "Prices (prices.pdf) and several files")
    assert project.fact("inputs_used").ok
    project.write("docs/input/q", "short names are no part of other words\n")
    assert project.fact("inputs_used").why == documents_words.problems(
        "scope.md", [plans_words.input_unused(["docs/input/q"], "scope.md")], -5
    )
    project.path("docs/input/q").unlink()
    project.write("docs/input/.keep", "")
    assert project.fact("inputs_used").ok, "hidden files are nobody's material"
    project.has_looked = False
    fact = project.fact("inputs_used")
    assert (fact.ok, fact.why) == (False, plans_words.folder_not_read("docs/input/"))


def test_without_material_there_is_nothing_to_use(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    for path in project.path("docs/input").iterdir():
        path.unlink()
    assert project.fact("inputs_used").ok
    fact = project.fact("inputs_distilled")
    assert (fact.ok, fact.why) == (False, plans_words.nothing_to_distill("docs/input"))


DISTILLED = "docs/input/distilled-brief.md"


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda project: project.path(DISTILLED).unlink(), plans_words.nothing_distilled("docs/input", "distilled-")),
        (lambda project: project.write(DISTILLED, ""), plans_words.distilled_empty(["docs/input/distilled-brief.md"])),
        (
            lambda project: project.write(DISTILLED, "# Asked for\n\nTODO\n"),
            plans_words.distilled_empty(["docs/input/distilled-brief.md"]),
        ),
        (
            lambda project: project.write(DISTILLED, "from brief.md\n"),
            plans_words.distilled_empty(["docs/input/distilled-brief.md"]),
        ),
        (
            lambda project: project.write(DISTILLED, "# A\n\nwords\n"),
            plans_words.not_distilled("distilled-", ["docs/input/brief.md"]),
        ),
        (
            lambda project: project.write("docs/input/new.txt", "x"),
            plans_words.not_distilled("distilled-", ["docs/input/new.txt"]),
        ),
        (lambda project: setattr(project, "has_looked", False), plans_words.folder_not_read("docs/input/")),
    ],
)
def test_what_was_not_distilled_is_named(tmp_path: Path, spoil: Spoil, why: str) -> None:
    project = Project(tmp_path, "shed")
    spoil(project)
    fact = project.fact("inputs_distilled")
    assert not fact.ok
    assert why in fact.why


def test_what_git_ignores_was_not_distilled(tmp_path: Path) -> None:
    """It lies on this disk alone."""

    class Ignoring(Project):
        def files(self) -> dict[str, TreeFile] | None:
            return {path: file for path, file in (super().files() or {}).items() if path != DISTILLED}

    fact = Ignoring(tmp_path, "shed").fact("inputs_distilled")
    assert (fact.ok, fact.why) == (False, plans_words.nothing_distilled("docs/input", "distilled-"))


@pytest.mark.parametrize("check", ["inputs_distilled", "inputs_used"])
def test_a_document_from_entry_is_stale_without_a_scan(tmp_path: Path, check: str) -> None:
    project = Project(tmp_path, "shed")
    project.has_looked = False
    project.enter(check)
    project.has_looked = True
    fact = project.fact(check, since="entry")
    assert (fact.ok, code_of(fact.why) == "gates.stale") == (False, True), fact


def test_what_was_distilled_before_is_not_fresh(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    project.enter("inputs_distilled")
    assert not project.fact("inputs_distilled", since="entry").ok
    project.write(DISTILLED, "# Anew\n\nFrom brief.md: count words.\n")
    assert project.fact("inputs_distilled", since="entry").ok


@pytest.mark.parametrize(
    ("lines", "version", "why"),
    [
        (["- AC-1: prints within 1 s", "- AC-3: shows help"], "Version: 2", ""),
        (["- AC-1:   prints within\n  1 s", "- AC-3: shows help"], "**Version:** v2", ""),
        (["- AC-3: prints within 1 s"], "Version: 2", ""),
        (["- AC-1: prints within 2 s"], "Version: 2", plans_words.other_criterion("AC-1", "prints within 1 s", 3)),
        (["- AC-2: prints within 2 s"], "Version: 2", plans_words.other_criterion("AC-2", "shows help", 3)),
        (["- AC-1: prints within 1 s"], "", plans_words.version_missing("Version: 2")),
        (["- AC-1: prints within 1 s"], "Version: 1", plans_words.version_missing("Version: 2")),
    ],
)
def test_an_id_keeps_its_words_in_the_next_version(tmp_path: Path, lines: list[str], version: str, why: str) -> None:
    project = Project(tmp_path, "shed")
    project.snapshot = project.snapshot.replace(visits={"verify": 1})
    criteria("- AC-1: prints within 1 s", "- AC-2: shows help")(project)
    project.write("scaffolding/versions/scope-v1.md", project.read(SCOPE))
    criteria(*lines)(project)
    project.write(SCOPE, project.read(SCOPE).replace("# Scope: words\n", f"# Scope: words\n\n{version}\n", 1))
    fact = project.fact("scope_doc", before="versions/scope-v{n}.md")
    assert (fact.ok, why in fact.why) == (not why, True), fact
