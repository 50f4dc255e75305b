"""What can be said against a machine without running it: each finding is one sentence about one name."""

from __future__ import annotations

from detent.core.machine import ANY_EXIT, CRASHES, ENTRY, Edge, Machine, Way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def lint(machine: Machine) -> tuple[str, ...]:
    """All findings; a machine with any does not load."""
    return (*_shape(machine), *_names(machine), *_engine_ways(machine), *_people(machine), *_unused(machine))


def _shape(machine: Machine) -> Iterator[str]:
    reached = [machine.initial]
    for name in reached:  # grows while it is read
        edges = machine.states[name].edges
        reached += [edge.target for edge in edges if not (edge.never or edge.reopen or edge.target in reached)]
    for number, state in enumerate(machine.states.values(), 1):
        leaving = [edge for edge in state.edges if not edge.reopen]
        if state.name not in reached:
            yield f"state {state.name}: no move leads there"
        if state.is_end and leaving:
            yield f"state {state.name}: an end has the move {leaving[0].name}; write it as [[reopen]]"
        if not state.is_end and not any(not edge.never for edge in leaving):
            yield f"state {state.name}: no move leads out, and it is not marked as an end"
        back = [edge for edge in state.edges if edge.reopen and not state.is_end]
        if ahead := [edge.name for edge in back if edge.target not in list(machine.states)[:number]]:
            yield f"state {state.name}: the re-opening {ahead[0]} leads to no earlier state"
    if not any(state.is_end or state.is_rest for state in machine.states.values()):
        yield "no state is an end, and in none the work may rest"


def _names(machine: Machine) -> Iterator[str]:
    for state in machine.states.values():
        seen: set[str] = set()
        for edge in state.edges:
            if edge.name in seen:
                yield f"state {state.name}: two moves are called {edge.name}"
            if edge.name in machine.states and edge.name != edge.target:
                yield f"state {state.name}: the move {edge.name} is called like another state"
            seen.add(edge.name)
    pairs = {(edge.source, edge.target) for edge in machine.edges()}
    for pair in machine.forbidden:
        if (pair.source, pair.target) in pairs:
            yield f"forbidden {pair.source} -> {pair.target}: the machine has this move"


def _engine_ways(machine: Machine) -> Iterator[str]:
    """In a state an agent works in, the engine may only act on something it saw."""
    for edge in machine.edges():
        if edge.never or not machine.states[edge.source].role:
            continue
        for way in (way for way in edge.ways if "engine" in way.by):
            move = f"{edge.source} -> {edge.target}"
            if not way.needs and not way.spent:
                yield f"{move}: the engine needs a gate or a spent limit to leave an agent's state"
            if way.after_no and not _answers_no(machine, edge, way):
                yield f"{move}: after_no marks a way that needs a no or a spent limit, asks a person or takes any exit"
            negated = [gate for gate in way.needs if _is_negated(machine, gate)]
            if ENTRY in way.after and negated:
                yield f"{move}: the negated gate {negated[0]} would fire before any run"


def _answers_no(machine: Machine, edge: Edge, way: Way) -> bool:
    """Whether a way may be marked as one to take after a no: it follows from the no, or from a limit or an exit."""
    is_no = any(gate in machine.states[edge.source].no or _is_negated(machine, gate) for gate in way.needs)
    asks = bool(machine.states[edge.target].asks)
    return is_no or asks or bool(way.spent) or set(way.after) >= set(ANY_EXIT) or "finished" not in way.after


def _is_negated(machine: Machine, gate: str) -> bool:
    """Whether a gate, or one it is made of, is open because something is missing."""
    return any(part.check == "not" for part in machine.parts([gate]))


def _people(machine: Machine) -> Iterator[str]:
    held = {(edge.source, edge.target) for edge in machine.edges() if edge.sign_off}
    for edge in machine.edges():
        if (edge.source, edge.target) in held and not edge.sign_off and not edge.never:
            yield f"{edge.source} -> {edge.target}: {edge.name} goes round a sign-off"
        needs = machine.parts(gate for way in edge.ways for gate in way.needs)
        if not edge.sign_off and any(gate.check == "accepts" for gate in needs):
            yield f"{edge.source} -> {edge.target}: only a sign-off may accept what does not hold"
    for edge in (edge for state in machine.states.values() for edge in state.edges if edge.reopen):
        if any(way.by != ("person",) for way in edge.ways):
            yield f"{edge.source}: re-opening {edge.name} is for a person alone"


def _unused(machine: Machine) -> Iterator[str]:
    everything = (*(edge for state in machine.states.values() for edge in state.edges), *machine.switched_off)
    gates = {gate for edge in everything for way in edge.ways for gate in way.needs}
    gates |= {name for gate in machine.gates.values() for name in gate.params.get("of", ())}
    gates |= {name for state in machine.states.values() for name in state.no}
    for gate in machine.gates.values():
        if gate.name not in gates:
            yield f"gate {gate.name}: no move needs it"
    limits = {name for edge in everything for way in edge.ways for name in (way.under, way.spent)}
    crashes = [name for state in machine.states.values() for name in state.counts_crash if name != CRASHES]
    for name in dict.fromkeys((*crashes, *(name for edge in everything for way in edge.ways for name in way.counts))):
        if name not in limits:
            yield f"limit {name}: counted, but no move asks for it"
