"""A power cut while a task is made, its checkpoint comes or its work lands: each branch has all that it names.

Every disk is looked at; on one of each sort `land` is given again, and with DETENT_CRASH=full on each.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Detent, MakeRepo
from tests.crash.disk import Cut
from tests.crash.points import FULL
from tests.crash.repository_disk import assert_branches_whole, branches, checked_out, disks_of, write_disk
from tests.crash.test_home_kill import NEW, Place, finished
from tests.crash.test_pipeline_kill import KILLER
from tests.crash.trace import KILLED
from tests.crash.world import Files
from tests.e2e.clone_task import CloneTask

pytestmark = pytest.mark.usefixtures("strace")
LANDS = pytest.mark.parametrize("words", [("land", "t"), ("land", "--squash", "t")], ids=["merge", "squash"])
CHECKPOINT = ("move", "verify", "t")
TASK = ".git/detent/tasks/t"
BRANCH = "refs/heads/phase/t"
# What the person's own git did a moment before is not on the disk for sure either; so it is part of the recording. That
# a branch has its bytes is left to git's own settings there.
AFTER_OWN_GIT = """
import runpy, subprocess, sys
subprocess.run(["git", "-c", "core.fsync=reference", *sys.argv.pop(1).split()], check=True)
runpy.run_module("detent", run_name="__main__", alter_sys=True)
"""


@pytest.fixture
def place(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Place:
    return Place(detent, repo, tmp_path)


def lines(files: Files, kind: str) -> list[dict[str, Any]]:
    """The whole lines of one kind that a disk has."""
    found = (files.get(f"{TASK}/journal.jsonl") or b"").split(b"\n")[:-1]
    entries = (json.loads(line) for line in found if line.startswith(b"{") and line.endswith(b"}"))
    return [entry for entry in entries if entry["kind"] == kind]


def assert_told_landings_are_there(found: list[Cut]) -> None:
    """Once the line is on the disk, or the command has said so, the branch stands at the landing."""
    reported = [cut for cut in found if lines(cut.files, "landed")]
    assert reported, "the line is on no disk"
    lost = [cut for cut in reported if checked_out(cut.files)[1] != lines(cut.files, "landed")[-1]["commit"]]
    assert not lost, f"{len(lost)} of {len(reported)} disks lack what their journal tells"
    assert all(lines(cut.files, "landed") for cut in found if cut.is_acknowledged), "said, and not told"


def sort_of(cut: Cut) -> tuple[object, ...]:
    """What decides what `land` finds when it is given again."""
    is_named = any(name.startswith(f"{TASK}/git/refs/detent/t/landing/") for name in cut.files)
    return checked_out(cut.files), is_named, len(lines(cut.files, "landed"))


@LANDS
def test_landing_after_a_power_cut_is_whole_and_once(
    place: Place, repo: MakeRepo, tmp_path: Path, words: tuple[str, ...]
) -> None:
    finished(place, repo)
    found = disks_of(place.argv(words), place.repo, place.detent.environment, tmp_path / "disk.strace")
    stood = assert_branches_whole(found, place.repo)
    assert len(stood) == 2, "before the landing, and after it"
    assert_told_landings_are_there(found)
    due = place.summary()
    wrong = []
    for number, cut in enumerate(found if FULL else {sort_of(cut): cut for cut in found}.values()):
        write_disk(cut.files, place.repo)
        again = place(*words)
        seen = place.summary()
        wrong += [
            f"disk {number}: {name}: {seen[name]!r:.300}"
            for name in ("kinds", "commits", "status", "fsck")
            if seen[name] != due[name]
        ]
        wrong += [] if again.code == 0 else [f"disk {number}: {again}"]
    assert not wrong, "\n".join(wrong[:12])


def test_a_person_s_last_commit_is_synced_before_work_lands(place: Place, repo: MakeRepo, tmp_path: Path) -> None:
    finished(place, repo)
    (place.repo / "README.md").write_text("the person's own words\n", encoding="utf-8")
    argv = [sys.executable, "-c", AFTER_OWN_GIT, "commit --quiet --all --message=own", "land", "t"]
    found = disks_of(argv, place.repo, place.detent.environment, tmp_path / "disk.strace")
    assert len(assert_branches_whole(found, place.repo)) == 3, "before, with the person's commit, and landed"
    assert_told_landings_are_there(found)


def test_merge_by_hand_is_on_disk_before_its_line(place: Place, repo: MakeRepo, tmp_path: Path) -> None:
    finished(place, repo)
    argv = [sys.executable, "-c", AFTER_OWN_GIT, "merge --quiet phase/t", "land", "t"]
    found = disks_of(argv, place.repo, place.detent.environment, tmp_path / "disk.strace")
    assert_branches_whole(found, place.repo)
    assert_told_landings_are_there(found)


def test_a_task_that_is_made_leaves_every_branch_whole(place: Place, tmp_path: Path) -> None:
    """Its clone is packed in the person's repository; nothing of that may come to a branch."""
    found = disks_of(place.argv(NEW), place.repo, place.detent.environment, tmp_path / "disk.strace")
    assert len(assert_branches_whole(found, place.repo)) == 1
    reported = [cut for cut in found if cut.is_acknowledged]
    assert reported
    assert all(cut.files.get(f"{TASK}/journal.jsonl") for cut in reported)


