"""A person's answer: a stopped task whose question is answered goes on, and the same blocker may be named again."""

from __future__ import annotations

from tests.e2e.agent_runs import Agents

WITHOUT_OPTIONS = 'field Blockers "which of both?"; date +%s%N > "$DETENT_TASK_DIR/artifacts/$DETENT_RUN_NUMBER"'


def test_answer_resumes_a_task_stopped_with_an_open_question(agents: Agents) -> None:
    agents.honest(implement=WITHOUT_OPTIONS)
    task = agents.task()
    stopped = task.run(expect=6)
    assert "the same refusal after 3 runs" in stopped.out
    assert f'detent answer "what you decide" {task.id}' in stopped.out
    inbox = task("inbox", cwd=task.repo).out
    assert "Blockers: which of both?" in inbox
    assert f'detent answer "what you decide" {task.id}' in inbox
    agents.honest()
    answered = task("answer", "the first", task.id, cwd=task.repo)
    assert (answered.code, f"answered; next: detent run {task.id}" in answered.out) == (0, True), answered
    assert task.field("Blockers") == ""
    assert task.field("Status") == "resumed"
    task.run(expect=0)
    assert "> the first" in task.prompt(4)
    task.audit()


def test_answer_to_stopped_task_that_asked_nothing_is_only_noted(agents: Agents) -> None:
    agents.honest(implement="true")
    task = agents.task()
    task.run(expect=6)
    noted = task("answer", "go on", task.id, cwd=task.repo)
    assert f"noted; it is stopped: detent resume {task.id}" in noted.out
    task.run(expect=6)


def test_the_same_blocker_may_be_named_again_after_a_resume(agents: Agents) -> None:
    agents.honest(implement='field Blockers "no key"; detent move blocked')
    task = agents.task()
    task.run(expect=4)
    assert task("resume", "--reason", "the key is there", task.id, cwd=task.repo).code == 0
    assert task.field("Blockers") == ""
    task.run(expect=4)
    assert task.path_of_moves()[-3:] == ["blocked", "implement", "blocked"]
    task.audit()
