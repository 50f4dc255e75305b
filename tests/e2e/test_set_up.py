"""Set-up through the command line: what it makes is never the task's work, and whose files it runs on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from detent.effects.git.bring import wipe
from detent.effects.host.access import BUBBLEWRAP, LANDLOCK, NONE
from detent.effects.host.sandbox import try_level
from detent.store.disk.atomic import write_cache
from detent.store.journal.places import project_at
from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo, force_level
from tests.e2e.clone_task import CloneTask
from tests.e2e.phase_task import FRAME as PHASE_FRAME

# `.venv/.gitignore` is how uv, virtualenv and pytest hide what they make; the repository ignores nothing of it.
HIDING = """
setup = ["mkdir -p .venv/lib", "printf '*' > .venv/.gitignore", "echo x > .venv/lib/x.py", "echo s > stray.txt"]
key = ["README.md"]
"""
SETTINGS = """[commands]
{commands}
[workspace]
{workspace}
[agents]
default = "scripted"
[agents.scripted]
argv = ["sh", "-c", "exec sh {scripts}/$DETENT_STATE.sh"]
[sandbox]
show = ["{scripts}"]
"""
LEVELS = (BUBBLEWRAP, LANDLOCK, NONE)


def need(level: str) -> None:
    if why := try_level(level, os.environ):
        pytest.skip(f"{level} does not hold on this host: {why}")


class World:
    """One repository with set-up, and an agent that is a script per state."""

    def __init__(self, detent: Detent, repo: MakeRepo, folder: Path) -> None:
        self.detent, self.make_repo, self.folder = detent, repo, folder
        self.scripts = folder / "scripts"
        self.scripts.mkdir()
        self.repo = Path()

    def make(self, commands: str, workspace: str, files: dict[str, str] | None = None, level: str = "") -> None:
        settings = SETTINGS.format(commands=commands, workspace=workspace, scripts=self.scripts)
        self.repo = self.make_repo(files={**(SAMPLE_FILES if files is None else files), "detent.toml": settings})
        if level:
            need(level)
            force_level(project_at(str(self.repo), str(self.repo / ".git")), level)

    def script(self, state: str, text: str) -> None:
        (self.scripts / f"{state}.sh").write_text(f"cat > /dev/null\n{text}\n", encoding="utf-8")

    def __call__(self, *words: str) -> Completed:
        return self.detent(*words, cwd=self.repo)

    def git(self, *words: str) -> str:
        return self.make_repo.git(self.repo, *words)

    def tree(self, task: str = "t") -> Path:
        return Path(self("dir", "--tree", task).out.strip())

    def lines(self, kind: str, task: str = "t") -> list[dict[str, object]]:
        return [line for line in self("history", task, "--json").json()["lines"] if line["kind"] == kind]


@pytest.fixture
def world(detent: Detent, repo: MakeRepo, tmp_path: Path) -> World:
    return World(detent, repo, tmp_path)


WORK = 'printf "\\n## Handoff\\nDONE: it works\\n" >> "$DETENT_TASK_DIR/TASK.md"\n'
REVIEW = 'printf "\\n## Review\\nPASS\\n" >> "$DETENT_TASK_DIR/TASK.md"\n'


def drive_orange(world: World, work: str) -> None:
    """One task from start to the person's desk: this is what its worker does."""
    world.script("working", f"{work}\n{WORK}")
    world.script("agent-review", REVIEW)
    assert world("new", "orange", "one line", "--id", "t").code == 0
    done = world("run", "t")
    assert "reviewing" in done.out, done


@pytest.mark.parametrize("level", LEVELS)
def test_set_up_files_are_in_no_diff_nor_land(world: World, level: str) -> None:
    world.make('test = "grep -q line README.md && test -e .venv/lib/x.py"', HIDING, level=level)
    drive_orange(world, "cat .venv/lib/x.py; cat stray.txt; echo a line >> README.md")
    assert "x\ns\n" in world("logs", "t", "--run", "1").out
    assert [file["path"] for file in world("diff", "t", "--json").json()["files"]] == ["README.md"]
    assert world("approve", "t").code == 0
    landed = world("land", "t")
    assert landed.code == 0, landed
    tracked = sorted([*SAMPLE_FILES, "detent.toml"])
    assert world.git("ls-files").splitlines() == tracked
    assert world.git("ls-tree", "-r", "--name-only", "orange/t").splitlines() == tracked
    assert world("audit", "t").code == 0


