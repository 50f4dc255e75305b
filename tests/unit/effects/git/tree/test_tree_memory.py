"""Tests of the remembered tree id: it is given out only while nothing of the tree looks touched."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.effects.git.tree.memory import moment, recall_tree, remember_tree
from detent.store.disk.atomic import write_cache

NEVER = 1 << 62  # a moment that no file time reaches
FILES = ("a.txt", "src/deep/b.txt", "src/run.sh", "link")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "src/deep").mkdir(parents=True)
    for name in FILES[:-1]:
        (tree / name).write_text("one\n", encoding="utf-8")
    (tree / "link").symlink_to("a.txt")
    remember_tree(str(tmp_path / "memory"), str(tree), "tree-1", FILES, NEVER)
    return tree


def recall(tree: Path) -> str:
    return recall_tree(str(tree.parent / "memory"), str(tree))


def test_an_untouched_tree_is_known(tree: Path) -> None:
    (tree / "a.txt").read_text(encoding="utf-8")
    assert recall(tree) == "tree-1"


def rewrite_with_old_times(path: Path) -> None:
    """The same size, the old time put back: only the kernel's own time tells, once its clock has gone on."""
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        path.write_text("two\n", encoding="utf-8")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace_by_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("src/run.sh")


TOUCHES: dict[str, Callable[[Path], object]] = {
    "longer": lambda tree: (tree / "a.txt").write_text("one and more\n", encoding="utf-8"),
    "same size": lambda tree: rewrite_with_old_times(tree / "src/deep/b.txt"),
    "later": lambda tree: os.utime(tree / "a.txt", ns=(1, 1)),
    "mode": lambda tree: (tree / "src/run.sh").chmod(0o755),
    "gone": lambda tree: (tree / "a.txt").unlink(),
    "new beside": lambda tree: (tree / "src/deep/new.txt").touch(),
    "new at the top": lambda tree: (tree / "new.txt").touch(),
    "new folder": lambda tree: (tree / "src/other").mkdir(),
    "moved": lambda tree: (tree / "src").rename(tree / "lib"),
    "link elsewhere": lambda tree: replace_by_link(tree / "link"),
    "file to link": lambda tree: replace_by_link(tree / "a.txt"),
    "all gone": lambda tree: tree.rename(tree.parent / "elsewhere"),
}


@pytest.mark.parametrize("touch", TOUCHES)
def test_a_touched_tree_is_not_known(tree: Path, touch: str) -> None:
    for folder in (tree, tree / "src", tree / "src/deep"):
        os.utime(folder, ns=(1, 1))  # else a change within one tick of the clock could not be seen in a folder
    remember_tree(str(tree.parent / "memory"), str(tree), "tree-2", FILES, NEVER)
    assert recall(tree) == "tree-2"
    TOUCHES[touch](tree)
    assert recall(tree) == ""


def test_another_tree_of_the_same_files_is_not_known(tree: Path) -> None:
    other = tree.parent / "other"
    other.mkdir()
    assert recall_tree(str(tree.parent / "memory"), str(other)) == ""


def test_the_memory_is_renewed(tree: Path) -> None:
    (tree / "a.txt").write_text("one and more\n", encoding="utf-8")
    remember_tree(str(tree.parent / "memory"), str(tree), "tree-2", FILES, NEVER)
    assert recall(tree) == "tree-2"


def test_a_name_that_is_no_text_can_be_remembered(tree: Path) -> None:
    name = os.fsdecode(b"bad-\xff.txt")
    (tree / name).touch()
    remember_tree(str(tree.parent / "memory"), str(tree), "tree-2", [name], NEVER)
    assert recall(tree) == "tree-2"
    (tree / name).unlink()
    assert recall(tree) == ""


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "[1]", "5", "null", "{}", '{"tree": "tree-1"}', '{"times": "", "files": 5, "tree": "t"}']
)
def test_a_damaged_memory_is_none(tree: Path, content: str) -> None:
    write_cache(str(tree.parent / "memory"), content.encode())
    assert recall(tree) == ""


def test_a_torn_memory_is_none(tree: Path) -> None:
    """It is overwritten in place, so half of it may be what a death leaves."""
    memory = tree.parent / "memory"
    memory.write_bytes(memory.read_bytes()[:-1] + b"x")
    assert recall(tree) == ""


def test_a_missing_memory_is_none(tree: Path) -> None:
    (tree.parent / "memory").unlink()
    assert recall(tree) == ""


def rewrite(tree: Path) -> None:
    (tree / "a.txt").write_text("two\n", encoding="utf-8")


def new_file(tree: Path) -> None:
    (tree / "src/deep/new.txt").touch()


@pytest.mark.parametrize("touch", [rewrite, new_file])
def test_what_was_touched_while_git_was_looking_is_not_remembered(tree: Path, touch: Callable[[Path], None]) -> None:
    since = moment(str(tree.parent))
    touch(tree)
    assert not remember_tree(str(tree.parent / "memory"), str(tree), "tree-2", FILES, since)
    assert recall(tree) == ""


def test_what_was_touched_before_git_looked_is_remembered(tree: Path) -> None:
    rewrite(tree)
    touched = (tree / "a.txt").stat().st_ctime_ns
    while (since := moment(str(tree.parent))) <= touched:
        pass  # within one tick of the clock before and after look the same
    assert remember_tree(str(tree.parent / "memory"), str(tree), "tree-2", FILES, since)
    assert recall(tree) == "tree-2"


@pytest.mark.parametrize("kind", ["folder", "link", "link to itself"])
def test_a_memory_that_is_no_plain_file_is_none(tree: Path, kind: str) -> None:
    memory = tree.parent / "memory"
    kept = memory.rename(tree.parent / "kept")
    if kind == "folder":
        memory.mkdir()
    else:
        memory.symlink_to(kept if kind == "link" else memory)
    assert recall(tree) == ""
