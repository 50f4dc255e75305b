"""A verdict counts for the files it was given on; a person may sign what differs, told what it is and with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.ralf_threads import SPEC, Thread, Threads
from tests.conftest import Detent, MakeRepo
from tests.e2e.agent_runs import Agents
from tests.e2e.global_task import GlobalTask, make_global
from tests.e2e.orange_task import Oranges
from tests.e2e.test_protected import at_the_end

MADE = SPEC.replace("grep -q ready app.py", "test -f made.txt")
REFUSED = 1


@pytest.fixture
def oranges(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Oranges]:
    made = Oranges(detent, repo, tmp_path)
    yield made
    made.close()


@pytest.fixture
def threads(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Threads]:
    made = Threads(detent, repo, tmp_path)
    yield made
    made.close()


def in_review(threads: Threads) -> Thread:
    """A thread in PendingReview whose one criterion asks for made.txt."""
    thread = threads.thread("--mode", "quick")
    threads.script("Running", "echo made > made.txt; promise")
    thread.spec(MADE)
    thread.done("approve")
    thread.run(expect=4)
    assert thread.state() == "PendingReview"
    return thread


# --- ralf: a criterion that fails on the files to be signed ---


def test_red_criterion_is_named_at_approve_and_needs_a_reason(threads: Threads) -> None:
    thread = in_review(threads)
    (thread.repo / "made.txt").unlink()
    refused = thread("approve", thread.id)
    assert refused.code == REFUSED, refused
    assert "C1: 'test -f made.txt' failed on this tree (exit 1)" in refused.out
    assert "--reason" in refused.out
    assert thread.state() == "PendingReview"
    thread.done("approve", "--reason", "the file is made at run time now")
    line = thread.last("moved") if thread.state() == "Approved" else thread.entries("moved")[-1]
    signed = next(entry for entry in thread.entries("moved") if entry["to"] == "Approved")
    assert line["seq"] >= signed["seq"]
    assert "test -f made.txt" in signed["signed"]["accepted"][0]
    assert signed["reason"] == "the file is made at run time now"
    assert "signed although: " in signed["facts"]["signed_as_is"]["note"]
    thread.audit()


def test_approved_tree_is_the_committed_one(threads: Threads) -> None:
    thread = in_review(threads)
    thread.done("approve")
    (thread.repo / "made.txt").unlink()
    thread.run(expect=4)
    thread.done("commit")
    assert thread.state() == "Done"
    assert "made.txt" in threads.make_repo.git(thread.repo, "ls-tree", "--name-only", "HEAD").splitlines()
    thread.audit()


def test_green_criteria_are_signed_without_a_reason(threads: Threads) -> None:
    thread = in_review(threads)
    (thread.repo / "more.txt").write_text("by hand\n", encoding="utf-8")
    thread.done("approve")
    signed = next(entry for entry in thread.entries("moved") if entry["to"] == "Approved")
    assert "accepted" not in signed["signed"], "every criterion was asked again of these files, and holds"
    thread.audit()


# --- orange: edits after the PASS ---


def test_edits_after_the_review_are_shown_and_signed_with_a_reason(oranges: Oranges) -> None:
    oranges.honest()
    task = oranges.orange()
    task.run(expect=4)
    assert task.state() == "reviewing"
    (task.tree / "app.py").write_text("# never reviewed\n", encoding="utf-8")
    refused = task("approve", task.id, cwd=task.repo)
    assert refused.code == REFUSED, refused
    assert "changed since agent-review-to-reviewing judged the files: app.py" in refused.out
    tree = task.entries("moved")[-1]["tree"]
    assert f"detent diff --since {tree[:12]}" in refused.out
    assert "+# never reviewed" in task("diff", "--since", tree[:12], task.id, cwd=task.repo).out
    done = task("approve", "--reason", "one comment", task.id, cwd=task.repo)
    assert done.code == 0, done
    signed = task.last("moved")
    assert signed["signed"]["accepted"] == ["changed since agent-review-to-reviewing judged the files: app.py"]
    task.audit()


def test_files_as_reviewed_are_signed_without_a_reason(oranges: Oranges) -> None:
    oranges.honest()
    task = oranges.orange()
    task.run(expect=4)
    done = task("approve", task.id, cwd=task.repo)
    assert done.code == 0, done
    assert "accepted" not in task.last("moved")["signed"]
    task.audit()


# --- phase: edits after the PASS, while a person is asked about something else ---


def test_review_of_other_files_does_not_end_a_phase_task(agents: Agents) -> None:
    task = at_the_end(agents)
    (task.tree / "app.py").write_text("# never reviewed\n", encoding="utf-8")
    done = task("approve", task.id, "--reason", "the job is wanted", cwd=task.repo)
    assert task.state() == "review", done
    assert "EVIDENCE.md ## Review is about other files than there are now; changed since: app.py" in done.out
    task.review(words="Read it again. Round: 2")
    task.section("Gate answers", task_answers(task.evidence_file.read_text(encoding="utf-8")))
    task.move("done", expect=None)
    assert task.state() in ("done", "review")
    task.audit()


def task_answers(text: str) -> str:
    """The answers as they stand, with a line that makes them new."""
    body = text.partition("## Gate answers\n")[2].partition("\n## ")[0]
    return f"{body}\nRound: 2\n"


# --- global: edits after the review ---


def accepting(agents: Agents) -> GlobalTask:
    task = make_global(agents)
    task.run(expect=4)
    assert task.phase == "accept"
    return task


def test_edits_after_a_code_review_are_accepted_with_a_reason_only(agents: Agents) -> None:
    task = accepting(agents)
    (task.tree / "app.py").write_text("# never reviewed\n" + (task.tree / "app.py").read_text("utf-8"), "utf-8")
    refused = task("approve", task.id, cwd=task.repo)
    assert refused.code == REFUSED, refused
    assert "changed since review-passes judged the files: app.py" in refused.out
    done = task("approve", "--reason", "a comment", task.id, cwd=task.repo)
    assert done.code == 0, done
    assert task.phase == "done"
    assert any("review-passes" in one for one in task.last("moved")["signed"]["accepted"])
    task.audit()


def test_files_as_reviewed_and_tested_are_accepted_without_a_reason(agents: Agents) -> None:
    task = accepting(agents)
    done = task("approve", task.id, cwd=task.repo)
    assert done.code == 0, done
    task.audit()
