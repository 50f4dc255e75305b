"""Tests of moving aside: under a free name, and in a folder that a rename can reach."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.store.disk.aside import move_aside


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """A folder on another disk than `tmp_path`."""
    usable = [place for place in (Path("/dev/shm"), Path("/var/tmp")) if place.is_dir() and os.access(place, os.W_OK)]
    other = next((place for place in usable if place.stat().st_dev != tmp_path.stat().st_dev), None)
    if other is None:
        pytest.skip("this host has no other disk")
    with tempfile.TemporaryDirectory(dir=other) as folder:
        yield Path(folder)


def test_it_gets_a_name_that_is_free(tmp_path: Path) -> None:
    damaged, folder = tmp_path / "spoilt", tmp_path / "a" / "b"
    assert move_aside(str(damaged), str(folder)) == ""
    for number in (1, 2):
        damaged.write_text(str(number))
        assert move_aside(str(damaged), str(folder)) == f"{folder}/spoilt.broken-{number}"
    damaged.mkdir()
    assert move_aside(str(damaged)) == f"{damaged}.broken-1"
    assert (folder / "spoilt.broken-2").read_text() == "2"


def test_on_another_disk_it_goes_where_it_can(tmp_path: Path, elsewhere: Path) -> None:
    damaged, near = tmp_path / "spoilt", tmp_path / "near"
    damaged.mkdir()
    assert move_aside(str(damaged), str(elsewhere)) == f"{damaged}.broken-1"
    damaged.mkdir()
    assert move_aside(str(damaged), str(elsewhere), str(near)) == f"{near}/spoilt.broken-1"
    assert not list(elsewhere.iterdir())
