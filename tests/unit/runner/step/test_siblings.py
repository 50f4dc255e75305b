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
from detent.words import surroundings as say
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
    first, second = pair
    assert asks_siblings(first)
    first = step(first, Signal("person", "work")).task
    assert not asks_siblings(first)
    refused = step(second, Signal("person", "work")).decision
    assert isinstance(refused, Refuse)
    assert refused.missing[0].why == say.others_there([("one", "work")])


def test_such_a_step_waits_for_the_project_lock(pair: tuple[Task, Task]) -> None:
    first, _ = pair
    done: list[Outcome] = []
    thread = Thread(target=lambda: done.append(step(first, Signal("person", "work"))))
    with Lock(first.project.lock_path()):
        thread.start()
        thread.join(SOON_S)
        assert not done
        assert load_task(first.project, first.id).memory.snapshot.state == "wait"
    thread.join()
    assert isinstance(done[0].decision, Advance)


def test_step_that_finds_a_sibling_state_later_waits_too(pair: tuple[Task, Task]) -> None:
    first = step(pair[0], Signal("person", "work")).task
    step(load_task(first.project, first.id), Signal("person", "wait"))
    done: list[Outcome] = []
    thread = Thread(target=lambda: done.append(step(first, Signal("person", "work"))))
    with Lock(first.project.lock_path()):
        thread.start()
        thread.join(SOON_S)
        assert not done, "it was decided while another task could move"
    thread.join()
    assert isinstance(done[0].decision, Advance)


def test_any_other_step_waits_for_no_project_lock(pair: tuple[Task, Task]) -> None:
    first = step(pair[0], Signal("person", "work")).task
    with Lock(first.project.lock_path()):
        assert isinstance(step(first, Signal("person", "over")).decision, Advance)
