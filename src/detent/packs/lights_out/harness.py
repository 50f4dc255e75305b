"""Writes the files by which an editor's own agent follows a machine: instructions, a prompt per phase, specialists.

All of it is made from the machine: `[store.harness]` says where the files go, which states they are about and what
every agent keeps to. An existing file is left alone; so is one behind a link.
"""

from __future__ import annotations

import os

from detent.machines.load import scaffold
from detent.store.disk.atomic import make_folders, write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from detent.core.machine import Machine, State
    from detent.runner.step.registry import Done
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Promised
    from detent.store_spec import Harness

_READS, _WRITES = "read, search, execute", "read, search, edit, execute"


def write_harness(task: Task, _key: str, _promised: Promised) -> Done:
    """Write what is not there yet; says what was written and what was left as it was."""
    written, kept = [], []
    top = os.path.realpath(task.tree_path)
    for name, text in harness_files(task.machine).items():
        path = os.path.join(top, name)
        folder = os.path.dirname(path)
        if os.path.lexists(path) or os.path.realpath(folder) != folder:
            kept.append(name)
            continue
        make_folders(folder)
        write_atomic(path, text.encode("utf-8"), durable=True)
        written.append(name)
    return {"written": ", ".join(written), "kept": ", ".join(kept)}, {}


def harness_files(machine: Machine) -> dict[str, str]:
    """Every file of the harness by its path in the tree."""
    harness = machine.store.harness
    if not harness:
        return {}
    files = {name: scaffold(machine.name, name) for name in harness.scaffold}
    files[harness.instructions] = _instructions(machine, harness)
    for name, state in harness.commands.items():
        files[harness.prompts.replace("{name}", name)] = _prompt(machine, harness, name, state)
    for name, state in harness.specialists.items():
        files[harness.agents.replace("{name}", name)] = _specialist(machine.states[state], name)
    return files


def _instructions(machine: Machine, harness: Harness) -> str:
    commands = [f"- `/{name}`: {machine.states[state].title}" for name, state in harness.commands.items() if state]
    specialists = [
        f"- `@{name}` ({_tools(machine.states[state])}): {machine.states[state].title}"
        for name, state in harness.specialists.items()
    ]
    parts = [
        f"# How agents work in this repository: {machine.title}",
        harness.protocol.strip(),
        "\n".join(("## Phase commands", *commands)),
        "\n".join(("## Specialists", *specialists)),
    ]
    return "\n\n".join(parts) + "\n"


def _prompt(machine: Machine, harness: Harness, name: str, state_name: str) -> str:
    state = machine.states[state_name]
    served = [agent for agent, served in harness.specialists.items() if served == state_name]
    head = _head({"description": state.title, "agent": served[0] if served else "agent"})
    gates = [f"- {fix}" for fix in dict.fromkeys(_fixes(machine, state))]
    ask = f"See first where the task stands: `detent status`. This is for {state_name}; elsewhere say so and stop."
    rules = _rules(state)
    needed = "\n".join(("## What the gate asks for", *gates)) if gates else ""
    parts = [head, f"# /{name}", ask, state.prompt.strip(), *rules, needed]
    return "\n\n".join(part for part in parts if part) + "\n"


def _specialist(state: State, name: str) -> str:
    tools = "[" + ", ".join(f"'{tool}'" for tool in _tools(state).split(", ")) + "]"
    head = _head({"name": name, "description": state.title}, f"tools: {tools}")
    return "\n\n".join([head, f"# {name}", state.prompt.strip(), *_rules(state)]) + "\n"


def _tools(state: State) -> str:
    return _READS if state.access == "read" else _WRITES


def _rules(state: State) -> Iterator[str]:
    for title, items in (("You may", state.may), ("You must not", state.must_not)):
        if items:
            yield "\n".join((f"## {title}", *(f"- {item}" for item in items)))


def _fixes(machine: Machine, state: State) -> Iterator[str]:
    """What opens the gates of a state, as far as an agent's work can."""
    needed = [gate for edge in state.edges for way in edge.ways if "engine" in way.by for gate in way.needs]
    return (gate.fix for gate in machine.parts(needed) if gate.fix)


def _head(values: Mapping[str, str], *more: str) -> str:
    """YAML before a Markdown text; single quotes hold anything but themselves."""
    lines = [f"{key}: '{value.replace(chr(39), chr(39) * 2)}'" for key, value in values.items()]
    return "\n".join(("---", *lines, *more, "---"))
