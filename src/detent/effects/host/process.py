"""The one way to run a process: bounded in time and output, and its process group does not outlive it.

Output goes to files and never to pipes, so a grandchild that keeps the output open cannot make us wait. The order:

1. start the program as the leader of a session of its own;
2. watch until it ends, its time is up, its output is too long, or its processes use more than they may;
3. end what is left: SIGTERM to the group, SIGKILL after `GRACE_S`; with `whole_tree` also descendants that left the
   group (Linux only; elsewhere just the group is ended). What uses too much is killed at once. Where what a program
   leaves running is its purpose (`may_leave`), that stays when the program came to its own end.
"""

from __future__ import annotations

import os
import sys

from detent.core.record import Record
from detent.effects.host.programs import find_on, with_absolute_path
from detent.errors import Ended, StorageError, ToolError
from detent.words.effects import host as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from subprocess import Popen

    from detent.effects.host.process_limits import Limits, Usage
    from detent.effects.host.process_table import Row

OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024
POLL_S = 0.05  # how often output and use are read; the end itself is noticed at once
GRACE_S = 2.0  # between SIGTERM and SIGKILL
KILL_WAIT_S = 2.0  # how long the kernel may take to end a killed process before we go on without it
_SETTLE_S = 0.005

_TIME, _OUTPUT = "time", "output"
_BOUNDS = ("", _TIME, _OUTPUT)  # why a program is watched no longer; else it is a limit it went beyond

_PR_SET_PDEATHSIG, _SIGTERM = 1, 15
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37


class _StartUp:
    """While a program is being started it can't be ended: a signal waits until its process is known."""

    is_on = False
    signal_number = 0


_start_up = _StartUp()


def hold_signal(number: int) -> bool:
    """For a signal handler that would raise: True if `run` will raise in its place, as soon as it may."""
    if _start_up.is_on:
        _start_up.signal_number = number
    return _start_up.is_on


class Finished(Record):
    """How a process ended; `stdout` and `stderr` are empty when the output went to a named file."""

    exit: int  # negative = ended by that signal
    timed_out: bool
    seconds: float
    stdout: bytes
    stderr: bytes
    truncated: bool
    exceeded: str = ""  # the limit it went beyond


def run(  # noqa: PLR0913  # all but one are given by name
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    timeout_s: float,
    output: str | None = None,
    input_bytes: bytes = b"",
    output_limit_bytes: int = OUTPUT_LIMIT_BYTES,
    whole_tree: bool = False,
    may_leave: bool = False,
    limits: Limits | None = None,
    separate_keyring: bool = False,
    dies_with_us: bool = False,
) -> Finished:
    """Run a program to its end; raises ToolError if it cannot be started.

    With `whole_tree` every child that appears below this process meanwhile is taken for the program's own, so the
    caller must not start other children at the same time. `limits` hold for that tree. With `separate_keyring` it can't
    reach the keys of the user's session. With `dies_with_us` the kernel ends it (SIGTERM, so that git removes its lock
    files) when this process is killed.
    """
    from time import monotonic

    started = monotonic()
    opened: list[int] = []
    try:
        stdin, stdout, stderr = _open_streams(opened, output, input_bytes)
        family = _Family() if whole_tree and os.path.isdir("/proc/self") else None
        usage = family.usage(limits) if family is not None and limits is not None else None
        stopped_by, leaves = "", False
        try:
            _start_up.is_on = True
            try:
                first = _first_steps(separate_keyring=separate_keyring, dies_with_us=dies_with_us)
                process = _start(argv, cwd, env, (stdin, stdout, stderr), first)
            finally:
                _start_up.is_on = False
            try:
                if _start_up.signal_number:
                    number, _start_up.signal_number = _start_up.signal_number, 0
                    raise Ended(number)
                opened.extend(handle := _end_handle(process))
                deadline = started + timeout_s
                stopped_by = _watch(process, handle, deadline, (stdout, stderr), output_limit_bytes, usage)
                leaves = may_leave and not stopped_by
            finally:
                _end(process, family, at_once=stopped_by not in _BOUNDS, leaves=leaves)
        finally:
            if family is not None:
                family.close()
        is_cut = [_cut(stream, output_limit_bytes) for stream in (stdout, stderr)]
        code = -9 if process.returncode is None else process.returncode
        texts = (b"", b"") if output else (_read_all(stdout), _read_all(stderr))
        is_cut.append(stopped_by == _OUTPUT)
        exceeded = "" if stopped_by in _BOUNDS else stopped_by
        return Finished(code, stopped_by == _TIME, monotonic() - started, *texts, any(is_cut), exceeded)
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _open_streams(opened: list[int], output: str | None, input_bytes: bytes) -> tuple[int, int, int]:
    if input_bytes:
        stdin = _anonymous_file(opened)
        rest = memoryview(input_bytes)
        while rest:
            rest = rest[os.write(stdin, rest) :]
        os.lseek(stdin, 0, os.SEEK_SET)
    else:
        opened.append(stdin := os.open(os.devnull, os.O_RDONLY))
    if output is None:
        return stdin, _anonymous_file(opened), _anonymous_file(opened)
    try:
        # Append mode: stdout and stderr share the file without writing over each other.
        stdout = os.open(output, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o666)
    except OSError as problem:
        raise StorageError(say.output_not_written(problem.strerror), where=output) from problem
    opened.append(stdout)
    return stdin, stdout, stdout


