"""TASK.md and its folder: what a new task looks like, what of it is anybody's, and folders that another tool made."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo, let_out
from tests.e2e.orange_task import Oranges, OrangeTask

EXAMPLES = Path(__file__).parents[2] / "examples" / "orange"
NEW = """---
summary: parse empty lines
branch: orange/lines
status: pending
review_round: 0
crash_count: 0
session:
---

## Context

## Notes
"""
BROKEN = {
    "no end of the head": ("---\nsummary: x\nstatus: working\n", "---"),
    "no YAML": ("---\nstatus: [working\n---\n", "TASK.md"),
    "no status": ("---\nsummary: x\n---\n", "status"),
    "an unknown status": ("---\nstatus: flying\n---\n", "flying"),
    "a status that is no word": ("---\nstatus: [working]\n---\n", "status"),
    "a status twice": ("---\nstatus: working\nstatus: done\n---\n", "status"),
}


def adopted(oranges: Oranges, name: str) -> OrangeTask:
    """An example folder beside a repository, taken over."""
    repo = oranges.make_repo(name, {**SAMPLE_FILES, "detent.toml": oranges.settings()})
    let_out(repo)
    folder = repo.parent / f"{name}-folder"
    shutil.copytree(EXAMPLES / name, folder)
    done = oranges.detent("adopt", folder, "orange", "--id", name, "--repo", repo)
    assert done.code == 0, done
    task = OrangeTask(oranges.detent, repo, folder, name)
    oranges.tasks.append(task)
    return task


@pytest.mark.requirement("S3.66", "S3.44")
def test_a_new_task_has_its_head_and_its_sections(oranges: Oranges) -> None:
    task = oranges.orange()
    assert task.text() == NEW
    assert task.state() == "pending"
    assert sorted(path.name for path in task.folder.iterdir()) == [".detent-task", "TASK.md", "history.jsonl"]


@pytest.mark.requirement("S3.66")
def test_the_head_follows_the_task_and_every_other_byte_stays(oranges: Oranges) -> None:
    task = oranges.orange()
    text = task.text().replace("---\nsummary", "---\n# mine: a comment\nharness:   pi\nsummary").replace("\n", "\r\n")
    task.file.write_bytes(text.encode())
    task.to("working", "agent-review")
    found = task.file.read_bytes().decode()
    assert found.startswith("---\r\n# mine: a comment\r\nharness:   pi\r\nsummary: parse empty lines\r\n")
    assert "status: agent-review\r\nreview_round: 1\r\ncrash_count: 0\r\n" in found
    assert "\r\n## Context\r\n\r\n## Notes\r\n" in found


@pytest.mark.requirement("S3.59", "S3.44")
def test_a_head_from_before_crashes_were_counted_reads_as_none(oranges: Oranges) -> None:
    task = adopted(oranges, "working")
    assert "crash_count" not in (EXAMPLES / "working" / "TASK.md").read_text(encoding="utf-8")
    status = task.json("status")
    assert (status["state"], status["counters"], status["problems"]) == ("working", {"review_round": 0}, [])
    assert (status["title"], status["branch"]) == ("Skip empty lines when counting", "")
    oranges.script("working", "exit 1")
    task.run(expect=4)
    assert task.head()["crash_count"] == "1"
    assert "created_at: 2026-02-03T09:12:44Z   # kept as it is\n" in task.text()
    assert 'summary: "Skip empty lines when counting"\n' in task.text()


@pytest.mark.requirement("S3.59")
def test_adopted_counters_are_read_once_and_its_proof_is_stale(oranges: Oranges) -> None:
    task = adopted(oranges, "agent-review")
    assert task.json("status")["counters"] == {"review_round": 2, "crash_count": 1}
    assert "unchanged since agent-review was entered" in task.update("stuck", expect=1).out
    oranges.script("agent-review", "exit 1")
    task.run(expect=4)  # its second crash
    assert (task.state(), task.head()["crash_count"], task.head()["review_round"]) == ("stuck", "0", "2")
    before = (EXAMPLES / "agent-review" / "history.jsonl").read_bytes()
    assert (task.folder / "history.jsonl").read_bytes().startswith(before)
    task.audit()


@pytest.mark.requirement("S3.59")
@pytest.mark.parametrize(("text", "named"), BROKEN.values(), ids=BROKEN)
def test_folder_without_a_valid_status_is_refused_with_the_fix(oranges: Oranges, text: str, named: str) -> None:
    repo = oranges.make_repo("broken", SAMPLE_FILES)
    folder = repo.parent / "folder"
    folder.mkdir()
    (folder / "TASK.md").write_text(text, encoding="utf-8")
    done = oranges.detent("adopt", folder, "orange", "--repo", repo)
    assert done.code == 5, done
    assert named in done.err
    assert "next:" in done.err
    assert (folder / "TASK.md").read_text(encoding="utf-8") == text


def test_counts_that_cannot_be_adopted_are_refused_not_bent(oranges: Oranges) -> None:
    repo = oranges.make_repo("counts", SAMPLE_FILES)
    folder = repo.parent / "folder"
    folder.mkdir()
    text = "---\nsummary: x\nstatus: working\nreview_round: 77\ncrash_count: -3\n---\n"
    (folder / "TASK.md").write_text(text, encoding="utf-8")
    done = oranges.detent("adopt", folder, "orange", "--repo", repo)
    assert done.code == 1, done
    assert "review_round is 77, and orange counts no further than 9" in done.err
    assert "crash_count is '-3', which is no count" in done.err
    (folder / "TASK.md").write_text(text.replace("77", "9" * 5000), encoding="utf-8")
    done = oranges.detent("adopt", folder, "orange", "--repo", repo)
    assert (done.code, "review_round is '9999" in done.err, "bug" in done.err) == (1, True, False), done
    (folder / "TASK.md").write_text(text, encoding="utf-8")
    assert (folder / "TASK.md").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("text", [text for text, _ in BROKEN.values()], ids=BROKEN)
def test_a_broken_head_is_repaired_and_the_body_survives(oranges: Oranges, text: str) -> None:
    task = oranges.orange("working")
    task.handoff("DONE: half of it")
    body = task.text().split("---\n", 2)[2]
    task.file.write_text(text + body, encoding="utf-8")
    shown = task("status", task.id, cwd=task.repo)
    assert shown.code == 5, shown
    assert "doctor --repair" in shown.out
    assert task("doctor", "--repair", task.id, cwd=task.repo).code == 0
    assert (task.state(), task.head()["status"]) == ("working", "working")
    assert "DONE: half of it" in task.text()
    task.handoff()
    task.update("agent-review", expect=0)


def test_status_written_by_an_agent_is_only_a_request(oranges: Oranges) -> None:
    oranges.script(
        "working", "sed -i 's/^status:.*/status: reviewing/; s/^review_round:.*/review_round: 7/' \"$task\"; handoff"
    )
    task = oranges.orange("working")
    task.run("--once", expect=0)
    assert task.last("run_ended")["claim"] == "reviewing"
    assert task.entries("refused")[0]["problem"].startswith("working -> reviewing is forbidden")
    assert (task.state(), task.head()["status"], task.head()["review_round"]) == ("agent-review", "agent-review", "1")


def test_status_edited_by_hand_has_the_agents_rights(oranges: Oranges) -> None:
    task = oranges.orange("working")
    task.handoff()
    task.file.write_text(task.text().replace("status: working", "status: done"), encoding="utf-8")
    assert task("move").code == 1
    assert (task.state(), task.head()["status"]) == ("working", "working")
    task.file.write_text(task.text().replace("status: working", "status: agent-review"), encoding="utf-8")
    assert task("move").code == 0
    assert task.state() == "agent-review"


def test_branch_of_task_that_works_in_place_is_checkout_s(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    made = detent("new", "orange", "count", "--id", "here", "--in-place", "--json", cwd=path).json()
    assert "branch: main\n" in (Path(made["dir"]) / "TASK.md").read_text(encoding="utf-8")
    assert detent("task", "update", "--status", "working", "here", cwd=path).code == 0
