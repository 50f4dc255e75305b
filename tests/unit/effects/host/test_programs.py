"""Tests of how programs are found that run outside the sandbox."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.effects.host import process
from detent.effects.host.programs import find_on, find_outside
from detent.store.journal.places import state_folder
from tests.conftest import MakeRepo
from tests.e2e.stubs import put_program


def test_the_first_program_on_an_absolute_entry_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put_program(tmp_path / "near", "tool", "")
    second = put_program(tmp_path / "far", "tool", "")
    (tmp_path / "folder/tool").mkdir(parents=True)
    path = os.pathsep.join(("near", "", str(tmp_path / "folder"), str(tmp_path / "far")))
    assert find_on(path, "tool") == str(second)
    assert find_on("near", "tool") == ""


def test_a_program_in_a_checkout_with_tasks_is_skipped(repo: MakeRepo, tmp_path: Path) -> None:
    made = repo()
    inside = put_program(made / ".venv/bin", "tool", "")
    outside = put_program(tmp_path / "bin", "tool", "")
    path = os.pathsep.join((str(made / ".venv/bin"), str(tmp_path / "bin")))
    assert find_outside(path, "tool") == str(inside)
    (made / ".git/detent/tasks").mkdir(parents=True)
    assert find_outside(path, "tool") == str(outside)
    worktree = tmp_path / "worktree"
    repo.git(made, "worktree", "add", "--quiet", str(worktree))
    put_program(worktree / "bin", "tool", "")
    assert find_outside(str(worktree / "bin"), "tool") == ""
    (tmp_path / "links").mkdir()
    (tmp_path / "links/tool").symlink_to(inside)
    assert find_outside(str(tmp_path / "links"), "tool") == ""


def test_a_program_in_a_plain_folder_with_tasks_is_skipped(tmp_path: Path) -> None:
    put_program(tmp_path / "plain/bin", "tool", "")
    (tmp_path / "plain/.detent/tasks").mkdir(parents=True)
    assert find_outside(str(tmp_path / "plain/bin"), "tool") == ""


def test_a_program_in_the_homes_of_tasks_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = Path(state_folder()) / "project/task/tree/bin"
    put_program(folder, "tool", "")
    assert find_outside(str(folder), "tool") == ""


def test_a_trusted_program_is_owned_by_root_or_this_user(tmp_path: Path) -> None:
    program = put_program(tmp_path / "bin", "tool", "")
    assert find_outside(str(tmp_path / "bin"), "tool", is_trusted=True) == str(program)
    program.chmod(0o777)
    assert find_outside(str(tmp_path / "bin"), "tool", is_trusted=True) == ""
    program.chmod(0o755)
    program.parent.chmod(0o777)
    assert find_outside(str(tmp_path / "bin"), "tool", is_trusted=True) == ""
    program.parent.chmod(0o755)
    if os.getuid() != 0:
        pytest.skip("only root can give a file to another user")
    os.chown(program, 4711, -1)
    assert find_outside(str(tmp_path / "bin"), "tool", is_trusted=True) == ""
    assert find_outside(str(tmp_path / "bin"), "tool") == str(program)


def test_process_finds_nothing_in_the_folder_it_is_started_in(tmp_path: Path) -> None:
    put_program(tmp_path / "bin", "cat", "touch ran")
    env = {"PATH": os.pathsep.join(("bin", ".", os.environ.get("PATH", os.defpath)))}
    assert process.run(("cat", os.devnull), cwd=str(tmp_path), env=env, timeout_s=60).exit == 0
    assert process.run(("/bin/sh", "-c", "cat /dev/null"), cwd=str(tmp_path), env=env, timeout_s=60).exit == 0
    assert not (tmp_path / "ran").exists()
