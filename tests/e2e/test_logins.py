"""Logins and settings of agents in the user's home: what a run reads, what it may write, and what stays after it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.effects.host.access import BUBBLEWRAP
from detent.effects.host.sandbox import try_level
from tests.conftest import SAMPLE_FILES, Detent, MakeRepo, let_out
from tests.e2e.stubs import put_program, with_path

HELD = try_level(BUBBLEWRAP, os.environ)
needs_bubblewrap = pytest.mark.skipif(bool(HELD), reason=f"bubblewrap does not work here: {HELD}")
LOGINS = (".codex/auth.json", ".pi/agent/auth.json", ".claude/.credentials.json", ".local/share/opencode/auth.json")
SECRETS = (".pgpass", ".cargo/credentials", ".m2/settings.xml", ".bash_history", ".config/git/credentials", ".my.cnf")


class Desk:
    """A repository whose agent is a script under the name of a built-in one."""

    def __init__(self, detent: Detent, repo: MakeRepo, folder: Path) -> None:
        self.programs, self.home = folder / "programs", Path(detent.environment["HOME"])
        self.detent = Detent(detent.directory, {**detent.environment, **with_path(detent.environment, self.programs)})
        self.repo = repo("repo", SAMPLE_FILES)

    def put(self, name: str, text: str) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, agent: str, script: str, task: str = "t") -> str:
        put_program(self.programs, agent, f"cat > /dev/null\n{script}")
        if not (self.repo / ".git/detent/tasks" / task).exists():
            done = self.detent("new", "x", "--id", task, "--agent", agent, cwd=self.repo)
            assert done.code == 0, done
        else:
            self.detent("resume", task, cwd=self.repo)  # runs that change nothing stop it
        self.detent("run", "--once", task, cwd=self.repo)
        return self.detent("logs", task, cwd=self.repo).out + self.detent("logs", "--errors", task, cwd=self.repo).out


@pytest.fixture
def desk(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Desk:
    return Desk(detent, repo, tmp_path)


@needs_bubblewrap
def test_logins_of_other_agents_and_known_secrets_are_hidden(desk: Desk) -> None:
    for name in (*LOGINS, *SECRETS):
        desk.put(name, "s3cret\n")
    desk.put("config/git/credentials", "s3cret\n")  # where XDG_CONFIG_HOME points to
    login = desk.put(".gemini/oauth_creds.json", "mine\n")
    said = desk.run(
        "gemini", "cd; cat ~/.gemini/oauth_creds.json; grep -rs s3cret . ; echo new >> ~/.gemini/oauth_creds.json"
    )
    assert "mine" in said
    assert "s3cret" not in said
    assert login.read_text(encoding="utf-8") == "mine\nnew\n", "a login is the real one, and its token can be refreshed"


@needs_bubblewrap
def test_a_wrapper_gets_the_login_that_its_settings_name(desk: Desk, repo: MakeRepo) -> None:
    codex, pi = desk.put(".codex/auth.json", "codex-login\n"), desk.put(".pi/agent/auth.json", "pi-login\n")
    text = "[agents.mine]\nargv = ['wrapper']\nauth = ['~/.codex/auth.json']\n"
    desk.repo = repo("wrapped", {**SAMPLE_FILES, "detent.toml": text})
    put_program(desk.programs, "wrapper", f"cat {codex} {pi}; echo x >> {codex}")
    assert desk.detent("new", "x", "--id", "t", "--agent", "mine", cwd=desk.repo).code == 0
    desk.detent("run", "--once", "t", cwd=desk.repo)
    said = desk.detent("logs", "t", cwd=desk.repo).out
    assert "codex-login" in said
    assert "pi-login" not in said
    assert codex.read_text(encoding="utf-8") == "codex-login\nx\n"


@needs_bubblewrap
@pytest.mark.parametrize("is_there", [True, False])
def test_what_steers_an_agent_is_read_only_in_its_runs(desk: Desk, is_there: bool) -> None:
    desk.put(".gemini/oauth_creds.json", "mine\n")
    if is_there:
        desk.put(".gemini/settings.json", '{"mine": 1}\n')
        desk.put(".gemini/commands/own.toml", "own\n")
    said = desk.run(
        "gemini",
        "cd ~/.gemini; echo evil > settings.json; rm -f settings.json; mv settings.json x; echo evil > GEMINI.md\n"
        "echo evil > commands/evil.toml; mv commands other; mkdir -p extensions/evil; cd; mv .gemini .other; echo over",
    )
    assert "over" in said
    assert (desk.home / ".gemini/settings.json").read_text(encoding="utf-8") == (
        '{"mine": 1}\n' if is_there else "{}\n"
    )
    assert (desk.home / ".gemini/GEMINI.md").read_text(encoding="utf-8") == ""
    left = [path.name for path in (desk.home / ".gemini").rglob("*") if "evil" in path.name]
    assert left == []


@needs_bubblewrap
def test_conversations_are_kept_for_each_task_and_role(desk: Desk) -> None:
    desk.put(".gemini/tmp/of-the-person", "private talk\n")
    script = "ls ~/.gemini/tmp; echo talk > ~/.gemini/tmp/$DETENT_TASK-$DETENT_RUN_NUMBER"
    assert "of-the-person" not in desk.run("gemini", script, "one")
    assert "one-1" in desk.run("gemini", script, "one"), "the same role goes on with its own"
    assert "one-" not in desk.run("gemini", script, "two")
    assert [path.name for path in (desk.home / ".gemini/tmp").iterdir()] == ["of-the-person"]


@needs_bubblewrap
def test_file_that_holds_state_and_servers_is_copy_in_runs(desk: Desk) -> None:
    real = desk.put(".claude.json", '{"numStartups": 1}\n')
    script = 'cat ~/.claude.json > $DETENT_OUT/seen; echo \'{"mcpServers": {"evil": 1}}\' > ~/.claude.json'
    desk.run("claude", script)
    assert real.read_text(encoding="utf-8") == '{"numStartups": 1}\n'
    (seen,) = Path(desk.detent.environment["XDG_STATE_HOME"]).rglob("out/seen")
    assert "numStartups" in seen.read_text(encoding="utf-8")


def test_without_sandbox_change_of_settings_is_told_and_not_undone(desk: Desk) -> None:
    settings = desk.put(".gemini/settings.json", "{}\n")
    let_out(desk.repo)
    desk.run("gemini", "echo '{\"hooks\": 1}' > ~/.gemini/settings.json")
    assert settings.read_text(encoding="utf-8") == '{"hooks": 1}\n'
    output = desk.detent("history", "t", cwd=desk.repo).out
    assert f"changed while it ran, by it or by you: {settings}" in output
    assert desk.detent("audit", "t", cwd=desk.repo).code == 0