def _anonymous_file(opened: list[int]) -> int:
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("detent")
    else:
        from tempfile import TemporaryFile  # slow to import, so only where the kernel has no anonymous files

        with TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    opened.append(descriptor)
    return descriptor


def _start(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    streams: tuple[int, int, int],
    first: Callable[[], None] | None,
) -> Popen[bytes]:
    from subprocess import Popen, SubprocessError

    stdin, stdout, stderr = streams
    env = with_absolute_path(env)
    program = argv[0] if os.sep in argv[0] else find_on(env.get("PATH", os.defpath), argv[0]) or argv[0]
    try:
        return Popen(
            [program, *argv[1:]],
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            preexec_fn=first,  # noqa: PLW1509  # a call or two into the kernel
        )
    except (OSError, ValueError, SubprocessError) as problem:
        if not os.path.isdir(cwd):
            raise ToolError(say.folder_missing(argv[0]), where=cwd) from problem
        if isinstance(problem, FileNotFoundError):
            raise ToolError(say.program_not_found(argv[0]), where=cwd) from problem
        reason = getattr(problem, "strerror", None) or str(problem)
        raise ToolError(say.program_not_started(argv[0], reason), where=cwd) from problem


def _first_steps(*, separate_keyring: bool, dies_with_us: bool) -> Callable[[], None] | None:
    """What a new process does before it becomes the program: all it needs is at hand before the fork."""
    if not (separate_keyring or dies_with_us) or not sys.platform.startswith("linux"):
        return None
    import ctypes

    libc, ours = ctypes.CDLL(None, use_errno=True), os.getpid()
    leave_keyring: Callable[[ctypes.CDLL], None] | None = None
    if separate_keyring:  # git needs none of it, and is started often
        from detent.effects.host.keeper.process import new_keyring as leave_keyring

    def first() -> None:
        if leave_keyring is not None:
            leave_keyring(libc)
        if dies_with_us:
            libc.prctl(_PR_SET_PDEATHSIG, _SIGTERM, 0, 0, 0)
            if os.getppid() != ours:  # killed before the kernel knew
                os._exit(1)

    return first


def _end_handle(process: Popen[bytes]) -> list[int]:
    """A descriptor that becomes readable when the leader ends; empty where the system has none."""
    try:
        return [os.pidfd_open(process.pid)]
    except (AttributeError, OSError):  # not Linux, or forbidden here
        return []


