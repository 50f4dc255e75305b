"""A design, and the tree it draws: each single thing that lacks closes the gate and is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.packs.lights_out.checks.design import exempt_paths, planned_paths, without_top
from detent.packs.lights_out.words import documents as documents_words
from detent.packs.lights_out.words import plans as plans_words
from detent.words.proof import tree_not_scanned
from tests.unit.packs.lights_out.pipeline import Project, Spoil, changed, replaced, without

DESIGN, SCOPE = "scaffolding/design.md", "scaffolding/scope.md"

CLOSED: list[tuple[str, Spoil, str]] = [
    ("shed", replaced(DESIGN, "Architecture", "One file."), plans_words.no_component("Architecture")),
    ("shed", replaced(DESIGN, "Architecture", "One file.\n\n- TODO"), plans_words.no_component("Architecture")),
    ("shed", replaced(DESIGN, "Architecture", "- a: x\n- b: y\n- c: z"), plans_words.no_drawing("Architecture", 3)),
    (
        "shed",
        replaced(DESIGN, "Architecture", "- a\n- b\n- c\n\na -> b -> c"),
        plans_words.no_drawing("Architecture", 3),
    ),
    (
        "shed",
        replaced(DESIGN, "Architecture", "- a\n- b\n- c\n\n```\na b c\nnothing\n```"),
        plans_words.no_drawing("Architecture", 3),
    ),
    (
        "shed",
        replaced(DESIGN, "Directory Structure", "words.py"),
        plans_words.no_file_drawn("Directory Structure"),
    ),
    (
        "shed",
        replaced(DESIGN, "Directory Structure", "```\n...\n```"),
        documents_words.section_blank("Directory Structure"),
    ),
    (
        "shed",
        replaced(DESIGN, "External Integrations", "A mail server."),
        documents_words.lists_nothing("External Integrations"),
    ),
    (
        "house",
        changed(DESIGN, "; failure: the page answers 503 and says to try again", ""),
        plans_words.no_failure_handling("PostgreSQL: keeps concerts and sign-ups.", "External Integrations"),
    ),
    (
        "house",
        changed(DESIGN, "failure: the page answers 503 and says to try again", "failure: TBD"),
        plans_words.no_failure_handling(
            "PostgreSQL: keeps concerts and sign-ups; failure: TBD.", "External Integrations"
        ),
    ),
    (
        "skyscraper",
        changed(DESIGN, "; failure: it repeats them, and the ledger answers as it did before", ""),
        plans_words.no_failure_handling("Provider: sends messages.", "External Integrations"),
    ),
    (
        "shed",
        replaced(DESIGN, "Observability", "It logs."),
        plans_words.not_observed("Observability", "structured lines on stdout", "shed"),
    ),
    (
        "house",
        changed(DESIGN, "OTEL traces", "Traces"),
        plans_words.not_observed("Observability", "OTEL traces", "house"),
    ),
    ("house", changed(DESIGN, "logs to Loki", "logs"), plans_words.not_observed("Observability", "Loki", "house")),
    (
        "house",
        changed(DESIGN, "Grafana alerting", "alerting"),
        plans_words.not_observed("Observability", "Grafana", "house"),
    ),
    (
        "house",
        changed(DESIGN, "Grafana alerting", "Grafana"),
        plans_words.not_observed("Observability", "alerting", "house"),
    ),
    (
        "skyscraper",
        changed(DESIGN, "Full OTEL instrumentation", "Instrumentation"),
        plans_words.not_observed("Observability", "OTEL instrumentation", "skyscraper"),
    ),
    (
        "skyscraper",
        changed(DESIGN, "Prometheus metrics", "metrics"),
        plans_words.not_observed("Observability", "Prometheus metrics", "skyscraper"),
    ),
    (
        "skyscraper",
        changed(DESIGN, ", dashboards for both regions", ""),
        plans_words.not_observed("Observability", "dashboards", "skyscraper"),
    ),
    (
        "shed",
        changed(DESIGN, "; resolved: what lies between white space", ""),
        plans_words.not_resolved("What is a word?.", "Open Questions"),
    ),
    (
        "shed",
        changed(DESIGN, "resolved: what lies between white space", "resolved:"),
        plans_words.not_resolved("What is a word?; resolved:.", "Open Questions"),
    ),
    (
        "shed",
        changed(DESIGN, "deferred: nobody asked for it yet", "deferred: <reason>"),
        plans_words.not_resolved("Should it count characters too?; deferred: <reason>.", "Open Questions"),
    ),
    (
        "shed",
        replaced(DESIGN, "Open Questions", "### Which port?\n\n- Which host?; resolved: ours"),
        documents_words.asks_elsewhere("Open Questions"),
    ),
    (
        "shed",
        replaced(DESIGN, "External Integrations", "None but a mail server."),
        documents_words.lists_nothing("External Integrations"),
    ),
    ("shed", replaced(DESIGN, "Open Questions", "Many."), documents_words.lists_nothing("Open Questions")),
    ("house", without(DESIGN, "Key Scenarios"), documents_words.no_section("Key Scenarios")),
    ("house", without(DESIGN, "Concerns"), documents_words.no_section("Concerns")),
    ("skyscraper", without(DESIGN, "Concerns"), documents_words.no_section("Concerns")),
    (
        "house",
        replaced(DESIGN, "Key Scenarios", "- Sign up: it works."),
        plans_words.too_few_scenarios("Key Scenarios", 1),
    ),
    (
        "house",
        replaced(DESIGN, "Key Scenarios", "- Sign up: it works.\n- TODO"),
        plans_words.too_few_scenarios("Key Scenarios", 1),
    ),
    ("house", replaced(DESIGN, "Concerns", "- One disk"), plans_words.no_severity("One disk", "Concerns")),
    (
        "house",
        replaced(DESIGN, "Concerns", "- One disk; severity: bad"),
        plans_words.no_severity("One disk; severity: bad", "Concerns"),
    ),
    (
        "house",
        replaced(DESIGN, "Concerns", "- One disk; severity: high | low"),
        plans_words.no_severity("One disk; severity: high | low", "Concerns"),
    ),
    ("house", replaced(DESIGN, "Concerns", "Some."), documents_words.lists_nothing("Concerns")),
    ("shed", replaced(SCOPE, "Quality Tier", "shed or house"), documents_words.no_tier("scope.md")),
]


@pytest.mark.parametrize(("tier", "spoil", "why"), CLOSED)
def test_one_thing_that_lacks_closes_the_design_and_is_named(tmp_path: Path, tier: str, spoil: Spoil, why: str) -> None:
    project = Project(tmp_path, tier)
    spoil(project)
    fact = project.fact("design_doc")
    assert not fact.ok
    assert why in fact.why
    assert fact.fix


OPEN: list[tuple[str, Spoil]] = [
    ("shed", replaced(DESIGN, "Architecture", "- a: x\n- b: y")),
    ("shed", replaced(DESIGN, "Architecture", "1. a\n2. b\n3. c\n\n~~~\na -> b\nb -> c\n~~~")),
    ("shed", replaced(DESIGN, "Architecture", "* a\n* b\n* c\n\n```\n\u250c a \u2510\n\u2514 b \u2518\n```")),
    ("shed", replaced(DESIGN, "External Integrations", "- None.")),
    (
        "shed",
        replaced(DESIGN, "External Integrations", "- Mail\n  - what for: reminders\n  - **Failure:** it is sent again"),
    ),
    ("shed", replaced(DESIGN, "Open Questions", "- Which port?\n  Resolved: 8000.")),
    ("shed", replaced(DESIGN, "Observability", "JSON lines to standard output.")),
    ("shed", without(DESIGN, "Complexity Exceptions")),
    ("house", replaced(DESIGN, "Concerns", "None found.")),
]


@pytest.mark.parametrize(("tier", "change"), OPEN)
def test_what_is_written_otherwise_is_read_all_the_same(tmp_path: Path, tier: str, change: Spoil) -> None:
    project = Project(tmp_path, tier)
    change(project)
    if "Complexity Exceptions" not in project.read(DESIGN):
        project.change(DESIGN, "## Open Questions", "Complexity Exceptions\n---\n\nNone.\n\n## Open Questions")
    fact = project.fact("design_doc")
    assert fact.ok, fact.why


def test_a_shed_needs_no_review_of_its_design(tmp_path: Path) -> None:
    project = Project(tmp_path, "house")
    project.change(SCOPE, "house: members rely on it.", "shed")
    project.remove_section(DESIGN, "Key Scenarios")
    project.remove_section(DESIGN, "Concerns")
    project.replace_section(DESIGN, "Observability", "Lines on stdout.")
    fact = project.fact("design_doc")
    assert fact.ok, fact.why


# --- the drawing of the tree ---

DRAWN = "## Directory Structure\n\n```text\n{}\n```\n"


@pytest.mark.parametrize(
    ("drawing", "paths"),
    [
        ("a.py\nb/c.py", ["a.py", "b/c.py"]),
        ("./a.py\n./b/", ["a.py", "b/"]),
        ("src/\n  a.py\n  deep/\n    b.py\nc.py", ["src/", "src/a.py", "src/deep/", "src/deep/b.py", "c.py"]),
        (
            ".\n\u251c\u2500\u2500 a.py  # the start\n\u2514\u2500\u2500 t/\n    \u2514\u2500\u2500 b.py",
            ["a.py", "t/", "t/b.py"],
        ),
        ("|-- a.py - remark\n`-- t/\n    `-- b.py (tests)", ["a.py", "t/", "t/b.py"]),
        ("+-- t/\n|   +-- a.py\n+-- b.py", ["t/", "t/a.py", "b.py"]),
        ("# comment\n\n...\na.py", ["a.py"]),
        (".github/\n  ci.yml", [".github/", ".github/ci.yml"]),
        ("<name>.py\na.py\na.py", [".py", "a.py"]),
    ],
)
def test_drawings_of_trees_are_read(drawing: str, paths: list[str]) -> None:
    found = planned_paths(DRAWN.format(drawing))
    if paths == [".py", "a.py"]:
        assert found == ("<name>.py", "a.py"), "what is only half a name can never be there"
    else:
        assert found == tuple(paths)


def test_a_drawing_is_read_up_to_a_bound() -> None:
    drawn = [f"{number}.py" for number in range(2500)]
    assert planned_paths(DRAWN.format("\n".join(drawn))) == tuple(drawn[:2000])


def test_the_projects_own_folder_on_top_is_left_out() -> None:
    planned = ("words/", "words/a.py", "words/t/", "words/t/b.py")
    assert without_top(planned, ("a.py",)) == ("a.py", "t/", "t/b.py")
    assert without_top(planned, ("words/a.py",)) == planned, "there is such a folder"
    assert without_top(("words/", "words/a.py"), ("a.py",)) == ("a.py",)
    assert without_top(("src/",), ("a.py",)) == ("src/",)
    assert without_top(("src/", "b.py"), ("a.py",)) == ("src/", "b.py")


STRUCTURE: list[tuple[str, Spoil, str]] = [
    ("shed", lambda project: project.path("words.py").unlink(), plans_words.not_in_tree(["words.py"], "design.md")),
    (
        "shed",
        lambda project: project.path("tests/test_words.py").unlink(),
        plans_words.not_in_tree(["tests/", "tests/test_words.py"], "design.md"),
    ),
    (
        "shed",
        lambda project: project.path("words.py").rename(project.path("count.py")),
        plans_words.not_in_tree(["words.py"], "design.md"),
    ),
    (
        "shed",
        replaced(DESIGN, "Directory Structure", "```\nword\nwords.py\ntests/\n  test_words.py\n```"),
        plans_words.not_in_tree(["word"], "design.md"),
    ),
    ("shed", lambda project: project.write("lib/more.py", "x = 1\n"), plans_words.not_in_design(["lib/"], "design.md")),
    (
        "house",
        lambda project: project.path("app/store.py").unlink(),
        plans_words.not_in_tree(["app/store.py"], "design.md"),
    ),
    (
        "shed",
        replaced(DESIGN, "Directory Structure", "As usual."),
        plans_words.no_file_listed("design.md", "Directory Structure"),
    ),
    ("shed", without(DESIGN, "Directory Structure"), plans_words.no_file_listed("design.md", "Directory Structure")),
    ("shed", lambda project: setattr(project, "has_looked", False), tree_not_scanned()),
]


@pytest.mark.parametrize(("tier", "spoil", "why"), STRUCTURE)
def test_a_tree_that_is_not_as_drawn_is_named(tmp_path: Path, tier: str, spoil: Spoil, why: str) -> None:
    project = Project(tmp_path, tier)
    assert project.fact("structure_ok").ok
    spoil(project)
    fact = project.fact("structure_ok")
    assert not fact.ok
    assert why in fact.why


def test_an_unscanned_tree_neither_matches_nor_breaks_the_design(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    project.write("lib/more.py", "x = 1\n")
    assert project.fact("structure_ok").is_known
    project.has_looked = False
    assert not project.fact("structure_ok").is_known, "else a gate that is open when this one is closed would open"


def test_a_design_scan_of_the_engine_is_not_by_hand(tmp_path: Path) -> None:
    fact = Project(tmp_path, "shed").fact("structure_ok", since="entry")
    assert (fact.ok, fact.by_hand, fact.proof) == (True, False, "tree-1")


def test_folders_that_are_let_be_are_named_by_the_gate(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    fact = project.fact("structure_ok", besides=["docs/"])
    assert (fact.ok, fact.why) == (False, plans_words.not_in_design(["scaffolding/"], "design.md"))
    project.write(".github/agents/x.agent.md", "x\n")
    assert project.fact("structure_ok").ok, "hidden folders belong to tools"


def test_exempt_paths_begin_an_item(tmp_path: Path) -> None:
    assert exempt_paths(Project(tmp_path, "house").read(DESIGN)) == ("app/web.py",)
    text = "## Complexity Exceptions\n\n- `a.py`: long `b.py`\n- not `c.py`\n> - `d.py`\n\n```\n- `e.py`\n```\n"
    assert exempt_paths(text) == ("a.py",)
    assert exempt_paths("## Complexity Exceptions\n\nNone.\n") == ()
