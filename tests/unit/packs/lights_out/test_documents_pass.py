"""Every document of every example project opens its gate, however its text is encoded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.packs.lights_out.pipeline import DOCUMENTS, GATES, TIERS, Project


@pytest.mark.parametrize("check", GATES)
@pytest.mark.parametrize("tier", TIERS)
def test_the_example_opens_the_gate(tmp_path: Path, tier: str, check: str) -> None:
    fact = Project(tmp_path, tier).fact(check)
    assert fact.ok, fact.why


@pytest.mark.parametrize("check", DOCUMENTS)
@pytest.mark.parametrize("tier", TIERS)
def test_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path: Path, tier: str, check: str) -> None:
    project = Project(tmp_path, tier)
    for path in project.tree.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        path.write_bytes(("\ufeff" + text.replace("\n", "\r\n")).encode("utf-8"))
    fact = project.fact(check)
    assert fact.ok, fact.why
