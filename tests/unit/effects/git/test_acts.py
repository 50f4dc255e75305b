"""Tests of the checkpoint with real git: kept once per promise, found again, made anew when its objects are gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.effects.git.acts import Promise, checkpoint, checkpoint_ref, forget_checkpoint
from detent.effects.git.git import Git, find_repository
from detent.effects.git.tree.tree_id import tree_id
from detent.errors import ToolError
from tests.conftest import MakeRepo


class Work:
    """A repository with an edit that is not committed, and the private git folder that keeps its trees."""

    def __init__(self, path: Path, private: Path) -> None:
        self.path, self.private = path, private
        self.repository = find_repository(str(path))
        assert self.repository is not None
        self.baseline = self.repository.head or ""
        (path / "new.txt").write_text("new\n", encoding="utf-8")

    def promise(self, key: str = "task/4:checkpoint", *, is_based: bool = True) -> Promise:
        tree = tree_id(str(self.private), str(self.path), self.repository, self.baseline)
        base = self.baseline if is_based else ""
        return Promise(key, str(self.private), tree, base, "phase(task): verify\n\nTitle", parent=base)

    def git(self, *arguments: str) -> str:
        return Git(str(self.private)).run(*arguments).decode().removesuffix("\n")

    def lose_objects(self, *names: str) -> None:
        """What a power cut leaves of objects that were not written out."""
        for name in names:
            (self.private / "objects" / name[:2] / name[2:]).unlink()


@pytest.fixture
def work(repo: MakeRepo, tmp_path: Path) -> Work:
    return Work(repo(files={"a.txt": "one\n"}), tmp_path / "private")


def test_the_tree_is_kept_as_a_commit_on_the_baseline(work: Work) -> None:
    promise = work.promise()
    commit = checkpoint(promise)["commit"]
    assert work.git("rev-parse", f"{commit}^{{tree}}") == promise.tree
    assert work.git("rev-parse", f"{commit}^") == work.baseline
    assert work.git("ls-tree", "--name-only", commit).split() == ["a.txt", "new.txt"]
    assert work.git("show", "--no-patch", "--format=%B", commit).strip() == (
        "phase(task): verify\n\nTitle\n\nDetent-Step: task/4:checkpoint"
    )
    assert work.git("for-each-ref", "--format=%(objectname) %(refname)") == f"{commit} refs/detent/task/4-checkpoint"


def test_the_commit_is_the_engines_in_any_user_s_environment(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "somebody@example.invalid")
    commit = checkpoint(work.promise())["commit"]
    people = work.git("show", "--no-patch", "--format=%an <%ae>%n%cn <%ce>", commit)
    assert set(people.splitlines()) == {"Detent <detent@localhost>"}


def test_the_users_repository_sees_nothing_of_it(work: Work, repo: MakeRepo) -> None:
    before = (repo.git(work.path, "for-each-ref"), repo.git(work.path, "status", "--porcelain"))
    checkpoint(work.promise())
    assert (repo.git(work.path, "for-each-ref"), repo.git(work.path, "status", "--porcelain")) == before


def test_without_a_baseline_it_is_a_first_commit(work: Work) -> None:
    commit = checkpoint(work.promise(is_based=False))["commit"]
    assert work.git("rev-list", "--count", commit) == "1"


def test_a_repetition_finds_what_was_done(work: Work) -> None:
    first = checkpoint(work.promise())
    (work.path / "new.txt").write_text("changed since\n", encoding="utf-8")
    assert checkpoint(work.promise()) == first, "the promise was kept; what came later is no part of it"
    assert checkpoint(work.promise("task/5:checkpoint")) != first
    assert work.git("for-each-ref", "--format=%(refname)").split() == [
        "refs/detent/task/4-checkpoint",
        "refs/detent/task/5-checkpoint",
    ]


def test_ref_without_its_objects_is_an_error_until_forgotten(work: Work) -> None:
    promise = work.promise()
    lost = work.git("rev-parse", f"{promise.tree}:new.txt")
    checkpoint(promise)
    work.lose_objects(lost)
    with pytest.raises(ToolError):
        checkpoint(promise)
    forget_checkpoint(promise)
    assert work.git("for-each-ref") == ""
    assert work.promise().tree == promise.tree, "looking at the tree again makes its objects anew"
    commit = checkpoint(promise)["commit"]
    assert work.git("show", f"{commit}:new.txt") == "new"


def test_a_tree_that_was_never_kept_is_an_error(work: Work) -> None:
    promise = work.promise().replace(tree="1" * 40)
    with pytest.raises(ToolError):
        checkpoint(promise)


def test_only_the_one_checkpoint_is_forgotten(work: Work) -> None:
    kept, dropped = work.promise("task/4:checkpoint"), work.promise("task/5:checkpoint")
    checkpoint(kept)
    checkpoint(dropped)
    forget_checkpoint(dropped)
    forget_checkpoint(dropped)
    assert work.git("for-each-ref", "--format=%(refname)") == checkpoint_ref(kept.key)


def test_where_nothing_was_ever_kept_there_is_nothing_to_forget(work: Work) -> None:
    forget_checkpoint(Promise("task/4:checkpoint", str(work.private), "", "", ""))
    assert not work.private.exists()