def ready_for_a_checkpoint(place: Place, repo: MakeRepo) -> None:
    task = CloneTask(place.detent, repo, place.repo)
    task.to("implement")
    (task.tree / "made.txt").write_text("by the task\n", encoding="utf-8")
    task.candidate()


def assert_told_checkpoints_are_there(found: list[Cut]) -> None:
    """Once the line is on the disk the branch is there too, and at that commit."""
    reported = [(cut.files, line["result"]) for cut in found for line in lines(cut.files, "acted")]
    assert reported, "the line is on no disk"
    lost = [
        result
        for files, result in reported
        if branches(files).get(f"refs/heads/{result['branch']}") != result["commit"]
    ]
    assert not lost, f"{len(lost)} of {len(reported)} disks lack the branch that their journal tells of"


def test_disk_order_is_checkpoint_then_branch_then_journal(place: Place, repo: MakeRepo, tmp_path: Path) -> None:
    ready_for_a_checkpoint(place, repo)
    found = disks_of(place.argv(CHECKPOINT), place.repo, place.detent.environment, tmp_path / "disk.strace")
    assert_branches_whole(found, place.repo)
    assert_told_checkpoints_are_there(found)


def die_behind_the_branch(place: Place, folder: Path) -> str:
    """A step killed between the branch of its checkpoint and the line that tells of it; the commit."""
    folder.mkdir()
    (folder / "git").write_text(KILLER, encoding="utf-8")
    (folder / "git").chmod(0o755)
    path = f"{folder}{os.pathsep}{place.detent.environment['PATH']}"
    dead = {"PATH": path, "CRASH_GIT": str(shutil.which("git"))}
    assert place.detent(*CHECKPOINT, cwd=place.repo, environment=dead).code == KILLED
    return place.git(place.repo, "rev-parse", BRANCH)


def test_killed_step_s_branch_is_synced_before_its_journal_line(place: Place, repo: MakeRepo, tmp_path: Path) -> None:
    ready_for_a_checkpoint(place, repo)
    commit = die_behind_the_branch(place, tmp_path / "killing")
    place.git(place.repo, "update-ref", "-d", BRANCH)
    again = [sys.executable, "-c", AFTER_OWN_GIT, f"update-ref {BRANCH} {commit}", *CHECKPOINT]
    found = disks_of(again, place.repo, place.detent.environment, tmp_path / "disk.strace")
    assert_branches_whole(found, place.repo)
    assert_told_checkpoints_are_there(found)


def test_a_killed_step_s_branch_is_found_when_packed(place: Place, repo: MakeRepo, tmp_path: Path) -> None:
    """Its folder is gone then."""
    ready_for_a_checkpoint(place, repo)
    die_behind_the_branch(place, tmp_path / "killing")
    place.git(place.repo, "pack-refs", "--all")
    assert not (place.repo / ".git/refs/heads/phase").exists()
    done = place(*CHECKPOINT)
    assert done.code == 0, done
    assert [line["result"]["branch"] for line in place.journal() if line["kind"] == "acted"] == ["phase/t"]
