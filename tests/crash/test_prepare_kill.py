"""Kills the engine, or its git, while a move is prepared: the steps are done once or not at all, and no work is lost.

The same for what is written beside a task: a filed revision, and the conversation.

By default at a few of the system calls by which it changes files or starts something; DETENT_CRASH=full kills
at every one.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Detent, MakeRepo, let_out
from tests.crash.deaths import DyingGit, kill_at
from tests.crash.points import FULL
from tests.crash.trace import Call, record
from tests.e2e.test_git_reset import APP, files, work_is_there, worked
from tests.e2e.thread_task import ThreadTask, thread_task

NAMES = ("write", "fdatasync", "rename", "vfork", "unlink")
POINTS, FEWEST = 7, 5
SETTLE = ("move", "--edge", "no-such-move")  # refused by every state, after the task was brought into order
KINDS = {"branch": ("move", "Preflight"), "reset": ("move", "Drafting", "--yes"), "commit": ("commit",)}
BESIDE = {"finalize": ("move", "Finalized"), "answer": ("answer", "keep both")}
WANTED = {
    "finalize": ["Finalized"],
    "answer": [],
    "branch": ["Finalized", "Preflight"],
    "reset": ["Finalized", "Preflight", "Running", "Drafting"],
    "commit": ["Finalized", "Preflight", "Running", "PendingReview", "ReadyToCommit", "Done"],
}


class World:
    """A task before a prepared move, put back before each death."""

    def __init__(self, thread: ThreadTask, kind: str) -> None:
        self.thread, self.kind, self.words = thread, kind, {**KINDS, **BESIDE}[kind]
        self.kept = thread.repository.parent / "kept"
        shutil.copytree(thread.repository, self.kept, symlinks=True)

    @property
    def environment(self) -> dict[str, str]:
        """The same calls each time: compiled files are not written."""
        return {**self.thread.detent.environment, "PYTHONDONTWRITEBYTECODE": "1"}

    def put_back(self) -> None:
        shutil.rmtree(self.thread.repository)
        shutil.copytree(self.kept, self.thread.repository, symlinks=True)
        self.thread.git("update-index", "-q", "--refresh")

    def argv(self) -> list[str]:
        return [sys.executable, "-m", "detent", *self.words, self.thread.id]

    def problems(self) -> list[str]:
        """What is wrong after a death, a look, and the same command again."""
        settled = self.thread(*SETTLE)
        found = [] if settled.code == 1 else [f"settling ended with {settled}"]
        if self.thread.journal()[-1]["kind"] == "intended":
            found.append("the intent is still open")
        if self.moves() != WANTED[self.kind] and (again := self.thread(*self.words)).code != 0:
            found.append(f"the repetition ended with {again}")
        if self.moves() != WANTED[self.kind]:
            return [*found, f"it moved {self.moves()}"]
        found += getattr(self, f"{self.kind}_problems")()
        return found if self.thread.is_sound() else ["unsound"]

    def finalize_problems(self) -> Iterator[str]:
        filed = self.thread.repository / ".thread/threads/t/spec/v1.md"
        if not filed.exists() or filed.read_text(encoding="utf-8") != "# Spec\n":
            yield "the revision is not what was finalized"
        if self.thread.kinds().count("acted") != 1:
            yield f"it was filed {self.thread.kinds().count('acted')} times"

    def answer_problems(self) -> Iterator[str]:
        assert self.thread(*self.words).code == 0  # a person repeats a request without an answer
        path = self.thread.repository / ".thread/spec/threads/t.jsonl"
        texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
        if texts != ["keep both"]:
            yield f"the conversation is {texts}"

    def moves(self) -> list[str]:
        return [entry["to"] for entry in self.thread.journal() if entry["kind"] == "moved"]

    def last_move(self) -> dict[str, Any]:
        """Not the last line: behind it may stand that a file was put back which a power cut had torn."""
        return [entry for entry in self.thread.journal() if entry["kind"] == "moved"][-1]

    def branch_problems(self) -> Iterator[str]:
        baseline = self.last_move()["prepared"]["baseline"]
        if (baseline["branch"], baseline["commit_sha"]) != ("main", self.thread.git("rev-parse", "main")):
            yield f"the baseline is {baseline}"
        if self.thread.branch != "thread/t" or self.thread.git("status", "--porcelain"):
            yield f"the checkout is on {self.thread.branch}: {self.thread.git('status', '--short')}"

    def commit_problems(self) -> Iterator[str]:
        made = self.thread.git("log", "--format=%H", "main..HEAD").split()
        prepared = self.last_move()["prepared"]["commit"]
        if made != [prepared["sha"]] or self.thread.git("rev-parse", "HEAD^{tree}") != prepared["tree"]:
            yield f"there are the commits {made}, the journal has {prepared}"
        if self.thread.branch != "thread/t" or self.thread.git("status", "--porcelain"):
            yield f"the checkout is on {self.thread.branch}: {self.thread.git('status', '--short')}"
        work_is_there(self.thread)

    def reset_problems(self) -> Iterator[str]:
        if self.thread.branch != "main" or self.thread.git("status", "--porcelain"):
            yield f"the checkout is on {self.thread.branch}: {self.thread.git('status', '--short')}"
        if files(self.thread) != ["README.md", "app.py", "test_app.py"]:
            yield f"there are {files(self.thread)}"
        if self.thread.git("branch", "--list", "thread/*"):
            yield "the branch is still there"
        if self.thread("restore").code != 0 or not work_is_there(self.thread) or self.thread.branch != "thread/t":
            yield "the work can't be brought back"


@pytest.fixture(params=list(BESIDE))
def beside(request: pytest.FixtureRequest, detent: Detent, repo: MakeRepo) -> World:
    repository = repo()
    let_out(repository)
    thread = ThreadTask(detent, repo, repository).new()
    thread.write(".thread/threads/t/spec/draft.md", "# Spec\n")
    return World(thread, request.param)


@pytest.fixture(params=list(KINDS))
def world(request: pytest.FixtureRequest, detent: Detent, repo: MakeRepo) -> World:
    return before_move(request.param, detent, repo)


def before_move(kind: str, detent: Detent, repo: MakeRepo) -> World:
    """A task that is about to make a move of this kind."""
    thread = thread_task(detent, repo)
    if kind != "branch":
        worked(thread.moved("move", "Preflight").moved("move", "Running"))
        assert thread.read("app.py") == APP
    if kind == "commit":
        thread.moved("move", "PendingReview").moved("approve")
    return World(thread, kind)


def points(world: World, log: Path, names: tuple[str, ...] = NAMES) -> list[Call]:
    ended, calls = record(world.argv(), cwd=world.thread.repository, env=world.environment, log=log, names=names)
    assert ended.code == 0, ended
    assert not world.problems()
    top = str(world.thread.repository)
    chosen = [call for call in calls if call.name == "vfork" or top in call.arguments]
    every = 1 if FULL else max(1, len(chosen) // POINTS)
    return chosen[::every]


@pytest.mark.usefixtures("strace")
def test_a_killed_preparation_is_finished_or_given_up(world: World, tmp_path: Path) -> None:
    kill_at_points(world, tmp_path)


@pytest.mark.usefixtures("strace")
@pytest.mark.requirement("S4.68")
def test_what_lies_beside_a_task_is_written_once_whatever_dies(beside: World, tmp_path: Path) -> None:
    kill_at_points(beside, tmp_path)


def kill_at_points(world: World, tmp_path: Path) -> None:
    wrong = []
    tried = points(world, tmp_path / "points.strace")
    assert len(tried) >= FEWEST, "is the trace whole?"
    for call in tried:
        kill_at(
            call, world.argv(), world.put_back, cwd=world.thread.repository, env=world.environment, with_orphans=True
        )
        wrong += [f"{call}: {problem}" for problem in world.problems()]
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("how", ["before", "after"])
def test_git_that_dies_leaves_the_move_to_the_next_command(world: World, tmp_path: Path, how: str) -> None:
    git = DyingGit(tmp_path / "dying", world.thread.detent.environment["PATH"], how)
    wrong = git.problems(
        lambda more: world.thread(*world.words, environment=more), world.put_back, world.problems, every=9
    )
    assert not wrong, "\n".join(wrong[:20])


DIES_BEHIND_ITS_COMMIT = """#!/bin/sh
case " $* " in *" commit "*) "$CRASH_GIT" "$@"; kill -KILL $$ ;; esac
exec "$CRASH_GIT" "$@"
"""


def test_a_git_that_dies_behind_its_commit_has_made_it(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    world = before_move("commit", detent, repo)
    (tmp_path / "git").write_text(DIES_BEHIND_ITS_COMMIT, encoding="utf-8")
    (tmp_path / "git").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{detent.environment['PATH']}"
    done = world.thread(*world.words, environment={"PATH": path, "CRASH_GIT": str(shutil.which("git"))})
    assert done.code == 0, done
    assert world.problems() == []
