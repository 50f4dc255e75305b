"""Protected files that a tree touched, by real git: added, changed, removed, and without anything to compare with."""

from __future__ import annotations

from pathlib import Path

from detent.effects.touched import (
    GONE,
    Touched,
    recall_touched,
    remember_touched,
    rules_of,
    touched_files,
    touched_later,
)
from tests.conftest import MakeRepo

PROTECT = {"deny": ["x"], "ask": ["deploy/**"], "report": ["tests/**"]}


def changed(repo: MakeRepo) -> tuple[Path, str, str]:
    """A repository whose second commit touches some of everything; both commits."""
    path = repo(files={"deploy/a": "1\n", "deploy/b": "1\n", "deploy/c": "1\n", "tests/t": "1\n", "app": "1\n"})
    first = repo.git(path, "rev-parse", "HEAD")
    (path / "deploy/a").write_text("2\n")
    (path / "deploy/b").unlink()
    (path / "deploy/new").write_text("3\n")
    for name in ("tests/t", "app"):
        (path / name).write_text("2\n")
    repo.git(path, "add", "--all")
    repo.git(path, "commit", "--quiet", "--message=Work")
    return path, first, repo.git(path, "rev-parse", "HEAD^{tree}")


def test_what_differs_and_matches_is_touched_with_its_hash(repo: MakeRepo) -> None:
    path, first, tree = changed(repo)
    found = touched_files(str(path / ".git"), first, tree, PROTECT)
    assert found.tree == tree
    assert found.ask == {
        "deploy/a": repo.git(path, "rev-parse", "HEAD:deploy/a"),
        "deploy/b": GONE,
        "deploy/new": repo.git(path, "rev-parse", "HEAD:deploy/new"),
    }
    assert list(found.report) == ["tests/t"]


def test_without_a_baseline_all_that_must_be_asked_about_is_touched(repo: MakeRepo) -> None:
    path, _, tree = changed(repo)
    found = touched_files(str(path / ".git"), "", tree, PROTECT)
    assert list(found.ask) == ["deploy/a", "deploy/c", "deploy/new"]
    assert found.report == {}


def test_a_file_that_became_executable_is_touched(repo: MakeRepo) -> None:
    path = repo(files={"deploy/a": "1\n"})
    first = repo.git(path, "rev-parse", "HEAD")
    repo.git(path, "update-index", "--chmod=+x", "deploy/a")
    tree = repo.git(path, "write-tree")
    assert list(touched_files(str(path / ".git"), first, tree, PROTECT).ask) == ["deploy/a"]


def test_of_a_later_tree_it_is_known_only_if_nothing_protected_may_differ(repo: MakeRepo) -> None:
    path, first, tree = changed(repo)
    found = touched_files(str(path / ".git"), first, tree, PROTECT)
    later = "e" * 40
    assert touched_later(found, later, ["app", "other/deploy"], PROTECT) == found.replace(tree=later)
    for name in ("deploy/x/y", "tests/t"):
        assert touched_later(found, later, ["app", name], PROTECT) is None
    assert found.rules == rules_of(first, PROTECT)
    assert found.rules not in (rules_of(tree, PROTECT), rules_of(first, {**PROTECT, "ask": ["app"]}))


def test_what_was_remembered_comes_back_and_damage_is_nothing(tmp_path: Path) -> None:
    touched = Touched("t" * 40, {"deploy/a": "h"}, {"tests/t": "i"}, "r")
    remember_touched(str(tmp_path / "touched.json"), touched)
    assert recall_touched(str(tmp_path / "touched.json")) == touched
    (tmp_path / "touched.json").write_text("[1]")
    assert recall_touched(str(tmp_path / "touched.json")) == Touched()
    assert recall_touched(str(tmp_path / "nothing")) == Touched()
