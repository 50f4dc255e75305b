"""Tests of the one way to run a process, with real processes."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from detent.effects.host.process import Finished, run
from detent.errors import StorageError, ToolError
from detent.words.effects import host as say

LINUX_ONLY = pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="this host has no /proc")

# A daemon in the old manner: two forks and a session of its own, so it is in no group of ours and has no parent here.
STRAY = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open("pid.new", "w") as file:
            file.write(str(os.getpid()))
        os.rename("pid.new", "pid")
        time.sleep(100)
    os._exit(0)
while not os.path.exists("pid"):
    time.sleep(0.01)
"""


def shell(
    script: str, cwd: Path, *, timeout_s: float = 120, limit: int = 1_000_000, whole_tree: bool = False
) -> Finished:
    return run(
        ["sh", "-c", script],
        cwd=str(cwd),
        env=dict(os.environ),
        timeout_s=timeout_s,
        output_limit_bytes=limit,
        whole_tree=whole_tree,
    )


def lives(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return text.rpartition(")")[2].split()[0] not in ("Z", "X")


def test_output_and_exit_are_returned(tmp_path: Path) -> None:
    finished = shell("echo out; echo err >&2; exit 7", tmp_path)
    assert (finished.exit, finished.stdout, finished.stderr) == (7, b"out\n", b"err\n")
    assert not finished.timed_out
    assert not finished.truncated


def test_input_larger_than_a_pipe_arrives_whole(tmp_path: Path) -> None:
    data = b"x" * 3_000_000
    finished = run(["cat"], cwd=str(tmp_path), env=dict(os.environ), timeout_s=120, input_bytes=data)
    assert finished.stdout == data


def test_without_input_the_program_reads_nothing(tmp_path: Path) -> None:
    assert shell("cat; echo end", tmp_path).stdout == b"end\n"


def test_named_output_holds_both_streams_and_replaces_what_was_there(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("old and much longer than the new text", encoding="utf-8")
    environment = dict(os.environ)
    finished = run(
        ["sh", "-c", "echo one; echo two >&2; echo three"],
        cwd=str(tmp_path),
        env=environment,
        timeout_s=120,
        output=str(log),
    )
    assert log.read_text(encoding="utf-8") == "one\ntwo\nthree\n"
    assert (finished.stdout, finished.stderr) == (b"", b"")


def test_environment_is_the_given_one_only(tmp_path: Path) -> None:
    finished = run(["/usr/bin/env"], cwd=str(tmp_path), env={"ONLY": "this"}, timeout_s=120)
    assert finished.stdout == b"ONLY=this\n"


def test_signal_is_a_negative_exit(tmp_path: Path) -> None:
    assert shell("kill -KILL $$", tmp_path).exit == -signal.SIGKILL


def test_time_is_bounded(tmp_path: Path) -> None:
    finished = shell("echo before; sleep 1000", tmp_path, timeout_s=3)
    assert finished.timed_out
    assert finished.exit == -signal.SIGTERM
    assert finished.stdout == b"before\n"
    assert finished.seconds < 500


def test_a_program_that_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    finished = shell("trap '' TERM; while true; do sleep 0.1; done", tmp_path, timeout_s=3)
    assert finished.timed_out
    assert finished.exit == -signal.SIGKILL


@LINUX_ONLY
def test_children_that_keep_output_open_neither_hang_us_nor_survive(tmp_path: Path) -> None:
    finished = shell("sleep 100 & echo $!", tmp_path)
    assert finished.exit == 0
    assert finished.seconds < 90
    assert not lives(int(finished.stdout))


@LINUX_ONLY
def test_whole_tree_ends_descendants_in_sessions_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "stray.py").write_text(STRAY, encoding="utf-8")
    shell(f'"{sys.executable}" stray.py', tmp_path, whole_tree=True)
    assert not lives(int((tmp_path / "pid").read_text(encoding="ascii")))


@LINUX_ONLY
def test_whole_tree_spares_children_that_were_there_before(tmp_path: Path) -> None:
    earlier = subprocess.Popen(["sleep", "100"])
    try:
        shell("setsid sleep 100 & true", tmp_path, whole_tree=True)
        assert earlier.poll() is None
    finally:
        earlier.kill()
        earlier.wait()


def test_endless_output_ends_the_program_and_is_cut(tmp_path: Path) -> None:
    finished = shell("yes", tmp_path, limit=10_000)
    assert finished.truncated
    assert len(finished.stdout) == 10_000
    assert not finished.timed_out


def test_long_output_of_a_quick_program_is_cut_too(tmp_path: Path) -> None:
    log = tmp_path / "log"
    finished = run(
        ["sh", "-c", "yes | head -c 50000"],
        cwd=str(tmp_path),
        env=dict(os.environ),
        timeout_s=120,
        output=str(log),
        output_limit_bytes=10_000,
    )
    assert finished.truncated
    assert log.stat().st_size == 10_000


def test_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=re.escape(say.program_not_found("no-such-program"))):
        run(["no-such-program"], cwd=str(tmp_path), env=dict(os.environ), timeout_s=5)


