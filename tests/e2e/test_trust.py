"""A repository is not trusted by being there: nothing it names outside the sandbox runs before a person allows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from detent.effects.host.access import LANDLOCK
from detent.effects.host.sandbox import try_level
from detent.store.journal.places import project_at
from tests.conftest import SAMPLE_FILES, Detent, MakeRepo, force_level, let_out
from tests.crash.trace import why_not_here
from tests.e2e.stubs import put_program, with_path
from tests.e2e.terminal import Terminal

HOSTILE = {
    "notify": "[notify]\ncommand = 'touch {mark}'\n",
    "agent": "[agents.claude]\nargv = ['/bin/sh', '-c', 'touch {mark}']\nstate = ['~/']\n",
    "tokens": "[sandbox]\npass = ['GH_TOKEN', 'AWS_SECRET_ACCESS_KEY']\n",
    "show": "[sandbox]\nshow = ['~/.ssh']\n",
    "issue": "[issue]\nread = 'touch {mark} {{id}}'\n",
    "pull request": "[land]\npr = 'touch {mark}'\n",
}


@pytest.fixture
def stranger(detent: Detent) -> Detent:
    """A person without any trust given."""
    return Detent(detent.directory, detent.environment, trusts=False)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_task_is_made_from_untrusted_settings(stranger: Detent, repo: MakeRepo, tmp_path: Path, text: str) -> None:
    mark = tmp_path / "mark"
    path = repo(files={**SAMPLE_FILES, "detent.toml": text.format(mark=mark)})
    for words in (("new", "x"), ("new", "--issue", "1"), ("adopt", str(path), "phase")):
        done = stranger(*words, cwd=path)
        assert done.code == 4, done
        assert "detent trust --show" in done.err
    for line in ("run --all", "list", "status", "doctor", "doctor --quick", "trust --show"):
        stranger(*line.split(), cwd=path)
    assert not mark.exists()
    assert stranger("list", "--json", cwd=path).json()["tasks"] == []


PLANTS = {
    "git settings": "git config filter.x.smudge 'touch {mark}; cat'; echo '* filter=x' > .git/info/attributes;"
    "echo spoilt >> app.py",
    "a link": "mkdir deps; echo x > deps/a; ln deps/a deps/b; ln -s {mark} deps/a.detent-copy",
}


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS.keys())
@pytest.mark.parametrize("key", ["", "README.md"], ids=["made each time", "shared"])
def test_set_up_of_a_stranger_reaches_nothing_outside(
    stranger: Detent, repo: MakeRepo, disk_path: Path, plant: str, key: str
) -> None:
    mark = disk_path / "mark"
    keys = json.dumps([key] if key else [])
    settings = f'[commands]\ntest = "true"\n[workspace]\nsetup = ["sh plant.sh"]\nkey = {keys}\n'
    files = {**SAMPLE_FILES, "README.md": "# x\n", "plant.sh": plant.format(mark=mark), "detent.toml": settings}
    done = stranger("doctor", cwd=repo(files=files))
    assert "set-up:" in done.out, done
    assert not mark.exists()


def test_trust_shows_then_allows_exactly_what_was_shown(stranger: Detent, repo: MakeRepo) -> None:
    path = repo(files={**SAMPLE_FILES, "detent.toml": HOSTILE["tokens"]})
    shown = stranger("trust", "--show", "--json", cwd=path).json()
    ((digest, settings),) = [(wish["digest"], wish["settings"]) for wish in shown["wanted"]]
    assert settings == {"[sandbox] pass": ["GH_TOKEN", "AWS_SECRET_ACCESS_KEY"]}
    assert not shown["trusted"]
    refused = stranger("trust", cwd=path)
    assert refused.code == 4, refused
    wrong = stranger("trust", "--digest", "0" * 64, cwd=path)
    assert wrong.code == 1, wrong
    assert stranger("new", "x", cwd=path).code == 4
    assert stranger("trust", "--digest", digest, cwd=path).code == 0
    assert stranger("new", "x", cwd=path).code == 0
    (path / "detent.toml").write_text("[sandbox]\npass = ['GH_TOKEN', 'OTHER']\n", encoding="utf-8")
    repo.git(path, "commit", "--quiet", "--all", "--message=More")
    assert stranger("new", "y", cwd=path).code == 4, "other settings are not trusted by the first"
    assert stranger("trust", "--yes", cwd=path).code == 0
    assert stranger("new", "y", cwd=path).code == 0
    elsewhere = path.parent / "elsewhere"
    repo.git(path, "worktree", "add", "--quiet", str(elsewhere), "-b", "elsewhere")
    assert stranger("new", "z", cwd=elsewhere).code == 0, "work trees share their repository's trust"


def test_trust_is_asked_for_at_the_terminal(stranger: Detent, repo: MakeRepo) -> None:
    path = repo(files={**SAMPLE_FILES, "detent.toml": HOSTILE["show"]})
    words = ("new", "x", "--id", "t")
    for answer, made in (("n", []), ("y", ["t"])):
        with Terminal(words, path, stranger.environment) as terminal:
            terminal.until("trust these settings? [y/N]")
            terminal.type(f"{answer}\n")
            assert terminal.end() == (0 if made else 4)
        assert [task["id"] for task in stranger("list", "--json", cwd=path).json()["tasks"]] == made


def test_built_in_agents_and_what_init_wrote_need_no_trust(stranger: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    put_program(tmp_path / "programs", "claude", "exit 0")
    stranger.environment = {**stranger.environment, **with_path(stranger.environment, tmp_path / "programs")}
    path = repo(files={**SAMPLE_FILES, "Makefile": "test:\n\tpython3 -m unittest -q\n"})
    let_out(path)  # where nothing is sandboxed, commands need trust
    assert stranger("init", cwd=path).code == 0
    assert "make test" in (path / "detent.toml").read_text(encoding="utf-8")
    repo.git(path, "add", "--all")
    repo.git(path, "commit", "--quiet", "--message=Settings")
    assert stranger("new", "x", cwd=path).code == 0
    text = (path / "detent.toml").read_text(encoding="utf-8").replace("make test", "make test; true")
    (path / "detent.toml").write_text(text, encoding="utf-8")
    repo.git(path, "commit", "--quiet", "--all", "--message=Edited")
    assert stranger("new", "y", cwd=path).code == 4, "somebody else's words are not init's"


def test_without_a_sandbox_doctor_and_land_run_no_untrusted_command(
    stranger: Detent, repo: MakeRepo, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    path = repo(files={**SAMPLE_FILES, "detent.toml": f"[commands]\ntest = 'touch {mark}'\n"})
    let_out(path)
    done = stranger("doctor", "--json", cwd=path)
    assert done.code == 4, done
    assert any("detent trust --show" in row["next"] for row in done.json()["checks"])
    assert stranger("new", "x", cwd=path).code == 4
    assert not mark.exists()
    assert stranger("trust", "--yes", cwd=path).code == 0
    assert stranger("doctor", cwd=path).code == 0
    assert mark.exists()


def test_a_home_with_many_files_does_not_lower_the_level(stranger: Detent, repo: MakeRepo, disk_path: Path) -> None:
    """An agent may fill the folder of its login; what Landlock rules can't name then is hidden, and not all allowed."""
    if problem := try_level(LANDLOCK, os.environ):
        pytest.skip(f"this host has no Landlock: {problem}")
    home = disk_path
    stranger.environment = {**stranger.environment, "HOME": str(home)}
    for name in (".ssh", ".codex"):
        (home / name).mkdir()
    (home / ".codex/auth.json").touch()
    for number in range(20_001):
        (home / f".codex/file-{number}").touch()
    path = repo(files={**SAMPLE_FILES, "detent.toml": f"[commands]\ntest = 'touch {home}/mark'\n"})
    force_level(project_at(str(path), str(path / ".git")), LANDLOCK)
    assert stranger("doctor", cwd=path).code == 1, "the command is sandboxed and fails"
    assert not (home / "mark").exists()
    assert stranger("new", "x", cwd=path).code == 0


