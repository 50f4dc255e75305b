"""Protected files that a tree touched, by real git: added, changed, removed, and without anything to compare with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from detent.effects.git.tree.touched import (
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


def test_without_baseline_all_that_must_be_asked_about_is_touched(repo: MakeRepo) -> None:
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


def test_later_tree_is_known_only_without_protected_differences(repo: MakeRepo) -> None:
    path, first, tree = changed(repo)
    found = touched_files(str(path / ".git"), first, tree, PROTECT)
    later = "e" * 40
    top = str(path)
    assert touched_later(found, later, ["app", "other/deploy"], PROTECT, top) == found.replace(tree=later)
    for name in ("deploy/x/y", "tests/t"):
        assert touched_later(found, later, ["app", name], PROTECT, top) is None
    (path / "link").symlink_to("app")
    assert touched_later(found, later, ["link"], PROTECT, top) is None
    assert touched_later(found.replace(has_links=True), later, ["app"], PROTECT, top) is None
    assert found.rules == rules_of(first, PROTECT)
    assert found.rules not in (rules_of(tree, PROTECT), rules_of(first, {**PROTECT, "ask": ["app"]}))


def test_what_was_remembered_comes_back_and_damage_is_nothing(tmp_path: Path) -> None:
    touched = Touched("t" * 40, {"deploy/a": "h"}, {"tests/t": "i"}, "r")
    remember_touched(str(tmp_path / "touched.json"), touched)
    assert recall_touched(str(tmp_path / "touched.json")) == touched
    (tmp_path / "touched.json").write_text("[1]")
    assert recall_touched(str(tmp_path / "touched.json")) == Touched()
    assert recall_touched(str(tmp_path / "nothing")) == Touched()


class Linked:
    """A repository with links: `"deploy": "-> lib"` is a link, any other text a file, no text a file that is gone."""

    def __init__(self, repo: MakeRepo, before: Mapping[str, str]) -> None:
        self.repo, self.path = repo, repo(files={"app": "1\n"})
        self.first = self.commit(before)

    def commit(self, files: Mapping[str, str | None]) -> str:
        for name, text in files.items():
            file = self.path / name
            if file.is_symlink() or file.exists():
                file.unlink()
            if text is not None:
                file.parent.mkdir(parents=True, exist_ok=True)
                target = text.removeprefix("-> ")
                file.symlink_to(target) if target != text else file.write_text(text)
        self.repo.git(self.path, "add", "--all")
        self.repo.git(self.path, "commit", "--quiet", "--allow-empty", "--message=Work")
        return self.repo.git(self.path, "rev-parse", "HEAD")

    def touched(self, after: Mapping[str, str | None], *ask: str, deny: Sequence[str] = ()) -> list[str]:
        self.commit(after)
        tree = self.repo.git(self.path, "rev-parse", "HEAD^{tree}")
        protect = {"deny": deny, "ask": ask, "report": ()}
        return list(touched_files(str(self.path / ".git"), self.first, tree, protect).ask)


@pytest.mark.parametrize("pattern", ["deploy/**", "deploy/*.sh", "deploy", "**/deploy/*.sh"])
def test_a_new_link_to_a_folder_touches_what_it_shows(repo: MakeRepo, pattern: str) -> None:
    found = Linked(repo, {}).touched({"lib/job.sh": "1\n", "deploy": "-> lib"}, pattern)
    assert "deploy/job.sh" in found


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ({"lib.sh": "1", "deploy/job.sh": "-> ../lib.sh"}, {"lib.sh": "2"}, ["deploy/job.sh"]),
        ({"lib/x": "1", "deploy": "-> lib"}, {"lib/x": "2"}, ["deploy/x"]),
        ({"lib/x": "1", "deploy": "-> lib"}, {"lib/y": "2"}, ["deploy/y"]),
        ({"lib/x": "1", "lib/y": "1", "deploy": "-> lib"}, {"lib/x": None}, ["deploy/x"]),
        ({"v1/x": "1", "v2/x": "2", "now": "-> v1", "deploy": "-> now"}, {"now": "-> v2"}, ["deploy/x"]),
        ({"v1/x": "1", "all/now": "-> ../v1", "deploy": "-> all"}, {"v1/x": "2"}, ["deploy/now/x"]),
        ({"lib/x": "1", "deploy": "-> lib"}, {"deploy": None}, ["deploy/x"]),
        ({}, {"deploy": "-> /etc"}, ["deploy"]),
        ({}, {"deploy": "-> ../outside"}, ["deploy"]),
        ({}, {"deploy": "-> nowhere"}, ["deploy"]),
        ({}, {"deploy": "-> deploy"}, ["deploy"]),
        ({}, {"a": "-> b", "b": "-> a", "deploy": "-> a/c"}, ["deploy"]),
    ],
)
def test_what_link_shows_is_touched_by_change_on_the_way(
    repo: MakeRepo, before: dict[str, str], after: dict[str, str | None], wanted: list[str]
) -> None:
    found = Linked(repo, before).touched(after, "deploy/**")
    assert sorted(found) == wanted


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"lib/x": "1", "deploy": "-> lib", "other/y": "1"}, {"other/y": "2"}),
        ({"lib/x": "1"}, {"docs": "-> lib"}),
        ({"lib/x": "1"}, {"docs": "-> /etc"}),
        ({"lib/x": "1", "lib-more/y": "1", "deploy": "-> lib"}, {"lib-more/y": "2"}),
    ],
)
def test_links_and_files_that_show_nothing_protected_are_left_alone(
    repo: MakeRepo, before: dict[str, str], after: dict[str, str | None]
) -> None:
    assert Linked(repo, before).touched(after, "deploy/**") == []


def test_the_target_of_a_link_under_deny_is_asked_about(repo: MakeRepo) -> None:
    linked = Linked(repo, {"lib/check": "1", "tests/check": "-> ../lib/check"})
    assert linked.touched({"lib/check": "2"}, deny=["tests/**"]) == ["tests/check"]
    assert Linked(repo_in(repo), {"lib/check": "1"}).touched({"lib/check": "2"}, deny=["tests/**"]) == []


def test_very_many_paths_through_links_touch_everything(repo: MakeRepo) -> None:
    files = {f"lib/{number}": "1" for number in range(120)}
    links = {f"a{number}": "-> ." for number in range(6)}
    assert Linked(repo, {**files, **links}).touched(dict.fromkeys(files, "2"), "deploy/**") == ["."]


def repo_in(repo: MakeRepo) -> MakeRepo:
    """A maker of repositories beside those of another."""
    return MakeRepo(repo.directory / "more", repo.environment)
