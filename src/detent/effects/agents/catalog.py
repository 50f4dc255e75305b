"""The agents that can be started: those of `catalog.toml` and a project's own, and the command line of one run.

Nothing is started here. A credential is looked for and never opened: refresh tokens are single-use, so a copy would end
the login it was taken from.
"""

from __future__ import annotations

import os
from functools import cache

from detent.core.record import Record
from detent.effects.agents.formats import FORMATS, TEXT
from detent.effects.host.programs import find_on
from detent.errors import UsageError
from detent.machines.reading import Reader, Table
from detent.words.effects import agents as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

READ, WRITE = "read", "write"
DEFAULT = "default"  # the role whose agent serves every role that has none of its own
_PLACEHOLDERS = ("model", "session", "out", "cwd", "folder", "prompt")
_DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "catalog.toml")


class Agent(Record):
    """One agent; the words of each field are in `catalog.toml`."""

    name: str
    argv: tuple[str, ...]
    write: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    read_env: Mapping[str, str] = {}
    held: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    talk: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    events: str = TEXT
    version: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    steer: tuple[str, ...] = ()
    blank: Mapping[str, str] = {}
    sessions: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    auth: tuple[str, ...] = ()
    auth_env: tuple[str, ...] = ()
    hosted: Mapping[str, tuple[str, ...]] = {}
    install: str = ""


class Catalog(Record):
    """Every known agent by name, in the order in which they are looked for, and the agents of each role."""

    agents: Mapping[str, Agent]
    roles: Mapping[
        str, tuple[str, ...]
    ]  # "role", "machine.role" or "default" -> "agent" or "agent:model", tried in turn


class Launch(Record):
    """What is run; `env` is added to the environment of the run."""

    argv: tuple[str, ...]
    env: Mapping[str, str]


def load_catalog(user: Mapping[str, object]) -> Catalog:
    """The built-in agents with the `[agents]` table of a project laid over them; all its problems at once.

    A table with the name of a built-in agent changes only the keys it names. Texts and lists name the agents of a role.
    """
    tables = dict(_built_in())
    reader = Reader()
    roles: dict[str, tuple[str, ...]] = {}
    for name, value in user.items():
        if isinstance(value, dict):
            built_in = tables.get(name, {})
            tables[name] = {**built_in, **value} if isinstance(built_in, dict) else value
        else:
            roles[name] = _read_role(name, value, reader)
    agents = {name: _read_agent(name, Table(table, f"agents.{name}", reader)) for name, table in tables.items()}
    for role, choices in roles.items():
        for choice in choices:
            if choice.partition(":")[0] not in agents:
                reader.problem(say.no_agent_in_setting(role, choice.partition(":")[0]))
    if reader.problems:
        raise UsageError(say.problems_in_agents(reader.problems, agents), where="detent.toml")
    return Catalog(agents, roles)


@cache
def _built_in() -> Mapping[str, object]:
    """Read once: every start of a run asks more than once, and what ships with the engine stays as it is."""
    import tomllib  # slow to import, and only needed where a run is about to start

    with open(_DATA, "rb") as file:
        return tomllib.load(file)


def command_for(
    agent: Agent,
    *,
    access: str,
    model: str,
    session: str,
    run_dir: str,
    cwd: str,
    folders: Sequence[str] = (),
    is_held: bool = False,
) -> Launch:
    """The command line of one run and what is added to its environment; empty `model` or `session` means none.

    `folders` are those it may write to besides `cwd`; an agent without a flag for it needs none. `is_held`: the kernel
    sandboxes the run already.

    Only an agent with `resume` continues a session; the others start a new one. The model is also in the environment,
    so that a program of the user's own needs no flag for it.
    """
    known = {"model": model, "session": session, "out": run_dir, "cwd": cwd}
    words = (
        *(_fill(word, known) for word in agent.argv),
        *_granted(agent, known, access, folders, is_held=is_held),
        *(_fill(word, known) for word in (*(agent.resume if session else ()), *agent.last)),
    )
    return Launch(words, _environment(agent, known, access))


def talk_command_for(
    agent: Agent, *, prompt: str, model: str, run_dir: str, cwd: str, folders: Sequence[str], is_held: bool
) -> Launch:
    """The command line of a conversation with a person; its last word is what tells the agent of its prompt."""
    known = {"model": model, "session": "", "out": run_dir, "cwd": cwd, "prompt": prompt}
    *first, last = agent.talk
    words = (
        *(_fill(word, known) for word in first),
        *_granted(agent, known, WRITE, folders, is_held=is_held),
        _fill(last, known),
    )
    return Launch(words, _environment(agent, known, WRITE))


def _granted(
    agent: Agent, known: Mapping[str, str], access: str, folders: Sequence[str], *, is_held: bool
) -> tuple[str, ...]:
    """The words about what it may do, its model and its folders."""
    rights = agent.read if access == READ else agent.write
    if is_held and agent.held:
        rights = agent.held
    return (
        *(_fill(word, known) for word in (*rights, *(agent.model if known["model"] else ()))),
        *(_fill(word, {**known, "folder": folder}) for folder in folders for word in agent.folders),
    )


