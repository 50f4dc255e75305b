"""What tools leave in a task's tree through the command line: it is neither shown as work, nor proven, nor landed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from detent.effects.host.access import BUBBLEWRAP, LANDLOCK, NONE
from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.e2e.clone_task import CloneTask, contents
from tests.e2e.phase_task import FRAME
from tests.e2e.test_set_up import World, drive_orange

TAG = "Signature: 8a477f597d28d172789f06886806bc55"
# What pytest, ruff and Python leave of a test run.
TEST_RUN = (
    "mkdir -p .pytest_cache/v/cache .ruff_cache/0.17\n"
    f"for one in .pytest_cache .ruff_cache; do echo '{TAG}' > $one/CACHEDIR.TAG; echo '*' > $one/.gitignore; done\n"
    "echo '{}' > .pytest_cache/v/cache/lastfailed\n"
    "python3 -m compileall -q app.py\n"
)
LEFT_OUT = [".pytest_cache", ".ruff_cache", "__pycache__"]
HIDING = "import app\nimport sys\nsys.path.append('.pytest_cache')\nimport hidden\nassert hidden.FINE\n"


@pytest.fixture
def world(detent: Detent, repo: MakeRepo, tmp_path: Path) -> World:
    return World(detent, repo, tmp_path)


def leave_caches(tree: Path) -> None:
    for name in (".pytest_cache", ".ruff_cache"):
        (tree / name).mkdir()
        (tree / name / "CACHEDIR.TAG").write_text(f"{TAG}\n", encoding="utf-8")
    (tree / "__pycache__").mkdir()
    (tree / "__pycache__" / "app.cpython-311.pyc").write_text("compiled", encoding="utf-8")


@pytest.mark.parametrize("level", [BUBBLEWRAP, LANDLOCK, NONE])
def test_exactly_the_work_lands_without_a_question(world: World, level: str) -> None:
    world.make('test = "grep -q line README.md"', "", level=level)
    drive_orange(world, f"echo a line >> README.md\n{TEST_RUN}")
    assert (world.tree() / ".pytest_cache/CACHEDIR.TAG").exists()
    shown = world("diff", "t", "--json").json()
    assert ([file["path"] for file in shown["files"]], shown["left_out"]) == (["README.md"], LEFT_OUT)
    assert "left out, caches of tools: .pytest_cache, .ruff_cache, __pycache__" in world("diff", "t").err
    assert world("approve", "t").code == 0
    landed = world("land", "t")
    assert landed.code == 0, landed
    assert "  left out, caches of tools: .pytest_cache, .ruff_cache, __pycache__\n" in landed.err
    tracked = sorted([*SAMPLE_FILES, "detent.toml"])
    assert world.git("ls-files").splitlines() == tracked
    assert world.git("ls-tree", "-r", "--name-only", "orange/t").splitlines() == tracked
    assert world.git("diff", "--name-only", "HEAD~1").splitlines() == ["README.md"]
    assert world("audit", "t").code == 0


@pytest.mark.parametrize("place", [(), ("--in-place",)])
def test_a_cache_makes_no_proof_stale_and_is_no_change(detent: Detent, repo: MakeRepo, place: tuple[str, ...]) -> None:
    task = CloneTask(detent, repo, repo(), *place, check="true")
    (task.tree / "app.py").write_text(f"{SAMPLE_FILES['app.py']}# better\n", encoding="utf-8")
    task.to("verify")
    before = task("prove", "--json", task.id, cwd=task.repo).json()
    leave_caches(task.tree)
    after = task("prove", "--json", task.id, cwd=task.repo).json()
    assert after["tree"] == before["tree"]
    assert [receipt["cached"] for receipt in after["receipts"]] == [True]
    status = task("diff", "--json", task.id, cwd=task.repo).json()["files"]
    assert [line["path"] for line in status] == ["app.py"]


def test_code_hidden_in_a_cache_is_missing_from_the_proof(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo(), check="python3 check.py")
    (task.tree / "check.py").write_text(HIDING, encoding="utf-8")
    leave_caches(task.tree)
    (task.tree / ".pytest_cache" / "hidden.py").write_text("FINE = True\n", encoding="utf-8")
    task.set(FRAME)
    for state in ("shape", "implement"):
        task.move(state)
    task.candidate()
    task.move("verify")
    (receipt,) = task("prove", "--json", task.id, cwd=task.repo).json()["receipts"]
    assert receipt["exit"] == 1
    assert "No module named 'hidden'" in Path(receipt["log"]).read_text(encoding="utf-8")
    assert [file["path"] for file in task("diff", "--json", task.id, cwd=task.repo).json()["files"]] == ["check.py"]
    (task.tree / ".pytest_cache" / "hidden.py").rename(task.tree / "hidden.py")
    (receipt,) = task("prove", "--json", task.id, cwd=task.repo).json()["receipts"]
    assert receipt["exit"] == 0, "in plain sight it is part of the work"


def test_restore_leaves_caches_alone(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo(), check="true")
    task.to("verify")
    leave_caches(task.tree)
    (task.tree / "app.py").write_text("gone\n", encoding="utf-8")
    before = {name: text for name, text in contents(task.tree).items() if name != "app.py"}
    restored = task("restore", "--to", "1", task.id, cwd=task.repo)
    assert restored.code == 0, restored
    after = contents(task.tree)
    assert after.pop("app.py") == SAMPLE_FILES["app.py"]
    assert after == before


def test_doctor_warns_of_what_would_count_alone(detent: Detent, repo: MakeRepo) -> None:
    script = f"{TEST_RUN}mkdir out; echo x > out/report\n"
    settings = "[commands]\ntest = 'sh test.sh'\n"
    path = repo(files={**SAMPLE_FILES, "test.sh": script, "detent.toml": settings})
    report = json.loads(detent("doctor", "--json", cwd=path).out)
    (note,) = [row["what"] for row in report["checks"] if "which no .gitignore" in row["what"]]
    assert "the commands leave out, which" in note
