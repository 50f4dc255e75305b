"""Kills the engine, or its git, while it commits by itself: at a gate, for unfinished work, and around a block.

Whatever dies, every commit is there once, the log tells each line once, and no file of the work is lost.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo
from tests.crash.deaths import DyingGit, kill_at
from tests.crash.points import FULL
from tests.crash.repository_disk import assert_branches_whole, checked_out, disks_of
from tests.crash.trace import Call, record
from tests.e2e.pipeline_task import Pipelines, PipelineTask

NAMES = ("write", "fdatasync", "rename", "vfork", "unlink")
POINTS, FEWEST = 6, 5
SETTLE = ("move", "--edge", "no-such-move")  # refused by every state, after the task was brought into order
KINDS = {
    "gate": (("move", "Building"), "Building", ["docs(design): pass the design gate"]),
    "wip": (("move", "Dropped", "--as", "agent"), "Dropped", ["wip(design): Designing was handed over"]),
    "block": (
        ("move", "Blocked"),
        "Blocked",
        [
            "fix(design): checkpoint broken state before revert",
            "revert(design): restore the tree of the last passed gate",
            "docs(design): log the post-mortem of the block",
        ],
    ),
}


class World:
    """A task before one such move, put back before each death."""

    def __init__(self, task: PipelineTask, kind: str) -> None:
        self.task, self.kind = task, kind
        self.words, self.target, self.subjects = KINDS[kind]
        self.kept = task.repo.parent / "kept"
        shutil.copytree(task.repo, self.kept, symlinks=True)

    @property
    def environment(self) -> dict[str, str]:
        """The same calls each time: compiled files are not written."""
        return {**self.task.detent.environment, "PYTHONDONTWRITEBYTECODE": "1"}

    def put_back(self) -> None:
        shutil.rmtree(self.task.repo)
        shutil.copytree(self.kept, self.task.repo, symlinks=True)
        self.task.git("update-index", "-q", "--refresh")

    def argv(self) -> list[str]:
        return [sys.executable, "-m", "detent", *self.words, self.task.id]

    def problems(self) -> list[str]:
        """What is wrong after a death, a look, and the same command again."""
        settled = self.task(*SETTLE, self.task.id)
        found = [] if settled.code == 1 else [f"settling ended with {settled}"]
        if self.task.path_of_moves()[-1] != self.target and (done := self.task(*self.words, self.task.id)).code != 0:
            found.append(f"the repetition ended with {done}")
        if (subjects := self.task.subjects()) != self.subjects:
            found.append(f"the commits are {subjects}")
        if left := self.task.git("status", "--porcelain"):
            found.append(f"uncommitted: {left}")
        headings = [line for line in self.task.log.splitlines() if line.startswith("## ")]
        if len(headings) != len(set(headings)) or self.target not in self.task.log:
            found.append(f"the log tells {headings}")
        if self.task.git("show", "HEAD:scaffolding/log.md") + "\n" != self.task.log:
            found.append("the log of the last commit is not the log")
        if self.kind == "block":
            found += self.block_problems()
        return found + [str(finding) for finding in self.task("audit", self.task.id, "--json").json()["findings"]]

    def block_problems(self) -> list[str]:
        found = []
        if self.task.git("show", f"{self.task.commit_of('fix')}:app.py") != "broken":
            found.append("the broken state is not committed")
        if "def add" not in (self.task.repo / "app.py").read_text(encoding="utf-8"):
            found.append("the files are not those of the gate")
        if not (self.task.folder / "blocked.md").exists():
            found.append("there is no report")
        return found


@pytest.fixture(params=list(KINDS))
def world(request: pytest.FixtureRequest, detent: Detent, repo: MakeRepo, tmp_path: Path) -> World:
    task = Pipelines(detent, repo, tmp_path).task().begun()
    if request.param == "block":
        for state in ("DesignRetrying", "Designing") * 2:
            task.done("move", state)
        (task.repo / "app.py").write_text("broken\n", encoding="utf-8")
        task.done("move", "DesignRetrying")
    else:
        (task.folder / "design.md").write_text("# Design\n\n## Architecture\n\nsmall\n", encoding="utf-8")
    return World(task, request.param)


def points(world: World, log: Path) -> list[Call]:
    ended, calls = record(world.argv(), cwd=world.task.repo, env=world.environment, log=log, names=NAMES)
    assert ended.code == 0, ended
    assert not world.problems()
    top = str(world.task.repo)
    chosen = [call for call in calls if call.name == "vfork" or top in call.arguments]
    return chosen[:: 1 if FULL else max(1, len(chosen) // POINTS)]


@pytest.mark.usefixtures("strace")
def test_a_killed_engine_leaves_every_commit_once(world: World, tmp_path: Path) -> None:
    wrong = []
    tried = points(world, tmp_path / "points.strace")
    assert len(tried) >= FEWEST, "is the trace whole?"
    for call in tried:
        kill_at(call, world.argv(), world.put_back, cwd=world.task.repo, env=world.environment, with_orphans=True)
        wrong += [f"{call}: {problem}" for problem in world.problems()]
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.usefixtures("strace")
def test_every_power_cut_leaves_reported_commits_on_the_branch(world: World, tmp_path: Path) -> None:
    found = disks_of(world.argv(), world.task.repo, world.environment, tmp_path / "disk.strace")
    stood = assert_branches_whole(found, world.task.repo)
    assert len(stood) == 1 + len(world.subjects), "before the move, and after each commit"
    last = world.task.git("rev-parse", "HEAD")
    lost = [number for number, cut in enumerate(found) if cut.is_acknowledged and checked_out(cut.files)[1] != last]
    assert not lost, f"{len(lost)} of {len(found)} disks lack what was told: {lost[:20]}"


@pytest.mark.parametrize("how", ["before", "after"])
def test_git_that_dies_leaves_the_rest_to_the_next_command(world: World, tmp_path: Path, how: str) -> None:
    git = DyingGit(tmp_path / "dying", world.task.detent.environment["PATH"], how)
    wrong = git.problems(
        lambda more: world.task(*world.words, "p", environment=more), world.put_back, world.problems, every=12
    )
    assert not wrong, "\n".join(wrong[:20])


KILLER = """#!/bin/sh
"$CRASH_GIT" "$@"
code=$?
case "$*" in *"update-ref -m detent: "*) kill -9 "$PPID" ;; esac
exit $code
"""


def test_engine_that_dies_right_behind_a_commit_finds_it_again(world: World, tmp_path: Path) -> None:
    """Between the commit and the line that tells of it: each death leaves one commit more, none twice."""
    folder = tmp_path / "killing"
    folder.mkdir()
    (folder / "git").write_text(KILLER, encoding="utf-8")
    (folder / "git").chmod(0o755)
    path = f"{folder}{os.pathsep}{world.task.detent.environment['PATH']}"
    environment = {"PATH": path, "CRASH_GIT": str(shutil.which("git"))}
    for _ in world.subjects:
        assert world.task(*world.words, "p", environment=environment).code == -9
    assert world.problems() == []
