"""Kills the engine while it deploys and while a person has a deployment taken back.

A command with the person's rights is never run unasked a second time: what was begun and has no known end waits for a
person's word, what has an end is not begun again. By default at some of the system calls; DETENT_CRASH=full at each.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo
from tests.crash.deaths import kill_at
from tests.crash.points import FULL
from tests.crash.trace import Call, record
from tests.e2e.pipeline_task import PipelineTask
from tests.e2e.test_deploy import Deployments, stages

NAMES = ("write", "fdatasync", "fsync", "rename", "vfork", "unlink", "ftruncate")
POINTS, FEWEST = 8, 12
SETTLE = ("move", "--edge", "no-such-move", "p")  # refused by every state, after the task was brought into order
BACK = 'echo back >> "$TARGET/../backs"; rm -f "$TARGET/app.py"'


class World:
    """A task before one command, with what it deploys to; both are put back before each death."""

    def __init__(self, deployments: Deployments, task: PipelineTask, words: tuple[str, ...], folder: Path) -> None:
        self.target, self.task, self.words = deployments.target, task, words
        self.outside = self.target.folder.parent
        self.kept = folder / "kept"
        shutil.copytree(task.repo, self.kept / "repo", symlinks=True)
        shutil.copytree(self.target.folder, self.kept / "live")
        self.counts = {name: self.count(name) for name in ("count", "backs")}

    def count(self, name: str) -> int:
        path = self.outside / name
        return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0

    def ran(self, name: str) -> int:
        """How often since the task was put back."""
        return self.count(name) - self.counts[name]

    def put_back(self) -> None:
        shutil.rmtree(self.task.repo)
        shutil.copytree(self.kept / "repo", self.task.repo, symlinks=True)
        self.task.git("update-index", "-q", "--refresh")
        for path in self.target.folder.iterdir():  # the server has this folder open
            path.unlink()
        shutil.copytree(self.kept / "live", self.target.folder, dirs_exist_ok=True)
        self.counts = {name: self.count(name) for name in self.counts}

    def argv(self) -> list[str]:
        return [sys.executable, "-m", "detent", *self.words]

    @property
    def environment(self) -> dict[str, str]:
        """The same calls each time: compiled files are not written."""
        return {**self.task.detent.environment, "PYTHONDONTWRITEBYTECODE": "1"}

    def stages(self) -> list[str]:
        """Since the task was put back."""
        return stages(self.task)[self.known :]

    @property
    def known(self) -> int:
        path = self.kept / "repo/.git/detent/tasks/p/journal.jsonl"
        return path.read_text(encoding="utf-8").count('"kind":"deploy"')

    def settle(self) -> list[str]:
        """Bring the task into order after a death; that runs nothing of the person's."""
        before = {name: self.count(name) for name in self.counts}
        settled = self.task(*SETTLE)
        found = [] if settled.code == 1 else [f"settling ended with {settled}"]
        if before != {name: self.count(name) for name in before}:
            found.append("settling ran a command of the person's")
        return found

    def findings(self) -> list[str]:
        found = self.task("audit", "p", "--json").json()["findings"]
        return [str(finding) for finding in found if not finding.get("warning")]

    def points(self, log: Path) -> list[Call]:
        ended, calls = record(self.argv(), cwd=self.task.repo, env=self.environment, log=log, names=NAMES)
        assert ended.code == 0, ended
        top = str(self.task.repo)
        chosen = [call for call in calls if call.name == "vfork" or top in call.arguments]
        assert len(chosen) >= FEWEST, f"only {len(chosen)} points were found; is the trace whole?"
        return chosen[:: 1 if FULL else max(1, len(chosen) // POINTS)]

    def die_at(self, call: Call) -> None:
        """The shell that a killed engine had started goes on alone, and is waited for."""
        kill_at(call, self.argv(), self.put_back, cwd=self.task.repo, env=self.environment, with_orphans=True)


@pytest.fixture
def deployments(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Deployments]:
    made = Deployments(detent, repo, tmp_path)
    yield made
    made.close()


def confirmed(deployments: Deployments) -> PipelineTask:
    task = deployments.begun(Rollback=BACK, Check="true")
    task.run(expect=4)
    task.done("approve", "--reason", "ours")
    return task


@pytest.mark.usefixtures("strace")
def test_a_killed_deployment_is_not_begun_a_second_time_unasked(deployments: Deployments, tmp_path: Path) -> None:
    world = World(deployments, confirmed(deployments), ("move", "Complete", "p"), tmp_path)
    wrong = []
    tried = world.points(tmp_path / "points.strace")
    for call in tried:
        world.die_at(call)
        found = world.settle()
        left, ran = world.stages(), world.ran("count")
        again = world.task(*world.words)
        if left == ["begun"]:
            is_told = again.code != 0 and "its end is not known" in again.out + again.err
            found += [] if is_told and world.ran("count") == ran <= 1 else [f"begun anew: {again}"]
        elif left not in ([], ["begun", "ended"]) or ran != len(left) // 2:
            found.append(f"the journal has {left}, and it ran {ran} times")
        elif world.task.state() != "Complete" or world.ran("count") != 1:
            found.append(f"it ran {world.ran('count')} times, {again}")
        wrong += [f"{call}: {finding}" for finding in (*found, *world.findings())]
    sys.stdout.write(f"\nkills: deploying: {len(tried)} points\n")
    assert not wrong, "\n".join(wrong[:12])


@pytest.mark.usefixtures("strace")
def test_a_killed_rollback_runs_again_only_on_request(deployments: Deployments, tmp_path: Path) -> None:
    task = confirmed(deployments)
    task.done("move", "Complete")
    world = World(deployments, task, ("rollback", "--reason", "the page is empty", "p"), tmp_path)
    wrong = []
    tried = world.points(tmp_path / "points.strace")
    for call in tried:
        world.die_at(call)
        found = world.settle()
        left, ran = world.stages(), world.ran("backs")
        again = world.task(*world.words)
        if left == ["rolling_back", "rolled_back"]:
            is_told = again.code == 1 and "nothing was deployed" in again.err
            found += [] if is_told and world.ran("backs") == ran == 1 else [f"taken back twice: {again}"]
        elif left not in ([], ["rolling_back"]) or ran > len(left):
            found.append(f"the journal has {left}, and it ran {ran} times")
        elif again.code != 0 or world.ran("backs") != ran + 1 or world.stages()[-1] != "rolled_back":
            found.append(f"asked again it ran {world.ran('backs') - ran} times: {again}")
        if world.target.get("app.py") != "404":
            found.append("it is still live")
        wrong += [f"{call}: {finding}" for finding in (*found, *world.findings())]
    sys.stdout.write(f"\nkills: rollback: {len(tried)} points\n")
    assert not wrong, "\n".join(wrong[:12])
