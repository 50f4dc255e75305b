"""The whole way of a `global` task with a scripted agent, through the command line."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.e2e.agent_runs import Agents
from tests.e2e.global_task import CODE_OK, CODER, PLAN, PLANNER, make_global, out

BLOCKING = {**PLAN, "open_questions": [{"question": "which words?", "blocking": True}]}
BROKEN = "printf 'def broken(\\n' > app.py"


@pytest.mark.requirement("S1.1")
@pytest.mark.requirement("S1.51")
@pytest.mark.requirement("S1.52")
def test_from_planning_to_done_with_every_detour(agents: Agents) -> None:
    task = make_global(agents)
    # 1. A plan with a blocking question waits for a person.
    agents.script("planning", f"{out('planning.ai.json', BLOCKING)}; {out('plan.files.json', ['app.py'])}", run=1)
    task.run(expect=4)
    assert task.phase == "planning"
    refused = task.missing("plan_review")
    assert refused == {
        "questions_closed": 'planning/planning.ai.json /open_questions/0: a blocking question is open: "which words?"'
    }
    assert task("answer", "all of them", task.id, cwd=task.repo).code == 0
    # 2. The review of the plan blocks it; 3. the coder leaves the plan's files; 4. its tests fail; 5. then all is well.
    agents.script("planning", f"{out('planning.ai.json', PLAN)}; {out('plan.files.json', ['app.py'])}", run=2)
    agents.script("plan_review", out("plan-review.json", {"ok": True, "blocked": True}), run=3)
    agents.script("planning", f"{out('planning.ai.json', PLAN, round=3)}; {out('plan.files.json', ['app.py'])}", run=4)
    agents.script("codegen", f"{CODER}; echo more > notes.txt", run=6)
    agents.script(
        "planning", f"{out('planning.ai.json', PLAN, round=4)}; {out('plan.files.json', ['app.py', 'notes.txt'])}"
    )
    agents.script("codegen", BROKEN, run=9)
    agents.script("codegen", f"git checkout -q origin/HEAD -- app.py; {CODER}", run=11)
    task.run(expect=4)
    assert "all of them" in task.prompt(2)
    assert "notes.txt" in task.prompt(7)
    assert "failed" in task.prompt(11)
    assert task.path_of_moves() == [
        *("planning", "plan_review", "planning", "plan_review", "codegen", "planning", "plan_review", "codegen"),
        *("review", "test", "codegen", "review", "test", "accept"),
    ]
    assert task.read("eval/eval-report.json")["ok"] is True
    # 6. A person accepts it, and takes it over.
    assert task("approve", task.id, "--reason", "fine", cwd=task.repo).code == 0
    assert task.phase == "done"
    assert task.read("accept/decision.json")["verdict"] == "accepted"
    assert task("land", task.id, cwd=task.repo).code == 0
    assert (task.repo / "notes.txt").read_text(encoding="utf-8") == "more\n"
    rounds = {name: actor.get("round") for name, actor in task.read("state.json")["actors"].items()}
    assert rounds == {
        "planning": 4,
        "plan_review": 3,
        "codegen": 3,
        "review": 2,
        "test": 2,
        "accept": 1,
        "revert": None,
    }
    task.audit()


def test_resuming_stopped_task_is_word_that_another_run_waits_for(agents: Agents) -> None:
    task = make_global(agents)
    agents.script("planning", "true", run=1)
    agents.script("planning", "true", run=2)
    stopped = task.run(expect=6)
    assert stopped.out.count("planning/planning.ai.json is missing") == 2
    dead = next(line for line in task("status", task.id, cwd=task.repo).out.splitlines() if line.startswith("dead:"))
    assert dead.endswith("is gone; another one starts after: detent resume words")
    assert task("resume", task.id, cwd=task.repo).code == 0
    assert task("inbox", cwd=task.repo).out.strip() == "nothing waits for you"
    assert "the agent (planner)" in task("status", task.id, cwd=task.repo).out
    assert "agent run #3 starts" in task.run(expect=4).out
    assert task.phase == "accept"


def test_coder_without_a_change_or_in_another_phase_is_told(agents: Agents) -> None:
    task = make_global(agents)
    agents.script("codegen", "true", run=3)
    agents.script("codegen", """printf '{"phase": "accept"}' > "$DETENT_TASK_DIR/state.json" """, run=4)
    stopped = task.run(expect=6).out
    assert (
        "agent run #3 ended by itself and opened no move: code/diff.patch would be empty: nothing has changed"
        in stopped
    )
    assert "why:  forbidden: no phase is skipped: first review, then test\n" in stopped


def test_same_code_again_is_no_answer_to_a_failed_test(agents: Agents) -> None:
    task = make_global(agents)
    agents.script("codegen", BROKEN, run=3)
    agents.script("codegen", "true", run=5)
    agents.script("codegen", "true", run=6)
    task.run(expect=6)
    assert task.path_of_moves()[-1] == "codegen"
    assert task.entries("run_ended")[-1]["run"] == 6
    assert "code/diff.patch is unchanged since codegen was entered" in task.missing("review")["diff_changed"]
    task.audit()


def test_the_filed_patch_is_the_whole_change(agents: Agents) -> None:
    task = make_global(agents)
    agents.script("codegen", f"{CODER}; rm test_app.py; printf '\\000\\377' > app.bin")
    agents.script("planning", f"{PLANNER}; {out('plan.files.json', ['app.*', 'test_app.py'])}")
    agents.script("review", CODE_OK)
    task.run("--once")
    task.run("--once")
    task.run("--once")
    assert task.phase == "review"
    subprocess.run(["git", "apply", "--check", str(task.folder / "code/diff.patch")], cwd=task.repo, check=True)
    assert (task.folder / "code/files/app.bin").read_bytes() == b"\0\xff"


def test_unreadable_reviews_stop_the_task_although_they_differ(agents: Agents) -> None:
    task = make_global(agents)
    agents.script("plan_review", 'out plan-review.json "run $DETENT_RUN_NUMBER"')
    output = task.run(expect=6).out
    assert "the same refusal after 3 runs: plan_ok: review/plan-review.json: line 1: no valid JSON" in output
    assert "next: detent resume words" in output
    assert [entry["progress"] for entry in task.entries("unmoved")] == [True, False, False]
    task.audit()


def test_failed_run_names_the_command_that_shows_its_errors(agents: Agents) -> None:
    task = make_global(agents)
    agents.script("planning", "echo 'no key for the model' >&2; exit 3")
    output = task.run(expect=4).out
    assert "agent run #1 failed; the task stays in planning" in output
    assert "needs a person: words is in planning: agent run #1 failed; another one needs your word" in output
    (look,) = {line.partition("look: detent ")[2] for line in output.splitlines() if "look: " in line}
    assert task(*look.split(), cwd=task.repo).out == "no key for the model\n"
    assert "look: " not in task.run(expect=4).out, "it was told when it happened"


def test_what_plan_asks_waits_in_inbox_until_a_person_answers(agents: Agents) -> None:
    asks = [{"question": f"which {name}?", "blocking": True} for name in ("encoding", "locale")]
    task = make_global(agents)
    agents.script("planning", PLANNER.replace('"open_questions": []', f'"open_questions": {json.dumps(asks)}'), run=1)
    output = task.run(expect=4).out
    for words in (output.partition("needs a person")[2], task("inbox", cwd=task.repo).out):
        assert '2 blocking questions are open: "which encoding?"; "which locale?"' in words
    assert 'detent answer "what you decide" words' in task("inbox", cwd=task.repo).out
    assert task("answer", "utf-8, any", "words", cwd=task.repo).code == 0
    assert "which encoding?" not in task("inbox", cwd=task.repo).out


def test_the_same_plan_again_is_no_answer_to_a_block(agents: Agents) -> None:
    task = make_global(agents)
    agents.script("plan_review", out("plan-review.json", {"ok": False, "blocked": True}))
    output = task.run(expect=4).out
    assert task.path_of_moves() == ["plan_review", "planning"]
    assert "the same as when planning was entered" in output
    agents.script("planning", PLANNER.replace('"open_questions"', '"round": 2, "open_questions"'))
    agents.script("plan_review", out("plan-review.json", {"ok": True, "blocked": False}))
    assert task("respawn", "--once", task.id, cwd=task.repo).code == 0, "who stands by it says so"
    assert task.path_of_moves()[2:3] == ["plan_review"]
    task.audit()