def test_missing_folder_is_not_taken_for_a_missing_program(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=re.escape(say.folder_missing("true"))):
        run(["true"], cwd=str(tmp_path / "gone"), env=dict(os.environ), timeout_s=5)


def test_program_without_the_right_to_run_is_a_tool_error(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("no program", encoding="utf-8")
    with pytest.raises(ToolError) as caught:
        run([str(tmp_path / "plain")], cwd=str(tmp_path), env=dict(os.environ), timeout_s=5)
    assert caught.value.what == say.program_not_started(str(tmp_path / "plain"), os.strerror(errno.EACCES))


def test_output_that_cannot_be_opened_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        run(["true"], cwd=str(tmp_path), env={}, timeout_s=5, output=str(tmp_path / "gone" / "log"))


@LINUX_ONLY
def test_an_interrupt_ends_the_program_too(tmp_path: Path) -> None:
    code = (
        "import os, signal; from detent.effects.host.process import hold_signal, run\n"
        "def end(number, frame):\n"
        "    if not hold_signal(number): raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGINT, end)\n"
        f"run(['sh','-c','echo $$ > pid; sleep 100'], cwd={str(tmp_path)!r}, env=dict(os.environ), timeout_s=100)"
    )
    engine = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    pid_file = tmp_path / "pid"
    deadline = time.monotonic() + 120
    while not (pid_file.exists() and pid_file.read_text(encoding="ascii").strip()) and time.monotonic() < deadline:
        time.sleep(0.01)
    engine.send_signal(signal.SIGINT)
    assert engine.wait(120) != 0
    assert not lives(int(pid_file.read_text(encoding="ascii")))


def test_importing_it_does_not_import_subprocess() -> None:
    code = "import sys, detent.effects.host.process, detent.effects.git.git; print('subprocess' in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-S", "-c", code],
            capture_output=True,
            check=True,
            env={"PYTHONPATH": os.pathsep.join(sys.path)},
        ).stdout
        == b"False\n"
    )


STARTS = """
import os, sys
from detent.effects.host import process
process.run(sys.argv[1:], cwd="/", env=dict(os.environ), timeout_s=600, dies_with_us=True)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends a process with its parent")
def test_program_ends_when_the_process_that_started_it_is_killed(tmp_path: Path) -> None:
    """The pipe that the program holds open says when it is gone."""
    pipe = tmp_path / "pipe"
    for path in (pipe, tmp_path / "never"):
        os.mkfifo(path)
    script = f"exec 3>{pipe}; echo up >&3; exec cat {tmp_path}/never"
    starter = subprocess.Popen([sys.executable, "-c", STARTS, "/bin/sh", "-c", script])
    with pipe.open(encoding="ascii") as reader:
        assert reader.readline() == "up\n"
        starter.kill()
        starter.wait(timeout=60)
        assert reader.read() == ""  # ends only when no process has it open
