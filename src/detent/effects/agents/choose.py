"""Chooses the agent of a role: what was asked for on the command line, then the settings, then what is installed."""

from __future__ import annotations

from detent.core.record import Record
from detent.effects.agents.catalog import DEFAULT, find_program
from detent.errors import ToolError, UsageError
from detent.words.effects import agents as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from detent.effects.agents.catalog import Agent, Catalog


class Choice(Record):
    """An agent and its model; an empty model is the agent's own default."""

    agent: str
    model: str

    @property
    def name(self) -> str:
        return f"{self.agent}:{self.model}" if self.model else self.agent


def parse_overrides(catalog: Catalog, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The values of `--agent`: `ROLE=AGENT[:MODEL]`, or without a role for all; a repeated role is tried in turn."""
    overrides: dict[str, tuple[str, ...]] = {}
    for word in words:
        before, has_role, after = word.partition("=")
        role, choice = (before, after) if has_role else (DEFAULT, word)
        if not role or choice.partition(":")[0] not in catalog.agents:
            raise UsageError(say.unknown_agent(word, catalog.agents))
        overrides[role] = (*overrides.get(role, ()), choice)
    return overrides


def candidates(
    catalog: Catalog, machine: str, role: str, overrides: Mapping[str, tuple[str, ...]], search_path: str
) -> tuple[Choice, ...]:
    """The installed agents that may serve the role, in turn; an error names what to install or configure."""
    configured = _configured(catalog, machine, role, overrides)
    possible = configured or [Choice(name, "") for name in catalog.agents]
    found = tuple(choice for choice in possible if find_program(catalog.agents[choice.agent], search_path))
    if not found:
        raise _no_agent(catalog, machine, role, configured)
    # With nothing configured the order of the catalog decides, and one is enough.
    return found if configured else found[:1]


def all_candidates(
    catalog: Catalog, machine: str, role: str, overrides: Mapping[str, tuple[str, ...]], search_path: str
) -> tuple[Choice, ...]:
    """The configured agents, installed or not; with nothing configured the first that is installed, if any."""
    if configured := _configured(catalog, machine, role, overrides):
        return tuple(configured)
    installed = (name for name, agent in catalog.agents.items() if find_program(agent, search_path))
    return tuple(Choice(name, "") for name in list(installed)[:1])


def _configured(catalog: Catalog, machine: str, role: str, overrides: Mapping[str, tuple[str, ...]]) -> list[Choice]:
    names = (f"{machine}.{role}", role, DEFAULT)
    wanted = next((table[name] for table in (overrides, catalog.roles) for name in names if name in table), ())
    return [Choice(agent, model) for agent, _, model in (choice.partition(":") for choice in wanted)]


def choose(
    catalog: Catalog,
    machine: str,
    role: str,
    overrides: Mapping[str, tuple[str, ...]],
    attempt: int,
    search_path: str,
    out: Container[str] = (),
) -> Choice:
    """The agent of this attempt (counted from 0); after the last candidate the first is tried again.

    A candidate in `out` (`AGENT` or `AGENT:MODEL`) is skipped as long as another one is left.
    """
    found = candidates(catalog, machine, role, overrides, search_path)
    left = [choice for choice in found if choice.name not in out] or found
    return left[attempt % len(left)]


def _no_agent(catalog: Catalog, machine: str, role: str, configured: Sequence[Choice]) -> ToolError:
    if not configured:
        first = next(iter(catalog.agents.values()))
        return ToolError(say.no_agent_on_path(map(_with_program, catalog.agents.values()), first.install))
    missing = [catalog.agents[name] for name in dict.fromkeys(choice.agent for choice in configured)]
    names = [agent.name for agent in missing]
    programs = [agent.argv[0] for agent in missing]
    installs = [agent.install for agent in missing if agent.install]
    return ToolError(say.agents_not_on_path(role, machine, names, programs, installs))


def _with_program(agent: Agent) -> str:
    """An agent, and its program where that has another name: it is the program that is looked for."""
    return agent.name if agent.argv[0] == agent.name else f"{agent.name} ({agent.argv[0]})"
