"""`detent doctor` without a task: are the settings in order, and do their commands work in a fresh checkout?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from shutil import which

import pytest

from detent.effects.host.access import BUBBLEWRAP
from detent.effects.host.sandbox import try_level
from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo, let_out
from tests.e2e.stubs import put_program, with_path

HELD = try_level(BUBBLEWRAP, os.environ)
needs_bubblewrap = pytest.mark.skipif(bool(HELD), reason=f"bubblewrap does not work here: {HELD}")
GOOD = "[commands]\ntest = 'python3 -m unittest -q'\n"


def rows(done: Completed, mark: str) -> list[tuple[str, str]]:
    return [(row["what"], row["next"]) for row in done.json()["checks"] if row["mark"] == mark]


def settings(text: str) -> Mapping[str, str]:
    return {**SAMPLE_FILES, "detent.toml": text}


def test_commands_are_tried_on_the_last_commit(detent: Detent, repo: MakeRepo) -> None:
    path = repo(files=settings(GOOD + "seen = 'test ! -e uncommitted.txt'\n"))
    (path / "uncommitted.txt").write_text("x\n", encoding="utf-8")
    done = detent("doctor", "--json", cwd=path)
    assert done.code == 0, done
    tried = done.json()["commands"]
    assert [(command["name"], command["result"], command["exit"]) for command in tried] == [
        ("test", "green", 0),
        ("seen", "green", 0),
    ]
    assert "Ran 1 test" in Path(tried[0]["log"]).read_text(encoding="utf-8")
    commit = repo.git(path, "rev-parse", "HEAD")[:12]
    assert any(f"green on commit {commit}" in what for what, _ in rows(done, "ok"))
    assert repo.git(path, "status", "--porcelain") == "?? uncommitted.txt"
    left = {entry.name for entry in Path(tried[0]["log"]).parent.parent.iterdir()}
    assert "proof" not in left


def test_person_sees_what_is_running_and_a_program_does_not(detent: Detent, repo: MakeRepo) -> None:
    path = repo(files=settings("[commands]\ntest = 'true'\nlint = 'false'\n[workspace]\nsetup = ['true']\n"))
    done = detent("doctor", cwd=path)
    lines = done.err.splitlines()
    assert lines[:2] == [
        "each command may take 1800 s ([commands] timeout_s in detent.toml)",
        "making a checkout; set-up: true",
    ]
    assert [line for line in lines if line.startswith("running ")] == ["running 1 of 2: true", "running 2 of 2: false"]
    assert [line.split()[0] for line in lines if line.startswith("  ")] == ["passed", "failed"]
    assert "running" not in done.out
    assert detent("doctor", "--json", cwd=path).err == ""
    assert detent("doctor", "--quick", cwd=path).err == ""


@pytest.mark.parametrize("ending", ["true", "false"])
def test_what_commands_fetched_for_the_trial_does_not_stay(detent: Detent, repo: MakeRepo, ending: str) -> None:
    path = repo(files=settings(f"[commands]\ntest = 'echo x > \"$npm_config_cache/big\"; {ending}'\n"))
    (command,) = detent("doctor", "--json", cwd=path).json()["commands"]
    assert command["result"] == ("green" if ending == "true" else "red")
    home = Path(command["log"]).parent.parent
    assert [str(found) for found in home.rglob("big")] == []
    assert not (home / "cache").exists()


def test_a_red_command_is_exit_1_with_its_log(detent: Detent, repo: MakeRepo) -> None:
    path = repo(files=settings(GOOD + "lint = 'echo bad line; exit 3'\nmissing = 'no-such-program'\n"))
    done = detent("doctor", cwd=path)
    assert done.code == 1, done
    (lint,) = [line for line in done.out.splitlines() if line.startswith("red  lint: ")]
    assert "exit 3; log: " in lint
    assert Path(lint.rpartition("log: ")[2]).read_text(encoding="utf-8") == "bad line\n"
    assert "read the log" in done.out
    assert "what is red in your folder too, a task can mend" in done.out
    assert "a fresh checkout lacks that program" in done.out
    assert "ok   test: " in done.out


@pytest.mark.parametrize(
    ("text", "words", "log"),
    [
        ("setup = ['echo no net; exit 7']", "correct [workspace] setup", "no net\n"),
        ("copy = ['.env.test']", "correct [workspace] copy", ""),
    ],
)
def test_a_failed_set_up_is_told_apart(detent: Detent, repo: MakeRepo, text: str, words: str, log: str) -> None:
    path = repo(files=settings(f"{GOOD}[workspace]\n{text}\n"))
    done = detent("doctor", "--json", cwd=path)
    assert done.code == 1, done
    (command,) = done.json()["commands"]
    assert command["result"] == "set-up failed"
    assert (Path(command["log"]).read_text(encoding="utf-8") if command["log"] else "") == log
    ((what, next_step),) = rows(done, "red")
    assert words in next_step
    assert (command["said"], what.endswith("\n     | no net")) == (log.strip(), bool(log))


def test_set_up_and_copies_are_used(detent: Detent, repo: MakeRepo) -> None:
    text = (
        "[commands]\ntest = 'cat .env.test made.txt'\n[workspace]\nsetup = ['echo made > made.txt']\ncopy = ['.env*']\n"
    )
    path = repo(files={**settings(text + "carry = ['nowhere']\n"), ".gitignore": ".env*\n"})
    (path / ".env.test").write_text("KEY=1\n", encoding="utf-8")
    done = detent("doctor", "--json", cwd=path)
    assert done.code == 0, done
    assert Path(done.json()["commands"][0]["log"]).read_text(encoding="utf-8") == "KEY=1\nmade\n"
    assert any("carry found nothing for nowhere" in what for what, _ in rows(done, "note"))


OWN = "[agents]\njudge = 'other'\n[agents.mine]\nargv = ['my-agent']\n[agents.other]\nargv = ['other-agent', '-x']\n"


def test_doctor_names_the_agents_of_each_role(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, programs = repo(files=settings(OWN)), tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "sh", "my-agent", "other-agent"):
        (programs / name).symlink_to("/bin/sh" if name != "git" else str(which("git")))
    here = {"PATH": str(programs)}
    done = detent("doctor", "--quick", "--json", cwd=path, environment=here)
    assert done.code == 0, done
    agents = [what for what, _ in rows(done, "ok") if what.startswith("agent ")]
    assert agents == [
        f"agent mine ({programs}/my-agent) serves builder of phase",
        f"agent other ({programs}/other-agent) serves judge of phase",
    ]
    (programs / "other-agent").unlink()
    lost = detent("doctor", "--quick", "--json", cwd=path, environment=here)
    assert lost.code == 0, "a person may do all the work by hand"
    ((what, next_step),) = [row for row in rows(lost, "note") if "other-agent" in row[0]]
    assert what == "role judge of phase wants other, but other-agent is not on PATH"
    assert "name another" in next_step
    nobody = detent("doctor", "--quick", cwd=repo("other"), environment=here)
    assert "note no agent is on PATH; looked for pi, codex" in nobody.out
    assert "next: run: npm install --global" in nobody.out


def test_quick_runs_nothing(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path = repo(files=settings(f"[commands]\ntest = 'touch {tmp_path}/ran; exit 1'\n"))
    let_out(path)  # so that the command can leave a trace
    done = detent("doctor", "--quick", "--json", cwd=path)
    assert done.code == 0, done
    assert done.json()["commands"] == []
    assert not (tmp_path / "ran").exists()
    assert detent("doctor", cwd=path).code == 1
    assert (tmp_path / "ran").exists()


def test_one_task_is_looked_at_without_running_commands(detent: Detent, repo: MakeRepo) -> None:
    path = repo(files=settings("[commands]\ntest = 'exit 1'\n"))
    assert detent("new", "phase", "x", "--id", "a", cwd=path).code == 0
    assert detent("doctor", "a", cwd=path).code == 0
    assert detent("doctor", cwd=path).code == 1


def test_settings_are_tried_before_they_are_committed(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    none = detent("doctor", "--json", cwd=path)
    assert none.code == 0, none
    assert ("no detent.toml: every setting has its default", "detent init") in rows(none, "note")
    (path / "detent.toml").write_text(GOOD, encoding="utf-8")
    done = detent("doctor", "--json", cwd=path)
    assert done.code == 0, done
    assert [command["result"] for command in done.json()["commands"]] == ["green"]
    assert any("differs from the last commit" in what for what, _ in rows(done, "note"))
    repo.git(path, "add", "--all")
    repo.git(path, "commit", "--quiet", "--message=Settings")
    after = detent("doctor", "--json", cwd=path)
    assert not any("differs" in what for what, _ in rows(after, "note"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[commands", "not valid TOML"),
        ("[workspace]\ncopy = ['/etc/passwd']", "copy has '/etc/passwd'"),
        ("[agents]\ndefault = 'claud'", "there is no agent 'claud'"),
        ("[prompts]\nadd = { builder = 'rules.md' }", "rules.md"),
        ("default_machine = 'nothing'", "there is no machine called 'nothing'"),
        ("[machine.phase]\noptions = ['colour']", "colour"),
    ],
)
def test_settings_that_new_would_refuse_are_bad(detent: Detent, repo: MakeRepo, text: str, words: str) -> None:
    path = repo(files=settings(text))
    done = detent("doctor", "--json", cwd=path)
    assert done.code == 5, done
    ((what, next_step),) = rows(done, "bad")
    assert words in what
    assert next_step


def test_what_is_not_set_is_said(detent: Detent, repo: MakeRepo) -> None:
    done = detent("doctor", "--json", cwd=repo(files=settings("[sandbox]\nrequire = 'kernel'\n")))
    assert done.code == 0, done
    notes = [what for what, _ in rows(done, "note")]
    assert any(what.startswith("no [commands]") for what in notes)


def test_without_git_the_folder_is_tried(detent: Detent, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    for name, text in settings(GOOD).items():
        (folder / name).write_text(text, encoding="utf-8")
    done = detent("doctor", "--json", cwd=folder)
    assert done.code == 0, done
    assert [command["result"] for command in done.json()["commands"]] == ["green"]


def test_without_a_commit_nothing_is_tried(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.mkdir()
    repo.git(path, "init", "--quiet")
    (path / "detent.toml").write_text(GOOD, encoding="utf-8")
    done = detent("doctor", "--json", cwd=path)
    assert done.code == 0, done
    assert any("no commit yet" in what for what, _ in rows(done, "note"))
    assert done.json()["commands"] == []


@needs_bubblewrap
def test_commands_of_a_hostile_repository_are_sandboxed(detent: Detent, repo: MakeRepo) -> None:
    home = Path(detent.environment["HOME"])
    (home / ".bashrc").write_text("mine\n", encoding="utf-8")
    key = home / ".ssh/id"
    key.parent.mkdir()
    key.write_text("private\n", encoding="utf-8")
    line = "echo evil >> ~/.bashrc; cat ~/.ssh/id; echo evil > " + str(home.parent / "planted")
    path = repo(files=settings(f"[commands]\ntest = '{line}'\n[workspace]\nsetup = ['echo evil >> ~/.bashrc; true']\n"))
    done = detent("doctor", "--json", cwd=path)
    assert (home / ".bashrc").read_text(encoding="utf-8") == "mine\n"
    assert not (home.parent / "planted").exists()
    assert "private" not in Path(done.json()["commands"][0]["log"]).read_text(encoding="utf-8")
    assert any("in the sandbox of a task (bubblewrap)" in what for what, _ in (*rows(done, "ok"), *rows(done, "red")))


@needs_bubblewrap
def test_tool_in_the_temporary_folder_is_red_in_doctor(detent: Detent, repo: MakeRepo, disk_path: Path) -> None:
    put_program(disk_path, "mytool", "exit 0")
    path = repo(files=settings("[commands]\ntest = 'mytool'\n"))
    done = detent("doctor", "--json", cwd=path, environment=with_path(detent.environment, disk_path))
    assert done.code == 1, done
    assert done.json()["commands"][0]["exit"] == 127
    ((_, next_step),) = rows(done, "red")
    assert f'show = ["{disk_path}"] under [sandbox]' in next_step


def test_doctor_names_a_home_that_is_not_writable(detent: Detent, repo: MakeRepo) -> None:
    path = repo(files=settings(GOOD))
    for words in (("doctor",), ("doctor", "--quick")):
        done = detent(*words, "--json", cwd=path, environment={"XDG_STATE_HOME": "/proc/nowhere"})
        assert done.code == 5, done
        ((what, next_step),) = rows(done, "bad")
        assert "tasks can't be made" in what
        assert "XDG_STATE_HOME" in next_step
