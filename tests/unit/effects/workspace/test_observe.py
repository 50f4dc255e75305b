"""Tests of what gates are shown of a task's files: what counts as proof, what never does, and one truth per step."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import sys
from pathlib import Path

import pytest

from detent.effects.git.bring import wipe
from detent.effects.workspace.observe import TaskFiles
from detent.errors import UnreadableError
from detent.store.journal.observed import PathSeen
from detent.words.effects import workspace as say
from detent.words.store import disk as disk_words
from tests.unit.store.disk.test_folders import nest

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the bytes a process reads")


class Place:
    """A task folder, a tree beside it, and a file that lies in neither."""

    def __init__(self, base: Path) -> None:
        self.folder, self.tree, self.outside = base / "task", base / "tree", base / "outside.txt"
        self.folder.mkdir()
        self.tree.mkdir()
        self.outside.write_text("x", encoding="utf-8")

    def look(self) -> TaskFiles:
        return TaskFiles(str(self.folder), str(self.tree), ("STATE.md",))

    def path(self, value: str) -> PathSeen | None:
        return self.look().path(value)

    def seen(self, value: str) -> PathSeen:
        found = self.path(value)
        assert found is not None, value
        return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# --- one file ---


def test_file_is_seen_with_its_size_and_whole_hash(place: Place) -> None:
    text = "proof\n" * 300_000  # more than is read at once
    write(place.folder / "a/b.txt", text)
    found = place.seen("a/b.txt")
    assert found == PathSeen("a/b.txt", len(text), sha256(text), {"a/b.txt": sha256(text)[:32]})


def test_tree_file_is_seen_but_not_in_the_task_folder(place: Place) -> None:
    write(place.tree / "app.py", "x = 1\n")
    found = place.seen("app.py")
    assert (found.digest, found.parts) == (sha256("x = 1\n"), {})


def test_the_task_folder_is_looked_at_before_the_tree(place: Place) -> None:
    write(place.tree / "same.txt", "tree")
    write(place.folder / "same.txt", "task")
    assert place.seen("same.txt").digest == sha256("task")


def test_a_link_is_seen_as_what_it_leads_to(place: Place) -> None:
    write(place.tree / "app.py", "x = 1\n")
    (place.folder / "link.py").symlink_to(place.tree / "app.py")
    found = place.seen("link.py")
    assert (found.digest, found.parts) == (sha256("x = 1\n"), {}), "it lies in the tree, whatever points there"


@pytest.mark.parametrize(
    "value",
    [
        *("", "  ", ".", "./", "a/..", "none.txt", "a.txt/b", "a\0b", "../outside.txt", "../tree-2/x.txt"),
        *("escape.txt", "escape/outside.txt", "dangling", "loop", "fifo", "n" * 300, "./" * 500 + "a.txt"),
    ],
)
def test_file_outside_the_task_is_not_seen(place: Place, value: str) -> None:
    write(place.folder / "a.txt", "a")
    write(place.folder.parent / "tree-2/x.txt", "a neighbour whose name begins the same")
    (place.folder / "a").mkdir()
    (place.folder / "escape.txt").symlink_to(place.outside)
    (place.folder / "escape").symlink_to(place.outside.parent)
    (place.folder / "dangling").symlink_to("nowhere")
    (place.folder / "loop").symlink_to("loop")
    os.mkfifo(place.folder / "fifo")
    assert place.path(value) is None


def test_a_path_may_be_long_but_not_endless(place: Place) -> None:
    write(place.folder / "a.txt", "a")
    for slashes, is_seen in ((994, True), (995, False)):
        value = f".{'/' * slashes}a.txt"
        assert (place.path(value) is not None) is is_seen, len(value)


def test_an_address_from_the_root_counts_only_inside(place: Place) -> None:
    path = write(place.folder / "a.txt", "a")
    assert place.seen(str(path)).parts == {"a.txt": sha256("a")[:32]}
    assert place.path(str(place.outside)) is None


def test_what_git_keeps_for_itself_is_no_proof(place: Place) -> None:
    write(place.tree / ".git/config", "x")
    write(place.tree / ".github/workflow.yml", "x")
    write(place.tree / "sub/.git", "gitdir: x")
    for value in (".git", ".git/config", "sub/.git"):
        assert place.path(value) is None, value
    assert place.path(".github/workflow.yml") is not None


def test_the_engines_own_file_is_there_but_is_no_proof(place: Place) -> None:
    write(place.folder / "STATE.md", "x")
    write(place.tree / "STATE.md", "the tree's own file of this name")
    (place.folder / "other.md").symlink_to("STATE.md")
    files = place.look()
    assert files.path("other.md") is None
    found = files.path("other.md", as_proof=False)
    assert found is not None
    assert found.digest == sha256("x")
    found = files.path("STATE.md")
    assert found is not None
    assert found.digest == sha256("the tree's own file of this name")


# --- a folder ---


def test_a_folder_is_all_its_plain_files(place: Place) -> None:
    write(place.folder / "shots/one.png", "1")
    write(place.folder / "shots/deep/two.png", "22")
    found = place.seen("shots")
    assert found.size_bytes == 3
    assert found.parts == {"shots/one.png": sha256("1")[:32], "shots/deep/two.png": sha256("22")[:32]}


def test_folder_hash_changes_with_bytes_and_names_not_with_links(place: Place) -> None:
    path = write(place.folder / "shots/one.png", "1")
    first = place.seen("shots").digest
    (path.parent / "link").symlink_to(place.outside)
    (path.parent / "loop").symlink_to(path.parent)
    assert place.seen("shots").digest == first
    path.rename(path.with_name("two.png"))
    renamed = place.seen("shots").digest
    write(path.with_name("two.png"), "2")
    assert len({first, renamed, place.seen("shots").digest}) == 3


def test_folder_is_the_same_in_whatever_order_it_was_made(place: Place) -> None:
    names = [f"shots/{letter}/{letter}.png" for letter in "abcdefgh"]
    for name in names:
        write(place.folder / name, name)
    for name in reversed(names):
        write(place.tree / name, name)
    alone = TaskFiles(str(place.tree), "").path("shots")
    assert alone is not None
    assert place.seen("shots") == alone


def test_a_folder_without_plain_files_is_empty(place: Place) -> None:
    (place.folder / "shots/deep").mkdir(parents=True)
    (place.folder / "shots/link").symlink_to(place.outside)
    found = place.seen("shots")
    assert (found.size_bytes, found.parts) == (0, {})


def test_a_folder_counts_without_the_engines_own_file(place: Place) -> None:
    files = TaskFiles(str(place.folder), str(place.tree), ("kept/log",))
    write(place.folder / "kept/log", "the engine says so")
    found = files.path("kept")
    assert found is not None
    assert (found.size_bytes, found.parts) == (0, {})


# --- the whole task folder ---


def test_the_listing_names_every_file_that_could_be_proof(place: Place) -> None:
    write(place.folder / "STATE.md", "x")
    write(place.folder / "EVIDENCE.md", "e")
    write(place.folder / "artifacts/one.txt", "1")
    write(place.tree / "app.py", "x = 1\n")
    (place.folder / "link.txt").symlink_to("EVIDENCE.md")
    os.mkfifo(place.folder / "fifo")
    expected = {"EVIDENCE.md": sha256("e")[:32], "artifacts/one.txt": sha256("1")[:32]}
    assert place.look().listing() == expected


def test_undecodable_name_is_listed_as_it_can_be_shown(place: Place) -> None:
    (Path(os.fsdecode(os.fsencode(place.folder) + b"/bad-\xff.txt"))).write_bytes(b"1")
    assert place.look().listing() == {"bad-\\xff.txt": sha256("1")[:32]}


def test_a_listing_that_had_to_be_cut_says_so(place: Place) -> None:
    for number in range(1999):
        (place.folder / f"{number}.txt").touch()
    assert len(place.look().listing()) == 1999
    assert "*" not in place.look().listing()
    for number in range(1999, 2010):
        (place.folder / f"{number}.txt").touch()
    listing = place.look().listing()
    assert (listing["*"], len(listing)) == ("cut", 2001)


def test_file_that_vanishes_during_the_look_is_missing(place: Place) -> None:
    """Agents and editors write beside us; the kernel's list of our open files names one that only the look had open."""
    listing = TaskFiles("/proc/self/fdinfo", str(place.tree)).listing()
    assert {"0", "1", "2"} <= listing.keys()


