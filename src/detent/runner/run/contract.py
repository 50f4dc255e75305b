"""Words the part of a prompt that a run is judged by: the moves its state allows, and exactly what each still needs.

Only ways that can be taken now are listed: the mode, the counters and what is remembered decide that. A gate is ticked
by its own fact, never because another way does not ask for it.
"""

from __future__ import annotations

from detent.core.decide import closed_guards, target_of
from detent.core.values import Signal
from detent.gates.judge import judge
from detent.runner.step.registry import meanings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.core.machine import Edge, State, Way
    from detent.core.values import Fact
    from detent.gates.seen import Seen
    from detent.runner.task.open import Task


def contract(task: Task, state: State, seen: Seen) -> str:
    """Every move that the work of this run can open, with what it needs."""
    listed = [(edge, ways) for edge in state.edges if (ways := _open_to_work(task, edge))]
    if not listed:
        return "## Moves\nNo move out of this state is yours; do your work and end."
    facts = judge(seen, [gate for _, ways in listed for way in ways for gate in way.needs])
    lines = ["## Allowed next states, and what each needs", _how_to_ask(task, [edge for edge, _ in listed])]
    noted: dict[tuple[str, str], str] = {}  # each missing thing, and the gate that was named with it
    targets = [edge.target for edge, _ in listed]
    for edge, ways in listed:
        lines += ["", _title(task, edge, is_one_of_several=targets.count(edge.target) > 1)]
        lines += _edge(task, edge, ways, facts, noted)
    return "\n".join(lines)


def _asking(task: Task, target: str) -> str:
    """The command line by which a run asks for a state."""
    return (task.machine.ask or "detent move {to}").replace("{to}", target)


def _how_to_ask(task: Task, edges: Sequence[Edge]) -> str:
    if not any("agent" in edge.by() for edge in edges):
        return (
            "They are alternatives, and none is yours to ask for: do your work and end. "
            "The engine then takes the first whose needs are all met."
        )
    asking = f"run `{_asking(task, 'STATE')}` (or write `{task.native.state_label}: STATE` in `{task.native.file}`)"
    refused = "A request that lacks something is refused, with the reason."
    if all("agent" in edge.by() for edge in edges):
        ask = f"When one is ready, {asking} and end your turn. {refused}"
    else:
        ask = (
            f"Only a state with a command below is yours to ask for: {asking} and end your turn. {refused} "
            "The engine takes the others after you have ended."
        )
    return f"They are alternatives; nothing else is allowed. {ask}"


def _open_to_work(task: Task, edge: Edge) -> list[Way]:
    """The ways of an edge that nothing but their gates keeps closed, once a run of this state has finished."""
    if edge.never or edge.reopen:
        return []
    snapshot = task.memory.snapshot.replace(exit="finished", no={})
    found = []
    for way in edge.ways:
        who = "agent" if "agent" in way.by else "engine"
        is_earned = "agent" in way.by or ("engine" in way.by and way.needs and "finished" in way.after)
        if is_earned and not closed_guards(task.machine, snapshot, Signal(who, edge.name), edge, way):
            found.append(way)
    return found


def _title(task: Task, edge: Edge, *, is_one_of_several: bool) -> str:
    target = target_of(task.memory.snapshot, edge)
    label = edge.label if edge.label not in ("", edge.name, target) else edge.name if is_one_of_several else ""
    return f"### {edge.source} -> {target}{f' ({label})' if label else ''}"


def _edge(
    task: Task, edge: Edge, ways: Sequence[Way], facts: Mapping[str, Fact], noted: dict[tuple[str, str], str]
) -> list[str]:
    lines = []
    if of_agent := [way for way in ways if "agent" in way.by]:
        fails = " (the command fails while one of these is missing)" if all(way.needs for way in of_agent) else ""
        lines.append(f"`{_asking(task, target_of(task.memory.snapshot, edge))}`{fails}")
    choices = list(dict.fromkeys(way.needs for way in ways if not _is_failure(task, way)))
    for number, needs in enumerate(choices):
        if len(choices) > 1:
            lines.append("Either:" if not number else "Or:")
        for gate in needs:
            fact = facts[gate]
            first = "" if fact.ok or fact.pending else noted.setdefault((fact.why, fact.fix), gate)
            lines.append(f"- [ ] {gate}: the same as {first} above" if first not in ("", gate) else _gate(task, fact))
    if len(choices) < len({way.needs for way in ways}):
        lines.append("The engine takes it if the work you leave does not pass, and counts a failed attempt.")
    return lines


def _is_failure(task: Task, way: Way) -> bool:
    """Whether a way is for work that fails a gate: nothing that a run could aim at."""
    return (
        bool(way.counts)
        and "agent" not in way.by
        and any(task.machine.gates[gate].check == "not" for gate in way.needs)
    )


def _gate(task: Task, fact: Fact) -> str:
    """One line: ticked, or what is missing and the update that opens it."""
    state, gate = task.machine.states[task.memory.snapshot.state], task.machine.gates[fact.gate]
    if fact.pending:
        return f"- [ ] {fact.gate}: the engine runs the commands below after you have ended"
    if not fact.ok:
        return f"- [ ] {fact.gate}: {_sentence(fact.why)}{_to_do(fact.fix)}"
    if fact.once:
        return f"- [ ] {fact.gate}: needed {fact.once}.{_to_do(fact.fix)}"
    if meanings().judges(gate) and state.access == "write":
        return f"- [ ] {fact.gate}: it holds so far, and is judged again on the files you leave"
    return f"- [x] {fact.gate}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _to_do(fix: str) -> str:
    return f" To do: {fix}" if fix else ""
