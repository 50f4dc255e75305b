"""All that can be said against an explored machine, in one list: what the exploration found, and what follows from it.

Where a machine means what a rule refuses, it says so with its reason: `[exception.KIND]`, a move or state by its name.
An exception that nothing needs is refused like a property that says nothing: both would look like proof.
"""

from __future__ import annotations

from detent.core.explore import Violation
from detent.core.machine import STOPPED
from detent.machines.chart import Chart
from detent.machines.conditions import Conditions
from detent.machines.loops import ENGINE_LOOP, LIMIT, engine_loops, unbounded
from detent.machines.sign_offs import SIGN_OFF, UNGATED, round_sign_offs, ungated_ends
from detent.machines.trees import UNPROVEN, needed_gates, unjudged
from detent.words.machines import findings as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detent.core.explore import Graph
    from detent.core.machine import Edge, Gate, Machine
    from detent.machines.meanings import Meanings

ALONE = "alone"
CONTRADICTION, HIDDEN, WAITS, VACUOUS, NEVER_TAKEN = "contradiction", "hidden", "waits", "vacuous", "never taken"
EXCEPTIONS = (SIGN_OFF, UNGATED, ENGINE_LOOP, LIMIT, HIDDEN, WAITS, UNPROVEN)  # kinds that a machine may mean


def findings(machine: Machine, graph: Graph, meanings: Meanings) -> tuple[Violation, ...]:
    """Every violation of an explored machine, each with its shortest story where it has one."""
    if any(violation.kind == "size" for violation in graph.violations):
        return graph.violations  # what was not walked to its end can't be judged further
    chart, conditions = Chart(machine, graph), Conditions(machine, meanings)
    found = [
        *graph.violations,
        *unjudged(chart, meanings),
        *_alone(chart, meanings),
        *round_sign_offs(chart),
        *ungated_ends(chart),
        *engine_loops(chart, conditions),
        *unbounded(chart, conditions),
        *_contradictions(chart, conditions),
        *_hidden(chart, conditions),
        *_never_taken(chart),
        *_waiting(chart, conditions),
        *_vacuous(chart),
    ]
    used = {(violation.kind, violation.about) for violation in found}
    left = [violation for violation in found if violation.about not in machine.exceptions.get(violation.kind, {})]
    return (*left, *_unused(machine, used))


def _contradictions(chart: Chart, conditions: Conditions) -> Iterator[Violation]:
    for edge, way in chart.ways.values():
        if not edge.never and (pair := conditions.contradiction(way.needs)):
            rule = say.never_open_together(edge.source, edge.target, edge.name, way.number, pair)
            yield Violation(rule, _stands(chart, edge.source), CONTRADICTION)


def _alone(chart: Chart, meanings: Meanings) -> Iterator[Violation]:
    """Every way with a gate that says too little without another check, and without one that runs commands.

    What tests prove is asked only where every command is green: such a gate by itself would let a red command pass.
    """
    for edge, way in chart.ways.values():
        gates = list(needed_gates(chart.machine, way.needs))
        checks = {gate.check for gate in gates}
        has_commands = any(meanings.check(check).runs for check in checks)
        for gate in gates:
            beside = meanings.check(gate.check).beside
            if beside and not (has_commands and beside in checks):
                rule = say.alone(edge.source, edge.target, edge.name, gate.name, beside)
                yield Violation(rule, _stands(chart, edge.source), ALONE)
        if missed := _asked_elsewhere(chart, edge, gates, meanings):
            rule = say.one_way_alone(edge.source, edge.target, edge.name, way.number, missed)
            yield Violation(rule, _stands(chart, edge.source), ALONE)


def _asked_elsewhere(chart: Chart, edge: Edge, gates: Sequence[Gate], meanings: Meanings) -> str:
    """The gate by which another way of the move asks what tests prove; empty where this one asks it too.

    A way that is open after an override alone need not: it says so by `waived`.
    """
    if any(meanings.check(gate.check).beside or "waived" in gate.params for gate in gates):
        return ""
    others = (gate for way in edge.ways for gate in needed_gates(chart.machine, way.needs))
    return next((gate.name for gate in others if meanings.check(gate.check).beside), "")


def _hidden(chart: Chart, conditions: Conditions) -> Iterator[Violation]:
    """Moves that the engine or a crash never makes, because an earlier one is open whenever they are."""
    for state in chart.machine.states.values():
        edges = [edge for edge in state.edges if not edge.never and not edge.reopen]
        ways = [(edge, way) for edge in edges for way in edge.ways]
        for number, (edge, way) in enumerate(ways):
            for actor in ("engine", "crash"):
                before = [pair for pair in ways[:number] if pair[0] is not edge]
                has_run = bool(state.role)
                first = next((pair for pair in before if conditions.hides(pair[1], way, actor, has_run=has_run)), None)
                if first:
                    rule = say.hidden_by_earlier(state.name, actor, edge.name, way.number, first[0].name)
                    yield Violation(rule, _stands(chart, state.name), HIDDEN, edge.name)


def _never_taken(chart: Chart) -> Iterator[Violation]:
    """Ways that are never taken although the move is made; the exploration reports a move that is never made."""
    taken = {chart.place(step) for step in chart.graph.steps if step.edge}
    made = {place[:2] for place in taken}
    for place, (edge, way) in chart.ways.items():
        if place not in taken and place[:2] in made and not edge.reopen:
            rule = say.way_never_taken(edge.source, edge.target, edge.name, way.number)
            yield Violation(rule, _stands(chart, edge.source), NEVER_TAKEN)


def _waiting(chart: Chart, conditions: Conditions) -> Iterator[Violation]:
    """States in which only the engine acts and may have no open move: the task stops and no person is asked."""
    reported: set[str] = set()
    for at, snapshot in enumerate(chart.graph.snapshots):
        state = chart.state(at)
        if state.driver != "engine" or snapshot.no or STOPPED in snapshot.registers or state.name in reported:
            continue
        steps = [(step, chart.ways[chart.place(step)][1]) for step in chart.leaving.get(at, ()) if step.edge]
        needed = [way.needs for step, way in steps if step.signal.who == "engine"]
        if not needed:
            rule = say.engine_without_move(state.name, snapshot.mode)
        elif not conditions.one_is_open(needed) and not any("person" in way.by for _, way in steps):
            gates = tuple(dict.fromkeys(name for needs in needed for name in needs))
            rule = say.engine_waits(state.name, snapshot.mode, gates)
        else:
            continue
        reported.add(state.name)
        yield chart.violation(WAITS, state.name, rule, chart.way_to(at))


def _vacuous(chart: Chart) -> Iterator[Violation]:
    """Properties that could not be violated, or not be kept: they say nothing about the machine."""
    made = {step.edge for step in chart.graph.steps}
    for rule in chart.machine.properties:
        for name in (rule.then, *rule.first):
            if name not in made:
                yield Violation(say.property_move_never_taken(rule.name, name), (), VACUOUS)
        if rule.then in rule.first:
            yield Violation(say.property_before_itself(rule.name, rule.then), (), VACUOUS)


def _unused(machine: Machine, used: set[tuple[str, str]]) -> Iterator[Violation]:
    off = {edge.name for edge in machine.switched_off}
    for kind, names in machine.exceptions.items():
        for name in names:
            if (kind, name) not in used and name not in off:
                yield Violation(say.exception_unused(kind, name), (), VACUOUS)


def _stands(chart: Chart, state: str) -> tuple[str, ...]:
    """The shortest story that leads to a state."""
    at = next((number for number in chart.all_paths() if chart.state(number).name == state), None)
    return chart.story(chart.way_to(at)) if at is not None else ()
