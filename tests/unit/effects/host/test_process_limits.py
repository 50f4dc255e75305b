"""Limits on what a program and all it starts may use, with real processes of safe size."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from detent.effects.host.process import Finished, run
from detent.effects.host.process_limits import MEMORY, PROCESSES, Limits, Usage
from tests.unit.effects.host.test_process import LINUX_ONLY, lives

pytestmark = LINUX_ONLY

MEGABYTE = 1 << 20
# A chain that would grow to 120 processes; each leaves its number, and goes by itself after a while.
BOMB = """
import os, time
for _ in range(120):
    open(f"pid-{os.getpid()}", "w").close()
    if os.fork():
        break
    if LEAVES:
        os.setsid()
time.sleep(20)
"""
# Takes a megabyte at a time, up to 400.
HOG = """
import time
taken = []
for _ in range(400):
    taken.append(b"x" * (1 << 20))
    time.sleep(0.001)
time.sleep(20)
"""
# Eight processes that share 100 megabytes, which the kernel tells for each of them; they end when told.
SHARING = """
import os
taken = b"x" * (100 << 20)
reading, writing = os.pipe()
ready, done = os.pipe()
children = []
for _ in range(8):
    child = os.fork()
    if not child:
        os.close(writing)
        os.write(done, b".")
        os.read(reading, 1)
        os._exit(0)
    children.append(child)
for _ in children:
    os.read(ready, 1)
until = os.times().elapsed + 0.5
while os.times().elapsed < until:
    pass
os.close(writing)
for child in children:
    os.waitpid(child, 0)
"""


def python(script: str, cwd: Path, limits: Limits, timeout_s: float = 120) -> Finished:
    return run(
        [sys.executable, "-I", "-S", "-c", script],
        cwd=str(cwd),
        env=dict(os.environ),
        timeout_s=timeout_s,
        whole_tree=True,
        limits=limits,
    )


@pytest.mark.parametrize("leaves", [False, True])
def test_a_fork_bomb_is_ended_with_all_it_started(tmp_path: Path, leaves: bool) -> None:
    finished = python(BOMB.replace("LEAVES", str(leaves)), tmp_path, Limits(processes=30))
    assert finished.exceeded == PROCESSES
    assert not finished.timed_out
    started = [int(path.name.removeprefix("pid-")) for path in tmp_path.glob("pid-*")]
    assert started  # the last ones may be ended before they have written down that they began
    assert not [pid for pid in started if lives(pid)]


def test_a_memory_hog_is_ended(tmp_path: Path) -> None:
    finished = python(HOG, tmp_path, Limits(memory_bytes=150 * MEGABYTE))
    assert finished.exceeded == MEMORY
    assert finished.exit == -9


def test_what_is_shared_is_counted_once(tmp_path: Path) -> None:
    finished = python(SHARING, tmp_path, Limits(memory_bytes=400 * MEGABYTE))
    assert (finished.exceeded, finished.exit) == ("", 0)


def test_a_program_within_its_limits_comes_to_its_own_end(tmp_path: Path) -> None:
    limits = Limits(memory_bytes=200 * MEGABYTE, processes=30)
    finished = python("import subprocess; subprocess.run(['sleep', '0.3'], check=True)", tmp_path, limits)
    assert (finished.exceeded, finished.exit) == ("", 0)


def test_what_was_there_before_is_not_counted_as_use(tmp_path: Path) -> None:
    everything = {int(name) for name in os.listdir("/proc") if name.isdigit()}
    assert Usage(Limits(memory_bytes=1, processes=1), everything).exceeded(0.0) == ""


def test_without_limits_nothing_is_looked_at(tmp_path: Path) -> None:
    assert Usage(Limits(), ()).exceeded(0.0) == ""
