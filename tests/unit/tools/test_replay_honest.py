"""An honest change is taken to the last move of a real task; a pair that says nothing is left out with its reason."""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path

import pytest

from tools.replay_honest import Ground, Package, Replayed, markdown, packages, replay, summary

OLD = {
    "words.py": 'def count(text):\n    return len(text.split(" "))\n',
    "tests/test_words.py": 'from words import count\n\n\ndef test_two():\n    assert count("a b") == 2\n',
}
NEW_TEST = '\n\ndef test_none():\n    assert count("") == 0\n'
NEW = {
    "words.py": "def count(text):\n    return len(text.split())\n",
    "tests/test_words.py": OLD["tests/test_words.py"] + NEW_TEST,
}
TWO = "def two():\n    return 2\n"
PACKAGE = Package("some-words", ("1", "2"), "tests", ".")


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    made = Ground(tmp_path / "ground" / "replay")
    made.python = Path(sys.executable)
    made.archives.mkdir()
    return made


def pack(ground: Ground, version: str, files: dict[str, str]) -> None:
    top = ground.folder / "made" / f"some_words-{version}"
    for name, text in {**files, "PKG-INFO": f"Version: {version}\n", ".gitignore": "__pycache__/\n"}.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with tarfile.open(ground.archives / f"{top.name}.tar.gz", "w:gz") as packed:
        packed.add(top, top.name)


def test_honest_pair_is_proven(ground: Ground) -> None:
    pack(ground, "1", OLD)
    pack(ground, "2", NEW)
    found = replay(ground, PACKAGE, "1", "2")
    assert (found.word, found.why, found.tests, found.targets) == ("proven_by_own_test", (), 2, 1)


def test_pair_that_is_not_green_is_left_out(ground: Ground) -> None:
    pack(ground, "1", {**OLD, "tests/test_words.py": OLD["tests/test_words.py"] + NEW_TEST})
    pack(ground, "2", NEW)
    found = replay(ground, PACKAGE, "1", "2")
    assert found.word == "left out"
    assert found.why[0].startswith("1 is not green here: 1 failed, 1 passed")


def test_lost_test_is_told(ground: Ground) -> None:
    """What only this tool could overlook: a refusal must reach its table."""
    skips = "import pytest\n\npytest.skip(allow_module_level=True)\n"
    more = "tests/test_more.py"
    pack(
        ground,
        "1",
        {**OLD, more: "from more import two\n\n\ndef test_more():\n    assert two() == 2\n", "more.py": TWO},
    )
    pack(
        ground,
        "2",
        {**NEW, more: "from more import two\n\n\ndef test_more():\n    assert two() == 2\n", "more.py": skips + TWO},
    )
    assert replay(ground, PACKAGE, "1", "2").word == "refused"


def test_summary_counts_what_was_replayed() -> None:
    found = [Replayed("a", "1", "2", "kept"), Replayed("b", "1", "2", "left out", ("too | long",))]
    assert summary(found) == "1 pairs of 1 packages replayed: 1 kept, 1 left out"
    assert markdown(found).splitlines()[-1] == r"| b | 1 → 2 |  | left out | too \| long |"


def test_each_listed_package_has_a_pair() -> None:
    assert all(len(package.versions) > 1 for package in packages())
