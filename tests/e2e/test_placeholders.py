"""Filler in the frame and empty evidence prove nothing, through the public command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.phase_task import FRAME, PhaseTask

At = Callable[[str], PhaseTask]
NOTHING = (
    "none",
    "n/a",
    "no",
    "pending",
    "TODO: later",
    "TBD later",
    "to be decided",
    "fill me in",
    "to do",
    "See above.",
    "placeholder",
    "unknown",
    "unknown yet",
    "Not sure yet.",
    "t.b.d.",
    "?",
    "x",
)


@pytest.mark.requirement("S0.11", "S0.14")
@pytest.mark.parametrize("words", NOTHING)
def test_a_done_gate_of_filler_is_none(at: At, words: str) -> None:
    task = at("intake")
    task.set({**FRAME, "Done gate": words})
    said = task.refused("shape")
    assert 'STATE.md has nothing under "Done gate:"' in said or f'"Done gate: {words}" in STATE.md says nothing' in said
    task.set({"Done gate": "the unknown words are counted; no file is left open"})
    task.move("shape")


def test_not_doing_anything_else_may_be_said_by_none(at: At) -> None:
    task = at("intake")
    task.set({**FRAME, "Not doing": "none"})
    task.move("shape")
    task.move("implement")


@pytest.mark.requirement("S0.11")
def test_empty_constraints_are_quoted_with_an_example(at: At) -> None:
    task = at("intake")
    task.set({**FRAME, "Done gate": "", "Reality constraints": "none"})
    said = task.refused("shape")
    assert 'STATE.md has nothing under "Done gate:"; "Reality constraints: none" in STATE.md says nothing' in said
    assert '"Reality constraints: Python 3.11, no new dependency"' in said
    assert '"Not doing: the old format" (or "none")' in said
    task.set({"Done gate": "the check passes", "Reality constraints": "Python 3.11, no new dependency"})
    task.move("shape")


@pytest.fixture
def unproven(detent: Detent, repo: MakeRepo, tmp_path: Path) -> PhaseTask:
    """A task in shape whose project names no command, and whose plan is prose."""
    path, folder = repo(), tmp_path / "task"
    made = detent("new", "count", "--in-place", "--id", "t", "--dir", folder, cwd=path)
    assert made.code == 0, made
    task = PhaseTask(detent, path, folder, "t")
    task.set({**FRAME, "Validation plan": "look at the page by eye"})
    task.move("shape")
    return task


@pytest.mark.requirement("S0.14")
def test_plan_without_a_command_is_refused_before_its_lock(unproven: PhaseTask) -> None:
    said = unproven.refused("implement")
    assert '"Validation plan" names no command' in said
    assert "cmd: python3 -m unittest" in said
    assert "detent configure --check" in said
    unproven.set({"Validation plan": "cmd: true"})
    unproven.move("implement")


def test_command_of_the_task_makes_a_plan_of_prose_provable(unproven: PhaseTask) -> None:
    assert unproven("configure", "--check", "true").code == 0
    unproven.move("implement")


def test_plan_that_was_locked_without_command_is_told_what_helps(unproven: PhaseTask) -> None:
    unproven.set({"Validation plan": "cmd: true"})
    unproven.move("implement")
    unproven.set({"Validation plan": "look at the page by eye"})
    assert unproven("amend", "--reason", "eyes").code == 0
    unproven.candidate()
    unproven.move("verify")
    unproven.section("Manual evidence", "looked at it, see artifacts/result.txt")
    assert 'detent configure --check "your test command"' in unproven.refused("review")
    assert unproven("configure", "--check", "true").code == 0
    unproven.move("review")


def test_locked_plan_that_can_never_pass_is_persons_to_change(unproven: PhaseTask) -> None:
    unproven.set({"Validation plan": "cmd: test -f no-such-file"})
    unproven.move("implement")
    unproven.candidate()
    unproven.move("verify")
    assert 'a person changes the plan and runs: detent amend --reason "why"' in unproven.refused("review")
    unproven.set({"Validation plan": "cmd: true"})
    assert unproven("amend", "--reason", "there is no such file").code == 0
    unproven.move("review")


@pytest.mark.parametrize("text", [" \n\t\n", "TODO\n", "...\n", "<!-- later -->\n"])
def test_an_artifact_that_says_nothing_is_no_evidence(at: At, text: str) -> None:
    task = at("implement")
    task.candidate(text)
    assert "which says nothing" in task.refused("verify")
    task.candidate("4 words\n")
    task.move("verify")


@pytest.mark.requirement("S0.37")
@pytest.mark.parametrize("text", [" \n", "TODO\n", "t.b.d.\n"])
def test_a_link_to_a_file_that_says_nothing_is_refused(at: At, text: str) -> None:
    task = at("implement")
    task.candidate()
    task.write("artifacts/log.txt", text)
    task.set({"Evidence link": "[log](artifacts/log.txt)"})
    assert "links to 'artifacts/log.txt', which says nothing" in task.refused("verify")
    task.write("artifacts/log.txt", "4 words\n")
    task.move("verify")


def test_a_small_picture_is_evidence(at: At) -> None:
    task = at("implement")
    task.candidate()
    (task.folder / "artifacts/dot.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    task.set({"Evidence location": "artifacts/dot.png", "Evidence link": "[dot](artifacts/dot.png)"})
    task.move("verify")


def test_blank_line_more_in_evidence_md_is_no_new_evidence(at: At) -> None:
    task = at("implement")
    task.candidate()
    task.set({"Evidence location": "EVIDENCE.md"})
    text = task.evidence_file.read_text(encoding="utf-8")
    task.evidence_file.write_text(f"{text}\n\n", encoding="utf-8")
    assert "which is unchanged since implement was entered" in task.refused("verify")
    task.evidence_file.write_text(f"{text}\n## Result\n\n4 words were counted\n", encoding="utf-8")
    task.move("verify")


def test_old_proof_counts_again_with_the_line_from_the_refusal(at: At) -> None:
    task = at("implement")
    task.candidate()
    task.set({"Blockers": "the key is missing"})
    task.move("blocked")
    assert task("resume", "--reason", "the key is set").code == 0
    assert "add a line to it: Round: 2" in task.refused("verify")
    task.candidate("it works\nRound: 2\n")
    task.move("verify")


@pytest.mark.requirement("S0.37")
@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("https://localhost/x", "which no other computer can open"),
        ("http://127.0.0.1:8000/proof.html", "which no other computer can open"),
        ("https://example.com", "as a whole, not to the proof"),
        ("https://ci.acme.dev/", "as a whole, not to the proof"),
    ],
)
def test_address_that_does_not_lead_to_proof_is_no_link(at: At, link: str, why: str) -> None:
    task = at("implement")
    task.candidate()
    task.set({"Evidence link": link})
    assert why in task.refused("verify")
    task.set({"Evidence link": "https://ci.acme.dev/builds/7/proof.html"})
    task.move("verify")


@pytest.mark.requirement("S0.14")
@pytest.mark.parametrize(
    ("plan", "absent"),
    [
        ("cmd: pytset -q", "pytset"),
        ("cmd: asdf", "asdf"),
        ("cmd: true; asdf", ""),  # what a shell takes apart is not guessed at
        ("cmd: ./made-later.sh", ""),
        ("cmd: MODE=1 asdf", ""),
        ("cmd: test -f app.py", ""),
        ("cmd: git --version", ""),
    ],
)
def test_a_plan_whose_program_is_nowhere_is_refused_in_shape(unproven: PhaseTask, plan: str, absent: str) -> None:
    unproven.set({"Validation plan": plan})
    if absent:
        said = unproven.refused("implement")
        assert f"the plan can never be proven here: {absent} not found on PATH (gate plan_runs)" in said
        unproven.set({"Validation plan": "cmd: test -f app.py"})
    unproven.move("implement")


def test_a_program_that_set_up_may_bring_is_waited_for(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    settings = '[workspace]\nsetup = ["true"]\n'
    path, folder = repo(files={"app.py": "", "detent.toml": settings}), tmp_path / "task"
    assert detent("new", "count", "--id", "t", "--dir", folder, cwd=path).code == 0
    task = PhaseTask(detent, path, folder, "t")
    task.set({**FRAME, "Validation plan": "cmd: asdf"})
    task.move("shape")
    task.move("implement")
