"""Says which settings of a repository need a person's trust, and refuses to use them without it.

Privileged is what a repository's settings would run or pass outside the sandbox, or what widens it: programs, folders
and logins of agents, the notify command, those for issues and pull requests, `[sandbox] pass` and `show`; where nothing
is sandboxed, the commands and set-up too. Built-in agents need no trust, and the user's own settings are the user's.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from detent.core.record import Record
from detent.effects.host.access import LANDLOCK, NONE
from detent.errors import DetentError, UnreadableError, UntrustedError
from detent.runner.access.access import settings_level
from detent.runner.access.level import level_of
from detent.store.disk.digest import sha256_of
from detent.store.journal.memory import utc_now
from detent.store.journal.settings import FILE, READ_ISSUE, read_content
from detent.store.journal.user_settings import effective_settings, is_trusted, remember_trust
from detent.words.runner import access as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.store.journal.places import Project

_NO_COMMANDS = ("timeout_s", "memory_mb", "processes")  # numbers under `[commands]`


class Privileged(Record):
    """What a repository wants, by the name of the setting, and its digest; both are empty where it wants nothing."""

    settings: Mapping[str, Any]
    digest: str
    where: str = ""


def privileged_of(data: bytes | None, where: str, level: str) -> Privileged:
    """The privileged settings in the bytes of a `detent.toml` whose commands run at this sandbox level."""
    content = read_content(data, where) if data else {}
    wanted: dict[str, Any] = {}
    agents = _table(content, "agents")
    wanted.update({f"[agents.{name}]": value for name, value in agents.items() if isinstance(value, dict)})
    for table, name, usual in (
        ("notify", "command", ""),
        ("issue", "read", READ_ISSUE),
        ("land", "pr", ""),
        ("sandbox", "pass", []),
        ("sandbox", "show", []),
    ):
        value = _table(content, table).get(name, usual)
        if value != usual:
            wanted[f"[{table}] {name}"] = value
    if level == NONE:
        commands = _table(content, "commands").items()
        wanted.update({f"[commands] {name}": line for name, line in commands if name not in _NO_COMMANDS})
        if setup := _table(content, "workspace").get("setup"):
            wanted["[workspace] setup"] = setup
    text = json.dumps(wanted, sort_keys=True, default=str)
    return Privileged(wanted, sha256_of(text.encode("utf-8", "surrogatepass")) if wanted else "", where)


def _table(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = content.get(name, {})
    return found if isinstance(found, dict) else {}


def _privileged(project: Project, data: bytes | None, where: str) -> Privileged:
    """What these settings want here; the level of their commands may be lower than the host's."""
    level = level_of(project).level
    if level == LANDLOCK:
        with suppress(DetentError):  # from settings with mistakes no task can be made
            level = settings_level(project, effective_settings(data, where))
    return privileged_of(data, where, level)


def require_trust(project: Project, data: bytes | None, where: str) -> None:
    """Raise unless a person trusts what these settings want; settings that want nothing need no trust."""
    wanted = _privileged(project, data, where)
    if not is_untrusted(project, wanted):
        return
    names = ", ".join(wanted.settings)
    raise UntrustedError(say.not_trusted(FILE, names, wanted.digest), where=where, wanted=wanted)


def is_untrusted(project: Project, wanted: Privileged) -> bool:
    return bool(wanted.digest) and not is_trusted(project, wanted.digest)


def trust(project: Project, wanted: Privileged, by: str) -> None:
    remember_trust(project, wanted.digest, wanted.settings, by, utc_now())


def trust_written(project: Project, text: str, by: str) -> None:
    """Trust what `init` wrote itself: on a host without a sandbox its commands would need it."""
    wanted = _privileged(project, text.encode(), FILE)
    if wanted.digest:
        trust(project, wanted, by)


def wanted_here(project: Project) -> tuple[Privileged, ...]:
    """What the settings want: those of the last commit, which tasks go by, and those on disk where they differ."""
    from detent.runner.task.committed import head_commit
    from detent.runner.task.pinned import read_committed
    from detent.store.disk.atomic import read_plain

    head = head_commit(project)
    found = []
    if head:
        found.append(_privileged(project, read_committed(project, head, FILE), f"{FILE} of {head[:12]}"))
    path = os.path.join(project.root, FILE)
    with suppress(*((UnreadableError,) if head else ())):  # what is half written here concerns no task yet
        found.append(_privileged(project, read_plain(path), path))
    return tuple({wanted.digest: wanted for wanted in reversed(found) if wanted.digest}.values())[::-1]
