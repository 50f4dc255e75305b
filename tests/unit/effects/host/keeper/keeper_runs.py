"""Real agent runs under real keepers for the tests, each ended when its test is over."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from detent.effects.host.keeper import process as keeper_process
from detent.effects.host.keeper.look import Exit, Identity, is_alive, look
from detent.effects.host.keeper.start import RunSpec, end_survivors, spawn, stop
from detent.effects.host.keeper.watch import wait_for_end

WAIT_S = 120.0

# A daemon in the old manner: two forks and a session of its own, so it is in no group of ours and has no parent here.
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        exec(sys.argv[1])
        print(os.getpid(), flush=True)
        time.sleep(1000)
    os._exit(0)
"""


def python(code: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", code, *arguments)


def shell(script: str) -> tuple[str, ...]:
    return ("sh", "-c", script)


def lives(pid: int) -> bool:
    seen = keeper_process.read_process(pid)
    return seen is not None and seen[2]


def until(is_so: Callable[[], object]) -> None:
    """Wait for what no event tells about."""
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def gone(pid: int) -> None:
    """Wait until a process has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    waiting = select.poll()
    waiting.register(handle)
    ended = waiting.poll(WAIT_S * 1000)
    os.close(handle)
    assert ended, f"process {pid} did not end"


def spec(run_dir: Path, argv: tuple[str, ...], **changes: Any) -> RunSpec:
    usual: dict[str, Any] = {"env": dict(os.environ), "cwd": "/", "stdin_path": None, "timeout_s": 60.0}
    return RunSpec(run_dir=str(run_dir), argv=argv, **{**usual, **changes})


def raw_spec(run_dir: Path, argv: tuple[str, ...]) -> None:
    """The file an engine leaves when it dies before the keeper has read it."""
    bounds = dict.fromkeys(keeper_process.BOUNDS, "60")
    pairs = [("run", "by-hand"), ("cwd", "/"), ("stdin", os.devnull), *bounds.items()]
    pairs += [("arg", argument) for argument in argv] + [("env", f"PATH={os.environ['PATH']}")]
    run_dir.mkdir(parents=True, exist_ok=True)
    (run_dir / "spec").write_bytes(b"".join(f"{name}\0{value}\0".encode() for name, value in pairs))


def late_keeper(run_dir: Path) -> str:
    """What a keeper says that is started by hand; the pipe ends when it and all that came of it let go of it."""
    argv = (sys.executable, "-I", "-S", keeper_process.__file__, str(run_dir))
    return subprocess.run(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=WAIT_S, check=True, text=True
    ).stdout.strip()


class Runs:
    """Starts runs in directories of their own and knows how each came to its end."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.begun: list[Path] = []

    def begin(self, *argv: str, **changes: Any) -> Path:
        run_dir = self.place / "runs" / str(len(self.begun) + 1)
        self.begun.append(run_dir)
        spawn(spec(run_dir, argv, **changes))
        return run_dir

    def identity(self, run_dir: Path) -> Identity:
        identity = look(str(run_dir)).identity
        assert identity is not None
        return identity

    def end(self, run_dir: Path) -> Exit:
        assert wait_for_end([str(run_dir)], WAIT_S) == str(run_dir)
        seen = look(str(run_dir))
        assert seen.phase == "ended", seen
        assert seen.exit is not None
        return seen.exit

    def ended(self, *argv: str, **changes: Any) -> Exit:
        return self.end(self.begin(*argv, **changes))

    def said(self, run_dir: Path, lines: int = 1) -> list[str]:
        """The first lines of the program's output, waited for."""
        path = run_dir / "events"
        until(lambda: path.read_bytes().count(b"\n") >= lines)
        return path.read_text(encoding="utf-8").splitlines()

    def close(self) -> None:
        for run_dir in self.begun:
            identity = look(str(run_dir)).identity
            if identity is not None:
                if is_alive(identity):
                    stop(str(run_dir))
                    gone(identity.keeper_pid)
                end_survivors(identity)


@contextmanager
def runs_in(place: Path) -> Iterator[Runs]:
    runs = Runs(place)
    try:
        yield runs
    finally:
        runs.close()
