"""Folders nested beyond what Python recurses into are walked and removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.effects.git.bring import wipe
from detent.errors import StorageError
from detent.store.disk.folders import shown_path, walk

DEPTH = 3000


def nest(top: Path, depth: int = DEPTH) -> None:
    """So many folders in each other, made as a program would that changes into each."""
    top.mkdir(parents=True, exist_ok=True)
    here = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("last", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_wipe_removes_three_thousand_nested_folders(tmp_path: Path) -> None:
    nest(tmp_path / "deep")
    wipe(str(tmp_path / "deep"))
    assert list(tmp_path.iterdir()) == []


def test_wipe_removes_folders_without_permissions(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    for folder in (inner, inner.parent, inner.parent.parent):
        folder.chmod(0)
    wipe(str(tmp_path / "a"))
    assert list(tmp_path.iterdir()) == []


def test_wipe_leaves_what_a_link_names(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "gone" / "inner").mkdir(parents=True)
    (tmp_path / "gone" / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "gone" / "inner" / "link").symlink_to(tmp_path / "kept")
    os.mkfifo(tmp_path / "gone" / "pipe")
    wipe(str(tmp_path / "gone"))
    assert (tmp_path / "kept" / "file").exists()
    assert not (tmp_path / "gone").exists()


def test_wipe_names_what_it_cannot_remove(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught:
        wipe("/proc/self/fd")
    assert caught.value.where == "/proc/self/fd"


def test_walk_ends_in_three_thousand_nested_folders(tmp_path: Path) -> None:
    nest(tmp_path / "deep")
    (tmp_path / "file").touch()
    found = list(walk(str(tmp_path)))
    assert found[0] == (str(tmp_path), ["deep"], ["file"])
    assert 1000 < len(found) <= DEPTH + 2
    wipe(str(tmp_path / "deep"))


def test_walk_stops_at_the_depth_it_is_given(tmp_path: Path) -> None:
    nest(tmp_path / "deep", 20)
    assert len(list(walk(str(tmp_path), 5))) == 6
    assert len(list(walk(str(tmp_path)))) == 22


def test_walk_names_links_and_does_not_follow_them(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    found = list(walk(str(tmp_path)))
    assert found == [(str(tmp_path), ["a", "link"], []), (str(tmp_path / "a"), [], ["file"])]


def test_long_path_is_shown_by_its_two_ends() -> None:
    path = "/start/" + "d/" * DEPTH + "end"
    shown = shown_path(path)
    assert shown.startswith("/start/d/")
    assert shown.endswith("d/end")
    assert "more characters" in shown
    assert len(shown) < 300
    assert shown_path("/short") == "/short"
