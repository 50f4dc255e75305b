"""Where checkpoints appear: a branch of the user's repository, which never takes one of theirs, and the clone's own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.e2e.clone_task import CloneTask, marking_script, refs

WORK = SAMPLE_FILES["app.py"] + "# better\n"


def work(task: CloneTask, text: str = WORK) -> None:
    (task.tree / "app.py").write_text(text, encoding="utf-8")


def test_a_checkpoint_becomes_a_branch_of_the_repository(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    work(task)
    before = refs(task)
    task.to("verify")
    first = refs(task)["refs/heads/phase/t"]
    assert task.git("show", f"{first}:app.py") == WORK.removesuffix("\n")
    assert task.git("rev-parse", f"{first}^") == task.history()[0]["baseline"]
    work(task, WORK + "# and more\n")
    task.move("review")
    second = refs(task)["refs/heads/phase/t"]
    assert task.git("rev-parse", f"{second}^") == first
    assert {name: commit for name, commit in refs(task).items() if name != "refs/heads/phase/t"} == before
    assert task.git("status", "--porcelain") == ""
    assert task.git("fsck", "--full") == ""
    assert task.json("status")["branch"] == "phase/t"
    assert "brought to branch phase/t" in task("history").out
    assert task("audit").code == 0


def test_clone_follows_when_its_files_are_those_of_the_checkpoint(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    work(task)
    (task.tree / "new.txt").write_text("new\n", encoding="utf-8")
    times = (task.tree / "app.py").stat().st_mtime_ns
    task.to("review")
    assert task.git_inside("rev-parse", "HEAD") == refs(task)["refs/heads/phase/t"]
    assert task.git_inside("status", "--porcelain") == ""
    assert task.git_inside("log", "--format=%s").splitlines() == ["phase(t): review", "phase(t): verify", "Start"]
    assert task.git_inside("fsck", "--full") == ""
    assert (task.tree / "app.py").stat().st_mtime_ns == times


def test_commits_of_the_agent_stay_where_they_are(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    work(task)
    task.git_inside("commit", "--quiet", "--all", "--message=mine")
    commit = task.git_inside("rev-parse", "HEAD")
    task.to("verify")
    assert task.git_inside("rev-parse", "HEAD") == commit
    assert task.git("show", "phase/t:app.py") == WORK.removesuffix("\n")


@pytest.mark.parametrize("made", ["branch", "moved", "checked out", "below", "above"])
def test_a_branch_of_a_person_is_never_moved(detent: Detent, repo: MakeRepo, made: str) -> None:
    path = repo()
    task = CloneTask(detent, repo, path)
    work(task)
    expected = "phase/t-2"
    if made == "branch":
        task.git("branch", "phase/t", "main")
    elif made == "below":
        task.git("branch", "phase/t/x", "main")
    elif made == "above":
        task.git("branch", "phase", "main")
        expected = "phase-t"
    task.to("verify")
    if made == "moved":
        task.git("commit", "--quiet", "--allow-empty", "--message=Mine")
        task.git("branch", "--force", "phase/t", "main")
    elif made == "checked out":
        task.git("checkout", "--quiet", "phase/t")
    theirs = {name: commit for name, commit in refs(task).items() if name != f"refs/heads/{expected}"}
    work(task, WORK + "# and more\n")
    task.move("review")
    assert refs(task) == {**theirs, f"refs/heads/{expected}": task.history()[-2]["result"]["commit"]}
    assert task.json("status")["branch"] == expected
    assert task.git("status", "--porcelain") == ""
    assert task("audit").code == 0


def test_a_branch_that_a_person_deleted_is_made_again(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    task.to("verify")
    task.git("branch", "--quiet", "-D", "phase/t")
    task.move("review")
    assert task.git("log", "--format=%s", "phase/t").splitlines()[0] == "phase(t): review"


def test_in_place_nothing_is_brought(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo(), "--in-place")
    task.to("review")
    assert set(refs(task)) == {"refs/heads/main"}


@pytest.mark.parametrize("trap", ["git", "pack", "heads", "ref"])
def test_nothing_is_written_through_a_link_of_the_clone(
    detent: Detent, repo: MakeRepo, tmp_path: Path, trap: str
) -> None:
    task = CloneTask(detent, repo, repo())
    work(task)
    outside = tmp_path / "outside"
    git_dir = task.tree / ".git"
    place = {"git": git_dir, "pack": git_dir / "objects/pack", "heads": git_dir / "refs/heads"}.get(trap)
    if place is not None:
        place.rename(outside)
        place.symlink_to(outside)
    else:
        outside.mkdir()
        (outside / "t").write_text((git_dir / "refs/heads/phase/t").read_text(encoding="utf-8"), encoding="utf-8")
        (git_dir / "refs/heads/phase/t").unlink()
        (git_dir / "refs/heads/phase/t").symlink_to(outside / "t")
    before = sorted((str(item), item.stat().st_mtime_ns) for item in outside.rglob("*"))
    task.to("verify")
    assert sorted((str(item), item.stat().st_mtime_ns) for item in outside.rglob("*")) == before
    assert "refs/heads/phase/t" in refs(task)


def test_no_hook_of_the_repository_hears_of_it(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    task = CloneTask(detent, repo, repo())
    mark = tmp_path / "mark"
    for hook in ("reference-transaction", "post-update", "update", "pre-receive"):
        marking_script(task.repo / ".git" / "hooks" / hook, mark, "exit 1")
    work(task)
    task.to("verify")
    assert not mark.exists()
    assert (
        "refs/heads/phase/t"
        in subprocess.run(
            ["git", "for-each-ref"], cwd=task.repo, capture_output=True, encoding="utf-8", check=True
        ).stdout
    )


def test_lost_checkpoint_does_not_keep_next_one_from_being_made(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo(), "--in-place")
    task.to("verify")
    lost = task.history()[-1]["result"]["commit"]
    (task.control / "git" / "objects" / lost[:2] / lost[2:]).unlink()  # as a power cut may leave it
    task.move("review")
    made = next(line["result"]["commit"] for line in reversed(task.history()) if "commit" in line.get("result", {}))
    parent = repo.git(task.control / "git", "--git-dir=.", "rev-parse", f"{made}^")
    assert parent == task.history()[0]["baseline"]