@pytest.mark.parametrize("level", LEVELS)
def test_restore_leaves_what_set_up_made(world: World, level: str) -> None:
    world.make('test = "true"', HIDING, level=level)
    drive_orange(world, "echo a line >> README.md; echo new > new.txt; echo more >> stray.txt")
    restored = world("restore", "t", "--to", "1")
    assert restored.code == 0, restored
    assert ".venv" not in restored.out
    assert not (world.tree() / "new.txt").exists()
    assert (world.tree() / "stray.txt").read_text(encoding="utf-8") == "s\nmore\n"


def at_verify(world: World, task: str = "t") -> Path:
    """A phase task that a person led to verify, where commands are proven; its tree."""
    made = CloneTask(world.detent, world.make_repo, world.repo, task_id=task, check="true")
    made.set(PHASE_FRAME)
    for state in ("shape", "implement"):
        made.move(state)
    made.candidate()
    made.move("verify")
    return made.tree


def receipts(world: World, task: str = "t", *words: str) -> dict[str, int]:
    done = world("prove", task, *words, "--json")
    return {receipt["command"]: receipt["exit"] for receipt in done.json()["receipts"]}


def npm(folder: Path, *words: str) -> None:
    program = shutil.which("npm")
    if program is None:
        pytest.skip("npm is not on this host")
    done = subprocess.run(
        [program, *words], cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=120
    )
    assert done.returncode == 0, done


RUNNER = "process.exit(require('fs').readFileSync('app.js', 'utf8').includes('broken') ? 1 : 0)\n"


def npm_files(folder: Path) -> dict[str, str]:
    """A project whose test runner is a package from a folder, so that no registry is needed; the lock file is real."""
    package = {"name": "runner", "version": "1.0.0"}
    project = {
        "name": "p",
        "version": "1.0.0",
        "scripts": {"test": "node node_modules/runner/index.js"},
        "devDependencies": {"runner": "file:runner"},
    }
    files = {
        ".npmrc": "install-links=true\n",
        "app.js": "fine\n",
        "runner/index.js": RUNNER,
        "runner/package.json": json.dumps(package),
        "package.json": json.dumps(project),
    }
    (folder / "runner").mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    npm(folder, "install", "--offline", "--no-audit", "--package-lock-only")
    return {name: (folder / name).read_text(encoding="utf-8") for name in (*files, "package-lock.json")}


NPM = 'setup = ["npm ci --offline --no-audit"]\nkey = ["package-lock.json"]'
POSTINSTALL = "node -e \"require('fs').writeFileSync('node_modules/runner/index.js', '')\""


@pytest.mark.parametrize("level", LEVELS)
def test_poisoned_install_script_is_gone_once_it_is_taken_back(world: World, level: str, tmp_path: Path) -> None:
    world.make('test = "npm test"', NPM, npm_files(tmp_path / "npm"), level)
    tree = at_verify(world)
    whole = (tree / "package.json").read_text(encoding="utf-8")
    package = json.loads(whole)
    package["scripts"]["postinstall"] = POSTINSTALL
    (tree / "package.json").write_text(json.dumps(package), encoding="utf-8")
    (tree / "app.js").write_text("broken\n", encoding="utf-8")
    assert receipts(world)["npm test"] == 0  # it shows in the diff, and the reviewer says no
    assert "made from this tree alone (changed: package.json)" in world("history", "t").out
    (tree / "package.json").write_text(whole, encoding="utf-8")
    assert receipts(world)["npm test"] == 1


@pytest.mark.parametrize("level", LEVELS)
def test_set_up_of_the_work_never_hides_a_tracked_folder(world: World, level: str) -> None:
    files = {**SAMPLE_FILES, "lib/core.py": "x = 1\n", "install.sh": "mkdir -p deps; echo d > deps/d\n"}
    world.make('test = "true"', 'setup = ["sh install.sh"]\nkey = ["install.sh"]', files, level)
    world.script(
        "working",
        "test -e lib/core.py && rm -r lib && echo 'mkdir -p deps lib; echo evil > lib/core.py' > install.sh\n"
        'file="$DETENT_TASK_DIR/TASK.md"; printf "\\n## Handoff\\nDONE: %s\\n" "$(grep -c Handoff "$file")" >> "$file"',
    )
    world.script(
        "agent-review",
        'said=FAIL; grep -q "^FAIL" "$DETENT_TASK_DIR/TASK.md" && said=PASS\n'
        'printf "\\n## Review\\n%s\\n" "$said" >> "$DETENT_TASK_DIR/TASK.md"',
    )
    assert world("new", "orange", "one line", "--id", "t").code == 0
    done = world("run", "t")
    assert "reviewing" in done.out, done
    made = world.lines("set_up")
    assert len(made) > 1, "a changed key file has a set-up of its own"
    assert all(line["left_out"] == ["deps"] for line in made), made