def test_file_that_goes_before_it_is_read_is_not_there(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found in the folder is read one after the other, which may take long."""
    there, gone = write(place.folder / "there.txt", "x"), place.folder / "gone.txt"
    monkeypatch.setattr("detent.effects.workspace.observe._plain_files", lambda _: iter([str(gone), str(there)]))
    assert place.look().listing().keys() == {"there.txt"}


@pytest.mark.skipif(os.getuid() == 0, reason="this user (root) may read everything")
def test_unreadable_file_of_the_task_folder_is_named(place: Place) -> None:
    write(place.folder / "closed.txt", "x").chmod(0)
    with pytest.raises(UnreadableError, match=re.escape(disk_words.reason(errno.EACCES, ""))) as caught:
        place.look().listing()
    assert caught.value.where == str(place.folder / "closed.txt")


# --- one step sees one truth ---


def test_what_was_seen_once_stays_so_for_the_step(place: Place) -> None:
    path = write(place.folder / "EVIDENCE.md", "before")
    files = place.look()
    first = (files.text("EVIDENCE.md"), files.path("EVIDENCE.md"), files.path("later.txt"), files.listing())
    write(path, "after")
    write(place.folder / "later.txt", "x")
    assert (files.text("EVIDENCE.md"), files.path("EVIDENCE.md"), files.path("later.txt"), files.listing()) == first
    files = place.look()
    assert files.text("EVIDENCE.md") == "after"
    assert files.path("later.txt") is not None


def test_a_document_that_is_missing_is_none(place: Place) -> None:
    write(place.tree / "EVIDENCE.md", "in the tree")
    assert place.look().text("EVIDENCE.md") is None


def test_a_task_without_a_tree_ignores_the_current_folder(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    write(place.folder / "a.txt", "a")
    write(place.tree / "here.txt", "x")
    monkeypatch.chdir(place.tree)
    files = TaskFiles(str(place.folder), "")
    assert files.path("a.txt") is not None
    assert files.path("here.txt") is None


# --- documents of the tree ---


def test_a_document_of_the_tree_is_asked_for_by_name(place: Place) -> None:
    write(place.folder / "README.md", "of the task\n")
    write(place.tree / "README.md", "of the tree\r\n")
    write(place.tree / "docs/input/a.md", "\ufeffdeeper\n")
    files = place.look()
    assert files.text("README.md") == "of the task\n"
    assert files.text("tree:README.md") == "of the tree\r\n"
    assert files.text("tree:docs/input/a.md") == "\ufeffdeeper\n"
    assert files.text("tree:docs/none.md") is None
    assert TaskFiles(str(place.folder), "").text("tree:README.md") is None, "without a tree there is no such file"


@pytest.mark.parametrize(
    "name", ["../outside.txt", "/etc/hostname", "a/../../outside.txt", "out/outside.txt", ".git/config", "", "a//b"]
)
def test_a_document_outside_the_tree_is_refused(place: Place, name: str) -> None:
    write(place.tree / ".git/config", "[core]\n")
    (place.tree / "out").symlink_to(place.outside.parent)
    with pytest.raises(UnreadableError, match=re.escape(say.not_in_tree())):
        place.look().text(f"tree:{name}")


def test_a_link_in_place_of_a_document_is_not_followed(place: Place) -> None:
    (place.tree / "README.md").symlink_to(place.outside)
    with pytest.raises(UnreadableError, match=re.escape(disk_words.reason(errno.ELOOP, ""))):
        place.look().text("tree:README.md")


def bytes_read() -> int:
    """By this process so far, from files or pipes."""
    return int(re.findall(r"^rchar: (\d+)", Path("/proc/self/io").read_text(encoding="ascii"), re.MULTILINE)[0])


@linux_only
def test_huge_sparse_file_is_no_proof_and_hardly_read(tmp_path: Path) -> None:
    folder = tmp_path / "task"
    (folder / "artifacts").mkdir(parents=True)
    (folder / "artifacts" / "small.txt").write_text("small", encoding="utf-8")
    os.truncate(_touched(folder / "artifacts" / "huge.bin"), 4 << 40)
    before = bytes_read()
    files = TaskFiles(str(folder), "")
    assert files.listing()["artifacts/huge.bin"] == "too large"
    for named in ("artifacts/huge.bin", "artifacts"):
        with pytest.raises(UnreadableError) as caught:
            files.path(named)
        where = str(folder / "artifacts" / "huge.bin")
        refusal = say.too_large_for_proof(64 << 20, 256 << 20, where)
        assert (caught.value.what, caught.value.where) == (refusal, where)
        assert caught.value.next_step == refusal.next_step
    assert bytes_read() - before < 1 << 20


def test_all_files_of_folder_are_hashed_up_to_a_bound(tmp_path: Path) -> None:
    for number in range(6):
        os.truncate(_touched(tmp_path / f"{number}.bin"), 50 << 20)
    listed = TaskFiles(str(tmp_path), "").listing()
    assert [listed[f"{number}.bin"] == "too large" for number in range(6)] == [False] * 5 + [True]


def test_file_that_became_small_again_is_proof(tmp_path: Path) -> None:
    path = _touched(tmp_path / "a.txt")
    os.truncate(path, 4 << 40)
    before = TaskFiles(str(tmp_path), "").listing()["a.txt"]
    path.write_text("now it is proof", encoding="utf-8")
    found = TaskFiles(str(tmp_path), "").path("a.txt")
    assert found is not None
    assert found.parts["a.txt"] != before


def test_three_thousand_nested_folders_are_listed(tmp_path: Path) -> None:
    nest(tmp_path / "artifacts")
    _touched(tmp_path / "beside.txt")
    assert "beside.txt" in TaskFiles(str(tmp_path), "").listing()
    wipe(str(tmp_path / "artifacts"))


def _touched(path: Path) -> Path:
    path.touch()
    return path
