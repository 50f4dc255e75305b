"""The cheat at the keyboard: the ways to get further without proof, tried through the command line."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo, hear_signals, let_out
from tests.e2e.phase_task import ANSWERS, CANDIDATE, CHECK, FRAME, RESULT, PhaseTask

At = Callable[[str], PhaseTask]


def restored(task: PhaseTask) -> str:
    """Everything the history says was put back."""
    return " ".join(str(line["why"]) for line in task.history() if line["kind"] == "restored")


# --- done too early ---


@pytest.mark.parametrize(
    "stage", ["intake", "shape", "implement", "verify", "repair", "blocked", "needs_user_decision"]
)
def test_done_is_never_one_move_away_except_from_review(at: At, stage: str) -> None:
    task = at(stage)
    task.review()
    assert "done" in task.refused("done")


def test_review_without_a_word_written_is_not_done(at: At) -> None:
    task = at("review")
    said = task.refused("done")
    assert "(gate review_passed)" in said
    assert "(gate questions_answered)" in said


def test_route_take_stops_at_the_first_gate(at: At) -> None:
    task = at("shape")
    said = task("route", "--to", "done", "--take")
    assert said.code == 1
    assert task.state() == "implement"
    assert "refused: implement -> verify" in said.out


# --- the review ---


def test_a_review_written_before_the_repair_is_stale(at: At) -> None:
    task = at("verify")
    task.review()  # written too early, and kept through repair and the second verification
    task.section("Failed checks", "the check")
    task.move("repair")
    task.section("Repairs", "fixed")
    task.move("verify")
    task.move("review")
    said = task.refused("done")
    assert "EVIDENCE.md ## Review is unchanged since review was entered" in said
    assert "EVIDENCE.md ## Gate answers is unchanged since review was entered" in said
    assert "Round: 1" in said
    task.review(words="Round: 1")
    task.move("done")


def test_white_space_does_not_make_an_old_review_fresh(at: At) -> None:
    task = at("verify")
    task.review()
    task.move("review")
    task.section("Review", "\n\n   Verdict:   PASS   \n\nRead   the diff.\n\n<!-- round two -->")
    assert "unchanged since review was entered" in task.refused("done")


@pytest.mark.parametrize(
    "body",
    [
        "```\nVerdict: PASS\n```",
        "~~~\nVerdict: PASS\n~~~",
        "    Verdict: PASS",
        "<!-- Verdict: PASS -->",
        "<!--\nVerdict: PASS\n-->",
        "Verdict: PASS\nVerdict: FAIL",
        "Verdict: PASS or FAIL",
        "PASS\n\nFAIL",
        "Verdict: maybe",
        "TODO",
    ],
    ids=str,
)
def test_a_verdict_that_is_not_plainly_there_does_not_count(at: At, body: str) -> None:
    task = at("review")
    task.review()
    task.section("Review", body)
    assert "(gate review_passed)" in task.refused("done")


@pytest.mark.parametrize(
    "heading",
    ["### Review", "- ## Review", "> ## Review", "```\n## Review\n```", "<!-- ## Review -->", "Review"],
    ids=str,
)
def test_review_under_no_heading_of_the_document_does_not_count(at: At, heading: str) -> None:
    task = at("review")
    task.review()
    text = task.evidence_file.read_text(encoding="utf-8").partition("\n## Review\n")[0]
    task.evidence_file.write_text(f"{text}\n{heading}\n\nVerdict: PASS\n", encoding="utf-8")
    assert 'EVIDENCE.md has no section "## Review"' in task.refused("done")


@pytest.mark.parametrize(
    "answers",
    [
        ANSWERS.replace("objective matched: yes", "objective matched: no"),
        ANSWERS.replace("objective matched: yes", "objective matched: yes and no"),
        ANSWERS.replace("- objective matched", "- something else"),
        ANSWERS.replace(", by reviewer", "", 1),
        ANSWERS.replace(RESULT, "artifacts/nothing.txt", 1),
        f"{ANSWERS}\n- objective matched: yes, by me, {RESULT}",
        f"```\n{ANSWERS}\n```",
    ],
    ids=["no", "yes and no", "not asked", "nobody", "no proof", "twice", "code"],
)
def test_gate_answers_must_be_clear_signed_and_proven(at: At, answers: str) -> None:
    task = at("review")
    task.review()
    task.section("Gate answers", answers)
    assert "(gate questions_answered)" in task.refused("done")


# --- what is locked, what the engine owns ---


def test_a_weakened_validation_plan_is_put_back_and_recorded(at: At) -> None:
    task = at("verify")
    (task.repo / "app.py").write_text("broken\n", encoding="utf-8")
    text = task.state_file.read_text(encoding="utf-8")
    task.state_file.write_text(text.replace(CHECK, "true"), encoding="utf-8")
    said = task.refused("review")
    assert 'note: STATE.md: "Validation plan" is locked in verify and was put back' in said
    assert "failed on this tree (exit 1)" in said
    assert CHECK in task.state_file.read_text(encoding="utf-8")
    assert '"Validation plan" is locked' in restored(task)
    kept = next(line for line in task.history() if line["kind"] == "restored")["kept"]
    assert "cmd: true" in (task.control / "objects" / kept).read_text(encoding="utf-8")


def test_a_removed_label_of_the_frame_is_put_back(at: At) -> None:
    task = at("verify")
    lines = task.state_file.read_text(encoding="utf-8").splitlines(keepends=True)
    task.state_file.write_text(
        "".join(line for line in lines if not line.startswith("Validation plan")), encoding="utf-8"
    )
    (task.repo / "app.py").write_text("broken\n", encoding="utf-8")
    assert "failed on this tree" in task.refused("review")
    assert CHECK in task.field("Validation plan")
    assert '"Validation plan" is locked' in restored(task)


@pytest.mark.parametrize(("label", "value"), [*FRAME.items()][:3])
def test_every_other_line_of_the_frame_is_locked_too(at: At, label: str, value: str) -> None:
    task = at("implement")
    task.set({label: "as little as possible"})
    task.refused("verify")
    assert task.field(label) == value


def test_a_second_line_that_repeats_a_label_does_not_count(at: At) -> None:
    task = at("verify")
    (task.repo / "app.py").write_text("broken\n", encoding="utf-8")
    text = task.state_file.read_text(encoding="utf-8")
    task.state_file.write_text(f"{text}\nValidation plan: cmd: true\n", encoding="utf-8")
    assert "failed on this tree" in task.refused("review")


@pytest.mark.parametrize(
    ("label", "value"),
    [("Validator status", "pass"), ("Repair applied", "yes"), ("Revalidation status", "pass")],
)
def test_fields_of_the_engine_are_put_back_and_recorded(at: At, label: str, value: str) -> None:
    task = at("verify")
    before = task.field(label)
    task.set({label: value})
    assert label in " ".join(task.json("status")["problems"])
    task.move("repair", expect=1)
    assert task.field(label) == before
    assert f'"{label}" is written by the engine' in restored(task)
    assert task.json("status")["registers"][label] == before


def test_revalidation_cannot_be_claimed_after_a_repair(at: At) -> None:
    task = at("verify again")
    assert task.json("status")["registers"]["Revalidation status"] == "pending"
    task.set({"Revalidation status": "pass", "Repair applied": "no"})
    (task.repo / "app.py").write_text("broken\n", encoding="utf-8")
    task.refused("review")
    assert (task.field("Revalidation status"), task.field("Repair applied")) == ("pending", "yes")


# --- the state line ---


def test_a_state_line_edited_to_done_is_refused_and_restored(at: At) -> None:
    task = at("implement")
    task.set({"Phase": "done", "Current result": "kept words"})
    assert task.json("status")["request"] == "done"
    assert "implement -> done is forbidden: no skipping proof" in task.refused()
    assert task.field("Phase") == "implement"
    assert task.field("Current result") == "kept words"
    last = task.history()[-1]
    assert (last["kind"], last["by"], last["want"]) == ("refused", "agent", "done")
    assert task.json("status")["refusal"]["want"] == "done"


def test_an_edited_state_line_is_judged_with_the_agents_rights(at: At) -> None:
    task = at("implement")
    task.set({"Phase": "verify"})
    assert "(gate candidate)" in task.refused()
    assert task.field("Phase") == "implement"
    task.candidate()
    task.set({"Phase": "verify"})
    task.move()
    moved = [line for line in task.history() if line["kind"] == "moved"][-1]
    assert (moved["by"], moved["name"], moved["reason"]) == ("agent", "builder", "asked by STATE.md")


@pytest.mark.parametrize("stage", ["blocked", "needs_user_decision"])
def test_a_file_never_leads_out_of_an_end(at: At, stage: str) -> None:
    task = at(stage)
    task.set({"Phase": "implement"})
    said = task.refused()
    assert "only person may take this move, not agent" in said
    assert "a person runs: detent resume" in said
    assert task.field("Phase") == stage
    assert task.history()[-1]["kind"] == "refused"


def test_done_stays_done(at: At) -> None:
    task = at("done")
    task.set({"Phase": "implement"})
    task.refused()
    assert task.field("Phase") == "done"
    task.refused("implement", "--reason", "please")
    assert task("resume", "--reason", "please").code == 1
    assert task.state() == "done"


def test_an_old_copy_of_the_file_is_no_request(at: At) -> None:
    old = at("verify").state_file.read_bytes()
    task = at("review")
    task.state_file.write_bytes(old)
    assert task.json("status")["request"] == ""
    task.refused("done")
    assert task.field("Phase") == "review"
    assert "older copy" in restored(task)
    assert not [line for line in task.history() if line["kind"] == "refused"]


def test_a_copy_brought_back_by_git_is_no_request(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    folder = path / "task"
    assert detent("new", "count", "--id", "words", "--dir", folder, cwd=path).code == 0
    repo.git(path, "add", "--all")
    repo.git(path, "commit", "--quiet", "--message=Notes")
    task = PhaseTask(detent, path, folder)
    task.set(FRAME)
    task.move("shape")
    repo.git(path, "checkout", "--", "task/STATE.md")
    assert task.field("Phase") == "intake"
    task("move")
    assert task.state() == "shape"
    assert task.field("Phase") == "shape"
    assert "older copy" in restored(task)


# --- rights ---


@pytest.mark.parametrize(
    "words",
    [
        ("answer", "go on"),
        ("resume", "--reason", "go on"),
        ("amend", "--reason", "go on"),
        ("doctor", "--repair"),
        ("adopt", ".", "phase"),
        ("new", "another"),
    ],
    ids=lambda words: str(words[0]),
)
def test_what_people_hold_is_refused_inside_an_agent_run(at: At, words: tuple[str, ...]) -> None:
    task = at("blocked")
    before = task.history()
    said = task(*words, environment={"DETENT_ROLE": "builder"})
    assert said.code == 1
    assert "is for a person" in said.err
    assert task.history() == before


@pytest.mark.parametrize(
    "words",
    [
        ("move", "implement", "--reason", "go on"),
        ("move", "reopen", "--reason", "go on"),
        ("move", "implement", "--as", "agent", "--reason", "go on"),
    ],
    ids=" ".join,
)
def test_an_agent_run_asks_with_an_agents_rights(at: At, words: tuple[str, ...]) -> None:
    task = at("blocked")
    role = {} if "--as" in words else {"DETENT_ROLE": "builder"}
    said = task(*words, environment=role)
    assert said.code == 1
    # A request in an agent's name counts only from inside a living run of this very task.
    assert ("this agent run works on another task" if role else "only person may take this move") in said.out + said.err
    assert task.state() == "blocked"


def test_nothing_raises_rights(at: At) -> None:
    task = at("blocked")
    said = task("move", "implement", "--as", "person", "--reason", "x", environment={"DETENT_ROLE": "builder"})
    assert said.code == 2
    assert task.state() == "blocked"


def test_route_take_is_refused_inside_an_agent_run(at: At) -> None:
    task = at("shape")
    said = task("route", "--to", "implement", "--take", environment={"DETENT_ROLE": "builder"})
    assert (said.code, "is for a person" in said.err, task.state()) == (1, True, "shape")


def test_a_pointer_to_a_forged_journal_does_not_count(at: At, tmp_path: Path) -> None:
    task = at("implement")
    forged = tmp_path / "plane" / "tasks" / task.id
    shutil.copytree(task.control, forged)
    shutil.copytree(task.control.parents[1] / "machines", tmp_path / "plane" / "machines")
    (task.folder / ".detent-task").write_text(f"{forged}\n", encoding="utf-8")
    said = task("status")
    assert said.code == 5
    assert "outside its own project" in said.err
    assert str(task.repo) in said.err


def test_a_changed_pinned_machine_does_not_count(at: At) -> None:
    task = at("implement")
    for pinned in (task.repo / ".git" / "detent" / "machines").iterdir():
        machine = json.loads(pinned.read_bytes())
        for edge in machine["edge"]:
            edge["needs"] = []
        pinned.write_text(json.dumps(machine), encoding="utf-8")
    said = task("move", "verify", task.id, cwd=task.repo)
    assert said.code == 5
    assert "was changed" in said.err


# --- evidence ---


def _outside(task: PhaseTask) -> str:
    (task.folder / "artifacts" / "link").symlink_to("/etc/passwd")
    return "artifacts/link"


def _empty(task: PhaseTask) -> str:
    task.write("artifacts/empty.txt", "")
    return "artifacts/empty.txt"


@pytest.mark.parametrize(
    "named",
    [
        _outside,
        _empty,
        "artifacts",
        "STATE.md",
        "history.jsonl",
        ".detent-task",
        "/etc/passwd",
        "../../../../../../../../etc/passwd",
        "../repo/.git/HEAD",
        "artifacts/not-there.txt",
        "https://example.org/proof",
        "TODO",
        ".",
    ],
    ids=[
        "link out",
        "empty file",
        "empty folder",
        "STATE.md",
        "log",
        "pointer",
        "absolute",
        "dots",
        "git",
        "nothing",
        "web",
        "todo",
        "the folder itself",
    ],
)
def test_evidence_must_be_a_real_file_of_the_task(at: At, named: str | Callable[[PhaseTask], str]) -> None:
    task = at("implement")
    task.set({**CANDIDATE, "Evidence location": named if isinstance(named, str) else named(task)})
    assert "(gate evidence_fresh)" in task.refused("verify")


def test_a_link_to_nothing_is_no_evidence_link(at: At) -> None:
    task = at("review")
    task.review()
    for link in (
        "[proof](artifacts/none.txt)",
        "artifacts/result.txt",
        "",
        "[proof](/etc/passwd)",
        "file:///etc/passwd",
    ):
        task.set({"Evidence link": link})
        assert "(gate evidence_link)" in task.refused("done"), link


# --- proof ---


def test_the_proof_is_for_the_tree_as_it_is(at: At) -> None:
    task = at("verify")
    assert task("prove").code == 0
    (task.repo / "app.py").write_text("broken\n", encoding="utf-8")
    assert task.missing("review")["validation_passed"].startswith("not run on this tree")
    assert "failed on this tree (exit 1)" in task.refused("review")


def test_a_change_after_verification_voids_it_for_done(at: At) -> None:
    task = at("review")
    task.review()
    (task.repo / "app.py").write_text("broken\n", encoding="utf-8")
    assert "failed on this tree" in task.refused("done")


def test_test_that_leans_on_ignored_file_fails_in_the_checkout(at: At) -> None:
    task = at("shape")
    task.set({"Validation plan": "cmd: test -f helper.log"})
    task.move("implement")
    (task.repo / "helper.log").write_text("here\n", encoding="utf-8")  # *.log is ignored by the baseline
    task.candidate()
    task.move("verify")
    assert "'test -f helper.log' failed on this tree" in task.refused("review")


def test_file_hidden_by_a_new_ignore_rule_is_still_seen(at: At) -> None:
    task = at("verify")
    first = task.json("prove")["tree"]
    (task.repo / ".gitignore").write_text("*\n", encoding="utf-8")
    (task.repo / ".git" / "info" / "exclude").write_text("*\n", encoding="utf-8")
    second = task.json("prove")["tree"]
    (task.repo / "hidden.py").write_text("raise SystemExit\n", encoding="utf-8")
    third = task.json("prove")["tree"]
    assert len({first, second, third}) == 3


def test_tree_that_changes_while_it_is_proven_is_not_proven(at: At) -> None:
    task = at("shape")
    # The command runs in a checkout of its own; here no kernel keeps it from writing to the real tree.
    let_out(task.repo)
    task.set({"Validation plan": f"cmd: date +%s%N >> '{task.repo}/app.py'"})
    task.move("implement")
    task.candidate()
    task.move("verify")
    said = task.refused("review")
    assert "the tree changes while it is being proven" in said
    assert "stop what writes to it" in said


def test_the_command_cannot_change_the_tree_it_judges(at: At) -> None:
    task = at("shape")
    task.set({"Validation plan": "cmd: touch made && test -f made"})
    task.move("implement")
    task.candidate()
    task.move("verify")
    task.move("review")
    assert not (task.repo / "made").exists()


def _receipts(task: PhaseTask) -> list[Path]:
    return sorted((task.control / "receipts").glob("*.json"))


def test_a_receipt_copied_to_another_key_proves_nothing(at: At) -> None:
    task = at("verify")
    assert task("prove").code == 0
    (green,) = _receipts(task)
    (task.repo / "app.py").write_text("broken\n", encoding="utf-8")
    task.refused("review")
    (red,) = [path for path in _receipts(task) if path != green]
    red.write_bytes(green.read_bytes())
    task.refused("review")
    assert task.json("prove")["receipts"][0]["exit"] == 1


def test_a_damaged_receipt_proves_nothing_and_is_made_again(at: At) -> None:
    task = at("verify")
    assert task("prove").code == 0
    (receipt,) = _receipts(task)
    for damaged in (b"", b"{", b"[]", b'{"key": 1}', receipt.read_bytes().replace(b"[0]", b'["0x"]')):
        receipt.write_bytes(damaged)
        proven = task.json("prove")["receipts"][0]
        assert (proven["exit"], proven["cached"]) == (0, False)


# --- amending ---


def test_a_person_amends_the_frame_and_earlier_proof_becomes_old(at: At) -> None:
    task = at("review")
    task.review()
    task("prove")
    assert task.missing("done") == {}
    text = task.state_file.read_text(encoding="utf-8")
    task.state_file.write_text(text.replace(CHECK, "test -f app.py"), encoding="utf-8")
    assert f'unless a person accepts it: detent amend --reason "why" {task.id}' in task("status").out
    done = task("amend", "--reason", "the old check was wrong", "--json")
    assert (done.code, done.json()["fields"]) == (0, ["Validation plan"])
    missing = task.missing("done")
    assert "unchanged since review was entered" in missing["review_passed"]
    assert "unchanged since review was entered" in missing["questions_answered"]
    assert missing["validation_passed"].startswith("not run on this tree")
    amended = task.history()[-1]
    assert (amended["kind"], amended["reason"]) == ("amended", "the old check was wrong")
    assert "test -f app.py" in task.state_file.read_text(encoding="utf-8")
    task.review(words="Round: 1")
    task.move("done")


def test_amend_needs_a_reason_a_change_and_a_lock(at: At) -> None:
    task = at("implement")
    assert "needs a reason" in task("amend").err
    assert "nothing differs from what is locked" in task("amend", "--reason", "x").err
    assert "nothing is locked in shape" in at("shape")("amend", "--reason", "x").err


def test_commands_given_to_new_survive_an_amended_plan(at: At) -> None:
    task = at("verify")
    (task.repo / "app.py").write_text("broken\n", encoding="utf-8")
    text = task.state_file.read_text(encoding="utf-8")
    task.state_file.write_text(text.replace(CHECK, "true"), encoding="utf-8")
    assert task("amend", "--reason", "weaker").code == 0
    assert CHECK.partition("'")[0] in task.refused("review")


def test_an_answer_is_quoted_and_leads_back(at: At) -> None:
    task = at("needs_user_decision")
    done = task("answer", "take option A", "--json")
    assert (done.code, done.json()["to"]) == (0, "implement")
    assert "take option A" in task.state_file.read_text(encoding="utf-8").partition("## Answers")[2]
    assert task.history()[-1]["answer"] == "take option A"


def test_a_task_blocked_in_review_comes_back_to_verify(at: At) -> None:
    task = at("review")
    task.set({"Blockers": "which format", "Next step": "A) one, B) both"})
    task.move("needs_user_decision")
    assert task("answer", "both").code == 0
    assert task.state() == "verify"


def test_what_agent_leaves_in_the_repositorys_git_does_not_run(at: At) -> None:
    task = at("verify")
    marker = task.repo.parent / "it-ran"
    program = task.repo / ".git" / "hooks" / "post-checkout"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\n", encoding="utf-8")
    program.chmod(0o755)
    (task.repo / ".git" / "config").write_text(
        f'[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {program}\n[filter "x"]\n\tclean = {program}\n',
        encoding="utf-8",
    )
    (task.repo / ".gitattributes").write_text("* filter=x\n", encoding="utf-8")
    said = task("prove", environment={"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere"})
    assert said.code == 0, said
    assert not marker.exists()


@pytest.mark.parametrize("named", ["README.md", "EVIDENCE.md", "app.py", "artifacts"])
def test_what_was_there_before_is_no_fresh_evidence(at: At, named: str) -> None:
    task = at("implement")
    task.set({**CANDIDATE, "Evidence location": named, "Evidence link": "https://example.org/proof"})
    assert "(gate evidence_fresh)" in task.refused("verify")
    task.write("artifacts/new.txt", "seen now\n")
    task.set({"Evidence location": "artifacts"})
    task.move("verify")


def test_touching_old_evidence_does_not_make_it_fresh(at: At) -> None:
    task = at("implement")
    task.set({**CANDIDATE, "Evidence location": "EVIDENCE.md", "Evidence link": "https://example.org/proof"})
    os.utime(task.evidence_file)
    assert "unchanged since implement was entered" in task.refused("verify")


def test_receipt_that_was_made_green_by_hand_is_run_again(at: At) -> None:
    task = at("verify")
    (task.repo / "app.py").write_text("broken = True\n", encoding="utf-8")
    assert "failed on this tree" in task.refused("review")
    for path in (task.control / "receipts").glob("*.json"):
        path.write_text(path.read_text(encoding="utf-8").replace('"attempts":[1]', '"attempts":[0]'), encoding="utf-8")
    assert "not run on this tree" in task.missing("review")["validation_passed"]
    audited = task("audit")
    assert (audited.code, "was changed" in audited.out) == (1, True)
    assert "failed on this tree" in task.refused("review")


def test_a_receipt_that_no_line_vouches_for_is_no_proof(at: At) -> None:
    """A green receipt of another tree, copied under the key of this one, was never written by the engine."""
    task = at("review")
    green = next((task.control / "receipts").glob("*.json"))
    task("resume")
    (task.repo / "app.py").write_text("broken = True\n", encoding="utf-8")
    task.review()
    assert "failed on this tree" in task.refused("done")
    red = next(path for path in (task.control / "receipts").glob("*.json") if path != green)
    forged = json.loads(green.read_text(encoding="utf-8")) | {
        name: json.loads(red.read_text(encoding="utf-8"))[name] for name in ("key", "tree")
    }
    red.write_text(json.dumps(forged), encoding="utf-8")
    assert "failed on this tree" in task.refused("done")


@pytest.mark.requirement("S0.38")
@pytest.mark.parametrize(("stage", "target"), [("implement", "verify"), ("verify", "review"), ("repair", "verify")])
def test_with_artifacts_there_is_always_a_link(at: At, stage: str, target: str) -> None:
    task = at(stage)
    task.candidate()
    task.section("Repairs", "mended")
    task.set({"Evidence link": ""})
    assert "(gate evidence_linked)" in task.refused(target)
    task.set({"Evidence link": "[proof](artifacts/result.txt)"})
    task.move(target)


# --- what was tried from outside, and must not work again ---


def test_the_task_folder_cannot_become_a_link_into_the_tree(at: At) -> None:
    """The task folder is left out of the tree: a link there would let an agent choose the proven files."""
    task = at("verify")
    hidden = task.repo / "hidden"
    shutil.copytree(task.folder, hidden)
    shutil.rmtree(task.folder)
    task.folder.symlink_to(hidden)
    refused = task("move", "review", task.id, cwd=task.repo)
    assert (refused.code, "replaced by a link" in refused.err) == (5, True)


def test_a_forged_object_is_found_before_anything_is_proven(at: At) -> None:
    task = at("verify")
    bad, good = b"broken = True\n", (task.repo / "app.py").read_bytes()
    (task.repo / "app.py").write_bytes(bad)
    name = hashlib.sha1(b"blob %d\0" % len(bad) + bad, usedforsecurity=False).hexdigest()
    forged = task.repo / ".git" / "objects" / name[:2] / name[2:]
    forged.parent.mkdir(exist_ok=True)
    forged.write_bytes(zlib.compress(b"blob %d\0" % len(good) + good))
    refused = task("move", "review")
    assert (refused.code, "damaged or forged" in refused.err) == (5, True)
    assert task.state() == "verify"


@pytest.mark.parametrize("folder", ["tests", ".git/notes", ".git/detent/tasks/zz"])
def test_a_task_folder_may_hold_nothing_of_the_repository(detent: Detent, repo: MakeRepo, folder: str) -> None:
    path = repo("other", {"app.py": "x = 1\n", "tests/test_app.py": "y = 2\n"})
    made = detent("new", "count", "--dir", folder, cwd=path)
    assert (made.code, "refused:" in made.err) == (1, True)
    assert not (path / folder / "STATE.md").exists()


def test_a_folder_without_its_pointer_still_belongs_to_its_task(at: At) -> None:
    task = at("verify")
    (task.folder / ".detent-task").unlink()
    task.set({"Phase": "review", "Validation plan": "cmd: true"})
    again = task("adopt", task.folder, "phase", "--id", "second", cwd=task.repo)
    assert (again.code, f"already belongs to task {task.id}" in again.err) == (1, True)


@pytest.mark.parametrize("make", ["hard link", "folder", "link"])
def test_a_damaged_log_destroys_nothing_and_is_repaired(at: At, make: str) -> None:
    task = at("verify")
    log, journal = task.folder / "history.jsonl", task.control / "journal.jsonl"
    before = journal.read_bytes()
    log.unlink()
    if make == "hard link":
        os.link(journal, log)
    elif make == "folder":
        log.mkdir()
    else:
        log.symlink_to(task.repo / "app.py")
    source = (task.repo / "app.py").read_bytes()
    stopped = task("move", "review")
    assert stopped.code == 5, stopped
    assert (task.repo / "app.py").read_bytes() == source
    assert journal.read_bytes().startswith(before)
    assert task("doctor", task.id, cwd=task.repo).code == 5
    assert task("doctor", "--repair", task.id, cwd=task.repo).code == 0
    assert task("move", "review").code == 0
    assert task("audit").code == 0


def test_what_is_finished_is_not_amended(at: At) -> None:
    task = at("done")
    task.set({"Objective": "something easier"})
    refused = task("amend", "--reason", "it is easier")
    assert (refused.code, "is an end" in refused.err) == (1, True)


def test_a_proof_leaves_a_request_to_be_judged(at: At) -> None:
    task = at("verify")
    task.set({"Phase": "repair"})
    assert task("prove").code == 0
    assert task.field("Phase") == "repair"
    assert "## Failed checks" in task.refused()


def test_proofs_at_the_same_time_leave_a_sound_record(at: At) -> None:
    task = at("verify")
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda words: task(*words), (("move", "review"), ("prove",), ("prove",))))
    assert [result.code for result in done] == [0, 0, 0]
    assert task("audit").code == 0


def test_what_is_carried_into_checkout_is_part_of_the_proof(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    settings = '[workspace]\ncarry = ["kept"]\n'
    path = repo("carrying", {"app.py": "x = 1\n", ".gitignore": "kept\n", "detent.toml": settings})
    (path / "kept").mkdir()
    (path / "kept" / "run.sh").write_text("exit 0\n", encoding="utf-8")
    folder = tmp_path / "carried"
    assert detent("new", "carry", "--id", "c", "--check", "sh kept/run.sh", "--dir", folder, cwd=path).code == 0
    task = PhaseTask(detent, path, folder, "c")
    task.set(FRAME)
    task.move("shape")
    task.move("implement")
    task.candidate()
    task.move("verify")
    assert task("prove").code == 0
    (path / "kept" / "run.sh").write_text("exit 1\n", encoding="utf-8")
    assert "failed on this tree" in task.refused("review")


def test_an_old_proof_among_too_many_files_does_not_count(at: At) -> None:
    task = at("shape")
    for number in range(2100):
        (task.folder / "artifacts" / f"{number}.txt").write_text("old\n", encoding="utf-8")
    task.move("implement")
    task.set({**CANDIDATE, "Evidence location": "artifacts/2099.txt"})
    assert "(gate evidence_fresh)" in task.refused("verify")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_does_not_outlive_the_proof_that_was_ended(
    detent: Detent, repo: MakeRepo, tmp_path: Path, number: signal.Signals
) -> None:
    path, folder, pipe = repo(), tmp_path / "long", tmp_path / "pipe"
    os.mkfifo(pipe)
    let_out(path)
    check = f"echo $$ > {pipe}; exec sleep 600"
    assert detent("new", "long", "--id", "l", "--check", check, "--dir", folder, cwd=path).code == 0
    task = PhaseTask(detent, path, folder, "l")
    task.set(FRAME)
    task.move("shape")
    task.move("implement")
    task.candidate()
    task.move("verify")
    command = [sys.executable, "-m", "detent", "prove"]
    proof = subprocess.Popen(
        command,
        cwd=folder,
        env=detent.environment,
        stdout=subprocess.DEVNULL,
        preexec_fn=hear_signals,  # noqa: PLW1509  # no thread of the test holds a lock
    )
    process = pipe.read_text(encoding="utf-8").strip()  # waits until the command is running
    proof.send_signal(number)
    assert proof.wait(60) == 128 + number
    assert not is_running(process)


def is_running(process: str) -> bool:
    """A process that has ended but was not asked after by its new parent is still listed, as a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_what_a_terminal_would_obey_is_shown_as_letters(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    detent("new", "phase", "clear \x1b[2J it", "--id", "esc", cwd=path)
    shown = detent("status", "esc", cwd=path).out
    assert "\x1b" not in shown
    assert "\\x1b[2J" in shown
