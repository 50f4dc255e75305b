"""Runs commands under strace: lists the system calls they make, and kills or disturbs them at one of these calls.

A command is a program of its own, or, with `forks`, only its words: then its calls are counted behind its imports.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.forks import Forks

TIMEOUT_S = 120
KILLED = -9
MOST_TRIES = 4  # to reach a call whose number is not the same in every run
# Calls by which a process changes files, ends a change or starts a helper. Killed at each, a process leaves every
# content of the disk behind that it can leave behind.
CHANGING = (
    "openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "unlink", "unlinkat", "rmdir", "mkdir", "ftruncate",
    "utimensat", "symlink", "link", "flock", "close", "vfork", "pidfd_open",
)  # fmt: skip
_CALL = re.compile(r"^(?:\[pid +\d+\] |(?P<pid>\d+) +)?(?P<name>\w+)\((?P<rest>.*)$")
_RESUMED = re.compile(r"^(?P<pid>\d+) +<\.\.\. (?P<name>\w+) resumed>(?P<rest>.*)$")
_UNFINISHED = "<unfinished ...>"
# Orphans become children of this process; it ends as the program does that it was given, but not before the last one.
_REAPER = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
leader = os.fork()
if leader == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    try:
        pid, status = os.wait()
    except ChildProcessError:
        break
    if pid == leader:
        code = os.waitstatus_to_exitcode(status)
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""
_RESULT = re.compile(r"^(?P<arguments>.*)\) += (?P<result>-?\d+|0x[0-9a-f]+|\?)(?P<note>.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Call:
    """One system call as strace wrote it down."""

    pid: int
    name: str
    arguments: str
    result: str
    number: int  # how many calls of this name the same process had made, this one included

    @property
    def is_done(self) -> bool:
        return not self.result.startswith(("-", "?"))

    def __str__(self) -> str:
        return f"{self.name}#{self.number}({self.arguments[:160]})"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a traced process ended; negative codes are signals."""

    code: int
    out: str
    err: str


def why_not_here() -> str:
    """Why nothing can be traced on this host, or an empty text."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run(
        ["strace", "-f", "-qq", "-e", "trace=none", "true"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return "" if tried.returncode == 0 else f"strace may not trace here: {tried.stderr.strip()[:200]}"


def record(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    log: Path,
    names: Sequence[str] = CHANGING,
    with_data: bool = False,
    forks: Forks | None = None,
) -> tuple[Ended, list[Call]]:
    """Run a command to its end and list its calls; with data, also those of its helpers, with every byte written."""
    options = ["-f", "-xx", "-s", "10000000"] if with_data else []
    ended = _strace([*options, "-y", "-e", "trace=" + ",".join(names), "-o", str(log)], argv, cwd, env, forks=forks)
    return ended, read_calls(log.read_text(encoding="utf-8", errors="surrogateescape"))


def disturb(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    name: str,
    how: str,
    number: int,
    with_orphans: bool = False,
    forks: Forks | None = None,
) -> Ended:
    """Run a command with one call of it replaced, e.g. `signal=KILL` or `error=ENOSPC`; helpers are left alone.

    A helper outlives the command that was killed while it ran: `with_orphans` waits for the last of them too.
    """
    options = ["-e", f"trace={name}", "-e", f"inject={name}:{how}:when={number}", "-o", os.devnull]
    first = (sys.executable, "-I", "-S", "-c", _REAPER) if with_orphans else ()
    return _strace(options, argv, cwd, env, first, forks)


def _strace(
    options: Sequence[str],
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    first: Sequence[str] = (),
    forks: Forks | None = None,
) -> Ended:
    if forks is not None:
        seen = forks.run(argv, cwd, env, "", TIMEOUT_S, tracer=("strace", *options))
        return Ended(seen.returncode, seen.stdout, seen.stderr)
    done = subprocess.run(
        [*first, "strace", "-qq", *options, *argv],
        cwd=cwd,
        env={**env, "PYTHONDONTWRITEBYTECODE": "1"},  # what the first of two runs compiles would shift every number
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return Ended(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def read_calls(text: str) -> list[Call]:
    """The calls in the order in which they ended."""
    begun: dict[int, tuple[str, str]] = {}
    counts: dict[tuple[int, str], int] = {}
    calls = []
    for line in text.split("\n"):
        if resumed := _RESUMED.match(line):
            pid = int(resumed["pid"])
            name, start = begun.pop(pid)
            rest = start + resumed["rest"]
        elif started := _CALL.match(line):
            pid, name, rest = int(started["pid"] or 0), started["name"], started["rest"]
            if rest.endswith(_UNFINISHED):
                begun[pid] = (name, rest.removesuffix(_UNFINISHED))
                continue
        else:
            continue
        if parts := _RESULT.match(rest):
            counts[pid, name] = counts.get((pid, name), 0) + 1
            calls.append(Call(pid, name, parts["arguments"], parts["result"], counts[pid, name]))
    return calls
