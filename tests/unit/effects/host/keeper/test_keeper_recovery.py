"""Tests of what an engine finds out about its runs after anything died: itself, the keeper, the host."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.effects.host.keeper import process as keeper_process
from detent.effects.host.keeper.look import exit_class, look
from detent.effects.host.keeper.start import Swept, end_survivors, spawn, stop, void
from detent.effects.host.keeper.watch import Watch, wait_for_end
from detent.errors import RefusedError
from detent.words.effects import host as say
from tests.unit.effects.host.keeper.keeper_runs import (
    DAEMON,
    WAIT_S,
    Runs,
    gone,
    late_keeper,
    lives,
    python,
    raw_spec,
    runs_in,
    shell,
    spec,
    until,
)

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="keepers need the /proc of Linux")

ENGINE = """
import os, sys, time
from detent.effects.host.keeper.start import RunSpec, spawn
spawn(RunSpec(sys.argv[1], ("sh", "-c", sys.argv[2]), dict(os.environ), "/", None, 60.0))
print("spawned", flush=True)
time.sleep(float(sys.argv[3]))
"""


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    with runs_in(tmp_path) as started:
        yield started


@pytest.fixture
def innocent() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "1000"], env={"DETENT_RUN": "another", "PATH": os.environ["PATH"]})
    yield process
    process.kill()
    process.wait()


def engine(run_dir: Path, script: str, idle_s: float, pass_fds: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    """A process that starts one run and then does nothing for a while."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-c", ENGINE, str(run_dir), script, str(idle_s)]
    return subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, pass_fds=pass_fds)


def change(run_dir: Path, **fields: object) -> None:
    path = run_dir / "identity.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="ascii")), **fields}), encoding="ascii")


def test_a_run_outlives_its_engine_and_is_adopted_by_another(runs: Runs, tmp_path: Path) -> None:
    run_dir, may_go = tmp_path / "run", tmp_path / "go"
    runs.begun.append(run_dir)
    first = engine(run_dir, f"while ! [ -e '{may_go}' ]; do sleep 0.05; done; exit 5", idle_s=1000)
    assert first.stdout is not None
    assert first.stdout.readline() == b"spawned\n"
    first.kill()
    first.wait()
    first.stdout.close()
    assert look(str(run_dir)).phase == "alive"
    may_go.touch()
    ended = runs.end(run_dir)
    assert (ended.reason, ended.code) == ("exited", 5)


def test_a_keeper_is_no_child_of_the_engine(runs: Runs) -> None:
    seen = keeper_process.read_process(runs.identity(runs.begin("sleep", "1000")).keeper_pid)
    assert seen is not None
    assert seen[1] != os.getpid()


