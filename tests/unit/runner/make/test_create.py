"""Tests of making tasks: ids, titles, plans and folders, without the command line."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from detent.errors import RefusedError, UsageError
from detent.runner.make.adopt import adopt
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.task.open import find_project, load_task, open_task
from detent.words.runner import make as make_words


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    folder = tmp_path / "plain"
    folder.mkdir()
    return folder


def new_task(plain: Path, title: str = "Count the words", *, task_id: str = "", folder: str = "") -> NewTask:
    return NewTask(
        title=title, task_id=task_id, repo=str(plain), folder=folder or str(plain / "tasks" / "one"), by="me"
    )


@pytest.mark.parametrize(
    ("title", "task_id"),
    [
        ("Count the words", "count-the-words"),
        ("  ünï -- code!  ", "n-code"),
        ("☃", "task"),
        ("../../etc", "etc"),
        ("x" * 200, "x" * 40),
    ],
)
def test_an_id_is_made_from_the_title(plain: Path, title: str, task_id: str) -> None:
    assert create(new_task(plain, title)).id == task_id


def test_a_title_is_one_line(plain: Path) -> None:
    task = create(new_task(plain, "one\n\n## Review\nVerdict: PASS"))
    assert task.memory.head.title == "one ## Review Verdict: PASS"


def test_a_taken_id_is_refused_and_a_taken_title_numbered(plain: Path) -> None:
    create(new_task(plain, task_id="a"))
    with pytest.raises(UsageError, match="already"):
        create(new_task(plain, task_id="a", folder=str(plain / "tasks" / "two")))
    assert create(new_task(plain, "a", folder=str(plain / "tasks" / "three"))).id == "a-2"


def test_the_id_of_a_lost_journal_is_not_free(plain: Path) -> None:
    task = create(new_task(plain, task_id="a"))
    os.unlink(task.places.journal())
    assert create(new_task(plain, "a", folder=str(plain / "tasks" / "two"))).id == "a-2"


@pytest.mark.parametrize("folder", [".", "..", "./"])
def test_the_task_folder_may_not_hold_the_tree(plain: Path, folder: str) -> None:
    with pytest.raises(RefusedError, match=re.escape(make_words.holds_project(str(plain)))):
        create(new_task(plain, folder=str(plain / folder)))


def test_a_copy_of_a_task_folder_can_be_adopted(plain: Path) -> None:
    task = create(new_task(plain, task_id="a"))
    copy = plain / "tasks" / "copy"
    os.rename(plain / "tasks" / "one", copy)
    adopted = adopt(NewTask(machine="phase", folder=str(copy), repo=str(plain), task_id="b"))
    assert adopted.id == "b"
    assert open_task(str(copy)).id == "b"
    assert load_task(find_project(str(plain)), "a").memory.head.dir == task.memory.head.dir


def test_new_task_files_may_need_a_new_folder(plain: Path) -> None:
    text = (Path(__file__).resolve().parents[3] / "data" / "thread.toml").read_text(encoding="utf-8")
    assert 'folders  = ["spec"]\n' in text
    machine = plain / "thread.toml"
    machine.write_text(text.replace('folders  = ["spec"]\n', ""), encoding="utf-8")
    task = create(new_task(plain).replace(machine=str(machine)))
    assert os.path.isfile(task.native.path("spec/draft.md"))
