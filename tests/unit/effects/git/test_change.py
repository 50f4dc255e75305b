"""The change between two trees, by real git: what can be copied is copied byte for byte, the rest is named."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from detent.effects.git.change import changed_contents, patch_bytes
from detent.effects.git.git import find_repository
from detent.effects.git.tree.tree_id import tree_id
from detent.words.effects import git as say
from tests.conftest import MakeRepo


@pytest.fixture
def place(repo: MakeRepo, tmp_path: Path) -> tuple[Path, str, str]:
    """A repository, the private git folder for it, and its first commit."""
    path = repo("repo", {"kept.txt": "kept\n", "old.txt": "old\n", "gone.txt": "gone\n"})
    return path, str(tmp_path / "private"), repo.git(path, "rev-parse", "HEAD")


def taken(path: Path, private: str, baseline: str) -> str:
    return tree_id(private, str(path), find_repository(str(path)), baseline)


def test_contents_removals_and_what_is_passed_over(place: tuple[Path, str, str]) -> None:
    path, private, baseline = place
    (path / "old.txt").write_bytes(b"new\0\xff\r\n")
    (path / "gone.txt").unlink()
    (path / "empty.txt").write_bytes(b"")
    (path / "twin.txt").write_bytes(b"new\0\xff\r\n")
    (path / "large.txt").write_bytes(b"x" * 101)
    (path / "link").symlink_to("/etc/hostname")
    (path / "name with\nnewline").write_text("odd\n", encoding="utf-8")
    Path(os.fsdecode(os.fsencode(str(path)) + b"/bad-\xff")).write_text("bad\n", encoding="utf-8")
    found = changed_contents(private, baseline, taken(path, private, baseline), 100)
    assert found.contents == {
        "empty.txt": b"",
        "name with\nnewline": b"odd\n",
        "old.txt": b"new\0\xff\r\n",
        "twin.txt": b"new\0\xff\r\n",
    }
    assert found.removed == ("gone.txt",)
    assert found.passed_over == {
        "large.txt": say.larger_than_copied(101, 100),
        "link": say.symbolic_link(),
        os.fsdecode(b"bad-\xff"): say.name_not_utf8(),
    }


def test_nothing_changed_is_nothing(place: tuple[Path, str, str]) -> None:
    path, private, baseline = place
    tree = taken(path, private, baseline)
    found = changed_contents(private, baseline, tree, 100)
    assert (found.contents, found.removed, found.passed_over) == ({}, (), {})
    assert patch_bytes(private, baseline, tree) == b""


def test_the_patch_leads_from_the_baseline_to_the_tree(place: tuple[Path, str, str], repo: MakeRepo) -> None:
    path, private, baseline = place
    (path / "old.txt").write_bytes(b"new\0\xff\r\n")
    (path / "gone.txt").unlink()
    (path / "link").symlink_to("old.txt")
    (path / ".gitattributes").write_text("*.txt diff=loud filter=loud\n", encoding="utf-8")
    repo.git(path, "config", "diff.loud.textconv", "echo textconv; cat")
    patch = patch_bytes(private, baseline, taken(path, private, baseline))
    assert b"textconv" not in patch, "no setting of the repository takes part"
    fresh = repo("fresh", {"kept.txt": "kept\n", "old.txt": "old\n", "gone.txt": "gone\n"})
    subprocess.run(["git", "apply", "-"], cwd=fresh, input=patch, check=True)
    assert (fresh / "old.txt").read_bytes() == b"new\0\xff\r\n"
    assert not (fresh / "gone.txt").exists()
    assert os.readlink(fresh / "link") == "old.txt"
