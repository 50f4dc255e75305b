"""What docs/documents.md shows as an example is an example that passes, and every check it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from detent.gates.registry import checks
from tests.unit.packs.lights_out.pipeline import DOCUMENTS, EXAMPLES, GATES

PAGE = Path(__file__).resolve().parents[4] / "docs" / "documents.md"
SHOWN = dict(re.findall(r"(?ms)^`([^`\n]+)`:\n\n~~~~markdown\n(.*?)^~~~~$", PAGE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", [*DOCUMENTS.values(), "README.md", "docs/input/distilled-brief.md"])
def test_the_page_shows_the_example_word_for_word(name: str) -> None:
    assert SHOWN[name] == (EXAMPLES / "shed" / name).read_text(encoding="utf-8")


def test_the_page_names_every_check_over_documents() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert set(GATES) <= set(checks())
    assert [check for check in GATES if f"`{check}`" not in text] == []
