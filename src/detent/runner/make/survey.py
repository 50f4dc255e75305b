"""Scans a host and a repository for `detent init`: agents, commands, set-up, sandbox. Reads only, needs no net."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.agents.catalog import DEFAULT, find_program, has_login, load_catalog
from detent.effects.agents.formats import FORMATS
from detent.effects.git.git import Git, find_repository
from detent.effects.host import process
from detent.effects.host.programs import find_on
from detent.effects.host.sandbox import Probe, best_level
from detent.errors import ToolError, UsageError
from detent.runner.make.guess import SAFE_PATH, Guess, SetUp, guess_carry, guess_commands, guess_setup
from detent.store.journal.user_settings import user_content
from detent.words.runner import make as say
from detent.words.runner import task as of_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from detent.effects.agents.catalog import Agent
    from detent.effects.git.git import Repository

_ASK_S = 20.0
_MOST_IGNORED = 10
_LONGEST_VERSION = 60


class FoundAgent(Record):
    name: str
    program: str
    version: str  # as it says itself; empty when it did not say
    has_login: bool
    reports_cost: bool = False  # its output says what a run cost


class Survey(Record):
    """What was seen."""

    root: str
    has_git: bool
    has_commit: bool
    agents: tuple[FoundAgent, ...]
    person_agent: FoundAgent | None  # of the user's own settings, where a project names none
    known_agents: Mapping[str, str]  # name -> how to install it
    commands: tuple[Guess, ...]
    setups: tuple[SetUp, ...]
    carry: tuple[str, ...]
    ignored: tuple[str, ...]  # files the tests may need that are in no commit
    sandbox: Probe


def survey(start: str, environment: Mapping[str, str]) -> Survey:
    """Look at the project a folder belongs to, with the programs and logins of this environment."""
    if not os.path.isdir(start):
        raise UsageError(of_task.no_folder(start))
    repository = find_repository(start)
    if repository is not None and repository.is_bare:
        raise UsageError(say.bare_repository_to_look_at(), where=repository.top)
    root = repository.top if repository is not None else os.path.abspath(start)
    catalog = load_catalog({})
    has = _finder(environment)
    agents = tuple(found for agent in catalog.agents.values() if (found := _find_agent(agent, environment)) is not None)
    return Survey(
        root=root,
        has_git=repository is not None,
        has_commit=repository is not None and repository.head is not None,
        agents=agents,
        person_agent=_person_agent(user_content().get("agents", {}), environment, is_alone=not agents),
        known_agents={agent.name: agent.install for agent in catalog.agents.values()},
        commands=guess_commands(root, has),
        setups=guess_setup(root, has),
        carry=guess_carry(root),
        ignored=_ignored_files(repository) if repository is not None else (),
        sandbox=best_level(environment),
    )


def _person_agent(table: Mapping[str, Any], environment: Mapping[str, str], *, is_alone: bool) -> FoundAgent | None:
    """The default agent of the user's own settings; without one the first program named there, if it `is_alone`."""
    catalog = load_catalog(table)
    programs = [name for name, value in table.items() if isinstance(value, dict)] if is_alone else []
    names = [choice.partition(":")[0] for choice in catalog.roles.get(DEFAULT, programs)]
    found = (_find_agent(catalog.agents[name], environment) for name in names)
    return next((agent for agent in found if agent is not None), None)


def _find_agent(agent: Agent, environment: Mapping[str, str]) -> FoundAgent | None:
    program = find_program(agent, _search_path(environment))
    if not program:
        return None
    version = _ask([program, *agent.version[1:]], {**environment, **agent.env}) if agent.version else ""
    return FoundAgent(agent.name, program, version, has_login(agent, environment), FORMATS[agent.events].tells_cost)


def _ask(argv: list[str], environment: Mapping[str, str]) -> str:
    """The first line a program prints when it is asked for its version; nothing if it does not answer well."""
    try:
        finished = process.run(argv, cwd=os.sep, env=environment, timeout_s=_ASK_S, whole_tree=True)
    except ToolError:
        return ""
    lines = finished.stdout.decode("utf-8", "replace").strip().splitlines()
    return lines[0].strip()[:_LONGEST_VERSION] if finished.exit == 0 and lines else ""


def _search_path(environment: Mapping[str, str]) -> str:
    return environment.get("PATH", os.defpath)


def _finder(environment: Mapping[str, str]) -> Callable[[str], bool]:
    def has(needs: str) -> bool:
        program, _, module = needs.partition(" -m ")
        found = find_on(_search_path(environment), program.split(" ")[0])
        if not found or needs == program.split(" ")[0]:
            return bool(found)
        # Asked from the root folder, so that a file of the repository can't answer in the module's place.
        is_absent = "sys.version_info < (3, 11)" if needs == SAFE_PATH else f"find_spec({module!r}) is None"
        argv = (found, "-c", f"import sys; from importlib.util import find_spec; sys.exit({is_absent})")
        try:
            return process.run(argv, cwd=os.sep, env=environment, timeout_s=_ASK_S).exit == 0
        except ToolError:
            return False

    return has


def _ignored_files(repository: Repository) -> tuple[str, ...]:
    """Ignored files that look like settings of tests; folders of packages and builds are not among them."""
    git = Git(repository.git_dir, repository.top)
    listed = git.run("ls-files", "-z", "--others", "--ignored", "--exclude-per-directory=.gitignore", "--directory")
    names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    looks_like = [
        name for name in names if not name.endswith("/") and name.isprintable() and _is_setting(os.path.basename(name))
    ]
    return tuple(looks_like[:_MOST_IGNORED])


def _is_setting(name: str) -> bool:
    return name.startswith(".env") or ".local" in name or name.endswith(".env")
