"""Asks whether every loop that goes on without people comes to an end by itself.

1. The engine alone must not come back to the same situation: nothing changes there but counters and registers, so it
   would go round for ever. A gate that wants fresh evidence breaks such a loop, and so do two that exclude each other.
2. What is counted must bound something: no loop of agents and engine may count towards a limit and come back to the
   same situation, as long as the gate for which it is counted stays as it is. A limit that was taken off a move, and a
   counter that is reset inside its own loop, both lead to such a loop. What an agent does without a gate (dropping its
   session) and what only a called-in agent does is no part of the loop.
3. A run that dies again and again must spend the limit its crashes are counted towards.
"""

from __future__ import annotations

from detent.core.decide import spent
from detent.core.machine import CRASHES, ENTRY, RUNS, STOPPED
from detent.words.machines import findings as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detent.core.explore import Step, Violation
    from detent.machines.chart import Chart
    from detent.machines.conditions import Conditions

ENGINE_LOOP, LIMIT = "engine-loop", "limit"
_MOST_PATHS = 10_000  # of one loop of the engine, before the search for a shorter one is given up


def engine_loops(chart: Chart, conditions: Conditions) -> Iterator[Violation]:
    """Every situation to which the engine comes back by itself, each set of states once."""
    reported: set[frozenset[str]] = set()
    alone = {
        at: found
        for at, steps in chart.leaving.items()
        if (found := [step for step in steps if _is_alone(chart, step)])
    }
    for at in alone:
        loop = _loop(chart, conditions, alone, at)
        states = frozenset(chart.state(step.source).name for step in loop)
        if loop and states not in reported:
            reported.add(states)
            rule = say.engine_loop(sorted(states))
            yield chart.violation(ENGINE_LOOP, loop[0].edge, rule, [*chart.way_to(at), *loop], say.and_so_on())


def _is_alone(chart: Chart, step: Step) -> bool:
    """Whether the engine takes a step that needs no text from an agent or a person before."""
    pair = chart.taken(step)
    if pair is None or step.signal.who != "engine" or step.signal.exit or step.target not in chart.leaving:
        return False
    gates = chart.machine.parts(name for name in pair[1].needs if chart.machine.gates[name].check != "not")
    return not any(gate.since == ENTRY for gate in gates)


def _loop(chart: Chart, conditions: Conditions, alone: dict[int, list[Step]], start: int) -> list[Step]:
    """A shortest loop of such steps whose gates may all be open, and none of which an earlier move comes before."""
    paths: list[list[Step]] = [[]]
    for path in paths:  # grows while it is read
        if len(paths) > _MOST_PATHS:
            break
        for step in alone.get(path[-1].target if path else start, ()):
            longer = [*path, step]
            needs = frozenset(name for taken in longer for name in chart.ways[chart.place(taken)][1].needs)
            if conditions.contradiction(needs):
                continue
            if step.target == start and not any(_is_preceded(chart, conditions, taken, needs) for taken in longer):
                return longer
            if all(step.target != taken.source for taken in longer):
                paths.append(longer)
    return []


def _is_preceded(chart: Chart, conditions: Conditions, step: Step, needs: frozenset[str]) -> bool:
    """Whether the engine would take another move first, given these open gates."""
    gates = conditions.implied(needs)
    for edge in chart.state(step.source).edges:
        if edge.name == step.edge:
            return False
        for other in chart.leaving[step.source]:
            is_rival = other.edge == edge.name and other.signal.who == "engine" and not other.signal.exit
            if is_rival and all(conditions.holds(name, gates) for name in chart.ways[chart.place(other)][1].needs):
                return True
    return False


