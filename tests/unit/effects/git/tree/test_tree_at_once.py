"""Tests of the tree that is made at once: it is the one git would have made, and git is asked when in doubt."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.effects.git.git import Git, Repository, find_repository
from detent.effects.git.tree import at_once as tree_at_once
from detent.effects.git.tree.loose_objects import LooseObjects
from detent.effects.git.tree.tree_id import Taken, take_tree
from detent.errors import StorageError, UnreadableError
from tests.conftest import MakeRepo

FILES = {"a.txt": "one\n", "src/b.txt": "two\n", "src/deep/er/c.txt": "three\n", "other/d.txt": "four\n"}


class World:
    """A work tree whose index was noted once; each tree is taken at once, and again by git in a folder of its own."""

    def __init__(self, path: Path, base: Path) -> None:
        self.path = path
        self.private, self.control = base / "private", base / "control"
        repository = find_repository(str(path))
        assert isinstance(repository, Repository)
        self.repository, self.baseline = repository, repository.head
        take_tree(str(self.private), str(path), repository, self.baseline)

    @property
    def index(self) -> Path:
        (found,) = (self.private / "cache").glob("index-*")
        return found

    @property
    def note(self) -> Path:
        (found,) = (self.private / "cache").glob("tree-of-*")
        return found

    def at_once(self) -> Taken:
        return take_tree(str(self.private), str(self.path), self.repository, self.baseline, at_once=True)

    def by_git(self) -> str:
        return take_tree(str(self.control), str(self.path), self.repository, self.baseline).id

    def was_at_once(self) -> Taken:
        """The tree, which must not have cost a new index."""
        before = self.index.stat()
        taken = self.at_once()
        after = self.index.stat()
        assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
        return taken

    def sound(self) -> None:
        """Git reads every object, and none is missing."""
        Git(str(self.private)).run("fsck", "--strict", "--no-dangling", self.at_once().id)


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


def test_it_is_the_tree_git_makes_and_all_of_it_is_there(world: World) -> None:
    spoil(world.path)
    taken = world.was_at_once()
    assert taken.id == world.by_git()
    world.sound()
    assert (world.was_at_once(), world.was_at_once().before) == (taken, taken.before)


def test_names_of_64_letters(repo: MakeRepo, tmp_path: Path) -> None:
    path = tmp_path / "sha256"
    path.mkdir()
    repo.git(path, "init", "--quiet", "--object-format=sha256")
    (path / "a.txt").write_text("one\n", encoding="utf-8")
    repo.git(path, "add", "--all")
    repo.git(path, "commit", "--quiet", "--message=Start")
    world = World(path, tmp_path)
    (path / "a.txt").write_text("two\n", encoding="utf-8")
    assert world.was_at_once().id == world.by_git()
    world.sound()


def test_an_emptied_tree(world: World) -> None:
    for name in FILES:
        (world.path / name).unlink()
    assert world.was_at_once().id == world.by_git()


def test_the_way_back_is_the_first_tree_and_writes_nothing(world: World) -> None:
    first = world.was_at_once()
    (world.path / "a.txt").write_text("other\n", encoding="utf-8")
    assert world.was_at_once().id != first.id
    (world.path / "a.txt").write_text("one\n", encoding="utf-8")
    objects = sorted((world.private / "objects").rglob("*"))
    assert world.was_at_once() == first
    assert sorted((world.private / "objects").rglob("*")) == objects


@pytest.mark.parametrize("amount", ["files", "bytes", "whole tree"])
def test_what_is_much_is_left_to_git(world: World, amount: str) -> None:
    before = world.index.stat().st_ino
    if amount == "bytes":
        (world.path / "large").write_bytes(bytes(tree_at_once.MOST_BYTES + 1))
    elif amount == "files":
        for number in range(tree_at_once.MOST_ADDED + 1):
            (world.path / f"new-{number}").write_text("x", encoding="utf-8")
    else:
        entries = {b"%d" % number: (b"100644", b"0" * 40) for number in range(tree_at_once.MOST_FILES + 1)}
        made = tree_at_once.write_few(str(world.private), str(world.path), entries, (), (), is_sha256=False)
        assert made == ""
        return
    assert world.at_once().id == world.by_git()
    assert world.index.stat().st_ino != before, "git has brought the index up"


def test_after_a_power_cut_git_looks_whether_the_objects_are_there(world: World) -> None:
    """A note of an earlier start of the computer: what it names may be gone, and only git would notice."""
    (world.path / "lost").write_text("lost", encoding="utf-8")
    tree = take_tree(str(world.private), str(world.path), world.repository, world.baseline).id
    blob = Git(str(world.private)).run("rev-parse", f"{tree}:lost").decode().strip()
    (world.private / "objects" / blob[:2] / blob[2:]).unlink()
    (world.path / "another").write_text("x", encoding="utf-8")
    _write_note(world, boot="another")
    world.at_once()
    world.sound()


def _write_note(world: World, boot: str) -> None:
    from detent.store.disk.atomic import read_cache, write_cache

    words = (read_cache(str(world.note)) or b"").decode().split(" ")
    assert len(words) == 3
    write_cache(str(world.note), " ".join((*words[:2], boot)).encode())


def test_objects_are_those_of_git(world: World) -> None:
    git, objects = Git(str(world.private)), LooseObjects(str(world.private), is_sha256=False)
    for data in (b"", b"x", bytes(100_000)):
        name = objects.add("blob", data)
        assert name == git.run("hash-object", "--stdin", input_bytes=data).decode().strip()
        assert objects.name("blob", data) == name
    objects.write()
    objects.write()
    for data in (b"", b"x", bytes(100_000)):
        assert git.run("cat-file", "blob", objects.name("blob", data)) == data
    assert not list((world.private / "objects").rglob("tmp_obj*"))


@pytest.mark.parametrize("left", [b"", b"rubbish", b"x\x01"])
def test_an_object_of_which_a_power_cut_left_something_else_is_written_anew(world: World, left: bytes) -> None:
    objects = LooseObjects(str(world.private), is_sha256=False)
    name = objects.add("blob", b"whole")
    place = world.private / "objects" / name[:2] / name[2:]
    place.parent.mkdir()
    place.write_bytes(left)
    objects.write()
    assert Git(str(world.private)).run("cat-file", "blob", name) == b"whole"


def test_a_place_where_nothing_can_be_written_is_named(world: World) -> None:
    objects = LooseObjects(str(world.private), is_sha256=False)
    names = [objects.add("blob", data) for data in (b"one", b"two")]
    (world.private / "objects" / names[1][:2]).write_text("a file stands here", encoding="utf-8")
    with pytest.raises(StorageError, match="objects can't be written"):
        objects.write()
    assert not list((world.private / "objects").rglob("tmp_obj*"))


@pytest.mark.parametrize("name", [".GIT", "src/.giT/x"])
def test_a_name_that_git_keeps_for_itself_is_refused_at_once_too(world: World, name: str) -> None:
    (world.path / name).parent.mkdir(exist_ok=True)
    (world.path / name).write_text("x", encoding="utf-8")
    with pytest.raises(UnreadableError, match="git"):
        world.at_once()
