"""Tests of what a list of tasks shows: every task, sound or not, and nothing that is none."""

from __future__ import annotations

from pathlib import Path

from detent.runner.task.open import load_all
from detent.store.journal.places import Project
from detent.words.store import journal as say


def test_lost_journal_is_listed_and_an_empty_folder_is_not(tmp_path: Path) -> None:
    project = Project(str(tmp_path), str(tmp_path / "control"))
    tasks = tmp_path / "control" / "tasks"
    for name in ("emptied", "lost", "void"):
        (tasks / name).mkdir(parents=True)
    (tasks / "emptied" / "journal.jsonl").write_bytes(b"")
    (tasks / "lost" / "snapshot.json").write_bytes(b"{}")
    listed = {found.id: found.error.what if found.error else "" for found in load_all(project)}
    assert listed == {"emptied": say.empty(), "lost": say.no_journal()}


def test_a_project_without_tasks_lists_nothing(tmp_path: Path) -> None:
    assert list(load_all(Project(str(tmp_path), str(tmp_path / "control")))) == []