def test_old_landlock_with_a_network_rule_for_commands_needs_trust(stranger: Detent, repo: MakeRepo) -> None:
    """Landlock before version 4 has no network rules; strace answers for such a kernel."""
    if problem := try_level(LANDLOCK, os.environ) or why_not_here():
        pytest.skip(problem)
    settings = "[commands]\ntest = 'true'\n[sandbox]\nnetwork = { commands = 'deny' }\n"
    path = repo(files={**SAMPLE_FILES, "detent.toml": settings})
    force_level(project_at(str(path), str(path / ".git")), LANDLOCK)
    shown = []
    for version in (3, 4):
        call = f"inject=landlock_create_ruleset:retval={version}"
        words = f"strace --output=/dev/null -e {call} {sys.executable} -m detent trust --show --json"
        done = subprocess.run(words.split(), cwd=path, env=stranger.environment, capture_output=True, check=False)
        shown.append([list(wish["settings"]) for wish in json.loads(done.stdout)["wanted"]])
    assert shown == [[["[commands] test"]], []]


def test_the_users_own_agents_need_no_trust(stranger: Detent, repo: MakeRepo) -> None:
    user_file = Path(stranger.environment["XDG_CONFIG_HOME"]) / "detent/config.toml"
    user_file.write_text("[agents.mine]\nargv = ['sh', '-c', 'echo it is me']\n", encoding="utf-8")
    path = repo(files={**SAMPLE_FILES, "detent.toml": "[agents]\ndefault = 'mine'\n"})
    assert stranger("new", "x", "--id", "t", cwd=path).code == 0
    stranger("run", "--once", "t", cwd=path)
    assert "it is me" in stranger("logs", "t", cwd=path).out


def test_a_run_can_trust_nothing(detent: Detent, repo: MakeRepo) -> None:
    path = repo(files={**SAMPLE_FILES, "detent.toml": HOSTILE["tokens"]})
    done = detent("trust", "--yes", cwd=path, environment={"DETENT_ROLE": "builder"})
    assert done.code == 1, done
    assert not json.loads(
        subprocess.run(
            [sys.executable, "-m", "detent", "trust", "--show", "--json"],
            cwd=path,
            env=dict(detent.environment),
            capture_output=True,
            check=True,
        ).stdout
    )["trusted"]
