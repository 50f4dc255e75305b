"""Huge sparse files, many files, pipes and deep folders, wherever an agent writes: every command still answers.

The bounds are those of a command in the tests, minutes: what is asserted is that it answers and names the path.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.effects.git.bring import wipe
from detent.effects.host.access import BUBBLEWRAP, LANDLOCK, NONE
from detent.effects.host.sandbox import try_level
from detent.store.journal.places import project_at
from tests.conftest import COMMAND_TIMEOUT_S, SAMPLE_FILES, Detent, MakeRepo, force_level
from tests.crash.points import FULL
from tests.e2e.agent_runs import Agents, AgentTask
from tests.e2e.clone_task import CloneTask
from tests.e2e.orange_task import Oranges
from tests.e2e.stubs import put_program, with_path

BUG = 3
HUGE = "python3 -c \"import os; at = os.environ['AT']; open(at, 'a').close(); os.truncate(at, 4 << 40)\""
MANY = 'mkdir -p "$AT"; cd "$AT"; python3 -c "[open(str(n), \'w\').close() for n in range(60000)]"'
PIPE = 'rm -f "$AT"; mkfifo "$AT"'
DEEP = 'mkdir -p "$AT"; cd "$AT"; python3 -c "import os; [(os.mkdir(\'d\'), os.chdir(\'d\')) for n in range(3000)]"'
KINDS = {"huge": HUGE, "many": MANY, "pipe": PIPE, "deep": DEEP}
BEYOND = {
    "huge": "is larger than 512 MB",
    "many": "has more than 10000 files",
    "deep": "has more than 64 folders in each other",
}
PLACES = {
    "tree": "$DETENT_TREE/x",
    "task": "$DETENT_TASK_DIR/x",
    "artifacts": "$DETENT_TASK_DIR/artifacts/x",
    "out": "$DETENT_OUT/x",
    "drop": "$DETENT_DROP/x",
    "tmp": "$TMPDIR/x",
    "state": "$DETENT_TASK_DIR/STATE.md",
}
SAMPLE = [("huge", "tree"), ("huge", "task"), ("huge", "state"), ("deep", "tree"), ("deep", "tmp"), ("pipe", "tree")]
# With DETENT_CRASH=full every place with the worst, and one place of each sort with every kind.
EVERY = [(kind, place) for kind in KINDS for place in PLACES if kind in ("huge", "deep") or place in ("tree", "task")]
CASES = EVERY if FULL else SAMPLE


@pytest.fixture
def agents(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Agents]:
    made = Agents(detent, repo, tmp_path)
    yield made
    made.close()
    wipe(str(tmp_path))


def spoiling(kind: str, place: str) -> str:
    first = f"rm -rf {PLACES[place]}; " if place == "state" and kind in ("many", "deep") else ""
    return f'export AT="{PLACES[place]}"; {first}{KINDS[kind]}'


def two_tasks(agents: Agents, kind: str, place: str) -> tuple[AgentTask, AgentTask]:
    repo = agents.make_repo("repo-two", {**SAMPLE_FILES, "detent.toml": agents.settings()})
    agents.honest()
    agents.script("implement", f"count; {spoiling(kind, place)}; echo spoilt", task="a")
    return agents.task(task_id="a", repo=repo), agents.task(task_id="b", repo=repo)


@pytest.mark.parametrize(("kind", "place"), CASES)
def test_other_tasks_go_on_and_commands_answer(agents: Agents, kind: str, place: str) -> None:
    damaged, honest = two_tasks(agents, kind, place)
    for task in (damaged, honest):
        assert task("start", task.id, cwd=task.repo).code == 0
    watching = agents.begin("watch", "--json", cwd=damaged.repo)
    while json.loads(watching.line('"rest"'))["id"] != "b":
        pass
    assert honest.path_of_moves()[-1] == "done"
    for words in (("status",), ("next",), ("history",), ("logs",), ("stop",), ("list",), ("doctor", "--quick")):
        done = damaged(*words, *(("a",) if words[0] not in ("list", "doctor") else ()), cwd=damaged.repo)
        assert done.code not in (BUG, -9), done
        assert len(done.out + done.err) < 20_000, words
    assert damaged("status", "a", "--json", cwd=damaged.repo).code in (0, 5)
    watching.process.terminate()
    watching.done()
    again = damaged("run", "--once", "a", cwd=damaged.repo)
    assert again.code != BUG, again
    is_in_the_way = place == "tree" and kind in ("huge", "deep")  # elsewhere it is left where it lies
    for output in (again.err, damaged("history", "a", cwd=damaged.repo).out):
        assert (
            re.search("can.?not be read.*'x/d/d|tree can't be looked at.*/x\\b", output, re.DOTALL) is not None
        ) == is_in_the_way, output
    cleaned = damaged("gc", "a", "--yes", "--journals", cwd=damaged.repo)
    assert cleaned.code == 0, cleaned
    assert not damaged.control.exists(), cleaned
    assert ("removed without a snapshot" in cleaned.out) == is_in_the_way, cleaned


def test_readers_name_path_that_keeps_a_run_from_being_decided(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    """Where a run without a move is a crash, that move waits for the tree: until then its end alone is written down."""
    agents = Oranges(detent, repo, tmp_path)
    try:
        agents.script("working", f'export AT="$DETENT_TREE/x"; {HUGE}')
        task = agents.orange("working")
        assert task.run("--once").code == 5
        for words in (("history", task.id), ("status", task.id), ("inbox",)):
            shown = task(*words, cwd=task.repo)
            assert (
                f"the tree can't be looked at: a file has 4194304 MB, at most 512 MB are counted ({task.tree}/x)"
                in (" ".join(shown.out.split()))
            ), shown
    finally:
        agents.close()
        wipe(str(tmp_path))


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_that_is_adopted_keeps_nothing_waiting(
    detent: Detent, repo: MakeRepo, tmp_path: Path, kind: str
) -> None:
    """Another tool's agent wrote there; all of it is copied first, with the project's lock in hand."""
    path = repo()
    folder = path / "old"
    folder.mkdir()
    (folder / "TASK.md").write_text("---\nid: old\nstatus: working\nsummary: more\n---\n", encoding="utf-8")
    subprocess.run(["sh", "-c", KINDS[kind]], env={**os.environ, "AT": str(folder / "x")}, check=True)
    try:
        done = detent("adopt", folder, "orange", cwd=path)
        if kind == "pipe":
            assert done.code == 0, done
        else:
            assert (done.code, f"where: {folder}/x" in done.err) == (5, True), done
            assert BEYOND[kind] in done.err
            assert not any(Path(path, ".git/detent/tasks").iterdir())
    finally:
        wipe(str(folder))
        wipe(str(tmp_path))


def test_watch_drives_task_with_many_new_files_to_its_end(agents: Agents) -> None:
    """Its ends are written down by processes of its own; the supervisor has other tasks."""
    agents.honest()
    many = "i=0; while [ $i -lt 300 ]; do echo $i > file$i; i=$((i + 1)); done"
    agents.script("implement", f"count; {many}; echo '# worked on' >> app.py; candidate; detent move verify")
    task = agents.task()
    assert task("start", task.id, cwd=task.repo).code == 0
    watching = agents.begin("watch", "--json", cwd=task.repo)
    assert json.loads(watching.line('"rest"'))["rest"] == "done"
    assert len(task.entries("run_ended")) == 3
    task.audit()


def test_git_does_not_outlive_a_killed_engine(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    """The pipe that this git holds open ends when the process is gone."""
    task = CloneTask(detent, repo, repo())
    (task.tree / "new.txt").touch()
    up, stub = tmp_path / "up", tmp_path / "stub" / "git"
    for path in (up, tmp_path / "never"):
        os.mkfifo(path)
    stub.parent.mkdir()
    stub.write_text(
        f'#!/bin/sh\ncase "$*" in *update-index*) exec 3>{up}; echo up >&3; exec cat {tmp_path}/never;; esac\n'
        f'PATH={os.environ["PATH"]}; exec git "$@"\n',
        encoding="utf-8",
    )
    stub.chmod(0o755)
    environment = {**detent.environment, "PATH": f"{stub.parent}:{os.environ['PATH']}"}
    words = [sys.executable, "-m", "detent", "diff", "t"]
    engine = subprocess.Popen(words, cwd=task.repo, env=environment)
    with up.open(encoding="ascii") as reader:
        assert reader.readline() == "up\n"
        engine.kill()
        engine.wait(timeout=COMMAND_TIMEOUT_S)
        assert reader.read() == ""
    assert "new.txt" in task("diff", "t", cwd=task.repo).out


@pytest.mark.parametrize("level", [BUBBLEWRAP, LANDLOCK, NONE])
@pytest.mark.parametrize("kind", KINDS)
def test_folder_of_login_filled_by_its_agent_keeps_nothing_waiting(
    detent: Detent, repo: MakeRepo, tmp_path: Path, kind: str, level: str
) -> None:
    """Commands answer, the sandbox of another agent is as before, and the next run starts."""
    if why := try_level(level, os.environ):
        pytest.skip(f"{level} does not hold on this host: {why}")
    home, programs = Path(detent.environment["HOME"]), tmp_path / "programs"
    detent = Detent(detent.directory, {**detent.environment, **with_path(detent.environment, programs)})
    for name in (".gemini/oauth_creds.json", ".codex/auth.json"):
        (home / name).parent.mkdir()
        (home / name).write_text("{}", encoding="utf-8")
    damaged = home / (".gemini" if kind == "many" else ".gemini/x")  # beside the login, which is hidden for others
    put_program(programs, "gemini", f'cat > /dev/null; export AT="{damaged}"; {KINDS[kind]}')
    put_program(programs, "codex", "cat > /dev/null; cat ~/.gemini/oauth_creds.json; echo '# new' >> app.py")
    path = repo()
    force_level(project_at(str(path), str(path / ".git")), level)
    held = []
    for task, agent in (("a", "gemini"), ("b", "codex"), ("c", "gemini")):
        assert detent("new", "x", "--id", task, "--agent", agent, cwd=path).code == 0
        done = detent("run", "--once", task, cwd=path)
        assert done.code in (0, 1, 4, 6), done
        lines = detent("history", task, "--json", cwd=path).json()["lines"]
        held += [line["sandbox"] for line in lines if line["kind"] == "run_planned"]
        for words in (("status",), ("next",), ("stop",)):
            answered = detent(*words, task, cwd=path)
            assert answered.code in (0, 1), answered
    assert held == [level] * 3
    assert damaged.exists()
    wipe(str(home / ".gemini"))


def test_links_that_lead_round_keep_no_pattern_waiting(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    """A repository brings along what `[workspace] copy` walks through: links, and folders nested without end."""
    agents = Agents(detent, repo, tmp_path)
    settings = agents.settings() + '\n[workspace]\ncopy = ["**/.env"]\ncarry = ["host"]\n'
    made = agents.make_repo("links", {**SAMPLE_FILES, ".gitignore": "made/\n.env\n", "detent.toml": settings})
    for name, target in (("round", "."), ("again", "."), ("host", "/")):
        (made / name).symlink_to(target)
    repo.git(made, "add", "--all")
    repo.git(made, "commit", "--quiet", "--message=Links")
    (made / "made").mkdir()
    (made / "made/.env").write_text("A=1\n", encoding="utf-8")
    subprocess.run(["sh", "-c", f"AT=made/deep; {DEEP}"], cwd=made, check=True)
    agents.honest()
    try:
        task = agents.task(task_id="a", repo=made)
        assert task("run", "a", cwd=task.repo).code == 0
        assert task.path_of_moves()[-1] == "done"
        assert (task.tree / "made/.env").read_text(encoding="utf-8") == "A=1\n"
        assert task("status", "a", cwd=task.repo).code == 0
    finally:
        agents.close()
        wipe(str(tmp_path))
        wipe(str(made))
