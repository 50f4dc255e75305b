"""What can be said against a machine without running it: each finding is one sentence about one name."""

from __future__ import annotations

from detent.core.machine import ANY_EXIT, CRASHES, ENTRY, Edge, Machine, Way
from detent.words.machines import lint as say

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
            yield say.state_unreached(state.name)
        if state.is_end and leaving:
            yield say.end_has_move(state.name, leaving[0].name)
        if not state.is_end and not any(not edge.never for edge in leaving):
            yield say.no_way_out(state.name)
        back = [edge for edge in state.edges if edge.reopen and not state.is_end]
        if ahead := [edge.name for edge in back if edge.target not in list(machine.states)[:number]]:
            yield say.reopening_leads_ahead(state.name, ahead[0])
    if not any(state.is_end or state.is_rest for state in machine.states.values()):
        yield say.no_end()


def _names(machine: Machine) -> Iterator[str]:
    for state in machine.states.values():
        seen: set[str] = set()
        for edge in state.edges:
            if edge.name in seen:
                yield say.move_name_twice(state.name, edge.name)
            if edge.name in machine.states and edge.name != edge.target:
                yield say.move_named_like_state(state.name, edge.name)
            seen.add(edge.name)
    pairs = {(edge.source, edge.target) for edge in machine.edges()}
    for pair in machine.forbidden:
        if (pair.source, pair.target) in pairs:
            yield say.forbidden_move_exists(pair.source, pair.target)


def _engine_ways(machine: Machine) -> Iterator[str]:
    """In a state an agent works in, the engine may only act on something it saw."""
    for edge in machine.edges():
        if edge.never or not machine.states[edge.source].role:
            continue
        for way in (way for way in edge.ways if "engine" in way.by):
            if not way.needs and not way.spent:
                yield say.engine_needs_gate(edge.source, edge.target)
            if way.after_no and not _answers_no(machine, edge, way):
                yield say.after_no_misplaced(edge.source, edge.target)
            negated = [gate for gate in way.needs if _is_negated(machine, gate)]
            if ENTRY in way.after and negated:
                yield say.negated_gate_at_entry(edge.source, edge.target, negated[0])


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
            yield say.goes_round_sign_off(edge.source, edge.target, edge.name)
        needs = machine.parts(gate for way in edge.ways for gate in way.needs)
        if not edge.sign_off and any(gate.check == "accepts" for gate in needs):
            yield say.accepts_without_sign_off(edge.source, edge.target)
    for edge in (edge for state in machine.states.values() for edge in state.edges if edge.reopen):
        if any(way.by != ("person",) for way in edge.ways):
            yield say.reopening_not_by_person(edge.source, edge.name)


def _unused(machine: Machine) -> Iterator[str]:
    everything = (*(edge for state in machine.states.values() for edge in state.edges), *machine.switched_off)
    gates = {gate for edge in everything for way in edge.ways for gate in way.needs}
    gates |= {name for gate in machine.gates.values() for name in gate.params.get("of", ())}
    gates |= {name for state in machine.states.values() for name in state.no}
    for gate in machine.gates.values():
        if gate.name not in gates:
            yield say.gate_unused(gate.name)
    limits = {name for edge in everything for way in edge.ways for name in (way.under, way.spent)}
    crashes = [name for state in machine.states.values() for name in state.counts_crash if name != CRASHES]
    for name in dict.fromkeys((*crashes, *(name for edge in everything for way in edge.ways for name in way.counts))):
        if name not in limits:
            yield say.limit_unused(name)
