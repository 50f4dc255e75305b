"""Knows the agents for a role of a task, and which are out: failed in this visit, or out of quota until later."""

from __future__ import annotations

import os

from detent.effects.agents.catalog import find_program, load_catalog
from detent.effects.agents.choose import all_candidates, candidates, choose
from detent.gates.seen import AgentSeen
from detent.store.journal.memory import AVAILABLE, utc_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.core.machine import Machine
    from detent.effects.agents.catalog import Agent, Catalog
    from detent.effects.agents.choose import Choice
    from detent.runner.task.open import Task


def agents_of(task: Task, role: str) -> tuple[AgentSeen, ...]:
    """The agents that may serve a role, in turn."""
    catalog, overrides = _catalog_and_choices(task)
    now, path = utc_now(), os.environ.get("PATH", os.defpath)
    found = []
    for choice in all_candidates(catalog, task.machine.name, role, overrides, path):
        last = task.memory.out.get(choice.name, AVAILABLE)
        until = last.wake
        found.append(
            AgentSeen(
                choice.name,
                is_installed=bool(find_program(catalog.agents[choice.agent], path)),
                failed="" if until else last.exit,
                until=until if until > now else "",
            )
        )
    return tuple(found)


def agent_for(task: Task, role: str) -> tuple[Agent, Choice]:
    """The agent of the next run in this role: in turn, and none that is out while another is left."""
    catalog, overrides = _catalog_and_choices(task)
    out = frozenset(agent.name for agent in agents_of(task, role) if agent.failed or agent.until)
    attempt = task.memory.visit.count
    path = os.environ.get("PATH", os.defpath)
    choice = choose(catalog, task.machine.name, role, overrides, attempt, path, out)
    return catalog.agents[choice.agent], choice


def served_roles(table: Mapping[str, object], machine: Machine) -> dict[str, tuple[str, ...]]:
    """The agents that would serve the roles of a machine's tasks here, first in turn: agent and program -> roles."""
    catalog, path = load_catalog(table), os.environ.get("PATH", os.defpath)
    found: dict[str, tuple[str, ...]] = {}
    for role in dict.fromkeys(state.role for state in machine.states.values() if state.role):
        choice = candidates(catalog, machine.name, role, {}, path)[0]
        name = f"{choice.name} ({find_program(catalog.agents[choice.agent], path)})"
        found[name] = (*found.get(name, ()), role)
    return found


def wakes_at(task: Task) -> str:
    """When the first agent may go on that is only out of quota; empty when another one may work now, or none waits."""
    role = task.memory.visit.role
    found = [agent for agent in agents_of(task, role) if agent.is_installed and not agent.failed]
    if not found or any(not agent.until for agent in found):
        return ""
    return min(agent.until for agent in found)


def _catalog_and_choices(task: Task) -> tuple[Catalog, dict[str, tuple[str, ...]]]:
    wanted = task.memory.head.agents
    overrides = {role: tuple(choices) for role, choices in wanted.get("overrides", {}).items()}
    return load_catalog(wanted.get("table", {})), overrides
