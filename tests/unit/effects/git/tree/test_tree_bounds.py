"""What git is asked to hash is bounded by what files say of themselves, before git reads a byte."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from detent.effects.git.bring import wipe
from detent.effects.git.git import find_repository
from detent.effects.git.tree.tree_id import QUICK_BYTES, QUICK_CHANGES, QUICK_FILES, Taken, take_tree
from detent.errors import TakesLong, UnreadableError
from tests.conftest import MakeRepo
from tests.unit.store.disk.test_folders import nest


class Tree:
    def __init__(self, repo: MakeRepo, tmp_path: Path) -> None:
        self.path, self.private = repo(), tmp_path / "private"
        found = find_repository(str(self.path))
        assert found is not None
        self.repository = found

    def take(self) -> Taken:
        return take_tree(str(self.private), str(self.path), self.repository, self.repository.head)

    def refused(self, *expected: str) -> UnreadableError:
        with pytest.raises(UnreadableError) as error:
            self.take()
        text = f"{error.value.what} {error.value.where} {error.value.next_step}"
        for words in expected:
            assert words in text
        assert len(text) < 1500
        return error.value


@pytest.fixture
def tree(repo: MakeRepo, tmp_path: Path) -> Tree:
    return Tree(repo, tmp_path)


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("name", ["new.bin", "app.py"])
def test_huge_sparse_file_is_refused_by_name(tree: Tree, name: str, is_known: bool) -> None:
    if is_known:
        tree.take()
    (tree.path / name).touch()
    os.truncate(tree.path / name, 4 << 40)
    error = tree.refused("4194304 MB", "512 MB", "rm -rf ")
    assert error.where == str(tree.path / name)


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("name", ["new.bin", "app.py"])
def test_file_just_beyond_the_bound_is_refused(tree: Tree, name: str, is_known: bool) -> None:
    """So small that git hashes it within seconds: without the bound this test fails, and does not hang."""
    if is_known:
        tree.take()
    (tree.path / name).touch()
    os.truncate(tree.path / name, (512 << 20) + 1)
    tree.refused("512 MB", "rm -rf ")


def test_many_large_files_are_refused_together(tree: Tree) -> None:
    tree.take()
    for number in range(9):
        path = tree.path / f"{number}.bin"
        path.touch()
        os.truncate(path, 500 << 20)
    tree.refused("4096 MB together")


def test_path_as_long_as_the_kernel_allows_is_counted(tree: Tree) -> None:
    before = tree.take().id
    nest(tree.path / "deep", 1500)
    try:
        taken = tree.take()
        assert taken.id != before
        assert any(name.endswith("/last") for name in taken.files)
    finally:
        wipe(str(tree.path / "deep"))
    assert tree.take().id == before


def test_three_thousand_nested_folders_are_refused_in_few_words(tree: Tree) -> None:
    nest(tree.path / "deep")
    try:
        tree.refused("deep/d/d/", "more characters")
    finally:
        wipe(str(tree.path / "deep"))


def test_many_files_are_counted(tree: Tree) -> None:
    folder = tree.path / "many"
    folder.mkdir()
    for number in range(5000):
        (folder / str(number)).write_text(str(number), encoding="utf-8")
    assert len(tree.take().files) >= 5000


@pytest.mark.parametrize("much", ["files", "bytes", "whole tree", "no index"])
def test_caller_in_hurry_is_told_that_a_look_takes_long(tree: Tree, much: str) -> None:
    in_a_hurry = partial(
        take_tree, str(tree.private), str(tree.path), tree.repository, tree.repository.head, in_a_hurry=True
    )
    before = tree.take().id
    (tree.path / "one").touch()
    assert in_a_hurry().id != before
    if much == "files":
        for number in range(QUICK_CHANGES + 1):
            (tree.path / str(number)).touch()
    elif much == "bytes":
        (tree.path / "large").write_bytes(bytes(QUICK_BYTES + 1))
    elif much == "whole tree":
        for number in range(QUICK_FILES):
            (tree.path / str(number)).touch()
        tree.take()
        (tree.path / "two").touch()
    else:
        wipe(str(tree.private))
    with pytest.raises(TakesLong):
        in_a_hurry()
    assert "one" in tree.take().files
