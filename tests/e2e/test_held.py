"""Runs that are held: what the kernel and the comparison afterwards keep an agent from, through the command line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.effects.host.access import BUBBLEWRAP, LANDLOCK, LEVELS, NONE
from detent.effects.host.landlock_process import TCP_SINCE, version
from detent.effects.host.sandbox import try_level
from detent.store.disk.digest import sha256_of
from detent.store.journal.places import project_at
from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo, environment_in, force_level
from tests.e2e.phase_task import PhaseTask
from tests.e2e.stubs import put_program, with_path
from tests.keyring import reader

SETTINGS = """[agents]
default = "scripted"
[agents.scripted]
argv = ["sh", "-c", "exec sh {scripts}/$DETENT_STATE.sh"]
[sandbox]
show = ["{scripts}"]
{more}
"""
FRAME = (
    "sed -i 's/^Done gate:.*/Done gate: it passes/; s/^Not doing:.*/Not doing: more/; "
    "s/^Reality constraints:.*/Reality constraints: none but time/; s/^User facing:.*/User facing: no/' "
    '"$DETENT_TASK_DIR/STATE.md"\n'
)
HELD = try_level(BUBBLEWRAP, os.environ)
needs_bubblewrap = pytest.mark.skipif(bool(HELD), reason=f"bubblewrap does not hold on this host: {HELD}")


class Held:
    """One task whose agent is a script per state."""

    def __init__(self, detent: Detent, repo: MakeRepo, base: Path, more: str = "") -> None:
        self.detent = detent
        self.scripts = base / "scripts"
        self.scripts.mkdir()
        settings = SETTINGS.format(scripts=self.scripts, more=more)
        self.repo = repo(files={**SAMPLE_FILES, "detent.toml": settings, ".github/ci.yml": "strict\n"})
        self.home = base / "home"

    def script(self, state: str, text: str) -> None:
        (self.scripts / f"{state}.sh").write_text(f"cat > /dev/null\n{text}\n", encoding="utf-8")

    def new(self, *words: str) -> Completed:
        return self.detent("new", "held", "--id", "t", "--check", "true", *words, cwd=self.repo)

    def run(self) -> Completed:
        return self.detent("run", "--once", "t", cwd=self.repo)

    def __call__(self, *words: str) -> Completed:
        return self.detent(*words, cwd=self.repo)

    def said(self) -> str:
        return self("logs", "t").out + self("logs", "--errors", "t").out

    def implement(self, script: str, *words: str) -> Completed:
        """Bring the task to implement and let this script work there."""
        self.script("intake", FRAME)
        self.script("shape", "echo '- framed' >> \"$DETENT_TASK_DIR/STATE.md\"")  # one pass, one phase
        assert self.new(*words).code == 0
        assert [self.run().code for _ in ("intake", "shape")] == [0, 0]
        self.script("implement", script)
        return self.run()


@pytest.fixture
def held(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Held:
    return Held(detent, repo, tmp_path)


def test_a_protected_file_is_restored_and_the_request_dropped(held: Held) -> None:
    held.implement(
        "echo weak > .github/ci.yml; mkdir .circleci && echo new > .circleci/config.yml; rm -f detent.toml\n"
        "echo work >> README.md; detent move blocked; true"
    )
    last = [line for line in held("history", "t", "--json").json()["lines"] if line["kind"] == "run_ended"][-1]
    assert ".circleci/config.yml" in last["tainted"], last
    tree = Path(held("status", "t", "--json").json()["workspace"])
    assert (tree / ".github/ci.yml").read_text(encoding="utf-8") == "strict\n"
    assert not (tree / ".circleci").exists()
    assert (tree / "detent.toml").exists()
    assert (tree / "README.md").read_text(encoding="utf-8").endswith("work\n")
    assert "these files are protected" in held("history", "t").out
    assert held("status", "t", "--json").json()["state"] == "implement"
    assert held("audit", "t").code == 0


@needs_bubblewrap
def test_run_sees_no_other_task_from_any_work_tree(held: Held, repo: MakeRepo, tmp_path: Path) -> None:
    assert held("new", "other", "--id", "u").code == 0
    other = Path(held("status", "u", "--json").json()["workspace"])
    held.script("intake", f"cat {other}/app.py")
    assert held.new().code == 0
    elsewhere = tmp_path / "elsewhere"
    repo.git(held.repo, "worktree", "add", "--quiet", str(elsewhere), "-b", "elsewhere")
    held.detent("run", "--once", "t", cwd=elsewhere)
    assert "No such file" in held.said()


@needs_bubblewrap
def test_run_sees_neither_keys_nor_journal_nor_the_users_checkout(held: Held) -> None:
    key = held.home / ".ssh/id"
    key.parent.mkdir()
    key.write_text("private\n", encoding="utf-8")
    control = held.repo / ".git/detent"
    held.implement(
        f"cat {key}; cat {control}/tasks/t/journal.jsonl; cat {held.repo}/app.py; echo x > {held.repo}/x;"
        f' ls {held.home}; echo "token=$MY_TOKEN"'
    )
    said = held.said()
    assert "private" not in said
    assert "run_planned" not in said
    assert "left + right" not in said
    assert not (held.repo / "x").exists()
    run = [line for line in held("history", "t", "--json").json()["lines"] if line["kind"] == "run_planned"][-1]
    assert run["sandbox"] == BUBBLEWRAP


def test_runs_get_what_is_listed_or_passed_of_the_environment(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    mine = {"DATABASE_URL": "postgres://u:s3cret@h/d", "github_token": "s3cret", "SSH_AUTH_SOCK": "/x", "TZ": "UTC"}
    more = {
        "OTHER_TOKEN": "passed",
        "PATH": f"bin:{detent.environment['PATH']}",
        "HTTPS_PROXY": "http://u:s3cret@proxy",
    }
    detent.environment = {**detent.environment, **mine, **more}
    held = Held(detent, repo, tmp_path, 'pass = ["OTHER_TOKEN"]')
    held.implement("env")
    said = held.said()
    assert "s3cret" not in said
    assert "SSH_AUTH_SOCK" not in said
    assert "OTHER_TOKEN=passed" in said
    assert "TZ=UTC" in said
    (path,) = [line for line in said.splitlines() if line.startswith("PATH=")]
    assert all(folder.startswith("/") for folder in path.removeprefix("PATH=").split(":"))


def test_agents_login_goes_to_its_runs_and_not_to_proof(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    put_program(programs, "claude", 'echo "run: [$ANTHROPIC_API_KEY] [$OPENAI_API_KEY] [$PIP_INDEX_URL]"')
    keys = {"ANTHROPIC_API_KEY": "a-key", "OPENAI_API_KEY": "o-key", "PIP_INDEX_URL": "https://host/simple"}
    detent.environment = {**detent.environment, **keys, **with_path(detent.environment, programs)}
    check = 'echo "proof: [$ANTHROPIC_API_KEY] [$PIP_INDEX_URL]"; false'
    path = repo(
        "logins", {**SAMPLE_FILES, "detent.toml": f"[commands]\ntest = '{check}'\n[agents]\ndefault = 'claude'\n"}
    )
    assert detent("new", "x", "--id", "t", cwd=path).code == 0
    detent("run", "--once", "t", cwd=path)
    assert "run: [a-key] [] []" in detent("logs", "t", cwd=path).out
    (log,) = [command["log"] for command in detent("doctor", "--json", cwd=path).json()["commands"]]
    assert Path(log).read_text(encoding="utf-8") == "proof: [] [https://host/simple]\n"


def test_a_red_proof_names_variables_that_were_withheld(at: Callable[[str], PhaseTask]) -> None:
    task = at("verify")
    (task.repo / "app.py").write_text("wrong\n", encoding="utf-8")
    done = task("move", "review", environment={"DATABASE_URL": "x", "UNRELATED": "y"})
    assert done.code == 1, done
    assert "exit 1; not in its environment: DATABASE_URL, UNRELATED" in done.out


def test_doctor_names_variables_that_were_withheld(detent: Detent, repo: MakeRepo) -> None:
    path = repo("red", {**SAMPLE_FILES, "detent.toml": "[commands]\ntest = 'true'\n"})
    done = detent("doctor", cwd=path, environment={"DATABASE_URL": "x", "UNRELATED": "y"})
    assert "commands don't get these variables of yours: DATABASE_URL, UNRELATED" in done.out


@needs_bubblewrap
def test_user_settings_apply_everywhere_and_are_hidden_from_runs(
    detent: Detent, repo: MakeRepo, tmp_path: Path
) -> None:
    user_file = Path(detent.environment["XDG_CONFIG_HOME"]) / "detent/config.toml"
    user_file.write_text(
        f"[sandbox]\npass = ['SCRIPTS', 'MINE']\n[notify]\ncommand = 'echo $DETENT_REST > {tmp_path}/notice'\n",
        encoding="utf-8",
    )
    detent.environment = {**detent.environment, "MINE": "mine"}
    held = Held(detent, repo, tmp_path)
    held.implement(f'echo "[$MINE]"; cat {user_file}; echo x >> {user_file}; echo over')
    said = held.said()
    assert "[mine]" in said
    assert "pass =" not in said
    assert "echo x" not in user_file.read_text(encoding="utf-8")
    assert (tmp_path / "notice").exists()


@needs_bubblewrap
def test_a_person_is_not_played_from_inside(held: Held) -> None:
    shell = "env -u DETENT_ROLE -u DETENT_SANDBOX -u DETENT_TASK -u DETENT_TASK_DIR"
    held.implement(
        f"{shell} detent answer yes t --repo {held.repo}; {shell} detent move done t --repo {held.repo};"
        f'{shell} detent new other; cd "$DETENT_TASK_DIR"; {shell} detent resume; echo over'
    )
    said = held.said()
    assert "over" in said
    assert "NoNewPrivs" in said
    kinds = {line["kind"] for line in held("history", "t", "--json").json()["lines"]}
    assert not kinds & {"answered", "resumed"}


@needs_bubblewrap
def test_held_process_is_person_only_where_the_project_says_so(detent: Detent, repo: MakeRepo) -> None:
    program = shutil.which("setpriv")
    if program is None:
        pytest.skip("setpriv is not installed: nothing to take rights away with")
    words = (program, "--no-new-privs", "detent", "new", "x", "--json")
    strict = repo("strict")
    open_one = repo("open", {**SAMPLE_FILES, "detent.toml": "[human]\nallow_no_new_privs = true\n"})
    for path, code in ((strict, 1), (open_one, 0)):
        done = subprocess.run(
            words, cwd=path, env=dict(detent.environment), capture_output=True, timeout=60, check=False
        )
        assert done.returncode == code, done


@needs_bubblewrap
def test_where_the_kernel_is_required_nothing_runs_without_it(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    held = Held(detent, repo, tmp_path, 'require = "kernel"')
    held.script("intake", FRAME)
    assert held.new().code == 0
    assert held.run().code == 0
    stamp = held.repo / ".git/detent/sandbox.json"
    text = stamp.read_bytes()
    assert b'"bubblewrap"' in text
    # A host without bubblewrap: its search path holds git, Python and a shell, and nothing else of use.
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("git", "sh", "sed", "cat", "detent", "python3"):
        found = shutil.which(name, path=detent.environment["PATH"])
        assert found, name
        (bare / name).symlink_to(found)
    detent.environment = {**detent.environment, "PATH": str(bare)}
    done = held.run()
    if b'"landlock"' in stamp.read_bytes():  # which holds as well
        planned = [line for line in held("history", "t", "--json").json()["lines"] if line["kind"] == "run_planned"]
        assert [line["sandbox"] for line in planned] == [BUBBLEWRAP, LANDLOCK], done
        return
    assert done.code == 1, done
    assert "the kernel does not hold this here" in done.err


def test_the_journal_is_anchored_in_git_when_a_run_ends(held: Held) -> None:
    held.implement("echo work >> README.md")
    refs = subprocess.run(
        ["git", "for-each-ref", "--format=%(refname)", "refs/detent/anchor"],
        cwd=held.repo,
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout.split()
    assert refs == ["refs/detent/anchor/t"]
    assert held("audit", "t").code == 0
    journal = held.repo / ".git/detent/tasks/t/journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    # Cut back to before the anchor, with everything beside it that knew more.
    journal.write_bytes(b"".join(lines[:1]))
    for name in ("snapshot.json", "projected.jsonl"):
        (journal.parent / name).unlink()
    audited = held("audit", "t")
    assert audited.code == 1
    assert "git's anchor names line" in audited.out


@pytest.mark.skipif(version() < TCP_SINCE, reason=f"this kernel's Landlock {version()} does not rule over TCP")
@pytest.mark.parametrize("require", ["detect", "kernel"])
def test_tcp_alone_is_never_told_as_the_whole_network(
    detent: Detent, repo: MakeRepo, tmp_path: Path, require: str
) -> None:
    network = '[sandbox.network]\nbuilder = "deny"\ncommands = "deny"'
    held = Held(detent, repo, tmp_path, f'require = "{require}"\n{network}')
    force_level(project_at(str(held.repo), str(held.repo / ".git")), LANDLOCK)
    held.script("intake", FRAME)
    assert held.new().code == 0
    done = held.run()
    planned = [line for line in held("history", "t", "--json").json()["lines"] if line["kind"] == "run_planned"]
    if require == "kernel":
        assert done.code == 1, done
        assert "Landlock denies TCP alone" in done.err
        assert planned == []
    else:
        assert done.code == 0, done
        assert [(line["sandbox"], line["network"]) for line in planned] == [(LANDLOCK, "tcp denied")]


@needs_bubblewrap
def test_bwrap_in_tree_is_not_started_by_relative_path_entry(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    places = ("node_modules/.bin", "vendor/bin")
    detent.environment = {**detent.environment, "PATH": os.pathsep.join((*places, detent.environment["PATH"]))}
    held = Held(detent, repo, tmp_path, '[workspace]\nsetup = ["true"]')
    for place in places:
        put_program(held.repo / place, "bwrap", f"touch {tmp_path}/ran; exit 0")
    repo.git(held.repo, "add", "--all")
    repo.git(held.repo, "commit", "--quiet", "-m", "Bring a bwrap")
    held.implement("echo work >> README.md")
    assert "work" in held("diff", "t").out
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("level", LEVELS)
def test_run_reaches_neither_the_prompt_file_nor_the_session_keys(disk_path: Path, level: str) -> None:
    if why := try_level(level, os.environ):
        pytest.skip(f"{level} does not hold on this host: {why}")
    environment = environment_in(disk_path)
    program = disk_path / "scripts/reader.py"
    more = f'[workspace]\nsetup = ["{sys.executable} -I {program}"]'
    held = Held(Detent(disk_path, environment, is_cold=True), MakeRepo(disk_path, environment), disk_path, more)
    program.write_text(reader(), encoding="utf-8")
    force_level(project_at(str(held.repo), str(held.repo / ".git")), level)
    held.script("intake", f"{FRAME}{sys.executable} -I {program}; echo forged > /proc/self/fd/0 && echo wrote; true")
    assert held.new().code == 0
    assert held.run().code == 0
    planned = next(line for line in held("history", "t", "--json").json()["lines"] if line["kind"] == "run_planned")
    assert planned["sandbox"] == level
    said = held.said()
    assert ("read: nothing" in said, "wrote" in said) == (True, False), said
    prompt = (held.repo / ".git/detent/tasks/t/runs/1/prompt.md").read_bytes()
    assert sha256_of(prompt) == planned["prompt"]
    logs = [path.read_text(encoding="utf-8") for path in disk_path.rglob("*.log") if "keeper" not in path.name]
    assert [log for log in logs if "read: " in log] == ["read: nothing\n"], logs


def in_place(held: Held, repo: MakeRepo, level: str) -> None:
    """A checkout with hooks that git finds by a setting in an included file of the work tree."""
    for name in (".husky/pre-commit", ".husky/_/pre-commit"):
        (held.repo / name).parent.mkdir(parents=True, exist_ok=True)
        put_program((held.repo / name).parent, "pre-commit", "exit 0")
    (held.repo / ".husky/_/.gitignore").write_text("*\n", encoding="utf-8")
    (held.repo / "team.gitconfig").write_text("[core]\n\thooksPath = .husky/_\n", encoding="utf-8")
    repo.git(held.repo, "config", "include.path", "../team.gitconfig")
    repo.git(held.repo, "add", "--all")
    repo.git(held.repo, "commit", "--quiet", "--message=Hooks")
    force_level(project_at(str(held.repo), str(held.repo / ".git")), level)


PLANT = """
for place in .husky/pre-commit .husky/_/pre-commit .husky/_/post-commit team.gitconfig .git/hooks/pre-commit; do
    ( printf '\\n#touch RAN\\n' >> $place ) 2>/dev/null && echo "wrote $place"
