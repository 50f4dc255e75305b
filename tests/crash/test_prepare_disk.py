"""A disk that refuses, or that loses power, while a move is prepared: the person's branches and work are still there.

By default a few errors and disks of each kind; DETENT_CRASH=full tries all of them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from detent.store.aftermath import boot_id
from tests.conftest import Detent, MakeRepo
from tests.crash.disk import NAMES as DISK_NAMES
from tests.crash.disk import Cut, Recording, cuts
from tests.crash.points import FULL
from tests.crash.test_disk_errors import ERRORS
from tests.crash.test_prepare_kill import KINDS, World, before_move, points
from tests.crash.trace import disturb, record
from tests.crash.world import Files

pytestmark = pytest.mark.usefixtures("strace")
_PAIRS, _DISKS = 7, 6
_CODES = (0, 1, 5)


@pytest.fixture(params=list(KINDS))
def world(request: pytest.FixtureRequest, detent: Detent, repo: MakeRepo) -> World:
    return before_move(request.param, detent, repo)


def test_an_error_of_the_disk_leaves_the_move_to_the_next_command(world: World, tmp_path: Path) -> None:
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


def read_files(top: Path) -> dict[str, bytes | None]:
    found = sorted(top.rglob("*"))
    return {str(path.relative_to(top)): None if path.is_dir() else path.read_bytes() for path in found}


def put_disk(world: World, files: Files) -> None:
    """As the next start of the computer finds it: the marks of projections are those of another boot."""
    top = world.thread.repository
    shutil.rmtree(top)
    top.mkdir()
    for name, content in files.items():
        path = top / name
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        is_mark = name.endswith("/projected.jsonl")
        path.write_bytes(content.replace(boot_id().encode(), b"another boot, the one before") if is_mark else content)


def disks(world: World, log: Path) -> list[Cut]:
    world.put_back()
    before = read_files(world.thread.repository)
    ended, calls = record(
        world.argv(), cwd=world.thread.repository, env=world.environment, log=log, names=DISK_NAMES, with_data=True
    )
    assert ended.code == 0, ended
    recording = Recording(before, calls, str(world.thread.repository), calls[0].pid)
    real, model = read_files(world.thread.repository), recording.files()
    assert model == real, {name for name in real.keys() | model.keys() if real.get(name) != model.get(name)}
    return list(cuts(recording))


def test_no_power_cut_leaves_the_checkout_on_a_branch_that_is_gone(world: World, tmp_path: Path) -> None:
    """Looked at on every disk: git would take such a repository for one without a commit."""
    found = disks(world, tmp_path / "disk.strace")
    on = [(cut.files, (cut.files[".git/HEAD"] or b"").decode().removeprefix("ref: ").strip()) for cut in found]
    gone = [number for number, (files, branch) in enumerate(on) if not files.get(f".git/{branch}")]
    assert not gone, f"{len(gone)} of {len(found)} disks: {gone[:20]}"
    assert len({branch for _, branch in on}) == (1 if world.kind == "commit" else 2), "the checkout changes its branch"


def test_whatever_a_power_cut_leaves_the_move_is_made_or_not(world: World, tmp_path: Path) -> None:
    wrong = []
    found = disks(world, tmp_path / "disk.strace")
    chosen = found if FULL else found[:: max(1, len(found) // _DISKS)]
    for number, cut in enumerate(chosen):
        put_disk(world, cut.files)
        wrong += [f"disk {number} of {len(chosen)}: {problem}" for problem in world.problems()]
    assert not wrong, "\n".join(wrong[:20])
