"""What became of an agent run: read from its directory by any process at any time, decided by lock and identity.

Reads only. A process is known by pid, start ticks and boot id, never by its name or its number alone.
"""

from __future__ import annotations

import fcntl
import json
import os

from detent.core.record import Record
from detent.effects.host.keeper import process
from detent.errors import UnreadableError
from detent.store.disk.atomic import read_plain
from detent.words.effects import host as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import UnionType
    from typing import Any, Literal

    Phase = Literal["unborn", "alive", "ended", "lost", "unknown"]
    ExitClass = Literal["finished", "failed", "timeout", "killed", "lost"]


class Identity(Record):
    """The identity of a process, in a form that stays valid when its number is used again."""

    run: str  # the value of DETENT_RUN, unique on this host
    boot_id: str
    keeper_pid: int
    keeper_start: int
    child_pid: int
    child_start: int


class Exit(Record):
    """How a run ended, from `exit.json`; either `code` or `signal` is set unless the program could not be ended."""

    reason: str  # exited | timeout | stall | stopped | claimed | talked | output_limit | exec_failed
    code: int | None
    signal: int | None
    problem: str  # why the program could not be started
    survivors: int  # processes besides the program itself that had to be ended
    left: int  # processes that could not be ended
    max_rss_bytes: int
    cpu_s: float
    started: float
    ended: float


_IDENTITY_TYPES: Mapping[str, type | UnionType] = {
    **dict.fromkeys(("run", "boot_id"), str),
    **dict.fromkeys(("keeper_pid", "keeper_start", "child_pid", "child_start"), int),
}
_EXIT_TYPES: Mapping[str, type | UnionType] = {
    **dict.fromkeys(("reason", "problem"), str),
    **dict.fromkeys(("code", "signal"), int | None),
    **dict.fromkeys(("survivors", "left", "max_rss_bytes"), int),
    **dict.fromkeys(("cpu_s", "started", "ended"), int | float),
}


class RunSeen(Record):
    """`lost` = the keeper is gone without a word; `unknown` is never treated as dead, and `why` says what is odd."""

    phase: Phase
    identity: Identity | None = None
    exit: Exit | None = None
    why: str = ""


def look(run_dir: str) -> RunSeen:
    """What is known about a run now; reads only."""
    try:
        # In this order: a run that had begun and whose lock is free has said its last word before we look for it.
        identity, is_locked = read_identity(run_dir), _is_held(run_dir)
        lives = identity is not None and is_alive(identity)
        ended = _read_exit(run_dir)
    except (UnreadableError, OSError) as problem:
        return RunSeen("unknown", why=str(problem))
    if ended is not None:
        return RunSeen("ended", identity, ended)
    if identity is None:
        return RunSeen("unknown", why=say.just_being_started()) if is_locked else RunSeen("unborn")
    if is_locked == lives:
        return RunSeen("alive" if lives else "lost", identity)
    odd = say.lock_without_keeper() if is_locked else say.keeper_without_lock()
    return RunSeen("unknown", identity, why=odd)


def exit_class(ended: Exit | None) -> ExitClass:
    """What the keeper alone can tell; the agent's events may still turn `finished` into failed or quota."""
    if ended is None:
        return "lost"
    match ended.reason:
        case "claimed" | "talked":
            return "finished"
        case "timeout" | "stall":
            return "timeout"
        case "stopped":
            return "killed"
        case "exited" if ended.signal is not None:
            return "killed"
        case "exited" if ended.code == 0:
            return "finished"
        case _:
            return "failed"


def _is_held(run_dir: str) -> bool:
    """Whether a process holds the run's lock; tried with a shared lock, so that two readers don't block each other."""
    try:
        descriptor = os.open(os.path.join(run_dir, process.LOCK), os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def is_alive(identity: Identity) -> bool:
    if identity.boot_id != process.boot_id():
        return False
    seen = process.read_process(identity.keeper_pid)
    return seen is not None and seen[0] == identity.keeper_start and seen[2]


def read_identity(run_dir: str) -> Identity | None:
    fields = _read_json(os.path.join(run_dir, process.IDENTITY), _IDENTITY_TYPES)
    return None if fields is None else Identity(**fields)


def _read_exit(run_dir: str) -> Exit | None:
    fields = _read_json(os.path.join(run_dir, process.EXIT), _EXIT_TYPES)
    return None if fields is None else Exit(**fields)


def _read_json(path: str, types: Mapping[str, type | UnionType]) -> dict[str, Any] | None:
    data = read_plain(path, process.ROOM_BYTES)
    if data is None:
        return None
    try:
        content = json.loads(data)
    except ValueError as problem:
        raise UnreadableError(say.file_no_json(problem), where=path) from problem
    if not isinstance(content, dict) or not all(isinstance(content.get(name), types[name]) for name in types):
        raise UnreadableError(say.not_of_a_keeper(), where=path)
    return {name: content[name] for name in types}
