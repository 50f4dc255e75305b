"""What a task keeps of its project's settings from the day it is made: agents, budget, notices, added prompts.

It goes into the first journal line: a later edit of `detent.toml`, or of a file it names, changes no running task.
"""

from __future__ import annotations

import os
from functools import cache

from detent.core.record import Record
from detent.effects.git.git import Git
from detent.errors import UnreadableError, UsageError
from detent.store.disk.atomic import LARGEST_TEXT_BYTES, read_plain
from detent.store.journal.settings import FILE, is_bound
from detent.words.runner import task as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.core.machine import Machine
    from detent.store.journal.places import Project
    from detent.store.journal.settings import Settings

_PLAIN_FILES = (b"100644", b"100755")


class Pinned(Record):
    """What a task keeps of the settings: fields of its first journal line."""

    agents: Mapping[str, Any]
    budget: Mapping[str, Mapping[str, float]]
    notify: Mapping[str, Any]
    sandbox_rules: Mapping[str, Any]
    protect: Mapping[str, Sequence[str]]
    allow_no_new_privs: bool
    prompts: Mapping[str, Any]


def pinned_settings(
    project: Project,
    baseline: str,
    settings: Settings,
    machine: Machine,
    agents: Sequence[str] = (),
    usd: str = "",
) -> Pinned:
    """What is kept; `agents` and `usd` are what the command line says besides the settings."""
    budget = {name: dict(bounds) for name, bounds in settings.budget.items()}
    if usd:
        budget["task"]["usd"] = read_usd(usd)
    return Pinned(
        agents={"table": dict(settings.agents), "overrides": read_overrides(settings.agents, machine, agents)},
        budget=budget,
        notify={"command": settings.notify_command, "bell": settings.notify_bell},
        sandbox_rules=sandbox_rules(settings),
        protect={name: list(patterns) for name, patterns in settings.protect.items()},
        allow_no_new_privs=settings.human_allow_no_new_privs,
        prompts={role: _prompt(project, baseline, role, path) for role, path in settings.prompts.items()},
    )


def sandbox_rules(settings: Settings) -> dict[str, Any]:
    return {
        "require": settings.sandbox_require,
        "network": dict(settings.sandbox_network),
        "show": list(settings.sandbox_show),
        "pass": list(settings.sandbox_pass),
    }


def read_committed(project: Project, baseline: str, path: str) -> bytes | None:
    """A file as it stands in the baseline, in a folder without git on disk; None when there is none."""
    if not baseline:
        whole = os.path.join(project.root, path)
        folder, top = os.path.realpath(os.path.dirname(whole)), os.path.realpath(project.root)
        if os.path.commonpath((folder, top)) != top:
            raise UnreadableError(say.link_leads_out(), where=whole)
        return read_plain(whole)
    return _read_from_commit(project, baseline, os.path.normpath(path))


@cache  # a commit never changes, and a new task asks twice
def _read_from_commit(project: Project, baseline: str, name: str) -> bytes | None:
    git = Git(project.common_dir)
    listed = git.run("ls-tree", "-l", "-z", baseline, "--", name)
    if not listed:
        return None
    mode, _kind, blob, size = listed.partition(b"\t")[0].split()
    if mode not in _PLAIN_FILES:
        raise UnreadableError(say.no_plain_file_in_commit(name, baseline), where=project.root)
    if int(size) > LARGEST_TEXT_BYTES:
        problem = say.committed_file_too_large(name, int(size), LARGEST_TEXT_BYTES)
        raise UnreadableError(problem, where=project.root)
    return git.run("cat-file", "blob", blob.decode())


def read_overrides(table: Mapping[str, Any], machine: Machine, words: Sequence[str]) -> dict[str, list[str]]:
    """The values of `--agent` by role; `table` is `[agents]` of the settings."""
    from detent.effects.agents.catalog import DEFAULT, load_catalog  # only the making of a task needs the agents
    from detent.effects.agents.choose import parse_overrides

    overrides = parse_overrides(load_catalog(table), words)
    roles = {state.role: "" for state in machine.states.values() if state.role}
    known = [DEFAULT, *roles, *(f"{machine.name}.{role}" for role in roles)]
    for role in overrides:
        if role not in known:
            raise UsageError(say.no_such_role(role, machine.name, roles))
    return {role: list(choices) for role, choices in overrides.items()}


def read_usd(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not is_bound(value):
        raise UsageError(say.no_amount(text))
    return value


def _prompt(project: Project, baseline: str, role: str, path: str) -> str:
    where = f"{FILE}, [prompts] add"
    data = read_committed(project, baseline, path)
    if data is None:
        problem = say.prompt_not_committed if baseline else say.prompt_missing
        raise UsageError(problem(role, path), where=where)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableError(say.prompt_not_utf8(role, path), where=where) from None
