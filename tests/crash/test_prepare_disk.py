"""A disk that refuses, or that loses power, while a move is prepared: the person's branches and work are still there.

By default a few errors and disks of each kind; DETENT_CRASH=full tries all of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo
from tests.crash.disk import Cut
from tests.crash.points import FULL
from tests.crash.repository_disk import assert_branches_whole, disks_of, lacking, write_disk
from tests.crash.test_disk_errors import ERRORS
from tests.crash.test_prepare_kill import KINDS, World, before_move, points
from tests.crash.trace import disturb, record

pytestmark = pytest.mark.usefixtures("strace")
_PAIRS, _DISKS = 7, 6
_CODES = (0, 1, 5)


@pytest.fixture(params=list(KINDS))
def world(request: pytest.FixtureRequest, detent: Detent, repo: MakeRepo) -> World:
    return before_move(request.param, detent, repo)


def test_error_of_disk_leaves_the_move_to_the_next_command(world: World, tmp_path: Path) -> None:
    calls = points(world, tmp_path / "points.strace", names=tuple(ERRORS))
    writing = [call for call in calls if call.name != "openat" or "O_CREAT" in call.arguments]
    pairs = [(call, error) for call in writing for error in ERRORS[call.name]]
    wrong = []
    for call, error in pairs if FULL else pairs[:: max(1, len(pairs) // _PAIRS)]:
        world.put_back()
        ended = disturb(
            world.argv(),
            cwd=world.thread.repository,
            env=world.environment,
            name=call.name,
            how=f"error={error}",
            number=call.number,
        )
        if ended.code not in _CODES or "Traceback" in ended.err or "bug:" in ended.err:
            wrong.append(f"{error} at {call}: {ended}")
        wrong += [f"{error} at {call}: {problem}" for problem in world.problems()]
    assert not wrong, "\n".join(wrong[:20])


def disks(world: World, log: Path) -> list[Cut]:
    world.put_back()
    return disks_of(world.argv(), world.thread.repository, world.environment, log)


def test_every_power_cut_leaves_checkout_on_branch_that_is_whole(world: World, tmp_path: Path) -> None:
    stood = assert_branches_whole(disks(world, tmp_path / "disk.strace"), world.thread.repository)
    assert len(stood) == 2, "before the move, and after it"


LEAVE = """
from detent.effects.git.person_checkout import Stand, stand_at, unmake_branch
stand = stand_at(".")
unmake_branch(stand, stand.branch, Stand(stand.repository, "main", stand.commit), "test")
"""
COME_BACK = """
from detent.effects.git.person_checkout import stand_at, stand_on
stand = stand_at(".")
stand_on(stand, "other", stand.commit, "test")
"""


@pytest.mark.parametrize(("before", "code"), [("work", LEAVE), ("main", COME_BACK)], ids=["left", "come back to"])
def test_branches_are_removed_after_leaving_and_used_after_creation(
    detent: Detent, repo: MakeRepo, tmp_path: Path, before: str, code: str
) -> None:
    path = repo()
    if before != "main":
        repo.git(path, "checkout", "--quiet", "-b", before)
    argv = [sys.executable, "-c", code]
    stood = assert_branches_whole(disks_of(argv, path, detent.environment, tmp_path / "disk.strace"), path)
    assert len(stood) == 2, "before, and after"


ANCHOR = """
from detent.runner.step.anchor import anchor
from detent.runner.task.open import open_task
anchor(open_task())
"""


def test_anchor_is_on_disk_before_its_ref_names_it(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, ref = repo(), ".git/refs/detent/anchor/t"
    assert detent("new", "phase", "count", "--id", "t", "--in-place", "--check", "true", cwd=path).code == 0
    argv = [sys.executable, "-c", ANCHOR]
    named = [
        cut.files
        for cut in disks_of(argv, path, detent.environment, tmp_path / "disk.strace")
        if cut.files.get(ref) is not None
    ]
    assert named, "the ref is on no disk"
    assert not [files for files in named if lacking(files, (files[ref] or b"").decode().strip(), path)]


KEEP = """
from detent.effects.git.acts import keep_commit
from detent.effects.git.git import find_repository, tree_of
repository = find_repository(".")
tree = tree_of(repository.git_dir, repository.head)
keep_commit(repository.git_dir, "refs/detent/t/1-before-restore", tree, repository.head, "kept")
"""


def test_kept_text_is_on_disk_before_files_go(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, ref = repo(), ".git/refs/detent/t/1-before-restore"
    found = disks_of([sys.executable, "-c", KEEP], path, detent.environment, tmp_path / "disk.strace")
    kept = [cut.files for cut in found if cut.is_acknowledged]
    assert kept
    assert not [files for files in kept if lacking(files, (files.get(ref) or b"none").decode().strip(), path)]


def test_commit_is_on_the_disk_before_its_branch_names_it(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    """The model of the disk takes what one git writes for one thing; so this is looked at by itself."""
    world = before_move("commit", detent, repo)
    _, calls = record(
        world.argv(),
        cwd=world.thread.repository,
        env=world.environment,
        log=tmp_path / "commit.strace",
        names=("fsync", "rename"),
        with_data=True,
    )
    branch, objects = ("".join(f"\\x{byte:02x}" for byte in name) for name in (b"/heads/thread/t", b"/objects/"))
    at, moved = next((at, call) for at, call in enumerate(calls) if call.arguments.endswith(f'{branch}"'))
    synced = [call for call in calls[:at] if call.pid == moved.pid and call.name == "fsync"]
    assert any(objects in call.arguments for call in synced), f"{len(synced)} other files were synced"


def test_whatever_power_cut_leaves_the_move_is_made_or_not(world: World, tmp_path: Path) -> None:
    wrong = []
    found = disks(world, tmp_path / "disk.strace")
    chosen = found if FULL else found[:: max(1, len(found) // _DISKS)]
    for number, cut in enumerate(chosen):
        write_disk(cut.files, world.thread.repository)
        wrong += [f"disk {number} of {len(chosen)}: {problem}" for problem in world.problems()]
    assert not wrong, "\n".join(wrong[:20])
