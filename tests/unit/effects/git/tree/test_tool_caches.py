"""Caches of tools are no work: which folders a tree id leaves out, and which it counts all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from detent.effects.git.dirty import uncommitted
from detent.effects.git.git import Git, find_repository
from detent.effects.git.tree.memory import moment, recall_tree, remember_tree
from detent.effects.git.tree.tool_caches import CACHES, COMPILED, ENVIRONMENTS, is_cache_folder, uncounted_names
from detent.effects.git.tree.tree_id import LeftOut, Taken, take_tree
from tests.conftest import MakeRepo

NAMES = uncounted_names(in_place=False)
MARKED = tuple(name for name in NAMES if name != COMPILED)
SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55\n# made by a test\n"
MARKS = {"CACHEDIR.TAG": SIGNATURE, ".gitignore": "# Created by a test.\n\n*\n"}


class Tree:
    """A work tree whose id is taken in both ways, which must agree."""

    def __init__(self, path: Path, private: Path, names: tuple[str, ...] = NAMES) -> None:
        self.path, self.private, self.names = path, private, names
        self.repository = find_repository(str(path))
        self.baseline = self.repository.head if self.repository else None

    def take(self) -> Taken:
        place = (str(self.private), str(self.path), self.repository, self.baseline, LeftOut((), self.names))
        found = [take_tree(*place, looks_untouched=True), take_tree(*place)]
        assert len({(tree.id, tree.files, tree.caches) for tree in found}) == 1
        return found[0]

    def files(self) -> list[str]:
        names = Git(str(self.private)).run("ls-tree", "-r", "-z", "--name-only", self.take().id).split(b"\0")[:-1]
        assert sorted(names) == sorted(os.fsencode(name) for name in self.take().files)
        return [os.fsdecode(name) for name in names]

    def write(self, name: str, text: str = "x\n") -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def tree(repo: MakeRepo, tmp_path: Path) -> Tree:
    return Tree(repo(files={"a.txt": "one\n", "src/b.txt": "two\n"}), tmp_path / "private")


@pytest.mark.parametrize("folder", [*MARKED, "src/.pytest_cache", "packages/one/.mypy_cache"])
@pytest.mark.parametrize("mark", list(MARKS))
def test_a_marked_cache_on_the_list_is_left_out(tree: Tree, folder: str, mark: str) -> None:
    before = tree.take().id
    tree.write(f"{folder}/{mark}", MARKS[mark])
    tree.write(f"{folder}/v/one/two")
    assert (tree.take().id, tree.take().caches) == (before, (folder,))


@pytest.mark.parametrize(
    ("name", "mark", "text"),
    [
        (".pytest_cache", "README.md", "# pytest cache\n"),
        (".pytest_cache", "CACHEDIR.TAG", "Signature: none\n"),
        (".pytest_cache", ".gitignore", "*\n!work.py\n"),
        (".pytest_cache", ".gitignore", "*.py\n"),
        ("src/cache", "CACHEDIR.TAG", SIGNATURE),
        ("src", ".gitignore", "*\n"),
    ],
)
def test_a_name_or_a_mark_alone_hides_nothing(tree: Tree, name: str, mark: str, text: str) -> None:
    tree.write(f"{name}/{mark}", text)
    tree.write(f"{name}/work.py")
    assert {f"{name}/{mark}", f"{name}/work.py"} <= set(tree.files())
    assert tree.take().caches == ()


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "large"])
def test_a_mark_is_a_small_plain_file(tree: Tree, tmp_path: Path, kind: str) -> None:
    work = tree.write(".ruff_cache/work.py")
    mark = work.parent / "CACHEDIR.TAG"
    if kind == "link":
        (tmp_path / "tag").write_text(SIGNATURE, encoding="utf-8")
        mark.symlink_to(tmp_path / "tag")
    elif kind == "pipe":
        os.mkfifo(mark)
    elif kind == "folder":
        mark.mkdir()
    else:
        mark.write_text(SIGNATURE + " " * 20_000, encoding="utf-8")
    assert ".ruff_cache/work.py" in tree.files()


def test_a_link_to_a_cache_counts_as_a_link(tree: Tree, tmp_path: Path) -> None:
    elsewhere = tmp_path / "cache"
    elsewhere.mkdir()
    (elsewhere / "CACHEDIR.TAG").write_text(SIGNATURE, encoding="utf-8")
    (tree.path / ".pytest_cache").symlink_to(elsewhere)
    assert ".pytest_cache" in tree.files()


def test_folder_in_which_the_baseline_tracks_a_file_counts_whole(repo: MakeRepo, tmp_path: Path) -> None:
    tracked = {".pytest_cache/keep.py": "one\n", "pkg/__pycache__/keep.pyc": "two\n"}
    path = repo(files={"a.txt": "one\n", **tracked})
    tree = Tree(path, tmp_path / "private")
    tree.write(".pytest_cache/CACHEDIR.TAG", SIGNATURE)
    tree.write(".pytest_cache/keep.py", "changed\n")
    tree.write("pkg/__pycache__/new.pyc")
    assert {*tracked, ".pytest_cache/CACHEDIR.TAG", "pkg/__pycache__/new.pyc"} <= set(tree.files())
    (path / ".pytest_cache/keep.py").unlink()
    assert ".pytest_cache/keep.py" not in tree.files()


def test_of_pycache_only_compiled_files_are_left_out(tree: Tree) -> None:
    tree.write("src/__pycache__/b.cpython-311.pyc")
    assert tree.take().caches == ("src/__pycache__",)
    tree.write("src/__pycache__/b.py")
    tree.write("src/__pycache__/deep/c.pyc")
    assert tree.files() == ["a.txt", "src/__pycache__/b.py", "src/__pycache__/deep/c.pyc", "src/b.txt"]


def test_folder_is_cache_from_its_mark_on_and_no_longer(tree: Tree) -> None:
    before = tree.take().id
    tree.write(".mypy_cache/3.11/a.json")
    assert ".mypy_cache/3.11/a.json" in tree.files()
    mark = tree.write(".mypy_cache/CACHEDIR.TAG", SIGNATURE)
    assert tree.take().id == before
    tree.write(".mypy_cache/3.11/a.json", "other\n")
    assert tree.take().id == before
    mark.unlink()
    assert ".mypy_cache/3.11/a.json" in tree.files()


def test_a_task_without_the_list_counts_every_file(tree: Tree, tmp_path: Path) -> None:
    tree.write(".pytest_cache/CACHEDIR.TAG", SIGNATURE)
    tree.write("src/__pycache__/b.cpython-311.pyc")
    assert tree.files() == ["a.txt", "src/b.txt"]
    older = Tree(tree.path, tree.private, ())
    assert older.files() == [".pytest_cache/CACHEDIR.TAG", "a.txt", "src/__pycache__/b.cpython-311.pyc", "src/b.txt"]


def test_in_a_checkout_of_a_person_folders_with_programs_count() -> None:
    assert not set(ENVIRONMENTS) & set(uncounted_names(in_place=True))
    assert set(CACHES) <= set(uncounted_names(in_place=True))


def test_nothing_in_a_cache_stops_a_look_at_the_tree(tree: Tree, repo: MakeRepo) -> None:
    before = tree.take().id
    tree.write(".tox/.gitignore", "*\n")
    with (tree.path / ".tox/sparse").open("wb") as file:
        file.truncate(4 << 40)
    inner = tree.path / ".tox/inner"
    inner.mkdir()
    repo.git(inner, "init", "--quiet")
    repo.git(inner, "commit", "--quiet", "--allow-empty", "--message=Inner")
    assert tree.take().id == before


@pytest.mark.parametrize("touch", ["unmark", "mark", "new beside compiled files"])
def test_reader_forgets_tree_when_a_cache_may_have_become_work(tree: Tree, tmp_path: Path, touch: str) -> None:
    mark = tree.write(".pytest_cache/CACHEDIR.TAG", SIGNATURE)
    tree.write(".pytest_cache/work.py")
    tree.write("src/__pycache__/b.cpython-311.pyc")
    taken, memory = tree.take(), str(tmp_path / "memory.json")
    assert remember_tree(memory, str(tree.path), taken.id, taken.watched, moment(str(tmp_path)) + 10**10)
    assert recall_tree(memory, str(tree.path)) == taken.id
    tree.write(".pytest_cache/v/cache/lastfailed")
    tree.write(".pytest_cache/v/cache/lastfailed", "again\n")
    assert tree.take().id == taken.id
    taken = tree.take()
    assert remember_tree(memory, str(tree.path), taken.id, taken.watched, moment(str(tmp_path)) + 10**10)
    tree.write(".pytest_cache/v/cache/lastfailed", "a third time\n")
    assert recall_tree(memory, str(tree.path)) == taken.id, "a test run of the agent changes nothing"
    if touch == "unmark":
        mark.unlink()
    elif touch == "mark":
        mark.write_text("no signature\n", encoding="utf-8")
    else:
        tree.write("src/__pycache__/new.py")
    assert recall_tree(memory, str(tree.path)) == ""


def test_caches_of_real_tools_are_left_out(tree: Tree) -> None:
    """The tools this project is checked with: what they leave, and how they mark it, is theirs to change."""
    tree.write("one.py", "def double(number: int) -> int:\n    return number * 2\n")
    tree.write("test_one.py", "from one import double\n\n\ndef test_double() -> None:\n    assert double(2) == 4\n")
    before = tree.take()
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    ruff = os.path.join(os.path.dirname(sys.executable), "ruff")
    for line in (
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist"],
        [sys.executable, "-m", "mypy", "one.py"],
        [ruff, "check", "."],
    ):
        done = subprocess.run(line, cwd=tree.path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done
    after = tree.take()
    assert after.caches == (".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__")
    assert (after.id, after.files) == (before.id, before.files)


def test_cache_in_the_checkout_of_a_person_is_nothing_uncommitted(tree: Tree, tmp_path: Path) -> None:
    assert tree.repository is not None
    assert tree.baseline is not None
    tree.write("src/__pycache__/b.cpython-311.pyc")
    tree.write(".pytest_cache/CACHEDIR.TAG", SIGNATURE)
    assert not uncommitted(tree.repository, tree.baseline, str(tmp_path / "look"))
    tree.write("src/__pycache__/b.py")
    assert uncommitted(tree.repository, tree.baseline, str(tmp_path / "look")).new == ("src/__pycache__/b.py",)


def test_doctor_knows_a_cache_by_its_folder(tree: Tree) -> None:
    for name in ("src/__pycache__/b.pyc", ".venv/CACHEDIR.TAG", ".tox/a", "src/__pycache__2/b.pyc"):
        tree.write(name, SIGNATURE)
    found = [name for name in ("src/__pycache__", ".venv", ".tox", "a.txt") if is_cache_folder(str(tree.path / name))]
    assert found == ["src/__pycache__", ".venv"]
    tree.write("src/__pycache__/b.py")
    assert not is_cache_folder(str(tree.path / "src/__pycache__"))