def _watch(
    process: Popen[bytes],
    handle: list[int],
    deadline: float,
    files: tuple[int, int],
    limit_bytes: int,
    usage: Usage | None,
) -> str:
    """Wait for the leader's end; the bound it went beyond, or an empty text."""
    from time import monotonic

    while True:
        left_s = deadline - monotonic()
        if left_s <= 0:
            return _TIME
        if _has_ended(process, handle, min(POLL_S, left_s)):
            return ""
        if any(os.fstat(file).st_size > limit_bytes for file in files):
            return _OUTPUT
        if usage is not None and (exceeded := usage.exceeded(monotonic())):
            return exceeded


def _has_ended(process: Popen[bytes], handle: list[int], wait_s: float) -> bool:
    if handle:
        from select import poll

        ended = poll()
        ended.register(handle[0])
        # The leader is not reaped here: while it is a zombie its number cannot become another group's.
        return bool(ended.poll(wait_s * 1000 + 1))
    from subprocess import TimeoutExpired

    try:
        process.wait(wait_s)
    except TimeoutExpired:
        return False
    return True


def _end(process: Popen[bytes], family: _Family | None, *, at_once: bool, leaves: bool) -> None:
    """End the leader if it still runs, its group, and with a family its whole tree; or leave all but the leader."""
    from signal import SIGKILL, SIGTERM
    from time import monotonic, sleep

    if leaves:
        process.wait()
        return
    # What grows without end gets no time to end by itself.
    for signal_number, patience_s in ((SIGTERM, GRACE_S), (SIGKILL, KILL_WAIT_S))[at_once:]:
        deadline = monotonic() + patience_s
        _signal(os.killpg, process.pid, signal_number)
        signalled: set[int] = set()
        while True:
            strays = family.strays(process.pid) if family is not None else set()
            for pid in strays - signalled:
                _signal(os.kill, pid, signal_number)
            signalled |= strays
            if process.poll() is not None and not strays and not _group_lives(process.pid):
                return
            if monotonic() >= deadline:
                break
            sleep(_SETTLE_S)


def _signal(send: Callable[[int, int], None], target: int, signal_number: int) -> None:
    from contextlib import suppress

    with suppress(ProcessLookupError, PermissionError):
        send(target, signal_number)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # Zombies that are never reaped (a container without an init) also answer; only the table tells them apart.
    table = _table()
    return not table or any(entry.group == group and entry.is_alive for entry in table)


class _Family:
    """Tells which processes came from the program even if they left its group: orphans come to us meanwhile."""

    def __init__(self) -> None:
        import ctypes

        self._prctl = ctypes.CDLL(None).prctl
        earlier = ctypes.c_int(0)
        self._prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(earlier), 0, 0, 0)
        self._earlier = earlier.value
        self._prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._known = {(entry.pid, entry.start) for entry in _table()}

    def usage(self, limits: Limits) -> Usage:
        from detent.effects.host.process_limits import Usage

        return Usage(limits, {pid for pid, _ in self._known})

    def strays(self, leader: int) -> set[int]:
        """Living descendants that were not there before; dead ones that came to us are reaped."""
        children: dict[int, list[Row]] = {}
        for entry in _table():
            if (entry.pid, entry.start) not in self._known:
                children.setdefault(entry.parent, []).append(entry)
        found: set[int] = set()
        waiting = [os.getpid()]
        while waiting:
            parent = waiting.pop()
            for child in children.get(parent, ()):
                waiting.append(child.pid)
                if child.is_alive:
                    found.add(child.pid)
                elif parent == os.getpid() and child.pid != leader:
                    _reap(child.pid)
        return found

    def close(self) -> None:
        self._prctl(_PR_SET_CHILD_SUBREAPER, self._earlier, 0, 0, 0)


def _reap(pid: int) -> None:
    from contextlib import suppress

    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _table() -> list[Row]:
    from detent.effects.host.process_table import read_table  # most programs, git above all, end without it

    return read_table()


def _cut(descriptor: int, limit_bytes: int) -> bool:
    if os.fstat(descriptor).st_size <= limit_bytes:
        return False
    os.ftruncate(descriptor, limit_bytes)
    return True


def _read_all(descriptor: int) -> bytes:
    parts = []
    position = 0
    while part := os.pread(descriptor, 1 << 24, position):
        parts.append(part)
        position += len(part)
    return b"".join(parts)
