"""Test commands of one project run one after the other, as real processes; `[proof] parallel` lets them overlap.

The command of the first task tells through one named pipe that it runs, and ends when something is written to another.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import COMMAND_TIMEOUT_S, Detent, MakeRepo, let_out
from tests.e2e.graded_task import Graded, new_task
from tests.e2e.phase_task import BLOCKED

WAITS = "waiting for a test command of task first to end ([proof] parallel = true lets them overlap)\n"


class Two:
    """Two tasks of one project; the command of the first is running."""

    def __init__(self, detent: Detent, repo: MakeRepo, folder: Path, settings: str) -> None:
        self.detent = detent
        self.started: list[subprocess.Popen[str]] = []
        runs, self.ends = folder / "runs", folder / "ends"
        for pipe in (runs, self.ends):
            os.mkfifo(pipe)
        top = repo("repo", {"app.py": "", "detent.toml": settings})
        let_out(top)
        self.first = self._verified(top, folder, "first", f"echo > {runs}; read line < {self.ends}; exit 0")
        self.second = self._verified(top, folder, "second", "true")
        self.running = self.prove(self.first)
        runs.read_text(encoding="ascii")  # waits for the command

    def _verified(self, top: Path, folder: Path, name: str, command: str) -> Graded:
        task = new_task(self.detent, top, folder / name, name, command)
        task.candidate()
        task.move("verify")
        return task

    def prove(self, task: Graded) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "detent", "prove", task.id],
            cwd=task.folder,
            env=self.detent.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def said_until_waiting(self, process: subprocess.Popen[str]) -> str:
        """What a process says, up to the line that it waits; or all of it, where it does not."""
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if line == WAITS:
                break
        return said

    def let_end(self) -> None:
        self.ends.write_text("end\n", encoding="ascii")

    def close(self) -> None:
        for process in self.started:
            process.kill()
            process.communicate()


@pytest.fixture
def two(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Callable[[str], Two]]:
    made: list[Two] = []

    def make(settings: str) -> Two:
        made.append(Two(detent, repo, tmp_path, settings))
        return made[0]

    yield make
    for one in made:
        one.close()


def test_second_command_waits_and_says_for_which_task(two: Callable[[str], Two]) -> None:
    both = two("")
    later = both.prove(both.second)
    assert both.said_until_waiting(later).endswith(WAITS)
    assert later.poll() is None
    both.let_end()
    assert (both.running.wait(COMMAND_TIMEOUT_S), later.wait(COMMAND_TIMEOUT_S)) == (0, 0)


def test_commands_overlap_where_the_project_allows_it(two: Callable[[str], Two]) -> None:
    both = two("[proof]\nparallel = true\n")
    later = both.prove(both.second)
    assert "waiting" not in both.said_until_waiting(later)
    assert later.wait(COMMAND_TIMEOUT_S) == 0
    assert both.running.poll() is None
    both.let_end()
    assert both.running.wait(COMMAND_TIMEOUT_S) == 0


def test_killed_holder_lets_the_next_command_run(two: Callable[[str], Two]) -> None:
    both = two("")
    later = both.prove(both.second)
    assert both.said_until_waiting(later).endswith(WAITS)
    both.running.kill()
    assert later.wait(COMMAND_TIMEOUT_S) == 0


def test_task_whose_command_waits_can_still_be_changed(two: Callable[[str], Two]) -> None:
    both = two("")
    later = both.prove(both.second)
    assert both.said_until_waiting(later).endswith(WAITS)
    both.second.set(BLOCKED)
    both.second.move("blocked")
    both.let_end()
    assert later.wait(COMMAND_TIMEOUT_S) == 0
