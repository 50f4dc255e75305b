"""Nothing that only looks like a section, or like a document, opens a gate: every check, every section it asks for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from detent.words.message import code_of
from tests.messages import codes_in, message_of
from tests.unit.packs.lights_out.pipeline import DOCUMENTS, EXAMPLES, GATES, TIERS, Project

# Every section that any tier has to have, in the smallest project that has it.
SECTIONS = {
    (check, section): tier
    for tier in reversed(TIERS)
    for check, name in DOCUMENTS.items()
    for section in re.findall(r"(?m)^## (.+)$", (EXAMPLES / tier / name).read_text(encoding="utf-8"))
    if section != "Deploy Commands"  # the commands that run them ask for them
}
# What stands in place of `## heading` and the text below it.
ATTACKS = {
    "gone": "",
    "empty": "{heading}\n\n",
    "only a comment": "{heading}\n\n<!--\n{body}\n-->\n",
    "a heading in a fence": "~~~~\n{heading}\n{body}\n~~~~\n",
    "a heading in a comment": "<!--\n{heading}\n-->\n",
    "a heading in a quote": "> {heading}\n>\n{quoted}\n",
    "a heading of another level": "#{heading}\n{body}\n",
    "filler": "{heading}\n\n- TODO\n- <fill in>\n- ...\n",
    "only a round": "{heading}\n\nRound: 2\n",
    "twice": "{heading}\n{body}\n\n{heading}\n{body}\n",
    "twice, the last one empty": "{heading}\n{body}\n\n{heading}:\n\n",
}


@pytest.mark.parametrize("check", dict.fromkeys(check for check, _section in SECTIONS))
def test_a_section_that_is_none_is_named(tmp_path: Path, check: str) -> None:
    tiers = {section: tier for (by, section), tier in SECTIONS.items() if by == check}
    projects = {tier: Project(tmp_path / tier, tier) for tier in set(tiers.values())}
    for section, tier in tiers.items():
        hide_section(projects[tier], check, section)


def hide_section(project: Project, check: str, section: str) -> None:
    """Try every attack on one section of a document that is whole otherwise."""
    name = DOCUMENTS[check]
    whole = project.read(name)
    before, found, after = whole.partition(f"## {section}\n")
    body, following, rest = after.partition("\n## ")
    quoted = "\n".join(f"> {line}" for line in body.splitlines())
    for attack, shape in ATTACKS.items():
        made = shape.format(heading=found.strip(), body=body, quoted=quoted)
        project.write(name, f"{before}{made}{following}{rest}")
        fact = project.fact(check)
        assert not fact.ok, (section, attack)
        assert f'"## {section}"' in fact.why, (attack, fact.why)
        assert fact.why.startswith(f"{name.removeprefix('scaffolding/')}: "), fact.why
        assert section in fact.fix, (attack, fact.fix)
    project.write(name, whole)
    assert project.fact(check).ok, section


@pytest.mark.parametrize("check", GATES)
def test_a_document_that_is_not_there_is_named(tmp_path: Path, check: str) -> None:
    project = Project(tmp_path, "shed")
    names = [name for name in GATES[check].values() if isinstance(name, str) and name.endswith(".md")]
    for name in names:
        path = project.path(name.removeprefix("tree:") if name.startswith("tree:") else f"scaffolding/{name}")
        data = path.read_bytes()
        path.unlink()
        fact = project.fact(check)
        shown = name.removeprefix("tree:")
        assert (fact.ok, shown in fact.why) == (False, True), fact.why
        path.write_bytes(b"")
        fact = project.fact(check)
        assert (fact.ok, shown in fact.why) == (False, True), fact.why
        path.write_bytes(data)
    assert project.fact(check).ok


NO_TEXTS = {
    "latin-1": (b"caf\xe9\n", "disk.not_utf8"),
    "utf-16": ("## Problem\n".encode("utf-16"), "disk.binary_data"),
    "zero byte": (b"## Problem\n\0\n", "disk.binary_data"),
    "huge": (b"x" * 4_000_001, "disk.too_large"),
}


@pytest.mark.parametrize("check", DOCUMENTS)
def test_a_document_that_is_no_text_is_not_read(tmp_path: Path, check: str) -> None:
    project = Project(tmp_path, "shed")
    for kind, (data, code) in NO_TEXTS.items():
        project.path(DOCUMENTS[check]).write_bytes(data)
        fact = project.fact(check)
        assert not fact.ok, kind
        assert codes_in(fact.why) == ("gates.unreadable", code), kind
        assert message_of(fact.why).values["where"] == str(project.path(DOCUMENTS[check]))


@pytest.mark.parametrize("check", DOCUMENTS)
def test_a_document_that_is_a_link_is_not_read(tmp_path: Path, check: str) -> None:
    project = Project(tmp_path, "shed")
    path = project.path(DOCUMENTS[check])
    path.rename(path.with_name("elsewhere.md"))
    path.symlink_to("elsewhere.md")
    fact = project.fact(check)
    assert (fact.ok, code_of(fact.why) == "gates.unreadable") == (False, True)


LARGE = {
    "ids": "- AC-1 " * 60_000,
    "headings": "## Findings\n" * 40_000,
    "items": "- x\n" * 120_000,
    "ticks": "`" * 499_000,
    "brackets": "[" * 499_000,
    "too large": "x" * 500_001,
}


@pytest.mark.parametrize("check", DOCUMENTS)
def test_a_large_document_is_judged_and_closed(tmp_path: Path, check: str) -> None:
    project = Project(tmp_path, "shed")
    for kind, text in LARGE.items():
        project.write(DOCUMENTS[check], text)
        assert not project.fact(check).ok, kind


@pytest.mark.parametrize("check", DOCUMENTS)
def test_older_document_is_no_fresh_proof(tmp_path: Path, check: str) -> None:
    project = Project(tmp_path, "shed")
    project.enter(check)
    fact = project.fact(check, since="entry")
    name = DOCUMENTS[check]
    assert (fact.ok, code_of(fact.why) == "gates.stale") == (False, True)
    whole = project.read(name)
    project.write(name, f"{whole}\n<!-- looked at again -->\n\n")
    assert not project.fact(check, since="entry").ok, "what no reader sees is no change"
    project.write(name, f"{whole}\nRound: 2\n")
    if name == "DELIVERY.md":
        project.write("README.md", f"{project.read('README.md')}\nRound: 2\n")
    fact = project.fact(check, since="entry")
    assert fact.ok, fact.why


# Each would take minutes where a pattern tries again from every place; the lines stay short enough for a document.
HEAVY = {
    "digits": "1" * 40_000,
    "dots": "BLOCKED: " + "." * 40_000,
    "spaces": "- x;" + " " * 40_000 + "y",
    "words": "- AC-1: test: " + "a" * 40_000,
    "ids": "- AC-1\n" * 2_000,
    "half ids": "AC-" * 13_000,
    "spans": " ".join("`" * length for length in range(1, 280)),
    "labels": "- x; status:" * 3_000,
    "struck": "~~a" * 13_000,
    "quotes": "> " * 20_000,
    "truths": "".join(f"- T-{number % 9_000}: a\n" for number in range(1_500)),
    "paths": "```\n" + "a/" * 20_000 + "\n```",
}


@pytest.mark.parametrize("check", DOCUMENTS)
def test_no_text_makes_a_check_slow(tmp_path: Path, check: str) -> None:
    project = Project(tmp_path, "house")
    name = DOCUMENTS[check]
    sections = re.findall(r"(?m)^## (.+)$", project.read(name))
    for heavy, text in HEAVY.items():
        project.write(name, "".join(f"## {section}\n\n{text}\n\n" for section in sections) or text)
        assert not project.fact(check).ok, heavy