done
mv .husky elsewhere && echo renamed
echo work >> README.md
"""


@needs_bubblewrap
def test_run_in_place_cannot_write_hooks_of_the_work_tree(held: Held, repo: MakeRepo) -> None:
    in_place(held, repo, BUBBLEWRAP)
    held.implement(PLANT, "--in-place")
    said = held.said()
    assert "wrote" not in said, said
    assert "renamed" not in said, said
    assert (held.repo / "README.md").read_text(encoding="utf-8").endswith("work\n")
    ended = [line for line in held("history", "t", "--json").json()["lines"] if line["kind"] == "run_ended"][-1]
    assert (ended["hooks"], ended["tainted"]) == ([], [])


def test_person_is_told_of_hooks_that_run_in_place_changed(held: Held, repo: MakeRepo) -> None:
    in_place(held, repo, NONE)
    held.implement(PLANT.replace("mv .husky elsewhere && echo renamed", "detent move blocked"), "--in-place")
    ended = [line for line in held("history", "t", "--json").json()["lines"] if line["kind"] == "run_ended"][-1]
    changed = [".husky/_/post-commit", ".husky/_/pre-commit", ".husky/pre-commit", "team.gitconfig"]
    assert ended["hooks"] == changed, ended
    assert set(changed) <= set(ended["tainted"])
    assert "your git would run .husky/_/post-commit" in held("history", "t").out
    assert held("status", "t", "--json").json()["state"] == "implement"
    assert held("audit", "t").code == 0


@pytest.mark.parametrize("setting", ["git config --unset include.path", "echo broken > team.gitconfig"])
def test_another_folder_of_hooks_is_told_too(held: Held, repo: MakeRepo, setting: str) -> None:
    in_place(held, repo, NONE)
    held.implement(f"{setting}; echo work >> README.md", "--in-place")
    ended = [line for line in held("history", "t", "--json").json()["lines"] if line["kind"] == "run_ended"][-1]
    assert "core.hooksPath" in ended["hooks"], ended


def test_run_in_a_clone_may_change_hooks_of_its_tree(held: Held, repo: MakeRepo) -> None:
    in_place(held, repo, NONE)
    held.implement("echo 'npm test' >> .husky/pre-commit; echo work >> README.md")
    ended = [line for line in held("history", "t", "--json").json()["lines"] if line["kind"] == "run_ended"][-1]
    assert (ended["hooks"], ended["tainted"]) == ([], [])
    assert "npm test" in held("diff", "t").out
