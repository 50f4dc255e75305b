"""Tests of the engine's git and of finding repositories, against what git itself says."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from detent.effects.git.git import Git, check_object_id, clean_environment, find_repository, is_object_id, write_git_dir
from detent.errors import ToolError, UnreadableError, UsageError
from detent.words.effects import git as say
from tests.conftest import MakeRepo
from tests.messages import message_of


def found(path: Path) -> tuple[str, str | None, str | None, bool]:
    repository = find_repository(str(path))
    assert repository is not None
    return repository.top, repository.head, repository.branch, repository.is_bare


def test_no_repository(tmp_path: Path) -> None:
    assert find_repository(str(tmp_path)) is None


def test_plain_repository_from_a_folder_below(repo: MakeRepo) -> None:
    path = repo(files={"a/b/c": "x"})
    assert found(path / "a" / "b") == (str(path), repo.git(path, "rev-parse", "HEAD"), "main", False)
    repository = find_repository(str(path))
    assert repository is not None
    assert repository.git_dir == repository.common_dir == str(path / ".git")


def test_through_a_link_the_real_place_is_named(repo: MakeRepo, tmp_path: Path) -> None:
    path = repo()
    (tmp_path / "link").symlink_to(path)
    assert found(tmp_path / "link")[0] == str(path)


def test_packed_branch(repo: MakeRepo) -> None:
    path = repo()
    repo.git(path, "branch", "other/main")
    repo.git(path, "pack-refs", "--all")
    assert not (path / ".git/refs/heads/main").exists()
    assert found(path)[1:] == (repo.git(path, "rev-parse", "HEAD"), "main", False)


def test_detached_head(repo: MakeRepo) -> None:
    path = repo()
    repo.git(path, "checkout", "--quiet", "--detach")
    assert found(path)[1:] == (repo.git(path, "rev-parse", "HEAD"), None, False)


def test_repository_without_commits(repo: MakeRepo, tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.mkdir()
    repo.git(path, "init", "--quiet", "--initial-branch=first")
    assert found(path) == (str(path), None, "first", False)


def test_worktree(repo: MakeRepo, tmp_path: Path) -> None:
    path = repo()
    other = tmp_path / "other"
    repo.git(path, "worktree", "add", "--quiet", "-b", "side/branch", str(other))
    repo.git(other, "commit", "--quiet", "--allow-empty", "--message=x")
    assert found(other) == (str(other), repo.git(other, "rev-parse", "HEAD"), "side/branch", False)
    repository = find_repository(str(other))
    assert repository is not None
    assert repository.common_dir == str(path / ".git")
    assert repository.git_dir == str(path / ".git/worktrees/other")


def test_worktree_with_relative_git_file(repo: MakeRepo, tmp_path: Path) -> None:
    path = repo()
    other = tmp_path / "other"
    repo.git(path, "worktree", "add", "--quiet", "-b", "side", str(other))
    relative = os.path.relpath(path / ".git/worktrees/other", other)
    (other / ".git").write_text(f"gitdir: {relative}\n", encoding="utf-8")
    assert found(other)[2] == "side"


def test_submodule(repo: MakeRepo) -> None:
    inner, path = repo("inner"), repo("outer")
    repo.git(path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    assert found(path / "sub") == (str(path / "sub"), repo.git(inner, "rev-parse", "HEAD"), "main", False)


def test_bare(repo: MakeRepo, tmp_path: Path) -> None:
    path = repo()
    bare = tmp_path / "bare.git"
    repo.git(path, "clone", "--quiet", "--bare", str(path), str(bare))
    assert found(bare) == (str(bare), repo.git(path, "rev-parse", "HEAD"), "main", True)


def test_file_that_leads_to_a_bare_repository_makes_no_checkout(repo: MakeRepo, tmp_path: Path) -> None:
    """Many keep a bare repository beside its work trees, and a .git file above, so that git is found there."""
    path, top = repo(), tmp_path / "top"
    top.mkdir()
    repo.git(path, "clone", "--quiet", "--bare", str(path), str(top / ".bare"))
    (top / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    repo.git(top, "worktree", "add", "--quiet", "main", "main")
    head = repo.git(path, "rev-parse", "HEAD")
    assert found(top) == (str(top), head, "main", True)
    assert found(top / "main") == (str(top / "main"), head, "main", False)


def test_inside_the_git_folder_the_repository_around_it_is_found(repo: MakeRepo) -> None:
    path = repo()
    assert found(path / ".git" / "refs")[0] == str(path)


@pytest.mark.parametrize("oddity", ["symbolic branch", "linked HEAD", "work tree elsewhere", "foreign HEAD"])
def test_odd_cases_are_asked_of_git(repo: MakeRepo, oddity: str, tmp_path: Path) -> None:
    path = repo()
    head = repo.git(path, "rev-parse", "HEAD")
    branch: str | None
    top, branch = str(path), "main"
    if oddity == "symbolic branch":
        repo.git(path, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
        repo.git(path, "symbolic-ref", "HEAD", "refs/heads/alias")
    elif oddity == "linked HEAD":
        (path / ".git/HEAD").unlink()
        (path / ".git/HEAD").symlink_to("refs/heads/main")
    elif oddity == "work tree elsewhere":
        top = str(tmp_path / "elsewhere")
        Path(top).mkdir()
        repo.git(path, "config", "core.worktree", top)
    else:
        repo.git(path, "update-ref", "refs/keep/x", head)
        repo.git(path, "symbolic-ref", "HEAD", "refs/keep/x")
        branch = None
    assert found(path) == (top, head, branch, False)


@pytest.mark.parametrize("text", ["rubbish", "gitdir: /no/such/folder"])
def test_broken_git_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableError) as caught:
        find_repository(str(tmp_path))
    assert caught.value.where == str(tmp_path / ".git")


def test_empty_branch_file_is_not_taken_for_repository_without_commits(repo: MakeRepo) -> None:
    path = repo()
    (path / ".git/refs/heads/main").write_bytes(b"")
    with pytest.raises(UnreadableError, match=re.escape(say.branch_file_empty())):
        find_repository(str(path))


def test_head_cannot_point_out_of_the_git_folder(repo: MakeRepo) -> None:
    path = repo()
    (path / ".git/HEAD").write_text("ref: refs/heads/../../../secret\n", encoding="utf-8")
    with pytest.raises(ToolError):
        find_repository(str(path))


def test_the_usual_cases_start_no_process(repo: MakeRepo, tmp_path: Path) -> None:
    path = repo()
    repo.git(path, "worktree", "add", "--quiet", str(tmp_path / "other"))
    code = (
        "import sys; from detent.effects.git.git import find_repository\n"
        f"assert find_repository({str(path)!r}).head and find_repository({str(tmp_path / 'other')!r}).head\n"
        "print('subprocess' in sys.modules, 'detent.effects.host.process' in sys.modules)"
    )
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, check=True, env=environment)
    assert done.stdout == b"False False\n"


def test_git_ignores_steering_by_environment_and_user_settings(
    repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = repo(), repo("other")
    home = tmp_path / "hostile-home"
    home.mkdir()
    (home / ".gitconfig").write_text("[core]\n\tabbrev = 12\n[broken", encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", "/no/such/index")
    monkeypatch.setenv("GIT_TRACE", "1")
    finished = Git(str(path / ".git"), str(path)).finish("ls-files", "-z")
    assert finished.stdout == b"README.md\0app.py\0test_app.py\0"
    assert finished.stderr == b""


def test_git_runs_nothing_even_in_git_folder_that_wants_it(repo: MakeRepo, tmp_path: Path) -> None:
    path = repo()
    for name, marker in (("monitor", "monitored"), ("post-index-change", "hooked")):
        script = path / ".git/hooks" / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"#!/bin/sh\ntouch {tmp_path}/{marker}\n", encoding="utf-8")
        script.chmod(0o755)
    repo.git(path, "config", "core.fsmonitor", str(path / ".git/hooks/monitor"))
    (path / "app.py").write_text("changed", encoding="utf-8")
    Git(str(path / ".git"), str(path)).run("update-index", "--add", "app.py")
    assert not (tmp_path / "monitored").exists()
    assert not (tmp_path / "hooked").exists()
    repo.git(path, "update-index", "--add", "README.md")
    repo.git(path, "status")
    assert (tmp_path / "monitored").exists(), "the trap itself must work, or this test shows nothing"


def test_failure_carries_the_message_of_git_and_a_next_step(repo: MakeRepo) -> None:
    path = repo()
    with pytest.raises(ToolError) as caught:
        Git(str(path / ".git")).run("rev-parse", "--verify", "no-such-name")
    refusal = message_of(caught.value.what)
    assert (refusal.code, refusal.values["command"]) == ("git.command_failed", "rev-parse")
    assert str(refusal.values["line"]).startswith("fatal: ")
    assert caught.value.next_step


def test_missing_git_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=re.escape(say.no_git())):
        Git(str(tmp_path)).run("version")


def test_git_in_relative_folder_of_the_path_is_not_run(
    repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = repo()
    fake = path / "git"
    fake.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", os.pathsep.join((".", "", os.environ["PATH"])))
    monkeypatch.chdir(path)
    Git(str(path / ".git"), str(path)).run("ls-files")
    assert not (tmp_path / "ran").exists()


def test_git_folder_can_be_made_twice_and_read_by_git(tmp_path: Path, repo: MakeRepo) -> None:
    odd = tmp_path / 'odd "name"\nwith line end'
    odd.mkdir()
    source = repo()
    (source / ".git").rename(odd / ".git")
    head = find_repository(str(odd))
    assert head is not None
    assert head.head is not None
    for _time in range(2):
        write_git_dir(
            str(tmp_path / "made"), alternates=[f"{odd}/.git/objects"], is_sha256=False, is_bare=True, durable=False
        )
    assert Git(str(tmp_path / "made")).run("cat-file", "-t", head.head) == b"commit\n"


def test_object_ids() -> None:
    assert is_object_id("a" * 40)
    assert is_object_id("0" * 64)
    for text in ("", "a" * 39, "A" * 40, "--all", "HEAD", "g" * 40, "a" * 40 + "\n"):
        assert not is_object_id(text)
        with pytest.raises(UsageError):
            check_object_id(text)


def test_clean_environment_keeps_the_rest() -> None:
    environment = {"GIT_DIR": "x", "DETENT_TASK": "y", "CI": "true", "PATH": "/bin"}
    assert clean_environment(environment) == {"CI": "true", "PATH": "/bin"}


_STARTS = """
import sys
from detent.effects.git.git import Git
Git(sys.argv[1]).run(*sys.argv[2:])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends a process with its parent")
@pytest.mark.parametrize(("command", "ends"), [("update-index", True), ("commit-tree", True), ("ls-files", False)])
def test_git_with_a_lock_ends_with_a_killed_engine(tmp_path: Path, command: str, ends: bool) -> None:
    """The pipe that git holds open says when it is gone; one that lives on answers first."""
    pipe, answer = tmp_path / "pipe", tmp_path / "answer"
    for path in (pipe, answer):
        os.mkfifo(path)
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(
        f"#!/bin/sh\nexec 3>{pipe}\necho up >&3\nread -r word < {answer}\necho $word >&3\n", encoding="utf-8"
    )
    git.chmod(0o755)
    environment = {**os.environ, "PATH": os.pathsep.join((str(git.parent), os.environ.get("PATH", os.defpath)))}
    starter = subprocess.Popen([sys.executable, "-c", _STARTS, str(tmp_path), command], env=environment)
    with pipe.open(encoding="ascii") as reader:
        assert reader.readline() == "up\n"
        starter.kill()
        starter.wait(timeout=60)
        if not ends:
            answer.write_text("on\n", encoding="ascii")
        assert reader.read() == ("" if ends else "on\n")  # ends only when no process has it open