def unbounded(chart: Chart, conditions: Conditions) -> Iterator[Violation]:
    """Every limit that its own loop does not keep to."""
    steps = [step for step in chart.graph.steps if _is_unattended(chart, step)]
    component = _components(steps)
    reported: set[tuple[str, str]] = set()
    for step in steps:
        if component[step.source] != component[step.target] or not (limits := _counted(chart, step)):
            continue
        pair = chart.taken(step)
        needs = pair[1].needs if pair else ()
        inside = _inside(chart, conditions, component, component[step.source], needs)
        back = chart.paths([step.target], inside)
        if step.source not in back:
            continue
        name = pair[0].name if pair else chart.state(step.source).name
        for limit in limits:
            if (limit, name) not in reported:
                reported.add((limit, name))
                rule = say.limit_bounds_nothing(name, limit)
                loop = [step, *chart.steps_to(step.source, back)]
                yield chart.violation(LIMIT, name, rule, [*chart.way_to(step.source), *loop], say.and_so_on())
    yield from _deaths(chart)


def _inside(
    chart: Chart, conditions: Conditions, component: dict[int, int], number: int, needs: tuple[str, ...]
) -> Callable[[Step], bool]:
    """Which steps stay in one part of the graph while these gates stay open."""

    def stays(step: Step) -> bool:
        if component.get(step.target) != number or not _is_unattended(chart, step):
            return False
        pair = chart.taken(step)
        return pair is None or conditions.contradiction((*needs, *pair[1].needs)) is None

    return stays


def _is_unattended(chart: Chart, step: Step) -> bool:
    """Whether a step belongs to the loop of agents and engine: no person acts, and no agent goes its own way."""
    if step.source == step.target or STOPPED in chart.graph.snapshots[step.target].registers:
        return bool(step.edge) and step.signal.who == "engine"
    pair = chart.taken(step)
    if step.signal.who == "agent":
        return pair is not None and bool(pair[1].needs) and chart.state(step.source).driver == "agent"
    return step.signal.who == "engine"


def _counted(chart: Chart, step: Step) -> list[str]:
    """The limits that a step counts towards."""
    before, after = chart.graph.snapshots[step.source], chart.graph.snapshots[step.target]
    if (pair := chart.taken(step)) is None:
        used = ((name, after.counters.get(name, 0) - before.counters.get(name, 0)) for name in chart.machine.limits)
        return [name for name, more in used if more > 0 and name not in (RUNS, CRASHES)]
    runs = chart.state(step.source).counts_run if step.signal.exit or step.signal.who == "agent" else ()
    full = [name for name in runs if spent(chart.machine, before, name) >= chart.machine.limits[name].most]
    return [*pair[1].counts, *full]


def _deaths(chart: Chart) -> Iterator[Violation]:
    for step in chart.graph.steps:
        state = chart.state(step.source)
        limits = [name for name in state.counts_crash if name != CRASHES]
        is_counted_in_vain = step.source == step.target and step.signal.who == "crash" and not step.edge
        if limits and is_counted_in_vain and STOPPED not in chart.graph.snapshots[step.source].registers:
            rule = say.deaths_unbounded(state.name, limits[0])
            yield chart.violation(LIMIT, state.name, rule, [*chart.way_to(step.source), step], say.and_so_on())
            return


def _components(steps: list[Step]) -> dict[int, int]:
    """The strongly connected parts of a graph: a number for each node, the same for nodes on a common loop."""
    leaving: dict[int, list[int]] = {}
    backwards: dict[int, list[int]] = {}
    for step in steps:
        leaving.setdefault(step.source, []).append(step.target)
        backwards.setdefault(step.target, []).append(step.source)
    nodes = list(dict.fromkeys((*leaving, *backwards)))
    order: list[int] = []
    seen: set[int] = set()
    for root in nodes:  # Kosaraju's way: by the order in which a walk leaves them, then backwards
        todo = [(root, iter(leaving.get(root, ())))] if root not in seen else []
        seen.add(root)
        while todo:
            at, rest = todo[-1]
            for target in rest:
                if target not in seen:
                    seen.add(target)
                    todo.append((target, iter(leaving.get(target, ()))))
                    break
            else:
                order.append(at)
                todo.pop()
    found: dict[int, int] = {}
    for root in reversed(order):
        part = [root] if root not in found else []
        for at in part:  # grows while it is read
            found[at] = root
            part += [
                before for before in dict.fromkeys(backwards.get(at, ())) if before not in found and before not in part
            ]
    return found
