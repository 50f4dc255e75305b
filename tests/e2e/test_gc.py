"""Cleaning up: what finished tasks left goes, what goes on stays, and nothing is lost that has not landed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.e2e.agent_runs import Agents
from tests.e2e.clone_task import CloneTask, refs

WORK = SAMPLE_FILES["app.py"] + "# better\n"


def finished(detent: Detent, repo: MakeRepo, path: Path | None = None) -> CloneTask:
    task = CloneTask(detent, repo, path or repo())
    (task.tree / "app.py").write_text(WORK, encoding="utf-8")
    task.to("done")
    return task


def gc(task: CloneTask, *words: str) -> list[dict[str, object]]:
    done = task("gc", *words, "--json", cwd=task.repo)
    assert done.code == 0, done
    rows: list[dict[str, object]] = done.json()["tasks"]
    return rows


def test_what_has_landed_goes_and_the_journal_stays(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    assert task("land").code == 0
    (listed,) = gc(task, "--dry-run")
    assert (listed["goes"], listed["branches"], listed["home"]) == (True, ["phase/t"], str(task.home))
    assert task.home.exists()
    gc(task)
    assert not task.home.exists()
    assert set(refs(task)) == {"refs/heads/main"}
    assert task("audit", "t", cwd=task.repo).code == 0
    line = task.history()[-1]
    assert (line["kind"], line["branches"]) == ("collected", ["phase/t"])
    (folder,) = line["kept"]
    kept = repo.git(task.control / "git", "--git-dir=.", "ls-tree", "-r", "--name-only", folder).splitlines()
    assert {"STATE.md", "EVIDENCE.md", "artifacts/result.txt"} <= set(kept)
    assert gc(task) == []
    assert "nothing to remove" in task("gc", cwd=task.repo).out
    assert detent("list", "--json", cwd=task.repo).json()["tasks"][0]["state"] == "done"


def test_readers_work_after_a_home_was_removed(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    assert task("land").code == 0
    gc(task)
    status = detent("status", cwd=task.repo)
    assert "(removed by detent gc)" in status.out
    assert "problem" not in status.out + detent("next", cwd=task.repo).out
    checked = detent("doctor", cwd=task.repo)
    assert checked.code == 0, checked
    assert "ok   task t in done; its home was removed by detent gc" in checked.out
    refused = detent("land", cwd=task.repo)
    assert refused.code == 5
    assert "its home was removed by detent gc" in refused.err
    # A home that another program removed is damage as before.
    other = finished(detent, repo, repo("other"))
    shutil.rmtree(other.home)
    assert "STATE.md is missing" in detent("status", cwd=other.repo).out


def test_what_has_not_landed_stays_until_a_person_says_so(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    (task.tree / "late.txt").write_text("after the end\n", encoding="utf-8")
    before = refs(task)
    (row,) = gc(task)
    assert (row["goes"], row["why"]) == (False, "not landed; it goes with --yes")
    assert (refs(task), task.home.exists()) == (before, True)
    gc(task, "--yes")
    assert not task.home.exists()
    tree = task.history()[-1]["kept"][0]
    private = task.control / "git"
    assert repo.git(private, "--git-dir=.", "show", f"{tree}:late.txt") == "after the end"
    assert repo.git(private, "--git-dir=.", "show", f"{tree}:app.py") == WORK.removesuffix("\n")


def test_a_merge_by_hand_counts_as_landed(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    task.git("merge", "--quiet", "phase/t")
    (row,) = gc(task)
    assert row["why"] == "landed"
    assert not task.home.exists()


def snapshots(task: CloneTask) -> list[str]:
    return [name for name in refs(task) if name.startswith("refs/detent/collected/")]


def test_a_forged_landing_removes_nothing_and_yes_keeps_a_snapshot(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    (task.tree / "late.txt").write_text("after the end\n", encoding="utf-8")
    journal = task.control / "journal.jsonl"
    last = journal.read_bytes().splitlines()[-1]
    line = {"seq": json.loads(last)["seq"] + 1, "time": "2030-01-01T00:00:00Z", "kind": "landed", "by": "person"}
    line |= {"name": "ann", "how": "merge", "commit": "0" * 40, "branch": "main", "tree": "0" * 40}
    with journal.open("ab") as file:
        file.write(json.dumps({**line, "prev": hashlib.sha256(last).hexdigest()}).encode() + b"\n")
    before = refs(task)
    (row,) = gc(task)
    assert (row["goes"], task.home.exists(), refs(task)) == (False, True, before)
    assert row["why"] == "the journal says that it landed on main, git does not show it; it goes with --yes"
    collected = task("gc", "--yes", cwd=task.repo)
    assert not task.home.exists()
    (ref,) = snapshots(task)
    assert f"brought back by: git branch NAME {ref}" in collected.out
    task.git("branch", "back", ref)
    assert task.git("show", "back:late.txt") == "after the end"
    assert task.git("show", "back:app.py") == WORK.removesuffix("\n")
    assert task.history()[-1]["snapshot"] == ref
    assert task("audit", "t", cwd=task.repo).code == 1, "it is not on main, whatever branches there are"


@pytest.mark.parametrize("how", ["--merge", "--squash"])
def test_a_landing_that_was_reset_is_kept(detent: Detent, repo: MakeRepo, how: str) -> None:
    task = finished(detent, repo)
    assert task("land", *([how] if how == "--squash" else [])).code == 0
    task.git("reset", "--quiet", "--hard", "HEAD^")
    (row,) = gc(task)
    assert (row["goes"], task.home.exists(), "refs/heads/phase/t" in refs(task)) == (False, True, True)
    audited = task("audit", "t", cwd=task.repo)
    assert (audited.code, "git does not show that the work landed" in audited.out) == (1, True)
    assert task("land").code == 0
    assert task("audit", "t", cwd=task.repo).code == 0
    (row,) = gc(task)
    assert (row["why"], task.home.exists()) == ("landed", False)


def test_branch_of_another_task_shows_no_landing(detent: Detent, repo: MakeRepo) -> None:
    """Two tasks did the same work: neither is safe elsewhere because the engine keeps a branch of the other."""
    task = finished(detent, repo)
    same = CloneTask(detent, repo, task.repo, task_id="same")
    (same.tree / "app.py").write_text(WORK, encoding="utf-8")
    same.to("done")
    assert {row["id"]: row["goes"] for row in gc(task)} == {"t": False, "same": False}
    assert task("land", "t").code == 0
    task.git("reset", "--quiet", "--hard", "HEAD^")
    task.git("branch", "--quiet", "-m", "main", "trunk")  # the branch that it landed on is gone
    assert {row["id"]: row["goes"] for row in gc(task)} == {"t": False, "same": False}
    audited = task("audit", "t", cwd=task.repo)
    assert (audited.code, "git does not show that the work landed" in audited.out) == (1, True)
    task.git("checkout", "--quiet", "phase/same")
    task.git("merge", "--quiet", "--no-edit", "--no-ff", "phase/t")
    assert {row["id"]: row["goes"] for row in gc(task)} == {"t": True, "same": False}


@pytest.mark.parametrize("how", ["squashed by hand", "amended", "rebased", "cherry-picked"])
def test_work_that_git_shows_by_its_files_has_landed(detent: Detent, repo: MakeRepo, how: str) -> None:
    task = finished(detent, repo)
    if how == "squashed by hand":
        task.git("merge", "--quiet", "--squash", "phase/t")
        task.git("commit", "--quiet", "--message=Mine")
    elif how == "cherry-picked":
        (task.repo / "other.txt").write_text("mine\n", encoding="utf-8")
        task.git("add", "other.txt")
        task.git("commit", "--quiet", "--message=Mine")
        task.git("cherry-pick", "--allow-empty", "--keep-redundant-commits", "main..phase/t")
    else:
        assert task("land", "--squash").code == 0
        task.git("commit", "--quiet", "--amend", "--message=Other words")
    if how == "rebased":
        task.git("checkout", "--quiet", "-b", "side", "HEAD^")
        (task.repo / "other.txt").write_text("mine\n", encoding="utf-8")
        task.git("add", "other.txt")
        task.git("commit", "--quiet", "--message=Mine")
        task.git("checkout", "--quiet", "main")
        task.git("rebase", "--quiet", "side")
    (task.repo / "app.py").write_text("# gone on\n", encoding="utf-8")
    task.git("commit", "--quiet", "--all", "--message=Gone on")
    assert task("audit", "t", cwd=task.repo).code == 0
    (row,) = gc(task)
    assert (row["why"], task.home.exists(), snapshots(task)) == ("landed", False, [])


@pytest.mark.parametrize("stage", ["implement", "review", "blocked"])
def test_a_task_that_goes_on_is_never_touched(detent: Detent, repo: MakeRepo, stage: str) -> None:
    task = CloneTask(detent, repo, repo())
    task.to("implement" if stage == "blocked" else stage)
    if stage == "blocked":
        task.set({"Blockers": "no key", "Next step": "A) get one, B) drop it"})
        task.move("blocked")
    before = refs(task)
    assert gc(task, "--yes", "--journals") == []
    assert (refs(task), task.home.exists(), task.control.exists()) == (before, True, True)


def test_task_is_given_up_whole_and_by_its_name(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    (task.tree / "app.py").write_text(WORK, encoding="utf-8")
    task.to("review")
    assert detent("new", "another", "--id", "other", cwd=task.repo).code == 0
    assert "detent gc t --yes --journals" in detent("cancel", "t", cwd=task.repo).out
    for words in ((), ("--yes",), ("--journals",)):
        refused = detent("gc", "t", *words, cwd=task.repo)
        assert (refused.code, "t is in review, which is no end" in refused.err) == (1, True)
        assert "detent gc t --yes --journals" in refused.err
    (row,) = gc(task, "t", "--yes", "--journals", "--dry-run")
    assert (row["id"], row["goes"], row["why"]) == ("t", True, "given up")
    assert (task.home.exists(), task.control.exists()) == (True, True)
    gc(task, "t", "--yes", "--journals")
    assert (task.home.exists(), task.control.exists()) == (False, False)
    (ref,) = [name for name in refs(task) if "/t" in name]
    assert ref.startswith("refs/detent/collected/t/"), "nothing goes without a snapshot"
    (left,) = detent("list", "--json", cwd=task.repo).json()["tasks"]
    assert left["id"] == "other"
    CloneTask(detent, repo, task.repo)  # the id is free again


@pytest.mark.parametrize(("machine", "edits", "kept"), [("phase", False, 0), ("phase", True, 1), ("orange", False, 0)])
def test_a_task_is_given_up_right_after_it_was_made(
    detent: Detent, repo: MakeRepo, machine: str, edits: bool, kept: int
) -> None:
    path = repo()
    assert detent("new", machine, "count", "--id", "t", cwd=path).code == 0
    if edits:
        tree = Path(detent("dir", "--tree", "t", cwd=path).out.strip())
        (tree / "app.py").write_text(WORK, encoding="utf-8")
    done = detent("gc", "t", "--yes", "--journals", cwd=path)
    assert (done.code, "left as it is" in done.out) == (0, False), done
    assert detent("list", "--json", cwd=path).json()["tasks"] == []
    listed = repo.git(path, "for-each-ref", "--format=%(refname)", "refs/detent").split()
    assert len([name for name in listed if name.startswith("refs/detent/collected/t/")]) == kept, listed


def test_task_on_which_an_agent_works_is_not_given_up(agents: Agents) -> None:
    here = agents.meeting()
    agents.honest(implement="meet here")
    task = agents.task()
    driving = agents.begin("run", task.id, "--once", cwd=task.repo)
    here.reached()
    refused = task("gc", task.id, "--yes", "--journals", cwd=task.repo)
    assert (refused.code, f"end it: detent stop {task.id}" in refused.err) == (1, True)
    here.go()
    driving.done()
    assert task.state()


@pytest.mark.parametrize("how", ["moved", "checked out"])
def test_a_branch_that_a_person_took_over_stays(detent: Detent, repo: MakeRepo, how: str) -> None:
    task = finished(detent, repo)
    assert task("land").code == 0
    task.git("checkout", "--quiet", "phase/t")
    if how == "moved":
        task.git("commit", "--quiet", "--allow-empty", "--message=Mine")
        task.git("checkout", "--quiet", "main")
    (row,) = gc(task)
    assert row["branches"] == []
    assert "refs/heads/phase/t" in refs(task)
    assert not task.home.exists()


def test_journals_go_only_when_asked(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    assert task("land").code == 0
    gc(task, "--journals")
    assert not task.control.exists()
    assert detent("list", "--json", cwd=task.repo).json()["tasks"] == []
    CloneTask(detent, repo, task.repo)  # the id is free again


def test_a_folder_of_ones_own_and_the_checkout_stay(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    task = CloneTask(detent, repo, repo(), "--in-place", "--dir", tmp_path / "mine")
    task.to("done")
    (row,) = gc(task)
    assert row["why"] == "worked in place"
    assert (tmp_path / "mine" / "STATE.md").exists()
    assert '"kind": "collected"' in (tmp_path / "mine" / "history.jsonl").read_text(encoding="utf-8")
    assert task("audit").code == 0
    assert (task.repo / "app.py").exists()


def test_a_home_that_cannot_be_kept_is_left(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    (task.tree / "nested").mkdir()
    (task.tree / "nested" / "x").write_text("x\n", encoding="utf-8")
    repo.git(task.tree / "nested", "init", "--quiet")
    (row,) = gc(task, "--yes")
    assert row["goes"] is False
    assert "nested is a git repository" in str(row["why"])
    assert task.home.exists()


def test_killed_on_the_way_the_next_one_does_the_rest(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    task = finished(detent, repo)
    assert task("land").code == 0
    stub = tmp_path / "stub" / "git"
    stub.parent.mkdir()
    stub.write_text(
        f'#!/bin/sh\nPATH={os.environ["PATH"]}; git "$@"; code=$?\n'
        'case "$*" in *"update-ref -d refs/heads"*) kill -9 $PPID;; esac; exit $code\n',
        encoding="utf-8",
    )
    stub.chmod(0o755)
    killed = task("gc", cwd=task.repo, environment={"PATH": f"{stub.parent}:{os.environ['PATH']}"})
    assert killed.code == -signal.SIGKILL
    assert task.home.exists()
    gc(task)
    assert not task.home.exists()
    assert set(refs(task)) == {"refs/heads/main"}
    assert task("audit", "t", cwd=task.repo).code == 0


def test_refs_of_tasks_that_are_gone_altogether_go(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    task.git("update-ref", "refs/detent/keep/long-gone", "HEAD")
    gc(task)
    assert "refs/detent/keep/long-gone" not in refs(task)
    assert "refs/detent/keep/t" in refs(task)


def test_cleaning_up_is_for_people_and_needs_no_task(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    assert detent("gc", cwd=path).out == "nothing to remove\n"
    refused = detent("gc", cwd=path, environment={"DETENT_ROLE": "builder"})
    assert (refused.code, "is for a person" in refused.err) == (1, True)


def test_a_journal_that_goes_takes_its_anchor_along(agents: Agents) -> None:
    agents.honest()
    task = agents.task()
    task.run(expect=0)
    anchor = "refs/detent/anchor/words"
    assert agents.make_repo.git(task.repo, "for-each-ref", "--format=%(refname)", anchor) == anchor
    assert task("land", task.id, cwd=task.repo).code == 0
    assert task("gc", "--journals", cwd=task.repo).code == 0
    assert agents.make_repo.git(task.repo, "for-each-ref", anchor) == ""
    assert task("audit", cwd=task.repo).code == 2, "there is nothing left to audit"
