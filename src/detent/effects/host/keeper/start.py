"""The engine's side of agent runs: starts a keeper per run, stops it, and clears up after one that was lost.

Nothing is kept in memory: a run is its directory (see `process.py` beside this file), so an engine that died and came
back adopts its runs by looking at them (`look.py`) and waits for their ends (`watch.py`) as if it had started them.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.host.keeper import process
from detent.effects.host.keeper.look import Identity, is_alive, look, read_identity
from detent.errors import LockedError, RefusedError, StorageError, ToolError, UsageError
from detent.store.disk.atomic import make_folders, write_atomic
from detent.store.disk.lock import Lock
from detent.words.effects import host as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

RUN_VARIABLE = "DETENT_RUN"  # marks every process of a run that does not take it out of its own environment
LOG = "keeper.log"
START_WAIT_S = 30.0  # for the keeper to be ready; milliseconds unless the host is drowning
SWEEP_WAIT_S = 10.0  # for the kernel to end what was killed
_PAUSE_S = 0.01


class RunSpec(Record):
    """One agent run: what is run, where it leaves its traces, and its bounds."""

    run_dir: str
    argv: tuple[str, ...]
    env: Mapping[str, str]  # the whole environment; PWD and DETENT_RUN are set by `spawn`
    cwd: str
    stdin_path: str | None
    timeout_s: float
    stall_s: float = 0.0  # without new output; 0 = no bound
    grace_s: float = 5.0  # between asking the processes to end and killing them
    output_limit_bytes: int = 64 * 1024 * 1024  # of each output, and of both together while it runs
    claim_grace_s: float = 10.0  # to end by itself after its claim was accepted


class Swept(Record):
    killed: int
    left: tuple[int, ...]  # pids that were still there when the time was up


def spawn(spec: RunSpec) -> Identity:
    """Start the keeper and return when its identity is on the disk; from then on the run does not need this process.

    After an error only `look` knows whether a run lives here. Must not be called while `process.run` with `whole_tree`
    works in this process: it would take the keeper for its own.
    """
    _check(spec)
    make_folders(spec.run_dir)
    seen = look(spec.run_dir)
    if seen.phase != "unborn" or os.path.lexists(_path(spec.run_dir, process.VOID)):
        raise RefusedError(say.run_started_before_in_phase(seen.phase), where=spec.run_dir)
    # Not readable by others: the environment may hold keys. Its reader or a void run removes it.
    write_atomic(_path(spec.run_dir, process.SPEC), pack(spec), durable=False, mode=0o600)
    word, detail = _start_keeper(spec.run_dir)
    if word == process.READY and (identity := read_identity(spec.run_dir)) is not None:
        return identity
    if word in (process.BUSY, process.USED):
        raise RefusedError(say.run_started_before(), where=spec.run_dir)
    void(spec.run_dir)
    if word == process.FAILED:
        raise StorageError(say.run_not_started_because(detail), where=spec.run_dir)
    raise ToolError(say.run_not_started(), where=_path(spec.run_dir, LOG))


def _check(spec: RunSpec) -> None:
    if not os.path.exists("/proc/self/stat"):
        raise ToolError(say.no_process_table())
    if not spec.argv or not spec.argv[0]:
        raise UsageError(say.run_needs_command())
    texts = (*spec.argv, *spec.env, *spec.env.values(), spec.cwd, spec.stdin_path or "")
    if any("\0" in text for text in texts) or any("=" in name or not name for name in spec.env):
        raise UsageError(say.run_holds_odd_text())


def pack(spec: RunSpec) -> bytes:
    """The bytes that `process.Spec` reads."""
    cwd = os.path.abspath(spec.cwd)
    run = os.urandom(16).hex()
    stdin = os.path.abspath(spec.stdin_path) if spec.stdin_path else os.devnull
    pairs = [("run", run), ("cwd", cwd), ("stdin", stdin)]
    pairs += [(name, str(getattr(spec, name))) for name in process.BOUNDS]
    pairs += [("arg", argument) for argument in spec.argv]
    env = {**spec.env, "PWD": cwd, RUN_VARIABLE: run}
    pairs += [("env", f"{name}={value}") for name, value in env.items()]
    return b"".join(os.fsencode(text) + b"\0" for pair in pairs for text in pair)


def _start_keeper(run_dir: str) -> tuple[str, str]:
    """The keeper's first word and what it says besides; no word if it died or took too long."""
    import sys

    argv = [sys.executable, "-I", "-S", process.__file__, run_dir]
    reading, writing = os.pipe()
    try:
        actions = [
            (os.POSIX_SPAWN_DUP2, writing, 1),
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, _path(run_dir, LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
        ]
        try:
            # Blocked from the first instruction on, a stop that comes early waits until it can be obeyed.
            starter = os.posix_spawn(sys.executable, argv, os.environ, file_actions=actions, setsigmask=process.BLOCKED)
        except OSError as problem:
            raise ToolError(say.run_not_started_because(problem.strerror), where=sys.executable) from problem
        finally:
            os.close(writing)
        word, _, detail = _first_line(reading).partition(" ")
    finally:
        os.close(reading)
    if not word:
        process.send(starter, (process.read_process(starter) or (0,))[0], 9)  # not reaped yet, so it is still ours
    os.waitpid(starter, 0)
    return word, detail


def _first_line(descriptor: int) -> str:
    from select import POLLHUP, POLLIN, poll
    from time import monotonic

    waiting = poll()
    waiting.register(descriptor, POLLIN | POLLHUP)
    until, data = monotonic() + START_WAIT_S, b""
    while not data.endswith(b"\n") and waiting.poll(max(0.0, until - monotonic()) * 1000):
        part = os.read(descriptor, 4096)
        if not part:
            break
        data += part
    return data.decode(errors="replace").strip()


def stop(run_dir: str) -> bool:
    """Tell the keeper to end the run now; False when there is none. The end is seen by `look` or `wait_for_end`."""
    from signal import SIGTERM

    seen = look(run_dir)
    identity = seen.identity
    return (
        identity is not None
        and seen.exit is None  # its last words are written, though its process may not be gone yet
        and is_alive(identity)
        and process.send(identity.keeper_pid, identity.keeper_start, SIGTERM)
    )


def finish(run_dir: str) -> None:
    """The claim was accepted: the run may end by itself for a few seconds, then it is ended."""
    write_atomic(_path(run_dir, process.FINISH), b"", durable=False)


def void(run_dir: str) -> bool:
    """Make sure that a run which never began never will; False when an agent was or may just be started here."""
    from contextlib import suppress

    make_folders(run_dir)
    if _has_begun(run_dir):
        return False
    try:
        # Waited for: a keeper that could not start, or that is too late, lets go of it soon.
        with Lock(_path(run_dir, process.LOCK), wait_s=process.LOCK_WAIT_S):
            if _has_begun(run_dir):
                return False
            write_atomic(_path(run_dir, process.VOID), b"", durable=True)
            with suppress(OSError):
                os.unlink(_path(run_dir, process.SPEC))
    except LockedError:
        return False  # a keeper came first
    return True


def _has_begun(run_dir: str) -> bool:
    return any(os.path.lexists(_path(run_dir, name)) for name in (process.IDENTITY, process.EXIT))


def end_survivors(identity: Identity) -> Swept:
    """Kill what a lost keeper left behind: every process of this user that carries the run's mark."""
    from time import monotonic, sleep

    if identity.boot_id != process.boot_id():
        return Swept(0, ())  # nothing survives a reboot
    if is_alive(identity):
        raise RefusedError(say.keeper_lives(), where=f"process {identity.keeper_pid}")
    killed: set[tuple[int, int]] = set()
    until = monotonic() + SWEEP_WAIT_S
    while (marked := _marked(identity)) and monotonic() < until:
        killed |= {marked_process for marked_process in marked if process.send(*marked_process, 9)}
        sleep(_PAUSE_S)
    return Swept(len(killed), tuple(pid for pid, _ in marked))


def _marked(identity: Identity) -> list[tuple[int, int]]:
    mark = f"{RUN_VARIABLE}={identity.run}".encode()
    found = []
    for name in os.listdir("/proc"):
        seen = process.read_process(int(name)) if name.isdigit() and int(name) != os.getpid() else None
        if seen is None or not seen[2] or seen[0] < identity.keeper_start:
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                is_marked = mark in file.read().split(b"\0")
        except OSError:
            continue  # gone, or another user's
        if is_marked:
            found.append((int(name), seen[0]))
    return found


def _path(run_dir: str, name: str) -> str:
    return os.path.join(run_dir, name)
