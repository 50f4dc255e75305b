"""Detent: what it costs to hold a process, at each level this host offers; one start of /bin/true is one repetition."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from detent_task import make_repository
from serve import serve

from detent.effects.host import process
from detent.effects.host.access import LEVELS
from detent.effects.host.sandbox import Probe, try_level
from detent.effects.workspace.checkout import run_command
from detent.runner.access.access import command_running, hold_command, remember_level
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.task.open import Task

ARGV = ("/bin/sh", "-c", "true")
TIMEOUT_S = 60.0


def work_of(task: Task, level: str, folder: str) -> dict[str, Callable[[], object]]:
    """`start` is one held process; `gate` is all that is done for one command of a gate, its limits included."""
    remember_level(task.project, Probe(level))
    held = hold_command(task, ARGV, folder)
    if held.level != level:
        return {}
    running = command_running(task)
    argv = held.argv

    def gate() -> object:
        remember_level(task.project, Probe(level))
        return run_command("true", folder, TIMEOUT_S, "gate.log", running)

    return {
        f"start {level}": lambda: process.run(argv, cwd=folder, env=os.environ, timeout_s=TIMEOUT_S),
        f"gate {level}": gate,
    }


def main() -> None:
    os.environ.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null")
    repository = make_repository(Path("repository").resolve())
    task = create(NewTask(machine="phase", title="measure", task_id="held", repo=str(repository)))
    folder = os.path.join(task.home, "proof")
    os.makedirs(folder)
    work: dict[str, Callable[[], object]] = {
        "bare": lambda: process.run(ARGV, cwd=folder, env=os.environ, timeout_s=TIMEOUT_S)
    }
    refused = {}
    for level in LEVELS:
        if problem := try_level(level, os.environ):
            refused[level] = problem
        else:
            work |= work_of(task, level, folder)
    serve(work, about={"names": list(work), "refused": refused})


if __name__ == "__main__":
    main()
