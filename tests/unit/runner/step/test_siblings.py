"""What depends on where other tasks stand is decided while none of them can move."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest

from detent.core.values import Advance, Refuse, Signal
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.step.step import Outcome, asks_siblings, step
from detent.runner.task.open import Task, load_task
from detent.store.disk.lock import Lock
from tests.conftest import MakeRepo

# Two threads may not work at a time; nothing else is asked of them.
MACHINE = """
format  = 1
name    = "pair"
initial = "wait"
by      = ["person"]

[store]
codec    = "markdown_fields"
file     = "thread.md"
state    = "Phase"
files    = ["thread.md"]
in_place = true

[gate.alone]
check  = "no_sibling_in"
since  = "task"
states = ["work"]

[state.wait]
[state.work]
[state.over]
end = true

[[edge]]
name  = "go"
from  = "wait"
to    = "work"
needs = ["alone"]
[[edge]]
name = "end"
from = "work"
to   = "over"
[[edge]]
name = "rest"
from = "work"
to   = "wait"
"""
SOON_S = 1.0  # long enough for a step that does not wait


@pytest.fixture
def pair(repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Task, Task]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    machine = tmp_path / "pair.toml"
    machine.write_text(MACHINE, encoding="utf-8")
    repository = str(repo())
    made = [create(NewTask(machine=str(machine), title=name, task_id=name, repo=repository)) for name in ("one", "two")]
    return made[0], made[1]


def test_only_states_whose_moves_ask_for_others_are_decided_alone(pair: tuple[Task, Task]) -> None:
    one, two = pair
    assert asks_siblings(one)
    one = step(one, Signal("person", "work")).task
    assert not asks_siblings(one)
    refused = step(two, Signal("person", "work")).decision
    assert isinstance(refused, Refuse)
    assert refused.missing[0].why == "one is in work"


def test_such_a_step_waits_for_the_project_lock(pair: tuple[Task, Task]) -> None:
    one, _ = pair
    done: list[Outcome] = []
    thread = Thread(target=lambda: done.append(step(one, Signal("person", "work"))))
    with Lock(one.project.lock_path()):
        thread.start()
        thread.join(SOON_S)
        assert not done
        assert load_task(one.project, one.id).memory.snapshot.state == "wait"
    thread.join()
    assert isinstance(done[0].decision, Advance)


def test_so_does_one_that_finds_its_task_in_such_a_state_only_then(pair: tuple[Task, Task]) -> None:
    one = step(pair[0], Signal("person", "work")).task
    step(load_task(one.project, one.id), Signal("person", "wait"))
    done: list[Outcome] = []
    thread = Thread(target=lambda: done.append(step(one, Signal("person", "work"))))
    with Lock(one.project.lock_path()):
        thread.start()
        thread.join(SOON_S)
        assert not done, "it was decided while another task could move"
    thread.join()
    assert isinstance(done[0].decision, Advance)


def test_any_other_step_waits_for_no_project_lock(pair: tuple[Task, Task]) -> None:
    one = step(pair[0], Signal("person", "work")).task
    with Lock(one.project.lock_path()):
        assert isinstance(step(one, Signal("person", "over")).decision, Advance)