def _environment(agent: Agent, known: Mapping[str, str], access: str) -> dict[str, str]:
    env = {**agent.env, **(agent.read_env if access == READ else {})}
    return {
        **{name: _fill(value, known) for name, value in env.items()},
        "PWD": known["cwd"],  # some agents believe it more than the folder they are started in
        "DETENT_ACCESS": access,
        "DETENT_MODEL": known["model"],
        "DETENT_SESSION": known["session"],
        "DETENT_OUT": known["out"],
    }


def find_program(agent: Agent, search_path: str) -> str:
    """Where the agent's program lies on the search path, or nothing."""
    program = agent.argv[0]
    if os.path.isabs(program):
        return program if os.access(program, os.X_OK) and os.path.isfile(program) else ""
    return find_on(search_path, program)


def passed_to(agent: Agent, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that this agent's runs get and no other process does: its login, and a provider that is in use."""
    in_use = [(name, *more) for name, more in agent.hosted.items() if environment.get(name)]
    return (*agent.auth_env, *(name for names in in_use for name in names))


def has_login(agent: Agent, environment: Mapping[str, str]) -> bool:
    """Whether a login of the agent's own is there: a hint for people, never a condition."""
    home = environment.get("HOME", "")
    files = (os.path.join(home, path[2:]) if path.startswith("~/") else path for path in agent.auth)
    return any(environment.get(name) for name in agent.auth_env) or any(os.path.exists(path) for path in files)


def _read_role(role: str, value: object, reader: Reader) -> tuple[str, ...]:
    choices = [value] if isinstance(value, str) else value
    if (
        not isinstance(choices, list)
        or not choices
        or not all(isinstance(choice, str) and choice for choice in choices)
    ):
        reader.problem(say.role_no_agents(role))
        return ()
    return tuple(choices)


def _read_agent(name: str, table: Table) -> Agent:
    if "argv" not in table.content:
        # Unquoted dots make a table in TOML; that is what a missing argv mostly means.
        table.reader.problem(say.no_argv(table.where, name))
        return Agent(name, ("",))
    agent = Agent(
        name=name,
        argv=table.texts("argv"),
        write=table.texts("write"),
        read=table.texts("read"),
        read_env=table.table("read_env").mapping_of_text(),
        held=table.texts("held"),
        model=table.texts("model"),
        resume=table.texts("resume"),
        folders=table.texts("folders"),
        last=table.texts("last"),
        talk=table.texts("talk"),
        env=table.table("env").mapping_of_text(),
        events=table.text("events", TEXT),
        version=table.texts("version"),
        state=table.texts("state"),
        steer=table.texts("steer"),
        blank=table.table("blank").mapping_of_text(),
        sessions=table.texts("sessions"),
        copied=table.texts("copied"),
        auth=table.texts("auth"),
        auth_env=table.texts("auth_env"),
        hosted=table.table("hosted").mapping_of_texts(),
        install=table.text("install", ""),
    )
    table.finish()
    _check_agent(agent, table)
    return agent


def _check_agent(agent: Agent, table: Table) -> None:
    def problem(text: str) -> None:
        table.reader.problem(say.wrong_in(table.where, text))

    if ":" in agent.name or "=" in agent.name:
        problem(say.name_with_colon())
    if not agent.argv or not agent.argv[0]:
        problem(say.no_program())
    elif os.sep in agent.argv[0] and not os.path.isabs(agent.argv[0]):
        problem(say.program_in_folder(agent.argv[0]))
    if agent.events not in FORMATS:
        problem(say.not_an_event_format(FORMATS))
    needs = {"model": "{model}", "resume": "{session}", "folders": "{folder}", "talk": "{prompt}"}
    for key, needed in needs.items():
        words: Sequence[str] = getattr(agent, key)
        if words and not any(needed in word for word in words):
            problem(say.lacks_placeholder(key, needed))
    for word in (*_all_words(agent), *agent.env.values(), *agent.read_env.values()):
        for unknown in _unknown_placeholders(word):
            problem(say.unknown_placeholder(unknown, _PLACEHOLDERS))


def _all_words(agent: Agent) -> tuple[str, ...]:
    rights = (*agent.write, *agent.read, *agent.held)
    return (*agent.argv, *rights, *agent.model, *agent.folders, *agent.resume, *agent.last, *agent.talk)


def _unknown_placeholders(word: str) -> list[str]:
    from re import findall

    return [name for name in findall(r"\{([a-z_]+)\}", word) if name not in _PLACEHOLDERS]


def _fill(word: str, known: Mapping[str, str]) -> str:
    """One pass over the word, so that a value which looks like a placeholder stays as it is."""
    from re import sub

    return sub(r"\{([a-z_]+)\}", lambda found: known.get(found.group(1), found.group()), word)
