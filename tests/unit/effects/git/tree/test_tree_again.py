"""Tests of a tree taken again from the index of the last look: it is the one that a look from nothing gives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.effects.git.git import Git, Repository, find_repository
from detent.effects.git.tree.tree_id import Taken, take_tree
from detent.errors import UnreadableError
from detent.store.disk.atomic import read_cache, write_cache
from tests.conftest import MakeRepo

FILES = {"a.txt": "one\n", "src/b.txt": "two\n", "src/deep/er/c.txt": "three\n", "other/d.txt": "four\n"}


class World:
    """A work tree whose index was noted once; each tree is taken again, and from nothing in a folder of its own."""

    def __init__(self, path: Path, base: Path) -> None:
        self.path, self.base, self.controls = path, base, 0
        self.private = base / "private"
        repository = find_repository(str(path))
        assert isinstance(repository, Repository)
        self.repository, self.baseline = repository, repository.head
        self.first = self.again()

    @property
    def index(self) -> Path:
        (found,) = (self.private / "cache").glob("index-*")
        return found

    @property
    def note(self) -> Path:
        (found,) = (self.private / "cache").glob("tree-of-*")
        return found

    def again(self) -> Taken:
        return take_tree(str(self.private), str(self.path), self.repository, self.baseline, looks_untouched=True)

    def from_nothing(self) -> str:
        self.controls += 1
        control = self.base / f"control-{self.controls}"
        return take_tree(str(control), str(self.path), self.repository, self.baseline).id

    def sound(self) -> None:
        """Git reads every object, and none is missing."""
        Git(str(self.private)).run("fsck", "--strict", "--no-dangling", self.again().id)


@pytest.fixture
def world(repo: MakeRepo, tmp_path: Path) -> World:
    return World(repo(files=FILES), tmp_path)


def spoil(path: Path) -> None:
    """Every kind of change that few files can have, with names that sort otherwise than they look."""
    (path / "a.txt").unlink()
    (path / "a.txt").mkdir()
    (path / "a.txt/in").write_text("a folder in the place of a file", encoding="utf-8")
    for name in ("a.txt.b", "a.txt0", "a", "a-b"):
        (path / name).write_text(name, encoding="utf-8")
    (path / "other/d.txt").unlink()
    (path / "other").rmdir()
    (path / "other").write_text("a file in the place of a folder", encoding="utf-8")
    (path / "src/b.txt").chmod(0o755)
    (path / "src/link").symlink_to("no/such/place")
    (path / "empty").write_bytes(b"")
    os.makedirs(path / "new/x/y")
    with open(os.fsencode(path) + b"/new/x/y/\xff\n odd", "wb") as file:
        file.write(bytes(range(256)))


def test_second_look_gives_the_whole_tree_of_a_first_look(world: World) -> None:
    spoil(world.path)
    taken = world.again()
    assert taken.id == world.from_nothing()
    world.sound()
    assert (world.again().id, world.again().files, world.again().before) == (taken.id, taken.files, taken.id)


def test_names_of_64_letters(repo: MakeRepo, tmp_path: Path) -> None:
    path = tmp_path / "sha256"
    path.mkdir()
    repo.git(path, "init", "--quiet", "--object-format=sha256")
    (path / "a.txt").write_text("one\n", encoding="utf-8")
    repo.git(path, "add", "--all")
    repo.git(path, "commit", "--quiet", "--message=Start")
    world = World(path, tmp_path)
    (path / "a.txt").write_text("two\n", encoding="utf-8")
    assert world.again().id == world.from_nothing()
    world.sound()


def test_an_emptied_tree(world: World) -> None:
    for name in FILES:
        (world.path / name).unlink()
    assert world.again().id == world.from_nothing()


def test_way_back_is_the_first_tree_and_writes_no_object(world: World) -> None:
    (world.path / "a.txt").write_text("other\n", encoding="utf-8")
    assert world.again().id != world.first.id
    (world.path / "a.txt").write_text("one\n", encoding="utf-8")
    objects = sorted((world.private / "objects").rglob("*"))
    assert world.again().id == world.first.id
    assert sorted((world.private / "objects").rglob("*")) == objects


def test_an_untouched_tree_costs_no_new_index(world: World) -> None:
    before = world.index.stat()
    assert world.again().id == world.first.id
    after = world.index.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("is_edited", [False, True])
def test_after_power_cut_git_looks_whether_the_objects_are_there(world: World, *, is_edited: bool) -> None:
    """A note of an earlier start of the computer: what it names may be gone, and only git would notice."""
    (world.path / "lost").write_text("lost", encoding="utf-8")
    tree = world.again().id
    lost = tree if not is_edited else Git(str(world.private)).run("rev-parse", f"{tree}:lost").decode().strip()
    (world.private / "objects" / lost[:2] / lost[2:]).unlink()
    if is_edited:
        (world.path / "another").write_text("x", encoding="utf-8")
    words = (read_cache(str(world.note)) or b"").decode().split(" ")
    assert len(words) == 3
    write_cache(str(world.note), " ".join((*words[:2], "another")).encode())
    world.again()
    world.sound()


@pytest.mark.parametrize("name", [".GIT", "src/.giT/x"])
def test_a_name_that_git_keeps_for_itself_is_refused(world: World, name: str) -> None:
    (world.path / name).parent.mkdir(exist_ok=True)
    (world.path / name).write_text("x", encoding="utf-8")
    with pytest.raises(UnreadableError, match="git"):
        world.again()
