"""`detent init`: its findings, the file it writes, and that it never writes over an existing text."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from detent.store.journal.settings import parse_settings
from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo
from tests.e2e.stubs import bare_path, put_program

NODE = {"package.json": json.dumps({"scripts": {"test": "node t.js", "lint": "eslint ."}}), "package-lock.json": "{}"}


class Host:
    """A host with git, python3 and the programs a test puts there, and nothing else."""

    def __init__(self, detent: Detent, folder: Path) -> None:
        self.detent = detent
        self.folder = folder
        self.environment = bare_path(folder, "git")
        self.put("python3", f'exec {sys.executable} "$@"')

    def put(self, name: str, script: str = "exit 0") -> None:
        put_program(self.folder, name, script)

    def init(self, path: Path, *words: str, **more: str) -> Completed:
        return self.detent("init", *words, cwd=path, environment={**self.environment, **more})


@pytest.fixture
def host(detent: Detent, tmp_path: Path) -> Host:
    return Host(detent, tmp_path / "programs")


def written(path: Path) -> dict[str, Any]:
    data = (path / "detent.toml").read_bytes()
    parse_settings(data, "here")  # what we write must be what we read
    return tomllib.loads(data.decode())


def test_a_repository_is_looked_at_and_its_settings_written(host: Host, repo: MakeRepo) -> None:
    path = repo(files={**NODE, ".gitignore": ".env*\nnode_modules/\n"})
    (path / ".env.test").write_text("KEY=1\n", encoding="utf-8")
    host.put("npm")
    host.put("codex", "echo codex-cli 0.163.0")
    host.put("claude", "echo '2.1.325 (Claude Code)'")
    done = host.init(path, ANTHROPIC_API_KEY="k")
    assert done.code == 0, done
    for words in (
        f"git repository {path}",
        "codex (codex-cli 0.163.0, no login seen)",
        "claude (2.1.325 (Claude Code), a login is there)",
        "npm run --silent test   (from package.json)",
        "npm ci   (when package-lock.json changed)",
        ".env.test",
        "sandbox:",
        f"wrote:      {path / 'detent.toml'}",
        "detent doctor",
        "git add detent.toml",
    ):
        assert words in done.out, done
    settings = written(path)
    assert settings["commands"] == {"test": "npm run --silent test", "lint": "npm run --silent lint"}
    assert settings["workspace"] == {"setup": ["npm ci"], "key": ["package-lock.json"]}
    assert settings["agents"] == {"default": "claude"}
    assert settings["budget"] == {"run": {"minutes": 30, "stall_minutes": 10}, "task": {"usd": 10}}
    text = (path / "detent.toml").read_text(encoding="utf-8")
    assert '# copy = [".env.test"]' in text
    assert "# Sandbox: this host holds agents and commands by " in text


def test_what_this_host_lacks_is_only_a_comment(host: Host, repo: MakeRepo) -> None:
    path = repo(files=NODE)
    done = host.init(path)
    assert done.code == 0, done
    assert "left out, npm is not here" in done.out
    assert "none on PATH; looked for pi, codex, claude" in done.out
    assert "install an agent" in done.out
    settings = written(path)
    assert settings["commands"] == {}
    assert settings["workspace"] == {}
    assert settings["agents"] == {}
    text = (path / "detent.toml").read_text(encoding="utf-8")
    assert '# test = "npm run --silent test"   # from package.json; not here: npm' in text
    assert '# setup = ["npm ci"]   # for package-lock.json; not here: npm' in text


OWN = '[agents.mine]\nargv = ["my-agent"]\n'


@pytest.mark.parametrize(("settings", "others"), [(OWN, ()), (f"[agents]\ndefault = 'mine'\n{OWN}", ("codex",))])
def test_agent_of_users_own_settings_serves_and_is_not_overruled(
    host: Host, repo: MakeRepo, settings: str, others: tuple[str, ...]
) -> None:
    folder = Path(host.detent.environment["XDG_CONFIG_HOME"]) / "detent"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(settings, encoding="utf-8")
    path = repo(files=SAMPLE_FILES)
    for name in ("my-agent", *others):
        host.put(name)
    done = host.init(path)
    assert done.code == 0, done
    assert "mine (named by your own settings)" in done.out
    for words in ("none on PATH", "install an agent", "log in to an agent"):
        assert words not in done.out, done
    assert written(path)["agents"] == {}
    assert (
        "serves builder, judge of phase" in host.detent("doctor", "--quick", cwd=path, environment=host.environment).out
    )


def test_every_comment_with_a_setting_can_be_switched_on(host: Host, repo: MakeRepo) -> None:
    path = repo(files={**NODE, "Makefile": "build:\n"})
    host.put("make")
    assert host.init(path).code == 0
    lines = (path / "detent.toml").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if line.startswith("# ") and (" = " in line.partition("#")[2].partition("#")[0]) and '"..."' not in line:
            changed = [*lines[:number], line.removeprefix("# "), *lines[number + 1 :]]
            if number and lines[number - 1].startswith("# ["):
                changed[number - 1] = lines[number - 1].removeprefix("# ")
            elif number > 1 and lines[number - 2].startswith("# ["):
                changed[number - 2] = lines[number - 2].removeprefix("# ")
            parse_settings("\n".join(changed).encode(), line)


def test_a_python_repository_with_its_tests(host: Host, repo: MakeRepo) -> None:
    path = repo(files=SAMPLE_FILES)
    assert host.init(path).code == 0
    assert written(path)["commands"] == {"test": "python3 -P -m unittest -q"}
    assert host.detent("new", "phase", "x", cwd=path).code == 0


def test_the_settings_it_writes_serve_a_task(host: Host, repo: MakeRepo) -> None:
    path = repo(files=SAMPLE_FILES)
    assert host.init(path).code == 0
    repo.git(path, "add", "detent.toml")
    repo.git(path, "commit", "--quiet", "--message=Settings")
    made = host.detent("new", "phase", "x", "--id", "a", cwd=path)
    assert made.code == 0, made
    assert made.out.endswith("detent run a\n"), made
    head = json.loads((path / ".git/detent/tasks/a/journal.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert head["commands"] == [["test", "python3 -P -m unittest -q"]]


def test_an_existing_file_is_shown_and_kept(host: Host, repo: MakeRepo) -> None:
    mine = '[commands]\ntest = "mine"\n'
    path = repo(files={**SAMPLE_FILES, "detent.toml": mine})
    done = host.init(path)
    assert done.code == 1, done
    assert '-test = "mine"' in done.out
    assert '+test = "python3 -P -m unittest -q"' in done.out
    assert "refused: " in done.out
    assert "detent init --force" in done.out
    assert (path / "detent.toml").read_text(encoding="utf-8") == mine


def test_force_keeps_every_old_file(host: Host, repo: MakeRepo) -> None:
    path = repo(files={**SAMPLE_FILES, "detent.toml": "# one\n"})
    assert host.init(path, "--force").code == 0
    (path / "detent.toml").write_text("# two\n", encoding="utf-8")
    done = host.init(path, "--force", "--json").json()
    assert (done["written"], done["backup"]) == (True, str(path / "detent.toml.bak-2"))
    assert (path / "detent.toml.bak").read_text(encoding="utf-8") == "# one\n"
    assert (path / "detent.toml.bak-2").read_text(encoding="utf-8") == "# two\n"
    again = host.init(path, "--force")
    assert again.code == 0, again
    assert "says so already" in again.out
    assert not (path / "detent.toml.bak-3").exists()


def test_print_writes_nothing(host: Host, repo: MakeRepo) -> None:
    path = repo()
    done = host.init(path, "--print")
    assert done.code == 0, done
    parse_settings(done.out.encode(), "printed")
    assert not (path / "detent.toml").exists()


def test_json_tells_the_same(host: Host, repo: MakeRepo) -> None:
    path = repo(files=NODE)
    host.put("pi", "echo 0.73.1")
    shown = host.init(path, "--json").json()
    assert shown["schema"] == 1
    assert shown["written"] is True
    assert shown["path"] == str(path / "detent.toml")
    assert shown["text"] == (path / "detent.toml").read_text(encoding="utf-8")
    assert shown["agents"] == [{"name": "pi", "program": str(host.folder / "pi"), "version": "0.73.1", "login": False}]
    assert {"name": "test", "command": "npm run --silent test", "seen": "package.json", "lacks": "npm"} in shown[
        "commands"
    ]
    assert shown["setup"] == [{"commands": ["npm ci"], "key": ["package-lock.json"], "lacks": "npm"}]
    assert shown["sandbox"]["level"] in ("bubblewrap", "landlock", "none")
    assert shown["next"]


@pytest.mark.parametrize("script", ["exit 1", "printf '\\033[31mred\\007'", "true"])
def test_an_agent_that_answers_oddly_does_no_harm(host: Host, repo: MakeRepo, script: str) -> None:
    path = repo()
    host.put("pi", script)
    done = host.init(path)
    assert done.code == 0, done
    assert "\033" not in done.out
    assert written(path)["agents"] == {"default": "pi"}


def test_without_git_and_from_a_folder_below(host: Host, repo: MakeRepo, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    done = host.init(plain)
    assert done.code == 0, done
    assert "plain folder without git" in done.out
    assert "git add" not in done.out
    path = repo()
    (path / "deep").mkdir()
    assert host.init(path / "deep").code == 0
    assert (path / "detent.toml").exists()


def test_a_link_in_its_place_is_refused(host: Host, repo: MakeRepo, tmp_path: Path) -> None:
    path = repo()
    (tmp_path / "elsewhere").write_text("mine\n", encoding="utf-8")
    (path / "detent.toml").symlink_to(tmp_path / "elsewhere")
    done = host.init(path, "--force")
    assert done.code == 5, done
    assert "next:" in done.err
    assert (tmp_path / "elsewhere").read_text(encoding="utf-8") == "mine\n"


def test_an_agent_run_writes_no_settings(host: Host, repo: MakeRepo) -> None:
    path = repo()
    done = host.init(path, DETENT_ROLE="builder")
    assert done.code == 1, done
    assert not (path / "detent.toml").exists()
