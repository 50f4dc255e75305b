"""The reference page of machines: every table is read from the machine file, nothing is told twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from detent.core.machine import ENTRY, Edge, Gate, Machine, State, Way
from detent.machines.load import built_in_names, load
from detent.runner.make.vocabulary import vocabulary
from detent.verify.export import export_mermaid


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table; a bar or a line end inside a cell can't break it."""
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return [*lines, *(f"| {' | '.join(row)} |" for row in cells), ""]


def machines_page() -> list[str]:
    lines = ["# Machines", ""]
    lines += [
        "Each machine is one `machine.toml`; this is what it says. `detent machine show NAME` prints the same.",
        "",
    ]
    for name in built_in_names():
        lines += machine_section(load(name, vocabulary())[0])
    return lines


def machine_section(machine: Machine) -> list[str]:
    edges = list(machine.edges())
    reopened = [edge for state in machine.states.values() for edge in state.edges if edge.reopen]
    lines = [
        f"## {machine.name}",
        "",
        f"{machine.title[:1].upper()}{machine.title[1:]}. {len(machine.states)} states, {len(edges)} moves.",
    ]
    lines += ["", "```mermaid", *export_mermaid(machine).splitlines(), "```", "", "### States", ""]
    lines += table(
        ("state", "driven by", "role", "access", "may", "must not"), (_state(one) for one in machine.states.values())
    )
    heads = ("from", "to", "name", "by", "needs", "only if", "changes", "then")
    lines += ["### Moves", "", "In order of preference within a state. A move with several ways has several rows.", ""]
    lines += table(heads, (row for edge in edges for row in _ways(machine, edge)))
    lines += _part("### Re-openings", heads, (row for edge in reopened for row in _ways(machine, edge)))
    lines += _part("### Options", ("option", *heads), (
        (edge.option, *row) for edge in machine.switched_off for row in _ways(machine, edge)
    ))  # fmt: skip
    lines += ["### Gates", "", "What a move needs. The checks are explained in [checks](checks.md).", ""]
    lines += table(("gate", "check", "proof since", "how to open it"), (_gate(one) for one in machine.gates.values()))
    return [*lines, *_memory(machine), *_rules(machine)]


def _part(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    found = list(rows)
    return [title, "", *table(heads, found)] if found else []


def _state(state: State) -> tuple[str, ...]:
    return (
        f"`{state.name}`",
        (state.driver or "nobody: it is an end") + (", may rest here" if state.is_rest else ""),
        state.role,
        state.access,
        "; ".join(state.may),
        "; ".join(state.must_not),
    )


def _ways(machine: Machine, edge: Edge) -> Iterator[tuple[str, ...]]:
    name = f"`{edge.name}`" + (" (sign-off)" if edge.sign_off else "")
    if edge.verbs:
        name += f" (command: {', '.join(edge.verbs)})"
    for way in edge.ways:
        needs = ", ".join(f"`{gate}`" for gate in way.needs)
        only = f"never: {edge.never}" if edge.never else "; ".join(_conditions(machine, edge, way))
        changes = [f"{name} = {value or 'nothing'}" for name, value in way.sets.items()]
        changes += [f"{limit} + 1" for limit in way.counts] + [f"{limit} = 0" for limit in way.resets]
        target = edge.target
        if edge.instead:
            target += " (" + ", ".join(f"{old}: {new}" for old, new in edge.instead.items()) + ")"
        done = ", ".join((*way.prepare, *way.effects))
        yield edge.source, target, name, ", ".join(way.by), needs, only, "; ".join(changes), done


def _conditions(machine: Machine, edge: Edge, way: Way) -> Iterator[str]:
    if way.modes:
        yield f"mode is {' or '.join(way.modes)}"
    for register, values in way.when.items():
        yield f"{register} is {' or '.join(value or 'nothing' for value in values)}"
    if way.under:
        yield f"{way.under} below {machine.limits[way.under].most}"
    if way.spent:
        yield f"{way.spent} reached {machine.limits[way.spent].most}"
    if "engine" in way.by and machine.states[edge.source].role:
        exits = ", ".join("before any run" if name == ENTRY else name for name in way.after)
        yield f"engine after: {exits}"
    if edge.reopen:
        yield "a reason is given"


def _gate(gate: Gate) -> tuple[str, ...]:
    params = ", ".join(f"{name} = {_value(value)}" for name, value in gate.params.items())
    return f"`{gate.name}`", f"{gate.check}: {params}", gate.since, gate.fix


def _value(value: object) -> str:
    if isinstance(value, list):
        return " / ".join(str(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} is {inner}" for key, inner in value.items())
    return str(value)


def _memory(machine: Machine) -> list[str]:
    limits = (
        (limit.name, str(limit.most), "group" if limit.per_group else "task", limit.field)
        for limit in machine.limits.values()
    )
    registers = (
        (register.name, ", ".join(register.values), register.start, register.field)
        for register in machine.registers.values()
    )
    locks = (
        (
            lock.name,
            ", ".join(lock.after),
            ", ".join(lock.open_in),
            ", ".join((*lock.fields, *(f"{file} ## {section}" for file, section in lock.sections), *lock.files)),
        )
        for lock in machine.locks
    )
    return [
        *_part("### Limits", ("limit", "most", "counted per", "shown in field"), limits),
        *_part("### Remembered values", ("name", "values", "at the start", "shown in field"), registers),
        *_part("### Locks", ("lock", "closed when this state is left", "open again in", "holds"), locks),
    ]


def _rules(machine: Machine) -> list[str]:
    forbidden = ((pair.source, pair.target, pair.why) for pair in machine.forbidden)
    properties = (
        (rule.name, f"`{rule.then}`", ", ".join(f"`{name}`" for name in rule.first), ", ".join(rule.since))
        for rule in machine.properties
    )
    meant = ((kind, f"`{name}`", why) for kind, names in machine.exceptions.items() for name, why in names.items())
    return [
        *_part("### Forbidden by name", ("from", "to", "why"), forbidden),
        *_part("### Proven properties", ("property", "this move", "only after", "since entering"), properties),
        *_part("### Exceptions from the rules of the checker", ("rule", "move or state", "why"), meant),
    ]
