"""A person's command rings the project's bell, so that the driver of the tasks acts at once, not at its next poll."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from detent.runner.task.bell import Bell
from detent.store.journal.places import project_at
from tests.e2e.agent_runs import Agents, AgentTask
from tests.e2e.phase_task import PhaseTask
from tests.e2e.rounds_task import Rounds

Listen = Callable[[PhaseTask], Bell]


@pytest.fixture
def listen() -> Iterator[Listen]:
    """Stands where the supervisor of a task's project would."""
    bells: list[Bell] = []

    def make(task: PhaseTask) -> Bell:
        bells.append(Bell(project_at(str(task.repo), str(task.repo / ".git")).bell()))
        return bells[-1]

    yield make
    for bell in bells:
        bell.close()


def rings(bell: Bell, task: AgentTask, *words: str) -> bool:
    """Whether a command that works rings."""
    done = task(*words, task.id, cwd=task.repo)
    assert done.code == 0, done
    return bell.was_rung()


def test_sign_offs_moves_and_menus_ring(agents: Agents, listen: Listen) -> None:
    task = Rounds(agents).at_review("note")
    bell = listen(task)
    assert rings(bell, task, "reject", "--reason", "too short")
    assert not rings(bell, task, "status"), "who only looks wakes nobody"
    assert rings(bell, task, "move", "reviewing")
    assert rings(bell, task, "configure", "--runs", "9")
    assert not rings(bell, task, "configure", "--runs", "9"), "it holds already"
    assert task("reject", "--reason", "again", task.id, cwd=task.repo).code == 1
    assert not bell.was_rung(), "what is refused changes nothing"
    assert rings(bell, task, "answer", "it is short on purpose")
    assert rings(bell, task, "choose", "approve")
    assert task.state() == "published"


def test_resume_and_new_words_ring(agents: Agents, listen: Listen) -> None:
    agents.script("implement", "true")
    task = agents.task()
    assert task.run().code == 6
    bell = listen(task)
    assert rings(bell, task, "resume", "--reason", "try again")
    assert rings(bell, task, "task", "update", "--summary", "count words")


def test_a_word_about_protected_files_rings_although_nothing_moves(agents: Agents, listen: Listen) -> None:
    agents.honest(implement="mkdir deploy; echo go > deploy/job; candidate; detent move verify")
    task = agents.task('[protect]\nask = ["deploy/**"]')
    assert task.run().code == 4
    task.section("Review", "no verdict any more")
    bell = listen(task)
    assert rings(bell, task, "approve", "--reason", "it is wanted")
    assert task.state() == "review"


def test_what_the_engine_does_does_not_wake_the_engine(agents: Agents, listen: Listen) -> None:
    agents.honest()
    task = agents.task()
    bell = listen(task)
    assert task.run().code == 0
    assert not bell.was_rung()


def test_watch_goes_on_when_a_person_sends_a_task_back(agents: Agents) -> None:
    task = Rounds(agents).at_review("note")
    assert task("start", task.id, cwd=task.repo).code == 0
    watching = agents.begin("watch", cwd=task.repo)
    watching.line("needs a person: note is in reviewing")
    assert task("reject", "--reason", "too short", task.id, cwd=task.repo).code == 0
    watching.line("needs a person: note is in reviewing")  # its text is there already, so the engine hands it in again
