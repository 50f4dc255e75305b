"""What is wrong with the agents of the settings, which agent is missing, and how one failed."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import count_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@message
def no_agent_in_setting(role: str, agent: str) -> str:
    return f"agents.{role}: there is no agent {agent!r}"


@message
def problems_in_agents(problems: Sequence[str], agents: Iterable[str]) -> tuple[str, str]:
    return (
        f"[agents] has {count_of(len(problems), 'problem')}: {'; '.join(problems)}",
        f"correct detent.toml; known agents: {', '.join(agents)}",
    )


@message
def role_no_agents(role: str) -> str:
    return f'agents.{role} must be "agent", "agent:model", a list of these, or a table with argv'


@message
def no_argv(table: str, name: str) -> str:
    return f'{table} has no argv; a role of one machine is written in quotes: "{name}.ROLE" = "AGENT"'


@message
def name_with_colon() -> str:
    return "a name has no ':' and no '='"


@message
def no_program() -> str:
    return "argv must begin with a program"


@message
def program_in_folder(program: str) -> str:
    return f"argv begins with {program!r}; name a program on PATH or its whole path"


@message
def not_an_event_format(formats: Iterable[str]) -> str:
    return f"events must be one of {', '.join(formats)}"


@message
def lacks_placeholder(key: str, needed: str) -> str:
    return f"{key} must hold {needed}"


@message
def unknown_agent(word: str, agents: Iterable[str]) -> tuple[str, str]:
    return (
        f"--agent {word}: there is no such agent",
        f"write ROLE=AGENT or ROLE=AGENT:MODEL; known agents: {', '.join(agents)}",
    )


@message
def answer_broken_off() -> str:
    return "the model's answer was broken off"


@message
def agent_reported_error() -> str:
    return "codex reported an error"


@message
def turn_failed() -> str:
    return "the turn failed"


@message
def unknown_placeholder(name: str, known: Iterable[str]) -> str:
    return f"{{{name}}} is no placeholder; known: {', '.join('{' + name + '}' for name in known)}"


@message
def no_agent_on_path(known: Iterable[str], install: str) -> tuple[str, str]:
    return (
        f"no agent is on PATH; looked for {', '.join(known)}",
        f"run: {install}; or name your own program in detent.toml: [agents.mine] argv = [...]; "
        "it serves tasks that are made once that is committed",
    )


@message
def agents_not_on_path(
    role: str, machine: str, agents: Iterable[str], programs: Iterable[str], installs: Iterable[str]
) -> tuple[str, str]:
    """`installs`: the commands that install those that are missing."""
    install = "; ".join(installs)
    return (
        f"role {role} of {machine} wants {', '.join(agents)}, but {', '.join(programs)} is not on PATH",
        (f"run: {install}; or " if install else "")
        + f"name another, for a task: detent configure --agent {role}=AGENT; for new tasks: [agents] in detent.toml",
    )


@message
def wrong_in(table: str, problem: str) -> str:
    return f"{table}: {problem}"
