"""Tests of the lock with real processes that hold it, die with it and wait for it."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.errors import LockedError, StorageError
from detent.store.disk.lock import Lock
from detent.store.disk.lock import holder as holder_of
from detent.words.store import disk as say

TIMEOUT_S = 60
HOLDER = """
import sys
from detent.store.disk.lock import Lock
with Lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock until it reads a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate(timeout=TIMEOUT_S)


def test_a_wait_is_bounded(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    with pytest.raises(LockedError) as caught, Lock(str(tmp_path / "lock"), wait_s=0.05):
        pytest.fail("two processes hold one lock")
    assert caught.value.code == 5
    assert caught.value.where == str(tmp_path / "lock")
    assert caught.value.next_step == say.lock_held(0.05).next_step


def test_a_lock_whose_holder_was_killed_is_free(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait(timeout=TIMEOUT_S)
    with Lock(str(tmp_path / "lock"), wait_s=0):
        pass


def test_a_lock_that_was_let_go_is_free(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    holder.communicate("go\n", timeout=TIMEOUT_S)
    with Lock(str(tmp_path / "lock"), wait_s=0):
        pass


def test_a_waiter_gets_the_lock_once_it_is_free(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    waiter = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    holder.communicate("go\n", timeout=TIMEOUT_S)
    out, _ = waiter.communicate("go\n", timeout=TIMEOUT_S)
    assert (out, waiter.returncode) == ("held\n", 0)


def test_an_error_inside_lets_the_lock_go(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with pytest.raises(RuntimeError), Lock(path):
        raise RuntimeError
    with Lock(path, wait_s=0):
        pass


def test_a_child_does_not_inherit_the_lock(tmp_path: Path) -> None:
    """Else a command that a step starts would hold the task for as long as it runs."""
    path = str(tmp_path / "lock")
    with Lock(path):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        with Lock(path, wait_s=0):
            pass
    finally:
        child.kill()
        child.wait(timeout=TIMEOUT_S)


def test_lock_in_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught, Lock(str(tmp_path / "no" / "lock")):
        pytest.fail("there is no such folder")
    reason = say.reason(errno.ENOENT, "")
    assert caught.value.what == say.disk_refused(say.lock_not_opened(), reason, say.free_space())


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux tells who holds a lock")
def test_the_holder_of_a_lock_is_known(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    assert holder_of(path) == holder.pid
    holder.communicate("\n", timeout=TIMEOUT_S)
    assert holder_of(path) == 0
    assert holder_of(str(tmp_path / "no such lock")) == 0