@pytest.mark.parametrize("gone", [".setups", "t/deps"])
def test_set_up_that_is_gone_is_laid_anew_for_agent(world: World, gone: str) -> None:
    """A power cut or a person may have taken it, while the task remembers that it is ready."""
    world.make('test = "true"', HIDING, level=BUBBLEWRAP)
    world.script("working", "cat .venv/lib/x.py stray.txt > /dev/null && echo '# seen' >> app.py")
    assert world("new", "orange", "one line", "--id", "t").code == 0
    world("run", "t", "--once")
    wipe(str(world.tree().parent.parent / gone))  # an overlay leaves a folder without rights
    world("respawn", "t")
    world("run", "t", "--once")
    assert (world.tree() / "app.py").read_text(encoding="utf-8").count("seen") == 2


@pytest.mark.parametrize("level", [LANDLOCK, NONE])
def test_doctor_prints_size_of_set_up_that_is_not_shared(world: World, level: str) -> None:
    setup = 'setup = ["head -c 3000000 /dev/zero > blob"]\nkey = ["README.md"]'
    world.make('test = "true"', setup, level=level)
    output = world("doctor").out
    assert "set-up: made for each checkout" in output, output
    assert "a task has up to three copies of the set-up (3 MB each)" in output, output


@pytest.mark.parametrize("level", LEVELS)
def test_run_tells_the_size_of_an_unshared_set_up_once(world: World, level: str) -> None:
    setup = 'setup = ["mkdir deps; head -c 3000000 /dev/zero > deps/blob"]\nkey = ["README.md"]'
    world.make('test = "test -e deps/blob"', setup, level=level)
    world.script("working", f"test -e deps/blob\n{WORK}")
    world.script("agent-review", REVIEW)
    assert world("new", "orange", "one line", "--id", "t").code == 0
    done = world("run", "t")
    lines = [line.strip() for line in done.out.splitlines() if "set up" in line]
    size = "3 MB of its own, not shared (this sandbox level has no mounts)"
    whose = ("the task's tree", "the reviewer's checkout") if level != BUBBLEWRAP else ()
    assert lines == [f"set up {name}: {size}" for name in whose], done
    signed = world("approve", "t")
    assert signed.code == 0, signed
    assert (size in signed.out + signed.err) == (level != BUBBLEWRAP), signed
    landed = world("land", "t")
    assert (landed.code, size in landed.err) == (0, False), landed
    assert ("made for each checkout (this sandbox level has no mounts), 3 MB" in world("history", "t").out) == bool(
        whose
    )
    assert world("audit", "t").code == 0
    home = world.tree().parent
    copies = [path for path in home.rglob("blob") if path.is_file()]
    assert len(copies) == (3 if whose else 0), copies


def test_copy_for_want_of_overlays_is_named_with_its_size(world: World) -> None:
    """A comma in the path of the state folder parts the options of a mount: no overlay can be made there."""
    state = f"{world.detent.environment['XDG_STATE_HOME']},too"
    world.detent.environment = {**world.detent.environment, "XDG_STATE_HOME": state}
    setup = 'setup = ["mkdir deps; head -c 3000000 /dev/zero > deps/blob"]\nkey = ["README.md"]'
    world.make('test = "test -e deps/blob"', setup, level=BUBBLEWRAP)
    world.script("working", f"test -e deps/blob; echo x > deps/mine\n{WORK}")
    world.script("agent-review", REVIEW)
    assert world("new", "orange", "one line", "--id", "t").code == 0
    done = world("run", "t")
    lines = [line.strip() for line in done.out.splitlines() if "set up" in line]
    assert [line.partition(", not shared (no overlays: ")[0] for line in lines] == [
        "set up the task's tree: 3 MB of its own",
        "set up the reviewer's checkout: 3 MB of its own",
    ], done
    assert "set up: copied from the shared one (no overlays: " in world("history", "t").out
    assert world("audit", "t").code == 0


