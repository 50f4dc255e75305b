"""Tests of where things lie, and of which names are let in."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from detent.errors import UnreadableError, UsageError
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.task.open import open_task
from detent.store.journal.places import (
    LONGEST_ID,
    POINTER,
    Project,
    TaskPlaces,
    check_task_id,
    is_task_id,
    make_task_folder,
    project_at,
    read_pointer,
    write_pointer,
)
from detent.words.runner import task as task_words
from detent.words.store import disk as disk_words
from detent.words.store import journal as say
from tests.conftest import MakeRepo

TIMEOUT_S = 60


@pytest.mark.parametrize("name", ["a", "fix-login", "A_1.2", "0", "x" * LONGEST_ID, "a.b"])
def test_a_good_id_is_let_in(name: str) -> None:
    assert check_task_id(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "a..b",
        "a.",
        "a.lock",
        "-x",
        ".hidden",
        "a/b",
        "../up",
        "a b",
        "a\n",
        "ä",
        "a\0",
        "a\\b",
        "~",
        "x" * (LONGEST_ID + 1),
    ],
)
def test_a_bad_id_is_refused_with_the_rule(name: str) -> None:
    assert not is_task_id(name)
    with pytest.raises(UsageError) as caught:
        check_task_id(name)
    refusal = say.no_task_id(name, LONGEST_ID)
    assert (caught.value.what, caught.value.next_step) == (refusal, refusal.next_step)


def test_control_plane_lies_in_git_folder_or_beside_the_files(tmp_path: Path) -> None:
    inside = project_at(str(tmp_path), str(tmp_path / ".git"))
    assert inside.control == str(tmp_path / ".git" / "detent")
    plain = project_at(str(tmp_path), "")
    assert plain.control == str(tmp_path / ".detent")
    assert plain.common_dir == ""


@pytest.mark.parametrize(
    ("state_home", "expected"),
    [("{tmp}/state", "{tmp}/state"), ("", "{tmp}/.local/state"), ("relative/state", "{tmp}/.local/state")],
)
def test_homes_follow_the_xdg_rules(tmp_path: Path, state_home: str, expected: str) -> None:
    code = "from detent.store.journal.places import project_at; print(project_at('/some/where', '').home())"
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": state_home.format(tmp=tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        check=True,
    )
    assert ended.stdout.startswith(expected.format(tmp=tmp_path) + "/detent/where-")


def test_two_projects_of_one_name_have_two_homes() -> None:
    homes = {project_at(root, "").home() for root in ("/a/app", "/b/app")}
    assert len(homes) == 2


def test_only_folders_with_a_journal_are_tasks(tmp_path: Path) -> None:
    project = Project(str(tmp_path), str(tmp_path / "control"))
    assert list(project.task_ids()) == []
    for name in ("b", "a", "no-journal", ".hidden", "-dash"):
        (tmp_path / "control" / "tasks" / name).mkdir(parents=True)
        if name != "no-journal":
            (tmp_path / "control" / "tasks" / name / "journal.jsonl").write_bytes(b"")
    assert list(project.task_ids()) == ["a", "b"]


def test_a_pointer_leads_back_even_where_names_are_no_text(tmp_path: Path) -> None:
    control = os.fsdecode(bytes(tmp_path) + b"/caf\xff/t")
    places = TaskPlaces("t", control)
    make_task_folder(places)
    assert read_pointer(str(tmp_path)) is None
    write_pointer(str(tmp_path), places)
    assert read_pointer(str(tmp_path)) == control
    (tmp_path / POINTER).write_text("\n", encoding="utf-8")
    assert read_pointer(str(tmp_path)) is None


def test_a_pointer_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / POINTER).symlink_to("/etc/hostname")
    with pytest.raises(UnreadableError, match=re.escape(disk_words.reason(errno.ELOOP, ""))):
        read_pointer(str(tmp_path))


def test_a_pointer_counts_only_if_the_journal_names_it_back(
    repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copied or foreign task folder can't stand for the task."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    task = create(NewTask(title="a task", repo=str(repo())))
    assert open_task(task.native.folder).id == task.id
    copy = tmp_path / "copy"
    copy.mkdir()
    write_pointer(str(copy), task.places)
    with pytest.raises(UnreadableError) as caught:
        open_task(str(copy))
    assert caught.value.what == task_words.points_to_task_elsewhere(task.id, task.native.folder, str(copy), "phase")
    (copy / POINTER).write_text(f"{tmp_path / 'nothing'}\n", encoding="utf-8")
    with pytest.raises(UnreadableError) as caught:
        open_task(str(copy))
    assert caught.value.what == task_words.points_to_no_task(str(tmp_path / "nothing"), str(copy))
