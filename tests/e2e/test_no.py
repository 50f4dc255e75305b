"""An agent that says no is not overruled: the engine does not walk on in its place (phase, real processes)."""

from __future__ import annotations

import pytest

from tests.e2e.agent_runs import Agents

ASK = {
    "command": "detent move needs_user_decision || true",
    "file": "field Phase needs_user_decision",
}


@pytest.mark.requirement("S0.23")
@pytest.mark.parametrize("how", ASK)
def test_a_question_without_options_stays_in_verify(agents: Agents, how: str) -> None:
    agents.honest(verify=f'field Blockers "may I drop python 3.8?"; {ASK[how]}')
    agents.script("verify", 'field "Next step" "A) drop it, B) keep it"; detent move needs_user_decision', run=3)
    task = agents.task()
    done = task.run(expect=4)
    assert task.path_of_moves()[-2:] == ["verify", "needs_user_decision"]
    assert "refused: verify -> needs_user_decision" in done.out
    assert 'STATE.md has nothing under "Next step:"' in task.prompt(3)
    assert "may I drop python 3.8?" in done.out
    task.audit()


@pytest.mark.requirement("S0.24")
def test_a_judge_that_asks_for_blocked_stops_the_task(agents: Agents) -> None:
    why = "the mail server of this host is gone"
    agents.honest(verify=f'field Blockers "{why}"; field "Next step" "A) wait"; detent move blocked')
    task = agents.task()
    done = task.run(expect=4)
    assert task.path_of_moves()[-2:] == ["verify", "blocked"]
    assert why in done.out
    assert why in task("inbox", cwd=task.repo).out
    task.audit()


@pytest.mark.parametrize("how", ["detent move {}", "field Phase {}"], ids=["command", "file"])
@pytest.mark.parametrize(
    ("target", "says"),
    [
        pytest.param("repair", "section 'Failed checks' '- the page is empty'", marks=pytest.mark.requirement("S0.22")),
        pytest.param(
            "needs_user_decision",
            "field Blockers 'may python 3.8 go?'; field 'Next step' 'A) drop it, B) keep it'",
            marks=pytest.mark.requirement("S0.23"),
        ),
    ],
)
def test_judge_that_says_stop_is_heard_although_every_command_passes(
    agents: Agents, target: str, says: str, how: str
) -> None:
    agents.honest(verify=f"{says}; {how.format(target)}", repair="true")
    task = agents.task()
    task.run(expect=6 if target == "repair" else 4)
    assert task.path_of_moves() == ["shape", "implement", "verify", target]
    assert task.last("moved")["by"] == "agent"
    task.audit()


@pytest.mark.requirement("S0.22")
def test_failed_checks_without_a_phase_lead_to_repair(agents: Agents) -> None:
    agents.honest(repair='count; section Repairs "- fixed"; section "Failed checks" none; detent move verify')
    agents.script("verify", 'section "Failed checks" "- the page is empty"', run=2)
    task = agents.task()
    task.run(expect=0)
    assert task.path_of_moves() == ["shape", "implement", "verify", "repair", "verify", "review", "done"]
    task.audit()


@pytest.mark.parametrize("verdict", ["review PASS", "true"])
def test_failed_checks_listed_in_review_always_lead_to_repair(agents: Agents, verdict: str) -> None:
    agents.honest(repair='count; section Repairs "- fixed"; section "Failed checks" none; detent move verify')
    agents.script("review", f'{verdict}; section "Failed checks" "- the docs name another option"', run=3)
    agents.script(
        "review", 'review PASS; sed -i "s/^- objective matched/Round: 2\\n&/" "$DETENT_TASK_DIR/EVIDENCE.md"', run=6
    )
    task = agents.task()
    task.run(expect=0)
    assert task.path_of_moves()[2:] == ["verify", "review", "repair", "verify", "review", "done"]
    task.audit()


def test_idle_run_is_told_what_way_forward_lacks_not_question(agents: Agents) -> None:
    agents.honest(implement='field "Next step" "write the parser"')
    task = agents.task()
    done = task.run(expect=6)
    assert 'opened no move: STATE.md says "Candidate done: no"' in done.out
    assert "Blockers" not in done.out


@pytest.mark.parametrize("ask", ["detent move repair || true", "field Phase repair"])
def test_a_refused_repair_keeps_the_task_in_verify(agents: Agents, ask: str) -> None:
    agents.honest()
    agents.script("verify", f'field "Current result" tried; {ask}', run=2)
    task = agents.task()
    done = task.run("--once", expect=None)
    done = task.run("--once", expect=1)
    assert task.state() == "verify"
    assert "refused: verify -> repair" in done.out
    assert task.last("run_ended")["run"] == 2
    task.audit()


def test_resumed_task_runs_again_and_is_not_led_past_no(agents: Agents) -> None:
    agents.honest(verify="count; field Phase repair")
    task = agents.task()
    task.run(expect=6)
    assert task("resume", task.id, cwd=task.repo).code == 0
    agents.script("verify", 'count; section "Failed checks" "- the page is empty"; detent move repair')
    task.run("--once", expect=0)
    assert task.state() == "repair"
    assert agents.counted() == ["implement 1", "verify 2", "verify 3", "verify 4"]
    task.audit()


