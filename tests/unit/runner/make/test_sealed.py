"""Tests of taking sealed checks: which files are refused, and where the others are laid."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from detent.errors import DetentError, RefusedError, UsageError
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.task.open import Task
from detent.store.disk.digest import sha256_of
from detent.store.journal.user_settings import user_settings_path
from detent.words.message import code_of
from detent.words.store import settings as of_settings

TEST = "def test_more():\n    assert True\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose tests lie in `tests/unit`, of a person with settings and state of their own."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    top = tmp_path / "repo"
    for name in ("tests/unit/test_a.py", "tests/unit/test_b.py", "tests/test_c.py", "app.py"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(f"# {name}\n")
    git = ("git", "-C", str(top), "-c", "user.name=me", "-c", "user.email=me@localhost")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "Start")):
        subprocess.run((*git, *words), check=True)
    return top


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


def make(project: Path, *sealed: str | Path, machine: str = "phase") -> Task:
    words = tuple(map(str, sealed))
    return create(NewTask(machine=machine, title="words", repo=str(project), by="me", in_place=True, sealed=words))


def write(path: Path, text: str = TEST) -> Path:
    path.write_text(text)
    return path


def test_test_lies_beside_most_tests_of_its_kind(project: Path, mine: Path) -> None:
    task = make(project, write(mine / "test_more.py"))
    sealed = task.memory.head.sealed[0]
    assert (sealed["place"], sealed["kind"]) == ("tests/unit/test_more.py", "tests")
    assert sealed["hides"] == str(mine)
    assert (Path(task.places.objects()) / sha256_of(TEST.encode())).read_text() == TEST


def test_script_lies_at_the_top(project: Path, mine: Path) -> None:
    sealed = make(project, write(mine / "check", "#!/bin/sh\nexit 0\n")).memory.head.sealed[0]
    assert (sealed["place"], sealed["kind"]) == ("check", "script")


def test_file_in_the_settings_folder_needs_no_further_hiding(project: Path) -> None:
    folder = Path(user_settings_path()).parent / "sealed"
    folder.mkdir(parents=True)
    assert make(project, write(folder / "test_more.py")).memory.head.sealed[0]["hides"] == ""


def test_settings_of_the_user_seal_for_their_project_alone(project: Path, mine: Path) -> None:
    settings = Path(user_settings_path())
    settings.parent.mkdir(parents=True)
    check = write(mine / "test_more.py")
    settings.write_text(f'[sealed]\n"{project}" = ["{check}"]\n"/elsewhere" = ["/nowhere"]\n')
    assert [one["source"] for one in make(project).memory.head.sealed] == [str(check)]


def test_repository_may_not_seal_anything(project: Path) -> None:
    (project / "detent.toml").write_text('[sealed]\n"/x" = "/y"\n')
    git = ("git", "-C", str(project), "-c", "user.name=me", "-c", "user.email=me@localhost")
    subprocess.run((*git, "add", "-A"), check=True)
    subprocess.run((*git, "commit", "-q", "-m", "Settings"), check=True)
    with pytest.raises(DetentError) as refused:
        make(project)
    assert of_settings.sealed_in_project("sealed") in refused.value.what


def test_file_inside_the_repository_is_refused_also_by_a_link(project: Path, mine: Path) -> None:
    inside = write(project / "test_inside.py")
    (mine / "test_link.py").symlink_to(inside)
    (project / "test_out.py").symlink_to(write(mine / "test_more.py"))
    for path in (inside, mine / "test_link.py", project / "test_out.py"):
        with pytest.raises(RefusedError) as refused:
            make(project, path)
        assert code_of(refused.value.what) == "sealed.inside_repository"


def test_file_whose_bytes_were_committed_is_refused(project: Path, mine: Path) -> None:
    with pytest.raises(RefusedError) as refused:
        make(project, write(mine / "test_other_name.py", "# tests/unit/test_a.py\n"))
    assert code_of(refused.value.what) == "sealed.repository_holds"


def test_wrong_input_names_file_and_problem(project: Path, mine: Path) -> None:
    check, data = write(mine / "test_more.py"), write(mine / "data.json", "[]")
    pipe = mine / "test_pipe.py"
    os.mkfifo(pipe)
    large = mine / "test_large.py"
    with open(large, "wb") as file:
        file.truncate(6_000_000)
    wrong: dict[tuple[str | Path, ...], str] = {
        (mine / "test_none.py",): "no_file",
        (mine,): "is_folder",
        (write(mine / "test_empty.py", ""),): "is_empty",
        (data,): "neither",
        (f"{data}:data.json",): "nothing_to_run",
        (f"{check}:../out.py",): "no_place",
        (f"{check}:.git/hooks/x.py",): "no_place",
        (f"{check}:/etc/x.py",): "no_place",
        (check, f"{check}:tests/unit/test_more.py"): "place_taken",
        (pipe,): "unreadable",
        (large,): "unreadable",
    }
    for words, problem in wrong.items():
        with pytest.raises(UsageError) as refused:
            make(project, *words)
        assert code_of(refused.value.what) == f"sealed.{problem}"


def test_file_of_any_bytes_is_taken(project: Path, mine: Path) -> None:
    (mine / "cases.bin").write_bytes(b"\xff\x00\xfe")
    task = make(project, write(mine / "test_more.py"), f"{mine / 'cases.bin'}:tests/cases.bin")
    assert [one["kind"] for one in task.memory.head.sealed] == ["tests", "data"]
