"""One pass, one phase: what an agent wrote in intake is never taken as the work of shape (phase, real processes)."""

from __future__ import annotations

import pytest

from tests.e2e.agent_runs import Agents, AgentTask
from tests.e2e.phase_task import FRAME

WHOLE_FRAME = (
    "count; field Objective count; field 'Done gate' 'the check passes'; field 'Not doing' none; "
    "field 'Reality constraints' 'standard library'; field 'Validation plan' 'cmd: true'; field 'User facing' no"
)


def blank_task(agents: Agents) -> AgentTask:
    """A task of which a person gave no more than its title."""
    task = agents.task()
    task.set(dict.fromkeys(FRAME, ""))
    return task


def test_a_frame_written_in_intake_still_runs_the_shape_agent(agents: Agents) -> None:
    agents.honest(intake=WHOLE_FRAME, shape="count; field 'Current result' framed")
    task = blank_task(agents)
    task.run("--once", expect=0)
    assert task.path_of_moves() == ["shape"]
    task.run("--once", expect=0)
    assert agents.counted() == ["intake 1", "shape 2"]
    assert task.path_of_moves() == ["shape", "implement"]
    task.audit()


@pytest.mark.requirement("S0.62")
@pytest.mark.parametrize("ask", ["detent move implement || true", "field Phase implement"], ids=["command", "file"])
def test_a_request_that_skips_a_phase_is_refused_on_screen(agents: Agents, ask: str) -> None:
    agents.honest(intake=f"{WHOLE_FRAME}; {ask}", shape="count")
    task = blank_task(agents)
    done = task.run("--once", expect=1)
    assert "why:  intake does not lead to implement\n" in done.out
    assert task.state() == "intake"
    assert task.field("Phase") == "intake"
    task.audit()


def test_a_whole_frame_given_by_a_person_starts_in_implement(agents: Agents) -> None:
    agents.honest()
    task = agents.task()
    task.run("--once", expect=0)
    assert agents.counted() == ["implement 1"]


def test_after_an_answer_the_agent_of_shape_runs_again(agents: Agents) -> None:
    asks = "count; field Blockers 'which format?'; field 'Next step' 'A) old, B) new'; detent move needs_user_decision"
    agents.honest(intake=WHOLE_FRAME, shape=asks)
    task = blank_task(agents)
    task.run(expect=4)
    assert task.state() == "needs_user_decision"
    agents.script("shape", "count; field 'Done gate' 'the new format is read'")
    assert task("answer", "the new one", task.id, cwd=task.repo).code == 0
    task.run("--once", expect=0)
    assert agents.counted() == ["intake 1", "shape 2", "shape 3"]
    task.audit()


def test_code_edited_in_intake_or_shape_is_dropped(agents: Agents) -> None:
    edits = "; echo '# early' >> app.py; echo x > early.py"
    agents.honest(intake=f"{WHOLE_FRAME}{edits}", shape=f"field 'Current result' framed{edits}")
    task = blank_task(agents)
    task.run("--once", expect=0)
    task.run("--once", expect=0)
    assert task.path_of_moves() == ["shape", "implement"]
    task.run("--once", expect=0)
    assert "early" not in (task.tree / "app.py").read_text(encoding="utf-8")
    assert not (task.tree / "early.py").exists()
