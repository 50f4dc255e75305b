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
        (tier, without(DELIVERY, name), f'DELIVERY.md: it has no section "## {name}"')
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
    ("shed", replaced(DELIVERY, "Incident Response", "Rollback: by hand"), "with a command"),
    ("shed", replaced(DELIVERY, "Incident Response", "Rollback: `<command>`"), "with a command"),
    ("shed", replaced(DELIVERY, "Incident Response", "Rollback: by `<command>` on the host"), "with a command"),
    ("shed", replaced(DELIVERY, "Incident Response", "Rollback: TODO\n\n```\n...\n```"), "with a command"),
    ("shed", replaced(DELIVERY, "Incident Response", "```\nmake undo\n```"), "with a command"),
    (
        "house",
        changed(DELIVERY, "- AC-3: 50 users at once, 121 ms.\n", ""),
        documents_words.leaves_out("Verified Criteria", ["AC-3"]),
    ),
    ("house", without(DELIVERY, "Data Persistence"), 'no section "## Data Persistence"'),
    (
        "house",
        replaced(DELIVERY, "Data Persistence", "It is kept."),
        documents_words.no_command(documents_words.heading("Data Persistence")),
    ),
    (
        "house",
        replaced(DELIVERY, "Data Persistence", "Command: `./list.sh`"),
        '"## Data Persistence" has no code block',
    ),
    ("shed", changed(SCOPE, "Stateful: no", "Stateful: yes"), 'no section "## Data Persistence"'),
    ("shed", replaced(SCOPE, "Quality Tier", "house"), 'no section "## Support Terms"'),
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
    told = "; ".join(f'it has no section about "{topic}"' for topic in lacks)
    assert project.fact("delivery_doc").why == f"README.md: {told}"


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
    assert both.why == f'README.md: it has no section about "deploy"; {delivery.why}'
    assert both.fix == f'write in README.md: "## Deploy" and what to do; {delivery.fix}'


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
    (replaced(PROPOSAL, "Prioritized Changes", "1. TODO\n2. ..."), 'nothing under "## Prioritized Changes"'),
    (replaced(PROPOSAL, "Architecture Impact", "It stays."), '"## Architecture Impact" has no line "Impact:"'),
    (
        replaced(PROPOSAL, "Architecture Impact", "Impact: none | minor | major"),
        '"## Architecture Impact" has no line "Impact:"',
    ),
    (replaced(PROPOSAL, "Architecture Impact", "Impact: some"), '"## Architecture Impact" has no line "Impact:"'),
    (
        replaced(PROPOSAL, "Architecture Impact", "Impact: none\nImpact: major"),
        '"## Architecture Impact" has no line "Impact:"',
    ),
    (
        replaced(PROPOSAL, "Architecture Impact", "```\nImpact: none\n```"),
        '"## Architecture Impact" has no line "Impact:"',
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
    assert project.fact("architecture", value="changes").fix.endswith("" if changes else "Impact: minor")
    if not none:
        said = "changes" if changes else "nothing clear"
        why = f'proposal.md says {said} under "## Architecture Impact", not none'
        assert project.fact("architecture", value="none").why == why
