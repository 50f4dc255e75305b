"""README, delivery and proposal: each single thing that lacks closes the gate and is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.packs.lights_out.words import documents as documents_words
from detent.packs.lights_out.words import reports as reports_words
from tests.unit.packs.lights_out.pipeline import Project, Spoil, changed, replaced, without

README, DELIVERY, SCOPE, PROPOSAL = "README.md", "DELIVERY.md", "scaffolding/scope.md", "scaffolding/proposal.md"
COMMON = ("Summary", "Known Limitations", "Incident Response")
BY_TIER = {
    "shed": COMMON,
    "house": (*COMMON, "Verified Criteria", "Support Terms"),
    "skyscraper": (*COMMON, "Verified Criteria", "Support Terms", "Architecture Overview", "Roadmap"),
}

CLOSED: list[tuple[str, Spoil, str]] = [
    *(
        (tier, without(DELIVERY, name), documents_words.problems("DELIVERY.md", [documents_words.no_section(name)], 0))
        for tier in BY_TIER
        for name in BY_TIER[tier]
    ),
    (
        "shed",
        changed(README, "Prints the number of words of a text file.", ""),
        documents_words.problems(
            "README.md", [reports_words.topic_untold("what it is", "README.md", "What this is")], -5
        ),
    ),
    ("shed", without(README, "Local setup"), reports_words.topic_untold("local setup", "README.md", "Local setup")),
    ("shed", without(README, "Deploy"), reports_words.topic_untold("deploy", "README.md", "Deploy")),
    (
        "shed",
        without(README, "Run the tests"),
        reports_words.topic_untold("run the tests", "README.md", "Run the tests"),
    ),
    ("shed", replaced(README, "Deploy", "TODO"), reports_words.topic_untold("deploy", "README.md", "Deploy")),
    ("shed", replaced(README, "Deploy", "<!-- cp -->"), reports_words.topic_untold("deploy", "README.md", "Deploy")),
    (
        "skyscraper",
        without(README, "What this is"),
        reports_words.topic_untold("what it is", "README.md", "What this is"),
    ),
    (
        "shed",
        replaced(DELIVERY, "Incident Response", "Call me."),
        reports_words.no_rollback_line("Incident Response", "Rollback"),
    ),
    (
        "shed",
        replaced(DELIVERY, "Incident Response", "Rollback: by hand"),
        reports_words.no_rollback_line("Incident Response", "Rollback"),
    ),
    (
        "shed",
        replaced(DELIVERY, "Incident Response", "Rollback: `<command>`"),
        reports_words.no_rollback_line("Incident Response", "Rollback"),
    ),
    (
        "shed",
        replaced(DELIVERY, "Incident Response", "Rollback: by `<command>` on the host"),
        reports_words.no_rollback_line("Incident Response", "Rollback"),
    ),
    (
        "shed",
        replaced(DELIVERY, "Incident Response", "Rollback: TODO\n\n```\n...\n```"),
        reports_words.no_rollback_line("Incident Response", "Rollback"),
    ),
    (
        "shed",
        replaced(DELIVERY, "Incident Response", "```\nmake undo\n```"),
        reports_words.no_rollback_line("Incident Response", "Rollback"),
    ),
    (
        "house",
        changed(DELIVERY, "- AC-3: 50 users at once, 121 ms.\n", ""),
        documents_words.leaves_out("Verified Criteria", ["AC-3"]),
    ),
    ("house", without(DELIVERY, "Data Persistence"), documents_words.no_section("Data Persistence")),
    (
        "house",
        replaced(DELIVERY, "Data Persistence", "It is kept."),
        documents_words.no_command(documents_words.heading("Data Persistence")),
    ),
    (
        "house",
        replaced(DELIVERY, "Data Persistence", "Command: `./list.sh`"),
        documents_words.no_output(documents_words.heading("Data Persistence")),
    ),
    ("shed", changed(SCOPE, "Stateful: no", "Stateful: yes"), documents_words.no_section("Data Persistence")),
    ("shed", replaced(SCOPE, "Quality Tier", "house"), documents_words.no_section("Support Terms")),
    ("shed", replaced(SCOPE, "Quality Tier", "big"), documents_words.no_tier("scope.md")),
]


@pytest.mark.parametrize(("tier", "spoil", "why"), CLOSED)
def test_one_thing_that_lacks_closes_the_delivery(tmp_path: Path, tier: str, spoil: Spoil, why: str) -> None:
    project = Project(tmp_path, tier)
    spoil(project)
    fact = project.fact("delivery_doc")
    assert not fact.ok
    assert why in fact.why
    assert fact.fix


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("Prints words.\n", ["local setup", "deploy", "run the tests"]),
        ("# Words\n\nPrints words.\n", ["local setup", "deploy", "run the tests"]),
        ("# Words\n\n## Local setup\n\nCopy it.\n", ["what it is", "deploy", "run the tests"]),
        ("# Words\n\n## About\n\nPrints words.\n", ["local setup", "deploy", "run the tests"]),
    ],
)
def test_a_short_readme_tells_what_it_is_under_its_title(tmp_path: Path, text: str, lacks: list[str]) -> None:
    project = Project(tmp_path, "shed")
    project.write(README, text)
    problems = [reports_words.topic_untold(topic, "README.md", "") for topic in lacks]
    assert project.fact("delivery_doc").why == documents_words.problems("README.md", problems, 0)


def test_of_two_documents_only_what_is_wrong_is_told(tmp_path: Path) -> None:
    project = Project(tmp_path, "shed")
    project.replace_section(DELIVERY, "Incident Response", "Call me.")
    delivery = project.fact("delivery_doc")
    assert delivery.why == documents_words.problems(
        "DELIVERY.md", [reports_words.no_rollback_line("Incident Response", "Rollback")], -5
    )
    assert delivery.fix == documents_words.under("Incident Response", "Rollback: `git revert HEAD && git push`")
    project.remove_section(README, "Deploy")
    both = project.fact("delivery_doc")
    untold = reports_words.topic_untold("deploy", "README.md", "Deploy")
    assert both.why == f"{documents_words.problems('README.md', [untold], 0)}; {delivery.why}"
    assert both.fix == f"{untold.next_step}; {delivery.fix}"


def test_a_house_need_not_deliver_what_a_skyscraper_must(tmp_path: Path) -> None:
    project = Project(tmp_path, "skyscraper")
    project.remove_section(DELIVERY, "Roadmap")
    project.remove_section(DELIVERY, "Architecture Overview")
    assert not project.fact("delivery_doc").ok
    project.replace_section(SCOPE, "Quality Tier", "house")
    assert project.fact("delivery_doc").ok


# --- proposals ---

PROPOSALS: list[tuple[Spoil, str]] = [
    (replaced(PROPOSAL, "Prioritized Changes", "Several."), reports_words.no_change_listed("Prioritized Changes")),
    (
        replaced(PROPOSAL, "Prioritized Changes", "1. TODO\n2. ..."),
        documents_words.section_blank("Prioritized Changes"),
    ),
    (
        replaced(PROPOSAL, "Architecture Impact", "It stays."),
        reports_words.no_impact(
            "Architecture Impact", "Impact", {"none": "none", "minor": "changes", "major": "changes"}
        ),
    ),
    (
        replaced(PROPOSAL, "Architecture Impact", "Impact: none | minor | major"),
        reports_words.no_impact(
            "Architecture Impact", "Impact", {"none": "none", "minor": "changes", "major": "changes"}
        ),
    ),
    (
        replaced(PROPOSAL, "Architecture Impact", "Impact: some"),
        reports_words.no_impact(
            "Architecture Impact", "Impact", {"none": "none", "minor": "changes", "major": "changes"}
        ),
    ),
    (
        replaced(PROPOSAL, "Architecture Impact", "Impact: none\nImpact: major"),
        reports_words.no_impact(
            "Architecture Impact", "Impact", {"none": "none", "minor": "changes", "major": "changes"}
        ),
    ),
    (
        replaced(PROPOSAL, "Architecture Impact", "```\nImpact: none\n```"),
        reports_words.no_impact(
            "Architecture Impact", "Impact", {"none": "none", "minor": "changes", "major": "changes"}
        ),
    ),
]


@pytest.mark.parametrize(("spoil", "why"), PROPOSALS)
def test_one_thing_that_lacks_closes_the_proposal(tmp_path: Path, spoil: Spoil, why: str) -> None:
    project = Project(tmp_path, "shed")
    spoil(project)
    fact = project.fact("proposal_doc")
    assert not fact.ok
    assert why in fact.why


@pytest.mark.parametrize(
    ("impact", "none", "changes"),
    [
        ("Impact: none", True, False),
        ("**Impact:** none, `main` gets a loop", True, False),
        ("Impact: minor", False, True),
        ("Impact: Major: the api is split", False, True),
        ("Impact: none or minor", False, False),
        ("none", False, False),
        ("> Impact: none", False, False),
    ],
)
def test_the_impact_on_the_architecture_leads_one_way_or_none(
    tmp_path: Path, impact: str, none: bool, changes: bool
) -> None:
    project = Project(tmp_path, "shed")
    project.replace_section(PROPOSAL, "Architecture Impact", impact)
    assert project.fact("architecture", value="none").ok is none
    assert project.fact("architecture", value="changes").ok is changes
    assert project.fact("architecture", value="changes").is_meant is not none, "another answer means another move"
    assert project.fact("architecture", value="changes").fix.endswith(
        "" if changes else documents_words.under("Architecture Impact", "Impact: minor")
    )
    if not none:
        said = "changes" if changes else ""
        why = reports_words.other_impact("proposal.md", said, "Architecture Impact", "none")
        assert project.fact("architecture", value="none").why == why