@pytest.mark.parametrize("nothing", ["none found", "No failed checks.", "no failures", "[ ] none", "none so far"])
def test_list_of_failed_checks_that_says_none_opens_no_repair(agents: Agents, nothing: str) -> None:
    agents.honest(verify=f'section "Failed checks" "- {nothing}"')
    task = agents.task()
    task.run(expect=0)
    assert "repair" not in task.path_of_moves()


@pytest.mark.parametrize("nothing", ["none", "-", "n/a", "Nothing.", "No"])
def test_a_blocker_that_says_none_is_no_blocker(agents: Agents, nothing: str) -> None:
    agents.honest(verify=f'field Blockers "{nothing}"; section "Failed checks" "- {nothing}"; detent move review')
    task = agents.task()
    task.run(expect=0)
    assert task.state() == "done"


def test_a_filled_blocker_in_implement_is_asked_not_walked_over(agents: Agents) -> None:
    agents.honest(implement='count; echo "# on" >> app.py; candidate; field Blockers "which parser is meant?"')
    agents.script("implement", 'field "Next step" "A) the old one, B) the new one"', run=2)
    task = agents.task()
    task.run(expect=4)
    assert task.path_of_moves()[-1] == "needs_user_decision"
    assert "verify" not in task.path_of_moves()
    task.audit()


def test_a_review_with_a_blocker_is_not_done(agents: Agents) -> None:
    agents.honest(review='count; review PASS; field Blockers "may I drop python 3.8?"; detent move done || true')
    task = agents.task()
    done = task.run("--once", expect=None)
    for _ in range(2):
        done = task.run("--once", expect=None)
    assert task.state() == "review", done
    assert "Blockers" in done.out


def test_the_answer_to_a_question_in_intake_is_passed_on(agents: Agents) -> None:
    agents.honest(intake='count; field Blockers "which of the two parsers is meant?"')
    task = agents.task()
    task.set({"Done gate": "", "Not doing": ""})
    done = task.run(expect=4)
    assert "which of the two parsers is meant?" in done.out
    assert task.state() == "intake"
    assert agents.counted() == ["intake 1"]
    inbox = task("inbox", cwd=task.repo).out
    assert "which of the two parsers is meant?" in inbox
    assert "detent answer" in inbox
    assert task("answer", "the new one", task.id, cwd=task.repo).code == 0
    text = task.state_file.read_text()
    assert "Blockers:\n" in text or "Blockers: \n" in text
    agents.script("intake", "count; true")
    task.run("--once")
    prompt = task.prompt(2)
    assert "the new one" in prompt
    assert "which of the two parsers is meant?" in prompt
    task.audit()


def test_a_resume_moves_the_answered_text_out_of_blockers(agents: Agents) -> None:
    agents.honest(
        verify='field Blockers "drop python 3.8?"; field "Next step" "A) yes"; detent move needs_user_decision'
    )
    task = agents.task()
    task.run(expect=4)
    assert task.state() == "needs_user_decision"
    assert task("resume", "--reason", "yes, drop it", task.id, cwd=task.repo).code == 0
    assert "drop python 3.8?" not in task.state_file.read_text().partition("## Answers")[0]
    moved = task.last("moved")
    assert "drop python 3.8?" in str(moved)
    agents.script("verify", "detent move review", run=3)
    task.run(expect=0)
    assert "drop python 3.8?" in task.prompt(3)
    assert "yes, drop it" in task.prompt(3)
    task.audit()


@pytest.mark.parametrize("state", ["intake", "shape"])
def test_code_written_before_implement_is_reported_everywhere(agents: Agents, state: str) -> None:
    edits = "echo 'new = 1' > early.py; echo '# early' >> app.py; mkdir __pycache__; echo x > __pycache__/app.pyc"
    agents.honest(**{state: f"{edits}; field 'Done gate' 'the check passes'"})
    task = agents.task()
    task.set({"Done gate": ""} if state == "intake" else {"User facing": ""})
    if state == "shape":
        agents.script("shape", f"{edits}; field 'User facing' no")
    done = task.run(expect=0)
    words = "agent run #1 changed app.py, early.py in a throw-away checkout: that does not reach the work"
    assert words in done.out
    assert f"> {words}" in task.prompt(2)
    assert words not in task.prompt(3)
    assert "left in a throw-away checkout: app.py, early.py" in task("history", task.id, cwd=task.repo).out
    assert not (task.tree / "early.py").exists()
    assert task.last("run_ended").get("left") is None  # a judge tries things there
    task.audit()


def test_code_left_by_a_run_that_moved_nothing_is_told(agents: Agents) -> None:
    agents.script("intake", "echo 'new = 1' > early.py; git rm -q app.py || rm app.py")
    agents.script("intake", "true", run=2)
    task = agents.task()
    task.set({"Done gate": ""})
    words = "agent run #1 changed app.py, early.py in a throw-away checkout: that does not reach the work"
    done = task.run(expect=6)
    assert f"note: {words}" in done.out
    assert f"> {words}" in task.prompt(2)
    assert "put back" not in done.out
