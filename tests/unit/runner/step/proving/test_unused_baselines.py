"""Tests of which kept results of baselines go: the long unused, and the longest unused beyond a bound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.runner.step.proving.unused_baselines import UNUSED_S, drop_unused_baselines
from detent.store.disk.lock import Lock
from detent.store.journal.places import Project, project_at


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / ".git").mkdir()
    return project_at(str(tmp_path), str(tmp_path / ".git"))


def keep(project: Project, name: str, unused_s: float = 0.0) -> Path:
    path = Path(project.control, "baselines", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("12345", encoding="ascii")
    past = path.stat().st_mtime - unused_s
    os.utime(path, (past, past))
    return path


def test_result_that_was_not_read_for_long_goes_with_its_lock(project: Project) -> None:
    fresh, old = keep(project, "fresh.json"), keep(project, "old.json", UNUSED_S + 60)
    keep(project, "old.json.lock")
    assert drop_unused_baselines(project) == ("old.json",)
    assert os.listdir(fresh.parent) == ["fresh.json"]
    assert not old.exists()


def test_longest_unused_results_go_beyond_the_bound(project: Project) -> None:
    for number in range(4):
        keep(project, f"{number}.json", 60.0 * number)
    assert drop_unused_baselines(project, most_bytes=12) == ("2.json", "3.json")


def test_result_that_is_being_found_out_stays(project: Project) -> None:
    old = keep(project, "old.json", UNUSED_S + 60)
    with Lock(f"{old}.lock"):
        assert drop_unused_baselines(project) == ()
    assert old.exists()


def test_project_without_results_loses_nothing(project: Project) -> None:
    assert drop_unused_baselines(project) == ()