def test_a_keeper_keeps_no_pipe_of_the_engines_caller_open(runs: Runs, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    runs.begun.append(tmp_path / "run")
    with engine(tmp_path / "run", "sleep 1000", idle_s=0, pass_fds=(writing,)) as first:
        os.close(writing)
        assert first.wait(WAIT_S) == 0
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == b""  # would wait for ever
    assert look(str(tmp_path / "run")).phase == "alive"


def test_a_killed_keeper_s_survivors_are_found_by_their_mark(runs: Runs) -> None:
    run_dir = runs.begin(*python(DAEMON + "time.sleep(1000)", "pass"))
    other = runs.begin("sleep", "1000")
    daemon, identity = int(runs.said(run_dir)[0]), runs.identity(run_dir)
    os.kill(identity.keeper_pid, signal.SIGKILL)
    assert wait_for_end([str(run_dir)], WAIT_S) == str(run_dir)
    gone(identity.child_pid)
    seen = look(str(run_dir))
    assert (seen.phase, seen.identity, exit_class(seen.exit)) == ("lost", identity, "lost")
    assert not void(str(run_dir))
    assert lives(daemon)
    assert end_survivors(identity) == Swept(1, ())
    assert not lives(daemon)
    assert lives(runs.identity(other).child_pid)
    assert late_keeper(run_dir) == "used"


def test_under_a_living_keeper_nothing_is_taken_for_a_survivor(runs: Runs) -> None:
    run_dir = runs.begin("sleep", "1000")
    with pytest.raises(RefusedError, match=re.escape(say.keeper_lives())):
        end_survivors(runs.identity(run_dir))
    assert lives(runs.identity(run_dir).child_pid)


def test_after_reboot_the_run_is_lost_and_numbers_mean_nothing(runs: Runs) -> None:
    run_dir = runs.begin("sleep", "1000")
    identity = runs.identity(run_dir)
    os.kill(identity.keeper_pid, signal.SIGKILL)
    # Until the program is started or gone, it holds the lock that its dead keeper held.
    assert wait_for_end([str(run_dir)], WAIT_S) == str(run_dir)
    mine = keeper_process.read_process(os.getpid())
    assert mine is not None
    change(run_dir, boot_id="another", keeper_pid=os.getpid(), keeper_start=mine[0])
    assert look(str(run_dir)).phase == "lost"
    assert not stop(str(run_dir))
    assert end_survivors(runs.identity(run_dir)) == Swept(0, ())


def test_process_that_was_given_the_keepers_number_is_not_believed(
    runs: Runs, innocent: subprocess.Popen[bytes]
) -> None:
    run_dir = runs.begin("true")
    runs.end(run_dir)
    (run_dir / "exit.json").unlink()
    change(run_dir, keeper_pid=innocent.pid)
    assert look(str(run_dir)).phase == "lost"
    assert wait_for_end([str(run_dir)], 0) == str(run_dir)
    assert not stop(str(run_dir))
    assert not keeper_process.send(innocent.pid, runs.identity(run_dir).keeper_start, signal.SIGKILL)
    assert end_survivors(runs.identity(run_dir)) == Swept(0, ())
    assert innocent.poll() is None


def test_a_zombie_is_dead(tmp_path: Path) -> None:
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not lives(process.pid)
    process.wait()


def test_held_lock_of_a_keeper_that_is_gone_is_unknown(runs: Runs) -> None:
    run_dir = runs.begin("true")
    runs.end(run_dir)
    (run_dir / "exit.json").unlink()
    with (run_dir / "lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert look(str(run_dir)).phase == "unknown"
        assert wait_for_end([str(run_dir)], 0) is None
    assert look(str(run_dir)).phase == "lost"


def test_two_readers_do_not_take_each_other_for_a_keeper(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # as a reader does
        assert look(str(tmp_path)).phase == "unborn"


def test_a_living_keeper_whose_lock_was_replaced_is_unknown(runs: Runs) -> None:
    run_dir = runs.begin("sleep", "1000")
    (run_dir / "lock").rename(run_dir / "old-lock")
    seen = look(str(run_dir))
    assert seen.phase == "unknown"
    assert "lives" in seen.why
    assert stop(str(run_dir))
    runs.end(run_dir)


@pytest.mark.parametrize("name", ["identity.json", "exit.json"])
@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"run": 1}', b"\xff", b"{" + b" " * 5000])
def test_what_cannot_be_read_is_unknown_and_says_why(runs: Runs, name: str, content: bytes) -> None:
    run_dir = runs.place / "run"
    run_dir.mkdir()
    (run_dir / name).write_bytes(content)
    seen = look(str(run_dir))
    assert seen.phase == "unknown"
    assert seen.why
    assert not void(str(run_dir))
    with pytest.raises(RefusedError):
        spawn(spec(run_dir, ("true",)))


def test_a_run_that_never_began_is_unborn(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    assert look(str(tmp_path / "made")).phase == "unborn"
    assert look(str(tmp_path / "missing")).phase == "unborn"
    assert wait_for_end([str(tmp_path / "made")], 0) is None


def test_a_run_that_was_made_void_never_begins(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    raw_spec(run_dir, shell(f"touch '{tmp_path}/ran'"))
    assert void(str(run_dir))
    assert void(str(run_dir))
    raw_spec(run_dir, shell(f"touch '{tmp_path}/ran'"))
    assert late_keeper(run_dir) == "used"
    until(lambda: look(str(run_dir)).phase == "unborn")  # it says so a moment before it is gone
    assert not (tmp_path / "ran").exists()
    with pytest.raises(RefusedError):
        spawn(spec(run_dir, ("true",)))


def test_the_same_late_keeper_runs_what_was_not_made_void(runs: Runs, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    runs.begun.append(run_dir)
    raw_spec(run_dir, shell(f"touch '{tmp_path}/ran'"))
    assert late_keeper(run_dir) == "ready"
    assert runs.end(run_dir).code == 0
    assert (tmp_path / "ran").exists()


def test_run_that_is_starting_is_unknown_and_not_void(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert look(str(tmp_path)).phase == "unknown"
        assert not void(str(tmp_path))
    assert void(str(tmp_path))


def test_a_living_run_is_not_made_void(runs: Runs) -> None:
    run_dir = runs.begin("sleep", "1000")
    assert not void(str(run_dir))
    assert look(str(run_dir)).phase == "alive"


def test_looking_does_not_keep_a_keeper_from_starting(runs: Runs, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    runs.begun.append(run_dir)
    raw_spec(run_dir, ("true",))
    (run_dir / "lock").touch()
    starter = subprocess.Popen(
        (sys.executable, "-I", "-S", keeper_process.__file__, str(run_dir)), stdin=subprocess.DEVNULL
    )
    with (run_dir / "lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # as a reader does, only longer
        starter.wait()
    assert runs.end(run_dir).code == 0


def test_waiting_tells_which_run_ended(runs: Runs) -> None:
    begun = [runs.begin("sleep", "1000") for _ in range(3)]
    with Watch(map(str, begun)) as watch:
        assert watch.wait(0) is None
        for run_dir in (begun[1], begun[0]):
            stop(str(run_dir))
            assert watch.wait(WAIT_S) == str(run_dir)
        assert watch.wait(0) is None


def test_waiting_notices_a_run_that_begins_meanwhile(runs: Runs, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    runs.begun.append(run_dir)
    with Watch([str(run_dir)]) as watch:
        assert watch.wait(0) is None
        spawn(spec(run_dir, ("true",)))
        assert watch.wait(WAIT_S) == str(run_dir)


def test_a_stop_at_any_early_moment_is_obeyed(runs: Runs) -> None:
    for _ in range(5):
        run_dir = runs.begin("sleep", "1000")
        assert stop(str(run_dir))
        assert runs.end(run_dir).reason == "stopped"
