"""A verdict counts for the files it was given on; a person may sign what differs, told what it is and with a reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from detent.store.disk.digest import sha256_of
from tests.conformance.ralf_threads import SPEC, Thread, Threads
from tests.conftest import Detent, MakeRepo
from tests.e2e.agent_runs import Agents, AgentTask
from tests.e2e.global_task import GlobalTask, make_global
from tests.e2e.orange_task import Oranges, OrangeTask
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


def test_edits_after_review_are_shown_and_signed_with_a_reason(oranges: Oranges) -> None:
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


def test_edits_after_code_review_are_accepted_with_a_reason_only(agents: Agents) -> None:
    task = accepting(agents)
    (task.tree / "app.py").write_text("# never reviewed\n" + (task.tree / "app.py").read_text("utf-8"), "utf-8")
    refused = task("approve", task.id, cwd=task.repo)
    assert refused.code == REFUSED, refused
    assert "changed since review-passes judged the files: app.py" in refused.out
    done = task("approve", "--proof", "kept", "--reason", "a comment", task.id, cwd=task.repo)
    assert done.code == 0, done
    assert task.phase == "done"
    assert any("review-passes" in line for line in task.last("moved")["signed"]["accepted"])
    task.audit()


def test_files_as_reviewed_and_tested_are_accepted_without_a_reason(agents: Agents) -> None:
    task = accepting(agents)
    done = task("approve", task.id, cwd=task.repo)
    assert done.code == 0, done
    task.audit()


# --- audit: what was delivered is compared with what was judged ---


def forge(task: AgentTask, edge: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Rewrite the line of a move with knowledge of the format: chain recomputed, cache and anchor gone."""
    control = task.repo / ".git" / "detent" / "tasks" / task.id
    previous, raws = "0" * 64, []
    for line in (control / "journal.jsonl").read_bytes().splitlines():
        entry = json.loads(line)
        if entry.get("edge") == edge and entry["kind"] == "moved":
            change(entry)
        raws.append(json.dumps({**entry, "prev": previous}, ensure_ascii=False, separators=(",", ":")).encode())
        previous = sha256_of(raws[-1])
    (control / "journal.jsonl").write_bytes(b"\n".join(raws) + b"\n")
    (control / "snapshot.json").unlink()


def audited(task: AgentTask) -> list[str]:
    found = task("audit", task.id, "--json", cwd=task.repo).json()
    return [finding["what"] for finding in found["findings"] if finding["kind"] == "tree"]


def edited_after_review(oranges: Oranges) -> OrangeTask:
    oranges.honest()
    task = oranges.orange()
    task.run(expect=4)
    (task.tree / "app.py").write_text("# never reviewed\n", encoding="utf-8")
    assert task("approve", "--reason", "one comment", task.id, cwd=task.repo).code == 0
    assert audited(task) == []
    return task


def test_audit_names_delivered_tree_that_was_not_the_judged_one(oranges: Oranges) -> None:
    task = edited_after_review(oranges)

    def forged(entry: dict[str, Any]) -> None:
        entry["facts"]["as_reviewed"] = {"ok": True, "proof": entry["tree"]}
        entry["facts"]["signed_as_is"] = {"ok": True, "proof": entry["tree"], "parts": [["as_reviewed", True, ""]]}
        del entry["signed"]["accepted"]

    forge(task, "reviewing-to-done", forged)
    (what,) = audited(task)
    assert what.startswith("gate as_reviewed was open then and can't be shown now: changed since")
    assert "app.py" in what


def test_audit_names_a_difference_accepted_without_a_reason(oranges: Oranges) -> None:
    task = edited_after_review(oranges)
    forge(task, "reviewing-to-done", lambda entry: entry.update(reason=""))
    assert audited(task) == ["signed_as_is accepts as_reviewed without a person's reason"]


def test_audit_names_a_sign_off_that_hides_what_it_accepted(oranges: Oranges) -> None:
    task = edited_after_review(oranges)
    forge(task, "reviewing-to-done", lambda entry: entry["signed"].pop("accepted"))
    assert audited(task) == ["reviewing-to-done does not tell what the person accepted with signed_as_is"]
