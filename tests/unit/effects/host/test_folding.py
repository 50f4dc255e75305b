"""Tests of the sandbox on a file system that takes `KEY` and `key` for the same file; ntfs-3g has such a mode."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.effects.host.access import BUBBLEWRAP, LANDLOCK
from detent.effects.host.sandbox import best_level, try_level
from detent.store.disk.folders import folds_case
from detent.words.effects import host as say
from tests.folding import folding_place, undisturbed


@pytest.fixture
def folding(disk_path: Path) -> Iterator[Path]:
    with folding_place(disk_path) as place:
        yield place


def test_folded_names_are_noticed(folding: Path, disk_path: Path) -> None:
    assert not folds_case(str(folding)), "an empty folder shows nothing"
    (folding / "some").touch()
    assert folds_case(str(folding))
    assert not folds_case(str(disk_path))
    assert not folds_case(str(disk_path / "not there"))


def test_mount_over_one_spelling_does_not_pass_for_a_sandbox(folding: Path) -> None:
    for level in (BUBBLEWRAP, LANDLOCK):
        if problem := try_level(level, os.environ):
            pytest.skip(f"{level}: {problem}")
    place = str(folding)
    assert undisturbed(lambda: try_level(BUBBLEWRAP, os.environ, place)) == say.hidden_was_read()
    assert undisturbed(lambda: try_level(LANDLOCK, os.environ, place)) == ""
    found = best_level(os.environ, (place,))
    assert found.level != BUBBLEWRAP
    assert f"(in {place})" in found.why