CHECKS = """
setup = ["mkdir -p deps; echo 'grep -q fine work.txt' > deps/check.sh"]
key = ["README.md"]
"""
# What a test of the task does once the check has passed: the next proof shall find its own tool.
POISON = "for one in deps ../setup/*/deps; do test -d $one && echo exit 0 > $one/check.sh; done; true\n"


@pytest.mark.parametrize("level", [LANDLOCK, NONE])
def test_set_up_altered_by_a_proof_is_not_used_again(world: World, level: str) -> None:
    world.make('test = "sh deps/check.sh && sh work.sh"', CHECKS, level=level)
    world("trust", "--yes")
    tree = at_verify(world)
    (tree / "work.txt").write_text("fine\n", encoding="utf-8")
    (tree / "work.sh").write_text(POISON, encoding="utf-8")
    command = "sh deps/check.sh && sh work.sh"
    assert receipts(world)[command] == 0
    (tree / "work.sh").write_text("true\n", encoding="utf-8")
    (tree / "work.txt").write_text("broken\n", encoding="utf-8")
    assert receipts(world)[command] == 1
    made = [dict(line["set_up"]) for line in world.lines("proved")]  # type: ignore[call-overload]  # it is JSON
    assert [bool(path.get("made_bytes")) for path in made] == [True, True], "set-up ran anew"
    assert len({path["digest"] for path in made}) == 1


def test_a_forged_record_of_a_set_up_is_not_believed(world: World) -> None:
    """At this level a run may write everything; what it can't have is a line of the journal that vouches for it."""
    world.make('test = "sh deps/check.sh"', CHECKS, level=NONE)
    world("trust", "--yes")
    tree = at_verify(world)
    (tree / "work.txt").write_text("fine\n", encoding="utf-8")
    assert receipts(world)["sh deps/check.sh"] == 0
    (kept,) = (tree.parent / "setup").iterdir()
    (record,) = (tree.parent / "setup.records").iterdir()
    honest, forged = b"grep -q fine work.txt\n", b"exit 0\n"
    (kept / "deps/check.sh").write_bytes(forged)
    text = record.read_bytes().rpartition(b"\n")[0].rpartition(b"\n")[0]
    text = text.replace(sha256(honest).hexdigest().encode(), sha256(forged).hexdigest().encode())
    text = text.replace(f"100644 {len(honest)} ".encode(), f"100644 {len(forged)} ".encode())
    write_cache(str(record), text)
    (tree / "work.txt").write_text("broken\n", encoding="utf-8")
    assert receipts(world)["sh deps/check.sh"] == 1


def test_run_says_which_command_of_set_up_begins(world: World) -> None:
    world.make('test = "true"', 'setup = ["mkdir -p deps", "echo x > deps/x"]\nkey = ["README.md"]')
    world.script("intake", "true")
    world("new", "phase", "words", "--id", "t")
    said = world("run", "--once").out
    assert [line for line in said.splitlines() if "setting up" in line] == [
        "  setting up: mkdir -p deps",
        "  setting up: echo x > deps/x",
    ]
    assert said.index("setting up") < said.index("agent run #1 starts")
    assert "setting up" not in world("run", "--once").out, "it is there already"


def test_failed_set_up_waits_in_inbox_with_its_last_lines(world: World) -> None:
    wheel = world.scripts / "wheel"
    world.make("test = 'true'", f"setup = ['echo looking; cat {wheel}']")
    world.script("intake", "true")
    assert world("new", "count lines", "--id", "t").code == 0
    done, last = world("run", "t"), f"cat: {wheel}: No such file or directory"
    assert done.code == 4
    assert f"exit 1\n  | looking\n  | {last}\n  next: fix what it says, then: detent run t; " in done.out
    assert world("run", "t", "--json").json()["said"] == f"looking\n{last}"
    (letter,) = world("inbox", "--json").json()["waiting"]
    assert (letter["run"], letter["why"].endswith(f"; it said: {last}")) == ("detent run t", True)
    assert [f"it said: {last}" in world(command, "t").out for command in ("status", "next")] == [True, True]
    wheel.write_text("here\n", encoding="utf-8")
    world("run", "--once", "t")
    assert "can't be set up" not in world("status", "t").out
    assert "can't be set up" not in world("inbox").out
