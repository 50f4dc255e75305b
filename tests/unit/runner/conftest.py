"""A task with a scripted agent, opened in this process: `task = agent_task(SCRIPT)`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from detent.effects.host.keeper.look import is_alive, look
from detent.effects.host.keeper.start import end_survivors, stop
from detent.effects.host.keeper.watch import wait_for_end
from detent.runner.drive.drive import advance
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.run.ready import make_ready
from detent.runner.run.runs import start_run
from detent.runner.task.open import Task
from tests.conftest import trust
from tests.e2e.phase_task import CHECK, FRAME, PhaseTask
from tests.unit.effects.host.keeper.keeper_runs import WAIT_S, gone

AgentTask = Callable[..., Task]


def begin(task: Task) -> Task:
    """The task with its next run started."""
    return start_run(task, make_ready(task))


@pytest.fixture
def agent_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentTask]:
    """Makes a phase task in `implement` whose agent is a shell script; every run of it is ended with the test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made: list[Task] = []

    def make(script: str, events: str = "text") -> Task:
        repository = tmp_path / f"repo-{len(made)}"
        repository.mkdir()
        (repository / "app.py").write_text("left + right\n", encoding="utf-8")
        argv = json.dumps(["sh", "-c", script])
        settings = f'[agents]\ndefault = "mine"\n[agents.mine]\nargv = {argv}\nevents = "{events}"\n'
        (repository / "detent.toml").write_text(settings, encoding="utf-8")
        identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.invalid")
        for words in (("init", "-q", "--template="), ("add", "--all"), (*identity, "commit", "-q", "-m", "Start")):
            subprocess.run(["git", *words], cwd=repository, check=True)
        folder = tmp_path / f"task-{len(made)}"
        trust(repository)
        task = create(NewTask("phase", "count", "words", str(repository), str(folder), checks=(CHECK,), by="ann"))
        PhaseTask(None, repository, folder).set(FRAME)  # type: ignore[arg-type]  # only its files are written
        made.append(advance(task, lambda _happened: None))
        assert made[-1].memory.snapshot.state == "implement"
        return made[-1]

    yield make
    for task in made:
        for number in range(1, task.store.load().runs + 1):
            identity = look(task.places.run(number)).identity
            if identity is not None:
                if is_alive(identity):
                    stop(task.places.run(number))
                    gone(identity.keeper_pid)
                end_survivors(identity)


def wait_for_run(task: Task) -> None:
    """Until the task's run has ended; its end is not recorded then."""
    folder = task.places.run(task.memory.run.run)
    assert wait_for_end([folder], WAIT_S) == folder
