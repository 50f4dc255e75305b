"""What the engine itself sees and writes of a `global` task: the change, the tests, the decision, state.json."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Protocol

import pytest

from detent.core.values import Refuse, Signal
from detent.errors import UnreadableError
from detent.faces.words.history import history_words
from detent.gates.json_artifacts import misfit
from detent.machines.load import load
from detent.machines.schemas import schema_text
from detent.runner.make.adopt import adopt
from detent.runner.make.begin import NewTask
from detent.runner.make.vocabulary import vocabulary
from detent.runner.tell.explain import explain
from detent.store.disk.atomic import read_text
from detent.store.journal.events import from_line
from detent.verify.audit import audit
from tests.conformance.global_desk import (
    CODE_REVIEW,
    DECISION,
    EVAL,
    FILES,
    PLAN,
    PLAN_REVIEW,
    PLANNING,
    RECORD,
    REPORT,
    SETTINGS,
    GlobalDesk,
)
from tests.conftest import Detent, MakeRepo

SAMPLE = {
    "planning": {"round": 3, "status": "workshop"},
    "codegen": {"status": "pending"},
    "review": {"status": None},
    "test": {"status": None},
}


@pytest.fixture(autouse=True)
def _homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


class At(Protocol):
    """Makes a task that stands in a phase, with more keys of its state file."""

    def __call__(self, phase: str, **state: object) -> GlobalDesk: ...


@pytest.fixture
def at(repo: MakeRepo, tmp_path: Path) -> At:
    return partial(GlobalDesk, repo, tmp_path)


# --- the change ---


@pytest.mark.requirement("S1.33")
@pytest.mark.requirement("S1.34")
def test_code_is_completed_by_engine_s_own_patch_and_files(at: At) -> None:
    desk = at("codegen")
    desk.put("code/diff.patch", "--- a\n+++ b\n")
    (desk.folder / "code/files").mkdir()
    desk.put("code/files/app.py", "2\n")
    assert set(desk.refused("review")) == {"diff_filed", "files_filed"}, "an agent's own copies are claims"
    assert not (desk.folder / "code/diff.patch").exists()
    desk.work()
    assert desk.moved("review") == "codegen-completed"
    assert read_text(str(desk.folder / "code/files/app.py")) == "2\n"
    assert "+2\n" in (desk.folder / "code/diff.patch").read_text(encoding="utf-8")
    assert audit(desk.task).ok


@pytest.mark.requirement("S1.35")
def test_work_outside_plan_goes_to_planning_and_names_the_files(at: At) -> None:
    desk = at("codegen")
    desk.work("app.py")
    desk.work("other.py")
    desk.work("new.txt", "new\n")
    assert desk.refused("review") == {"in_scope": f"not in {PLANNING}: new.txt, other.py"}
    assert desk.moved() == "scope-mismatch"
    assert desk.lines("moved")[-1]["facts"]["out_of_scope"]["note"] == f"not in {PLANNING}: new.txt, other.py"


@pytest.mark.requirement("S1.36")
@pytest.mark.parametrize(("signal", "to"), [("plan_incomplete", "planning"), ("plan_unclear", "plan_review")])
def test_plan_gaps_lead_to_planning_and_unclear_parts_to_review(at: At, signal: str, to: str) -> None:
    desk = at("codegen")
    desk.work()
    desk.put(REPORT, {"signal": signal})
    assert "nothing_signalled" in desk.refused("review"), "a signal without its reason is none, and is not passed over"
    desk.put(REPORT, {"signal": signal, "reason": "no word about the parser"})
    assert "nothing_signalled" in desk.refused("review")
    desk.moved()
    assert desk.state == to


@pytest.mark.requirement("S1.32")
def test_a_broken_plan_leads_back_despite_its_approval(repo: MakeRepo, tmp_path: Path) -> None:
    desk = GlobalDesk(repo, tmp_path, "plan_review", plan={"summary": "count words", "open_questions": []})
    desk.put(PLAN_REVIEW, {"ok": True, "blocked": False})
    assert "lists no files" in desk.refused("codegen")["plan_holds"]
    assert desk.moved() == "review-needs-changes"
    assert desk.lines("moved")[-1]["way"] == 2


# --- stale artifacts ---


@pytest.mark.requirement("S1.58")
def test_after_a_regression_nothing_old_opens_a_move_again(at: At) -> None:
    desk = at("planning")
    desk.put(PLANNING, PLAN)
    desk.moved("plan_review")
    desk.put(PLAN_REVIEW, {"ok": True, "blocked": False})
    desk.moved("codegen")
    desk.work()
    desk.moved("review")
    desk.put(CODE_REVIEW, {"issues": [{"severity": "blocking"}]})
    desk.moved("codegen")
    assert set(desk.refused("review")) == {"diff_changed"}, "the same change is no answer"
    desk.work(text="3\n")
    desk.moved("review")
    assert set(desk.refused("codegen")) == {"code_issues"}, "the old review is no reason to go back again"
    desk.put(CODE_REVIEW, {"issues": [{"severity": "blocking", "target": "plan"}]})
    desk.moved("planning")
    assert {"plan_written", "questions_closed", "plan_renewed"} == set(desk.refused("plan_review"))
    desk.put(PLANNING, {**PLAN, "round": 2})
    desk.moved("plan_review")
    assert set(desk.refused("codegen")) == {"plan_ok"}, "the plan has changed, its old review says nothing of it"
    assert audit(desk.task).ok


# --- tests and lint ---


@pytest.mark.requirement("S1.40")
def test_passing_tests_lead_to_acceptance_with_the_engine_s_report(at: At) -> None:
    desk = at("test")
    desk.put(EVAL, {"status": "completed", "ok": False, "by": "an agent"})
    assert desk.moved() == "tests-complete"
    report = desk.read(EVAL)
    assert misfit(EVAL, "global/eval-report", report) == ""
    assert (report["status"], report["ok"], report["by"]) == ("completed", True, "engine")
    assert [(command["name"], command["exit"]) for command in report["commands"]] == [("test", 0), ("lint", 0)]
    assert report["tree"] == desk.lines("moved")[-1]["tree"]
    assert audit(desk.task).ok


@pytest.mark.parametrize(
    "file",
    [
        pytest.param("test.sh", marks=pytest.mark.requirement("S1.41")),
        pytest.param("lint.sh", marks=pytest.mark.requirement("S1.42")),
    ],
)
def test_failing_suite_or_lint_leads_back_whatever_a_report_claims(at: At, file: str) -> None:
    desk = at("test")
    desk.work(file, "echo broken; exit 3\n")
    desk.put(EVAL, {"status": "completed", "ok": True, "tree": "", "commands": []})
    assert "tests_passed" in desk.refused("accept")
    assert desk.moved() == "test-failures"
    report = desk.read(EVAL)
    assert report["ok"] is False
    assert [command["exit"] for command in report["commands"] if not command["ok"]] == [3]
    assert "exit 3" in desk.lines("moved")[-1]["facts"]["tests_failed"]["note"]
    history = history_words([from_line(line) for line in desk.lines("moved")[-1:]])
    assert ", because tests_failed: " in history, history
    assert history.endswith(f"{file}: exit 3: broken"), history


@pytest.mark.requirement("S1.40")
def test_failing_tests_are_accepted_only_by_override_with_its_reason(at: At) -> None:
    desk = at("test")
    desk.work("test.sh", "exit 1\n")
    assert isinstance(desk.ask("accept").decision, Refuse)
    assert isinstance(desk.ask("accept", override="  ").decision, Refuse), "without a reason it is none"
    assert desk.moved("accept", override="the test is wrong") == "tests-complete"
    line = desk.lines("moved")[-1]
    assert (line["waived"], line["override"]) == (["tests_passed"], "the test is wrong")
    assert desk.read(EVAL)["ok"] is False, "the report says what was run all the same"


def test_a_suite_that_dies_has_failed(at: At) -> None:
    desk = at("test")
    desk.work("test.sh", "kill -9 $$\n")
    assert desk.moved() == "test-failures"


def test_a_set_up_that_fails_says_nothing_about_the_work(repo: MakeRepo, tmp_path: Path) -> None:
    desk = GlobalDesk(repo, tmp_path, "test", settings=f'{SETTINGS}[workspace]\nsetup = "exit 7"\n')
    assert "set-up failed" in desk.refused("accept")["tests_passed"]
    assert "that says nothing about the work" in desk.refused("codegen")["tests_failed"]


def test_without_any_command_nothing_is_proven(repo: MakeRepo, tmp_path: Path) -> None:
    desk = GlobalDesk(repo, tmp_path, "test", settings="")
    assert desk.refused("accept") == {"tests_passed": "neither the project nor the task names a command"}
    assert set(desk.refused("codegen")) == {"tests_failed"}


def test_override_of_open_move_waives_nothing_and_keeps_its_words(at: At) -> None:
    desk = at("test")
    assert desk.moved("accept", override="slow is fine here") == "tests-complete"
    line = desk.lines("moved")[-1]
    assert (line["waived"], line["override"], line["reason"]) == ([], "", "slow is fine here")


# --- override of a review ---


@pytest.mark.requirement("S1.38")
def test_a_blocking_review_passes_only_by_a_person_s_override(at: At) -> None:
    desk = at("review")
    desk.put(CODE_REVIEW, {"issues": [{"severity": "blocking", "message": "slow"}]})
    assert "review_clear" in desk.refused("test")
    for who in ("agent", "engine"):
        decision = desk.signal(Signal(who, "test", override="I am sure")).decision
        assert desk.state == "review", decision
    assert desk.moved("test", override="slow is fine here") == "review-passes"
    event = desk.transcript()[-1]
    assert (event["override"], event["waived"]) == ("slow is fine here", "review_clear")


# --- the decision ---


@pytest.mark.requirement("S1.43")
@pytest.mark.requirement("S1.44")
def test_a_person_s_command_is_recorded_as_the_decision(at: At) -> None:
    desk = at("test")
    desk.moved("accept")
    assert set(desk.refused(reason="go on")) == {"decision_accepted"}, "whatever is open next is no decision"
    path = desk.put(DECISION, {"verdict": "needs_changes"})
    refused = desk.refused("done", reason="all fine", verb="approve")
    assert set(refused) == {"prepare"}, "a decision that says otherwise is not overwritten"
    path.unlink()
    assert desk.moved("done", "all fine", verb="approve") == "accepted"
    found = desk.read(DECISION)
    assert (found["verdict"], found["reason"], found["by"]) == ("accepted", "all fine", "ann")
    assert misfit(DECISION, "global/decision", found) == ""
    line = desk.lines("moved")[-1]
    assert line["prepared"]["decision"]["verdict"] == "accepted"
    assert line["signed"]
    assert audit(desk.task).ok


def test_what_is_accepted_was_tested_as_it_is(at: At) -> None:
    desk = at("test")
    desk.moved("accept")
    desk.work("test.sh", "exit 1\n")
    assert set(desk.refused("done", reason="I looked")) == {"tests_passed"}, (
        "a change behind the tests' back is tested before it is signed"
    )
    desk.work("test.sh", "exit 0\n# another one\n")
    assert set(desk.refused("done")) == {"signed_as_is"}, "no move of this task has judged these files"
    assert desk.moved("done", "I looked at it") == "accepted"
    assert desk.lines("proved")[-1]["tree"] == desk.lines("moved")[-1]["tree"]


def test_overridden_work_can_be_accepted_while_it_is_unchanged(at: At) -> None:
    desk = at("test")
    desk.work("test.sh", "exit 1\n")
    desk.moved("accept", override="the test is wrong")
    desk.work("app.py", "3\n")
    assert isinstance(desk.ask("done", "I looked").decision, Refuse)
    desk.work("app.py", "1\n")
    assert desk.moved("done", "I looked") == "accepted"


@pytest.mark.requirement("S1.43")
def test_a_decision_that_was_there_before_is_none(repo: MakeRepo, tmp_path: Path) -> None:
    (tmp_path / "task" / "accept").mkdir(parents=True)
    (tmp_path / "task" / DECISION).write_text('{"verdict": "accepted"}', encoding="utf-8")
    (tmp_path / "task").rename(tmp_path / "kept")
    desk = GlobalDesk(repo, tmp_path, "test")
    (tmp_path / "kept" / "accept").rename(desk.folder / "accept")
    desk.moved("accept")
    assert "is unchanged since accept was entered" in desk.refused(reason="go on")["decision_accepted"]


@pytest.mark.parametrize(
    ("verdict", "target"),
    [
        pytest.param("revert", "revert", marks=pytest.mark.requirement("S1.45")),
        pytest.param("regression", "revert", marks=pytest.mark.requirement("S1.46")),
        pytest.param("needs_changes", "codegen"),
        pytest.param("unclear", "review"),
        pytest.param("upstream", "planning"),
    ],
)
def test_the_recorded_verdict_says_where_an_unaccepted_task_goes(at: At, verdict: str, target: str) -> None:
    desk = at("accept")
    desk.put(DECISION, {"verdict": verdict, "reason": "because"})
    desk.moved()
    assert desk.state == target


@pytest.mark.requirement("S1.47")
def test_revert_ends_the_task_once_its_record_has_a_reason(at: At) -> None:
    desk = at("revert")
    assert desk.refused("done") == {"reverted": f"{RECORD} is missing"}
    desk.put(RECORD, {"commit": "abc"})
    assert f"{RECORD} /" in desk.refused("done")["reverted"]
    desk.put(RECORD, {"reason": "it broke the import"})
    assert desk.moved() == "revert-to-done"


# --- state.json ---


@pytest.mark.requirement("S1.48")
@pytest.mark.requirement("S1.50")
@pytest.mark.requirement("S1.53")
def test_the_phase_stands_in_the_file_and_follows_every_move(at: At) -> None:
    desk = at("planning")
    assert desk.read("state.json")["phase"] == "planning"
    desk.put(PLANNING, PLAN)
    desk.moved("plan_review")
    assert desk.read("state.json")["phase"] == "plan_review"


@pytest.mark.requirement("S1.50")
def test_actors_of_another_tool_are_kept_and_counted_on(at: At) -> None:
    more = {"tester": {"mood": "calm", "load": 1.50}}
    desk = at("codegen", actors={**SAMPLE, **more}, owner="me")
    found = desk.read("state.json")
    assert found["owner"] == "me"
    assert found["actors"]["planning"] == {"round": 3, "status": "workshop"}
    assert found["actors"]["tester"] == {"mood": "calm", "load": 1.50}
    assert found["actors"]["review"] == {"status": None}, "nothing was there yet"
    assert "1.5" in (desk.folder / "state.json").read_text(encoding="utf-8")
    desk.work("other.py")
    desk.moved("planning")
    actors = desk.read("state.json")["actors"]
    assert actors["planning"] == {"round": 4, "status": "pending"}
    assert actors["codegen"] == {"status": "scope mismatch", "round": 1}
    assert actors["tester"] == {"mood": "calm", "load": 1.50}
    # Status and round of a known phase are the engine's.
    actors["planning"] = {"round": 9, "status": "workshop"}
    desk.put("state.json", {**desk.read("state.json"), "actors": actors})
    desk.put(PLANNING, {**PLAN, "round": 4})
    assert desk.moved("plan_review")
    assert desk.read("state.json")["actors"]["planning"] == {"round": 4, "status": "planning succeeded"}


@pytest.mark.requirement("S1.51")
@pytest.mark.requirement("S1.52")
@pytest.mark.requirement("S1.55")
def test_what_is_open_is_told_from_the_artifacts_on_disk(at: At) -> None:
    desk = at("plan_review")

    def open_moves() -> dict[str, bool]:
        moves = explain(desk.task, with_moves=True).moves
        return {move.name: move.is_open for move in moves if not move.is_reopen}

    assert open_moves() == {"review-ok": False, "review-blocked": False, "review-needs-changes": False}
    desk.put(PLAN_REVIEW, {"ok": True, "blocked": True})
    assert open_moves() == {"review-ok": False, "review-blocked": True, "review-needs-changes": False}
    desk.put(PLAN_REVIEW, {"ok": True, "blocked": False})
    assert open_moves() == {"review-ok": True, "review-blocked": False, "review-needs-changes": False}
    (desk.folder / PLAN_REVIEW).unlink()
    assert not any(open_moves().values())


@pytest.mark.requirement("S1.56")
@pytest.mark.parametrize("phase", ["planning", "plan_review", "codegen", "review", "accept", "revert"])
def test_asking_again_with_unchanged_artifacts_logs_nothing(at: At, phase: str) -> None:
    desk = at(phase)
    first = desk.refused()
    lines, log = len(desk.lines()), desk.transcript()
    for _ in range(3):
        assert desk.refused() == first
    assert (len(desk.lines()), desk.transcript()) == (lines, log)


@pytest.mark.requirement("S1.56")
def test_running_a_phase_again_keeps_later_artifacts_as_a_version(at: At) -> None:
    desk = at("codegen")
    desk.work()
    desk.put(EVAL, {"old": 1})
    assert desk.moved("re-run-codegen") == "re-run-codegen"
    desk.work(text="3\n")
    desk.moved("review")
    (kept,) = (desk.folder / "versions").rglob(EVAL.rpartition("/")[2])
    assert json.loads(kept.read_text(encoding="utf-8")) == {"old": 1}
    assert desk.read(PLANNING) == PLAN
    assert (desk.folder / "code/files/app.py").read_text(encoding="utf-8") == "3\n"


@pytest.mark.requirement("S1.57")
def test_done_does_not_go_on_by_itself(at: At) -> None:
    desk = at("revert")
    desk.put(RECORD, {"reason": "it broke the import"})
    desk.moved()
    lines = len(desk.lines())
    for who in ("engine", "agent", "person"):
        for want in ("", "planning", "codegen", "accept"):
            desk.signal(Signal(who, want, name="x"))
            assert desk.state == "done"
    assert [entry["kind"] for entry in desk.lines()[lines:] if entry["kind"] != "refused"] == []


# --- damaged artifacts ---

SPOILT = {
    "no JSON": '{"phase": ',
    "no object": "[]",
    "no phase": '{"actors": {}}',
    "a phase nobody knows": '{"phase": "shipping"}',
    "empty": "",
    "a key twice": '{"phase": "planning", "phase": "test"}',
}


@pytest.mark.parametrize("how", SPOILT)
def test_damaged_state_file_is_an_error_and_is_never_overwritten(at: At, how: str) -> None:
    desk = at("planning")
    path = desk.put("state.json", SPOILT[how])
    with pytest.raises(UnreadableError) as error:
        desk.ask("plan_review")
    assert path.read_text(encoding="utf-8") == SPOILT[how]
    assert "doctor --repair" in error.value.next_step


@pytest.mark.parametrize("how", SPOILT)
def test_a_folder_with_a_damaged_state_file_is_not_adopted(repo: MakeRepo, tmp_path: Path, how: str) -> None:
    tree, folder = repo("plain", {"a": ""}), tmp_path / "spoilt"
    folder.mkdir()
    (folder / "state.json").write_text(SPOILT[how], encoding="utf-8")
    with pytest.raises(UnreadableError):
        adopt(NewTask("global", "x", "x", str(tree), str(folder), by="ann"))
    assert (folder / "state.json").read_text(encoding="utf-8") == SPOILT[how]
    assert os.listdir(folder) == ["state.json"]


# --- locks ---


def test_the_plan_is_locked_once_it_is_handed_over(at: At) -> None:
    desk = at("planning")
    desk.put(PLANNING, PLAN)
    desk.moved("plan_review")
    desk.put(PLANNING, {**PLAN, "files": ["app.py", "other.py"]})
    desk.put(FILES, ["other.py"])
    desk.put(PLAN_REVIEW, {"ok": True, "blocked": False})
    outcome = desk.ask("codegen")
    assert "is locked in plan_review and was put back" in "; ".join(outcome.notes)
    assert desk.read(PLANNING) == PLAN
    assert not (desk.folder / FILES).exists()
    assert desk.state == "codegen"


def test_the_schemas_are_published_by_a_command(detent: Detent) -> None:
    found = detent("machine", "show", "global", "--schemas").json()
    assert "global/eval-report" in found
    assert all(schema["title"].endswith(".json") and schema["description"] for schema in found.values())
    assert detent("machine", "show", "phase", "--schemas").json() == {}


def test_the_schemas_hold_for_what_the_refusals_show() -> None:
    machine = load("global", vocabulary())[0]
    for gate in machine.gates.values():
        schema = gate.params.get("schema")
        if not schema or "e.g. {" not in gate.fix:
            continue
        assert json.loads(schema_text(schema))["description"]
        example, _ = json.JSONDecoder().raw_decode(gate.fix.partition("e.g. ")[2])
        assert misfit(gate.params["file"], schema, example) == "", gate.name


@pytest.mark.requirement("S1.61")
def test_a_forged_transcript_line_fails_the_audit(at: At) -> None:
    desk = at("codegen")
    path = desk.folder / "transcript.jsonl"
    ours = path.read_text(encoding="utf-8")
    assert audit(desk.task).ok
    forged = '{"type": "phase.changed", "by": "person", "override": "I said so", "to": "done"}\n'
    path.write_text(ours + forged, encoding="utf-8")
    (found,) = audit(desk.task).findings
    number = len(ours.splitlines()) + 1
    assert f"line {number} of transcript.jsonl is not from the engine" in found.what
    assert not found.is_warning
    path.write_text(ours + ours.splitlines(keepends=True)[-1], encoding="utf-8")
    assert not audit(desk.task).ok, "a line that is told twice"
