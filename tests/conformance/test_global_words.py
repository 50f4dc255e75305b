"""Sections 7 and 8 of the document: a person's override, /next, /redo and the trigger of every phase."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Completed, Detent, MakeRepo
from tests.e2e.agent_runs import Agents
from tests.e2e.global_task import CODE_OK, CODER, PLAN, GlobalTask, make_global, out

BLOCKED = out("code-review.json", {"ok": False, "issues": [{"severity": "blocking", "message": "it leaks"}]})
RISK = "I accept the risk of skipping review"


@pytest.fixture
def agents(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Agents]:
    made = Agents(detent, repo, tmp_path)
    yield made
    made.close()


def say(task: GlobalTask, line: str, code: int = 0) -> str:
    done: Completed = task("say", line, task.id, cwd=task.repo)
    assert done.code == code, done
    return done.out + done.err


def transcript(task: GlobalTask) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (task.folder / "transcript.jsonl").read_text(encoding="utf-8").splitlines()]


def at(agents: Agents, phase: str, **scripts: str) -> GlobalTask:
    """A task that honest agents brought to a phase, or that stays where a script holds it."""
    task = make_global(agents)
    for state, text in scripts.items():
        agents.script(state, text)
    for _ in range(9):
        if task.phase == phase:
            return task
        task.run("--once")
    raise AssertionError(f"{phase} was not reached: {task.path_of_moves()}")


def in_review(agents: Agents) -> GlobalTask:
    """In review, where the reviewer left a report that no program can read: nothing is open."""
    return at(agents, "review", review=out("code-review.json", {"issues": "none"}))


@pytest.mark.requirement("S1.60", "S1.61", "S1.63")
def test_override_needs_a_reason_and_stands_in_journal_and_transcript(agents: Agents) -> None:
    task = in_review(agents)
    before = len(transcript(task))
    assert "needs a reason" in say(task, "/next --override", code=2)
    assert "needs a reason" in say(task, '/next --override ""', code=2)
    assert (task.phase, len(transcript(task))) == ("review", before)
    said = say(task, f'/next --override "{RISK}"')
    assert "moved: review -> test" in said
    assert "waived, and recorded: review_clear" in said
    line = task.last("moved")
    assert (line["by"], line["override"], line["waived"]) == ("person", RISK, ["review_clear"])
    event = transcript(task)[-1]
    assert (event["type"], event["from"], event["to"]) == ("phase.changed", "review", "test")
    assert (event["override"], event["waived"]) == (RISK, "review_clear")
    task.audit()


@pytest.mark.requirement("S1.62")
@pytest.mark.parametrize("line", ['/accept --override "x"', '/test --override "x"'])
def test_override_jumps_over_no_phase_and_refusal_names_the_way(agents: Agents, line: str) -> None:
    task = at(agents, "codegen", codegen="true")
    said = say(task, line, code=1)
    assert "an override opens one move and jumps over none; the way is codegen -> review -> test" in said
    assert f'first: detent move review {task.id} --override "why"' in said
    assert task.phase == "codegen"


def test_override_is_for_one_move_and_its_checks_run_first(agents: Agents) -> None:
    task = at(agents, "codegen", codegen=f"{CODER}; printf 'def broken(\\n' > app.py")
    task.run("--once")
    task.put("review/code-review.json", {"ok": True, "issues": []})
    say(task, "/next")
    assert task.phase == "test"
    proved = len(task.entries("proved"))
    assert "moved: test -> accept" in say(task, '/next --override "the suite is known to be broken"')
    assert len(task.entries("proved")) == proved + 1  # the tests were run, and are red
    assert task.last("moved")["waived"] == ["tests_passed"]
    assert task.read("eval/eval-report.json")["ok"] is False
    # The next one is a sign-off, which nothing takes the place of.
    assert "an override never takes its place" in say(task, '/next --override "ship it"', code=1)
    assert task.phase == "accept"


def test_an_agent_overrides_nothing(agents: Agents) -> None:
    task = at(agents, "review", review="detent say \"/next --override 'x'\" || detent move test --override x || true")
    task.run("--once")
    assert task.phase == "review"
    assert not any(line.get("waived") for line in task.entries("moved"))


@pytest.mark.requirement("S1.64")
def test_next_names_missing_artifacts_and_moves_once_they_exist(agents: Agents) -> None:
    task = make_global(agents)
    before = [len(task.entries()), len(transcript(task))]
    first = say(task, "/next", code=1)
    assert "planning -> plan_review" in first
    assert "planning/planning.ai.json" in first
    assert say(task, "/next", code=1) == first  # nothing changed: the same answer, and nothing is written
    assert [len(task.entries()), len(transcript(task))] == before
    task.put("planning/planning.ai.json", PLAN)
    task.put("plan.files.json", ["app.py"])
    assert "moved: planning -> plan_review" in say(task, "/next")
    task.put("review/plan-review.json", {"ok": False, "blocked": True})
    assert "moved: plan_review -> planning  (review-blocked)" in say(task, "/next")


TRIGGERS = [
    pytest.param("/plan", "plan_review", "planning", marks=pytest.mark.requirement("S1.65")),
    pytest.param("/review plan", "planning", "plan_review", marks=pytest.mark.requirement("S1.66")),
    pytest.param("/codegen", "plan_review", "codegen", marks=pytest.mark.requirement("S1.67")),
    pytest.param("/review code", "codegen", "review", marks=pytest.mark.requirement("S1.68")),
    pytest.param("/test", "review", "test", marks=pytest.mark.requirement("S1.69")),
    pytest.param("/accept", "test", "accept", marks=pytest.mark.requirement("S1.70")),
]


@pytest.mark.requirement("S1.73")
@pytest.mark.parametrize(("line", "before", "after"), TRIGGERS)
@pytest.mark.parametrize("face", ["say", "repl"])
def test_a_phase_trigger_moves_only_through_an_open_gate(
    agents: Agents, face: str, line: str, before: str, after: str
) -> None:
    def type_line() -> Completed:
        words = ("say", line) if face == "say" else ("repl",)
        return task.detent(*words, task.id, cwd=task.repo, stdin="" if face == "say" else f"{line}\n")

    task = make_global(agents)
    walk(task, before)
    refused = type_line()
    assert (refused.code, task.phase) == (1, before), refused
    assert f"{before} -> {after}" in refused.out
    assert "next: " in refused.out  # how to open it
    open_gate(task, before, after)
    moved = type_line()
    assert (moved.code, task.phase) == (0, after), moved


def test_next_in_codegen_with_nothing_changed_asks_for_the_change(agents: Agents) -> None:
    task = at(agents, "codegen")
    output = say(task, "/next", code=1)
    assert "refused: codegen -> review" in output
    assert "change the files that the plan names" in output


def walk(task: GlobalTask, phase: str) -> None:
    """By hand: what each phase wants, then /next."""
    for state, following in pairwise(("planning", "plan_review", "codegen", "review", "test")):
        if state == phase:
            break
        open_gate(task, state, following)
        say(task, "/next")
    if phase == "test":  # red, until the gate is to open
        (task.tree / "app.py").write_text("broken(\n", encoding="utf-8")
    assert task.phase == phase


def open_gate(task: GlobalTask, state: str, to: str) -> None:
    if state == "planning":
        task.put("planning/planning.ai.json", PLAN)
        task.put("plan.files.json", ["app.py"])
    elif state == "plan_review":
        task.put("review/plan-review.json", {"ok": to == "codegen", "blocked": to != "codegen"})
    elif state == "codegen":
        app = task.tree / "app.py"
        app.write_text(app.read_text(encoding="utf-8") + "# worked on\n", encoding="utf-8")
    elif state == "review":
        task.put("review/code-review.json", {"ok": True, "issues": []})
    elif state == "test":
        from tests.conftest import APP

        (task.tree / "app.py").write_text(f"{APP}# worked on\n", encoding="utf-8")


@pytest.mark.requirement("S1.73")
def test_trigger_of_phase_task_is_in_has_it_worked_on(agents: Agents) -> None:
    task = make_global(agents)
    said = say(task, "/plan")
    assert task.entries("run_ended")[-1]["state"] == "planning"
    assert "moved: planning -> plan_review" in said
    assert len(task.entries("run_ended")) == 1  # one run, of this phase
    say(task, "/review plan")
    say(task, "/codegen")
    say(task, "/review code")
    assert [line["state"] for line in task.entries("run_ended")] == ["planning", "plan_review", "codegen", "review"]
    assert task.phase == "accept"  # tests are the engine's, and it has run them
    said = say(task, "/accept it does what was asked")
    assert "moved: accept -> done" in said
    assert task.read("accept/decision.json")["verdict"] == "accepted"
    task.audit()


@pytest.mark.requirement("S1.71")
def test_revert_takes_the_work_back_and_records_why(agents: Agents) -> None:
    task = at(agents, "accept")
    assert "needs a reason" in say(task, "/revert", code=1)
    assert not (task.folder / "accept/decision.json").exists()
    work = task.tree.joinpath("app.py").read_text(encoding="utf-8")
    said = say(task, '/revert "it broke the import"')
    assert "moved: accept -> revert" in said
    assert task.tree.joinpath("app.py").read_text(encoding="utf-8") != work
    record = task.read("revert/record.json")
    assert record["reason"] == "it broke the import"
    assert task.read("accept/decision.json")["verdict"] == "revert"
    assert record["commit"] == git(task, "rev-parse", f"global/{task.id}")
    assert git(task, "diff", "--stat", "main", f"global/{task.id}") == ""
    assert "moved: revert -> done" in say(task, "/revert")  # in revert: have it worked on
    task.audit()


@pytest.mark.requirement("S1.71")
def test_revert_after_landing_passes_accept_and_lands_again(agents: Agents) -> None:
    task = at(agents, "accept")
    say(task, "/accept")
    assert task("land", task.id, cwd=task.repo).code == 0
    assert "# worked on" in (task.repo / "app.py").read_text(encoding="utf-8")
    assert "going back needs a reason" in say(task, "/revert", code=1)
    said = say(task, "/revert a regression was found")
    assert "moved: done -> accept" in said
    assert "moved: accept -> revert" in said
    say(task, "/next")
    assert task.phase == "done"
    landed = task("land", task.id, cwd=task.repo)
    assert landed.code == 0, landed
    assert "# worked on" not in (task.repo / "app.py").read_text(encoding="utf-8")
    assert task.read("revert/record.json")["reason"] == "a regression was found"
    task.audit()


@pytest.mark.requirement("S1.72")
def test_redo_repeats_a_phase_and_keeps_its_artifacts(agents: Agents) -> None:
    task = at(agents, "accept")
    diff = (task.folder / "code/diff.patch").read_bytes()
    assert "accept -> revert is no step back" in say(task, "/redo revert", code=1)
    assert "moved: accept -> codegen" in say(task, "/redo codegen the names are bad")
    assert (task.folder / "versions/codegen-1/code/diff.patch").read_bytes() == diff
    kept = sorted(str(path.relative_to(task.folder)) for path in (task.folder / "versions").rglob("*.json"))
    assert kept == [
        "versions/codegen-1/eval/eval-report.json",
        "versions/codegen-1/review/code-review.json",
    ]
    assert (task.folder / "review/plan-review.json").exists()  # of an earlier phase
    assert task.read("state.json")["actors"]["codegen"]["round"] == 2
    say(task, "/redo codegen once more")
    assert task.read("state.json")["actors"]["codegen"]["round"] == 3
    assert "moved: codegen -> planning" in say(task, "/redo")  # without a phase: planning
    assert (task.folder / "versions/planning-1/planning/planning.ai.json").exists()
    assert not (task.folder / "planning/planning.ai.json").exists()
    assert "planning -> codegen is no step back" in say(task, "/redo codegen", code=1)
    task.audit()


@pytest.mark.requirement("S1.72")
def test_only_redo_leaves_done_and_done_is_reachable_again(agents: Agents) -> None:
    task = at(agents, "accept")
    say(task, "/accept")
    assert "done is an end" in say(task, "/plan because", code=1)
    said = say(task, "/redo")
    assert [line for line in said.splitlines() if line.startswith("moved")] == [
        "moved: done -> planning  (redo-planning)"
    ]
    assert task.read("state.json")["actors"]["planning"]["round"] == 2
    agents.script("planning", f"{out('planning.ai.json', PLAN, round=2)}; {out('plan.files.json', ['app.py'])}")
    agents.script("plan_review", out("plan-review.json", {"ok": True, "blocked": False, "round": 2}))
    agents.script("codegen", "echo '# again' >> app.py")
    agents.script("review", f"{CODE_OK}; {out('code-review.json', {'ok': True, 'issues': [], 'round': 2})}")
    task.run(expect=4)
    assert task.phase == "accept"
    say(task, "/accept")
    assert task.phase == "done"
    task.audit()


def git(task: GlobalTask, *words: str) -> str:
    import subprocess

    return subprocess.run(["git", *words], cwd=task.repo, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.requirement("S1.58")
@pytest.mark.parametrize(
    ("line", "phase"), [("/plan", "planning"), ("/codegen", "codegen"), ("/review code", "review")]
)
def test_sending_accepted_work_back_needs_a_reason(agents: Agents, line: str, phase: str) -> None:
    task = at(agents, "accept")
    assert "needs a reason" in say(task, line, code=1)
    assert not (task.folder / "accept/decision.json").exists()
    assert f"moved: accept -> {phase}" in say(task, f"{line} the names are bad")
    assert task.read("accept/decision.json")["reason"] == "the names are bad"
