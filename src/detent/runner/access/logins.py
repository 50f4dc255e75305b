"""What a run may do with the folders agents keep in the user's home: logins, settings, conversations.

An agent's own login is the real one and writable, because refresh tokens are single-use; logins of other agents are
hidden. Files that steer an agent or are run by it are read-only; where no mount can make them so, a change is found
afterwards and reported. Nothing is restored here: the person may have made the change.
"""

from __future__ import annotations

import json
import os

from detent.effects.agents.catalog import load_catalog
from detent.effects.host.access import Bind, Laid
from detent.store.disk.atomic import as_json, make_folders, read_cache, read_plain, write_atomic, write_cache
from detent.store.disk.digest import sha256_of
from detent.store.disk.folders import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from detent.effects.agents.catalog import Agent
    from detent.runner.task.open import Task

_PRINTS = "steering.json"
_MOST_FILES = 2000  # read in a folder
_LARGEST_BYTES = 4_000_000  # beyond that a file is known by its size and time
_MOST_BYTES = 64_000_000  # the same for all files below one path together


def agent_folders(agent: Agent) -> tuple[str, ...]:
    """What an agent may write in the user's home: its state, and its login wherever that lies."""
    return tuple(at_home(path) for path in (*agent.state, *agent.auth))


def other_logins(table: Mapping[str, object], agent: Agent | None) -> tuple[str, ...]:
    """The logins of all known agents but this one; without an agent, of all."""
    agents_files = {at_home(path) for path in agent.auth} if agent is not None else set()
    known = (at_home(path) for other in load_catalog(table).agents.values() for path in other.auth)
    return tuple(dict.fromkeys(path for path in known if path not in agents_files))


def steering(agent: Agent) -> tuple[str, ...]:
    """Files and folders that lead the agent later, in other runs and in the hands of its user."""
    return tuple(at_home(path) for path in (*agent.steer, *agent.blank) if path not in agent.auth)


def laid_for(task: Task, agent: Agent, role: str) -> Laid:
    """Conversations of this role, and its copies of files, mounted where the agent looks for them."""
    sessions = [path for path in agent.sessions if os.path.isdir(at_home(path))]
    names = (*sessions, *(path for path in agent.copied if os.path.isfile(at_home(path))))
    places = [(os.path.realpath(at_home(path)), _place(task, agent, role, path)) for path in names]
    return Laid(binds=tuple(Bind(source, path, "writable") for path, source in places if os.path.exists(source)))


def make_ready(task: Task, agent: Agent, role: str, *, with_mounts: bool) -> None:
    """Make the folders an agent can't make from inside, and everything that is to be mounted for this role."""
    for path in filter(_is_folder, agent.state):
        make_folders(at_home(path))
    if not with_mounts:
        return
    for path in filter(_is_folder, (*agent.steer, *agent.sessions)):
        make_folders(at_home(path))
    for path, text in agent.blank.items():
        if not os.path.lexists(at_home(path)):
            make_folders(os.path.dirname(at_home(path)))
            write_atomic(at_home(path), text.encode(), durable=False)
    for path in agent.sessions:
        make_folders(_place(task, agent, role, path))
    for path in agent.copied:
        if os.path.isfile(at_home(path)):
            make_folders(os.path.dirname(_place(task, agent, role, path)))
            write_atomic(_place(task, agent, role, path), read_plain(at_home(path)) or b"", durable=False)


def remember_steering(agent: Agent, run_dir: str) -> None:
    """Keep what steering files are like before a run, for the comparison at its end."""
    write_cache(os.path.join(run_dir, _PRINTS), as_json({path: _print_of(path) for path in steering(agent)}))


def changed_steering(run_dir: str) -> tuple[str, ...]:
    """Steering files that differ from what they were before the run; nothing is known of runs that kept no prints."""
    before = json.loads(read_cache(os.path.join(run_dir, _PRINTS)) or b"{}")
    return tuple(path for path, old in before.items() if _print_of(path) != old)


def at_home(path: str) -> str:
    found = os.path.join(os.path.expanduser("~"), path[2:]) if path.startswith("~/") else path
    return found.rstrip("/") or found


def _is_folder(path: str) -> bool:
    return path.endswith("/")


def _place(task: Task, agent: Agent, role: str, path: str) -> str:
    mark = sha256_of(at_home(path).encode("utf-8", "surrogateescape"))[:12]
    return os.path.join(task.home, "agents", agent.name, role, mark)


def _print_of(path: str) -> str:
    """Stands for the names and bytes below a path; links count by where they lead."""
    parts: list[list[object]] = []
    for number, (name, status) in enumerate(_below(path)):
        if number >= _MOST_FILES:
            parts.append(["more"])
            break
        parts.append([name, *status])
    return sha256_of(json.dumps(parts).encode("utf-8", "surrogateescape")) if parts else ""


def _below(path: str) -> Iterator[tuple[str, list[object]]]:
    if not os.path.lexists(path):
        return
    yield "", _look(path, _LARGEST_BYTES)
    left = _MOST_BYTES
    for folder, folders, files in walk(path):
        for name in sorted((*files, *(name for name in folders if os.path.islink(os.path.join(folder, name))))):
            whole = os.path.join(folder, name)
            yield os.path.relpath(whole, path), _look(whole, min(left, _LARGEST_BYTES))
            left -= min(left, _size_of(whole))


def _size_of(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _look(path: str, largest_bytes: int) -> list[object]:
    import stat

    try:
        if os.path.islink(path):
            return ["link", os.readlink(path)]
        status = os.lstat(path)
        if stat.S_ISDIR(status.st_mode):
            return ["folder"]
        if not stat.S_ISREG(status.st_mode) or status.st_size > largest_bytes:
            return [status.st_mode, status.st_size, status.st_mtime_ns]
        with open(path, "rb") as file:
            return [status.st_mode, sha256_of(file.read(largest_bytes))]
    except OSError:
        return ["gone"]
