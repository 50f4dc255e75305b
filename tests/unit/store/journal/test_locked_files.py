"""Tests of locked files: whatever stands in their place, they come back, and nothing that stood there is lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.store.disk.digest import sha256_of
from detent.store.journal.locked_files import MOST_FILES, NOT_PLAIN, TOO_MANY, files_under, put_back_files

OBJECTS: dict[str, bytes] = {}


def keep(data: bytes) -> str:
    OBJECTS[sha256_of(data)] = data
    return sha256_of(data)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"plan/a.json": "a", "plan/deep/b.json": "b", "scope.json": "s", "other": "o"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        keep(text.encode())
    return tmp_path


def test_a_folder_holds_all_its_files_and_a_file_itself(folder: Path) -> None:
    assert files_under(str(folder), "plan/") == {"plan/a.json": sha256_of(b"a"), "plan/deep/b.json": sha256_of(b"b")}
    assert files_under(str(folder), "scope.json") == {"scope.json": sha256_of(b"s")}
    assert files_under(str(folder), "nothing/") == files_under(str(folder), "nothing") == {}
    assert files_under(str(folder), "other/x") == {"other": sha256_of(b"o")}, "a file where a folder should be"


def test_a_flood_of_files_is_moved_aside_whole(folder: Path) -> None:
    wanted = files_under(str(folder), "plan/")
    for number in range(MOST_FILES):
        (folder / "plan" / str(number)).touch()
    assert TOO_MANY in files_under(str(folder), "plan/").values()
    put_back_files(str(folder), "plan/", wanted, OBJECTS.__getitem__, keep)
    assert files_under(str(folder), "plan/") == wanted
    assert len(list((folder / "plan.broken-1").iterdir())) == MOST_FILES + 2


def _emptied(folder: Path) -> None:
    for name in ("plan/a.json", "plan/deep/b.json"):
        (folder / name).unlink()
    (folder / "plan/deep").rmdir()
    (folder / "plan").rmdir()


def _replaced_by_file(folder: Path) -> None:
    _emptied(folder)
    (folder / "plan").write_text("mine")


def _replaced_by_link(folder: Path) -> None:
    (folder / "plan").rename(folder / "elsewhere")
    (folder / "plan").symlink_to("elsewhere")


def _file_became_folder(folder: Path) -> None:
    (folder / "plan/a.json").unlink()
    (folder / "plan/a.json").mkdir()
    (folder / "plan/a.json/mine").write_text("mine")


def _file_became_link(folder: Path) -> None:
    (folder / "plan/a.json").unlink()
    (folder / "plan/a.json").symlink_to("../other")


def _folder_became_file(folder: Path) -> None:
    (folder / "plan/deep/b.json").unlink()
    (folder / "plan/deep").rmdir()
    (folder / "plan/deep").write_text("mine")


def _more(folder: Path) -> None:
    (folder / "plan/mine").write_text("mine")
    os.mkfifo(folder / "plan/pipe")
    (folder / "plan/link").symlink_to("..")


CHANGES: dict[str, Callable[[Path], object]] = {
    "edited": lambda folder: (folder / "plan/a.json").write_text("mine"),
    "deleted": lambda folder: (folder / "plan/a.json").unlink(),
    "all deleted": _emptied,
    "folder became a file": _replaced_by_file,
    "folder became a link": _replaced_by_link,
    "file became a folder": _file_became_folder,
    "file became a link": _file_became_link,
    "folder inside became a file": _folder_became_file,
    "more files": _more,
}


@pytest.mark.parametrize("how", CHANGES)
def test_locked_files_come_back_whatever_stands_in_their_place(folder: Path, how: str) -> None:
    wanted = files_under(str(folder), "plan/")
    OBJECTS.pop(sha256_of(b"mine"), None)
    CHANGES[how](folder)
    assert files_under(str(folder), "plan/") != wanted
    held = "mine" in {path.read_text() for path in folder.rglob("*") if path.is_file()}
    put_back_files(str(folder), "plan/", wanted, OBJECTS.__getitem__, keep)
    assert files_under(str(folder), "plan/") == wanted
    assert (folder / "other").read_text() == "o"
    assert (folder / "scope.json").read_text() == "s"
    left = "mine" in {path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert held == (left or sha256_of(b"mine") in OBJECTS), "what stood there is kept"


def test_a_file_that_was_not_there_goes_again(folder: Path) -> None:
    (folder / "new").write_text("mine")
    put_back_files(str(folder), "new", {}, OBJECTS.__getitem__, keep)
    assert not (folder / "new").exists()
    assert OBJECTS[sha256_of(b"mine")] == b"mine"


def test_what_is_no_plain_file_has_no_hash(folder: Path) -> None:
    (folder / "plan/link").symlink_to("a.json")
    assert files_under(str(folder), "plan/")["plan/link"] == NOT_PLAIN
