"""Tests of making a clone ready: what is brought along, when set-up runs, and what becomes of what it spoils."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

import pytest

from detent.effects.host.access import BUBBLEWRAP, NONE
from detent.effects.host.sandbox import try_level
from detent.effects.workspace.checkout import SetupFailed
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.step.proving.workspace import prepare_tree
from detent.runner.task.open import Task
from detent.store.journal.places import project_at
from tests.conftest import SAMPLE_FILES, MakeRepo, force_level, trust

SETTINGS = """[workspace]
setup = ["date +%s%N > made.log", "{command}"]
key = ["lock.txt"]
copy = [".env"]
carry = ["deps"]
"""
FILES = {**SAMPLE_FILES, ".gitignore": ".env\n*.log\ndeps/\n", "lock.txt": "1\n"}


class Make(Protocol):
    def __call__(self, command: str = "true", *, in_place: bool = False) -> Made: ...


class Made:
    def __init__(self, path: Path, task: Task) -> None:
        self.path = path
        self.task = task
        self.tree = Path(task.tree_path)

    def stamp(self) -> str:
        """Another one after each time that set-up ran."""
        log = self.tree / "made.log"
        return log.read_text(encoding="utf-8") if log.exists() else ""


@pytest.fixture(params=[BUBBLEWRAP, NONE])
def make(repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Make:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    if why := try_level(request.param, os.environ):
        pytest.skip(f"{request.param} does not hold on this host: {why}")

    def made(command: str = "true", *, in_place: bool = False) -> Made:
        path = repo("repo", {**FILES, "detent.toml": SETTINGS.replace("{command}", command)})
        force_level(project_at(str(path), str(path / ".git")), request.param)
        trust(path)
        (path / ".env").write_text("KEY=1\n", encoding="utf-8")
        (path / "deps").mkdir()
        (path / "deps" / "one.txt").write_text("dep\n", encoding="utf-8")
        return Made(path, create(NewTask(title="x", repo=str(path), in_place=in_place)))

    return made


def test_files_are_brought_and_set_up_runs_once(make: Make) -> None:
    made = make()
    assert prepare_tree(made.task) is None
    assert (made.tree / ".env").read_text(encoding="utf-8") == "KEY=1\n"
    assert (made.tree / "deps" / "one.txt").exists()
    stamp = made.stamp()
    assert stamp
    assert prepare_tree(made.task) is None
    assert made.stamp() == stamp


def test_changed_key_file_or_brought_file_makes_it_run_again(make: Make) -> None:
    made = make()
    prepare_tree(made.task)
    first = made.stamp()
    (made.tree / "lock.txt").write_text("2\n", encoding="utf-8")
    prepare_tree(made.task)
    second = made.stamp()
    assert second != first
    (made.path / ".env").write_text("KEY=22\n", encoding="utf-8")
    prepare_tree(made.task)
    third = made.stamp()
    assert third != second
    assert (made.tree / ".env").read_text(encoding="utf-8") == "KEY=22\n"
    (made.tree / "app.py").write_text("# no key file\n", encoding="utf-8")
    prepare_tree(made.task)
    assert made.stamp() == third


def test_failed_set_up_names_its_log_and_is_retried(make: Make) -> None:
    made = make("echo oh no; exit 7")
    failed = prepare_tree(made.task)
    assert isinstance(failed, SetupFailed)
    assert (failed.exit, failed.command) == (7, "echo oh no; exit 7")
    assert Path(failed.log).read_text(encoding="utf-8") == "oh no\n"
    assert isinstance(prepare_tree(made.task), SetupFailed)


def test_a_file_that_is_not_there_to_copy_is_told(make: Make) -> None:
    made = make()
    (made.path / ".env").unlink()
    failed = prepare_tree(made.task)
    assert failed is not None
    assert ".env" in failed.command
    assert made.stamp() == ""


def test_files_that_set_up_changed_are_restored(make: Make) -> None:
    made = make("rm README.md; echo spoilt > app.py; echo new > new.txt")
    (made.tree / "app.py").write_text("# the agent's\n", encoding="utf-8")
    assert prepare_tree(made.task) is None
    assert (made.tree / "app.py").read_text(encoding="utf-8") == "# the agent's\n"
    assert (made.tree / "README.md").read_text(encoding="utf-8") == SAMPLE_FILES["README.md"]
    assert (made.tree / "new.txt").exists()


def test_nothing_is_brought_through_a_link_or_over_the_work(make: Make, tmp_path: Path) -> None:
    made = make()
    outside = tmp_path / "outside"
    outside.mkdir()
    (made.tree / "deps").symlink_to(outside)
    prepare_tree(made.task)
    assert not list(outside.iterdir())


def test_checkout_that_is_worked_on_in_place_is_left_alone(make: Make) -> None:
    made = make(in_place=True)
    assert prepare_tree(made.task) is None
    assert made.stamp() == ""
