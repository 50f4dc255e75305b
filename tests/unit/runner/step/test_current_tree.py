"""Tests of the tree's id: an edit that falls between git's reading and the noting of file times is not overlooked."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from detent.effects.git.tree.files import remember_files
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.step.look import current_tree, known_touched, known_tree, look
from detent.runner.task.open import Task
from detent.store.journal.observed import TreeFile
from detent.view import with_fields
from tests.conftest import MakeRepo

# A git that edits a file right after it has written the first tree.
EDITING = """#!/bin/sh
{git} "$@" || exit
case " $* " in *" write-tree "*) [ -e {mark} ] || {{ : > {mark}; echo two > {file}; }} ;; esac
"""


def test_edit_after_gits_read_is_not_under_the_old_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    file = repository / "app.py"
    file.write_text("one\n", encoding="utf-8")
    identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.invalid")
    for words in (("init", "-q", "--template="), ("add", "--all"), (*identity, "commit", "-q", "-m", "Start")):
        subprocess.run(["git", *words], cwd=repository, check=True)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    task = create(NewTask(machine="phase", title="t", task_id="t", repo=str(repository), in_place=True))
    before = current_tree(task)
    assert known_tree(task) == before
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(EDITING.format(git=shutil.which("git"), mark=tmp_path / "edited", file=file), encoding="utf-8")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", str(git.parent), prepend=":")
    file.write_text("half\n", encoding="utf-8")  # so that there is a new tree to write
    file.write_text("one and more\n", encoding="utf-8")  # of an untouched tree no new one is written
    found = current_tree(task)
    assert file.read_text(encoding="utf-8") == "two\n"
    assert found != before
    # The second look may fall into the tick of the edit; nothing is remembered then, and that is as right.
    assert known_tree(task) in ("", found)
    assert current_tree(task) == found


def protecting(task: Task, **protect: list[str]) -> Task:
    """The task with other patterns, as `configure` leaves it."""
    head = task.memory.head
    return task.replace(memory=task.memory.replace(head=with_fields(head, protect={**head.protect, **protect})))


@pytest.mark.parametrize(("name", "to_ask"), [("deploy/a", ["deploy/a"]), ("other", [])])
def test_the_first_tree_shows_what_it_touched_of_the_baseline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repo: MakeRepo, name: str, to_ask: list[str]
) -> None:
    path = repo(files={"app.py": "1\n", "deploy/a": "1\n", "deploy/b": "1\n"})
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    task = create(NewTask(machine="phase", title="t", task_id="t", repo=str(path), in_place=True))
    task = protecting(task, ask=["deploy/*"], report=["nothing"])
    (path / name).write_text("2\n", encoding="utf-8")
    tree = current_tree(task)
    touched = known_touched(task)
    assert (touched.tree, sorted(touched.ask)) == (tree, to_ask)


def test_touched_files_follow_every_change_and_current_patterns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repo: MakeRepo
) -> None:
    path = repo(files={"app.py": "1\n2\n"})
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    task = create(NewTask(machine="phase", title="t", task_id="t", repo=str(path), in_place=True))
    task = protecting(task, ask=["deploy/*"], report=[])
    (path / "deploy").mkdir()
    found = []
    for name in ("deploy/a", "other", "deploy/b"):
        (path / name).write_text("x", encoding="utf-8")
        tree = current_tree(task)
        touched = known_touched(task)
        assert touched.tree == tree
        found.append(sorted(touched.ask))
    assert found == [["deploy/a"], ["deploy/a"], ["deploy/a", "deploy/b"]]
    task = protecting(task, ask=["other"])
    current_tree(task)
    assert sorted(known_touched(task).ask) == ["other"]


def test_files_of_a_tree_are_remembered_for_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repo: MakeRepo
) -> None:
    path = repo(files={"app.py": "1\n2\n"})
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    task = create(NewTask(machine="phase", title="t", task_id="t", repo=str(path), in_place=True))
    tree, document = current_tree(task), task.native.read()
    reads = look(task, task.memory, document, tree, is_reader=True)
    assert reads.tree_files() is None, "a reader starts no git, and nobody has looked"
    decides = look(task, task.memory, document, tree)
    assert decides.tree_files() == {"app.py": TreeFile(4, 2)}
    reads = look(task, task.memory, document, tree, is_reader=True)
    assert reads.tree_files() == {"app.py": TreeFile(4, 2)}
    assert look(task, task.memory, document, "").tree_files() is None
    # What an agent could have written beside the journal is never believed when a move is decided.
    remember_files(task.places.tree_files(), tree, {"app.py": TreeFile(1, 1)})
    assert look(task, task.memory, document, tree).tree_files() == {"app.py": TreeFile(4, 2)}
    assert look(task, task.memory, document, "0" * 40).tree_files() is None, "git knows no such tree"
