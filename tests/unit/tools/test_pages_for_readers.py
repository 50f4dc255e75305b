"""Pages for contributors name files that exist, and the glossary explains each word once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.generate_docs import PROJECT

GLOSSARY = PROJECT / "docs" / "explanation" / "glossary.md"
PAGES = [*(PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "docs/README.md")), GLOSSARY]
NAMED = re.compile(r"`([\w.-]+(?:/[\w.-]+)+)/?`")  # a path as it stands in these pages
STARTS = (PROJECT, PROJECT / "src" / "detent", *sorted(path for path in (PROJECT / "src" / "detent").iterdir()))
# Placeholders, and a path of the imaginary machine.
PLACEHOLDER = re.compile(r"NAME|NNNN|refs/")


def rows() -> list[tuple[str, str, str]]:
    found = re.findall(r"^\| ([^|]+) \| ([^|]+) \| `([^|`]+)` \|$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    return [(word, meaning, place) for word, meaning, place in found]


def test_the_glossary_explains_each_word_once_in_one_sentence() -> None:
    words = [word for word, _meaning, _place in rows()]
    assert len(words) == len(set(words)) > 50
    assert [word for word, meaning, _place in rows() if not meaning.endswith(".") or ". " in meaning] == []


def test_each_word_of_the_glossary_lives_where_it_says() -> None:
    gone = [place for _word, _meaning, place in rows() if not (PROJECT / "src" / "detent" / place).is_file()]
    assert gone == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "ARCHITECTURE.md", "docs/explanation/inside-a-task.md"])
def test_a_page_on_the_code_names_files_that_exist(page: str) -> None:
    text = (PROJECT / page).read_text(encoding="utf-8")
    named = [name for name in NAMED.findall(text) if not PLACEHOLDER.search(name)]
    gone = [name for name in named if not any(_is_there(start / name) for start in STARTS)]
    assert len(named) > 10
    assert gone == []


def _is_there(path: Path) -> bool:
    return path.exists() or path.with_name(f"{path.name}.py").is_file()
