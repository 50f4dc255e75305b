"""Asks whether people decide what a machine leaves to people: no path leads round a sign-off, and no agent ends a task.

A sign-off keeps the state it leads to, and every state that is reached through it alone. A move into one of them by an
agent, the engine or a crash goes round it, on whatever path. A move that only a person can make is a decision too. A
sign-off that leads back to a state which every task has passed before keeps nothing.
"""

from __future__ import annotations

from detent.words.machines import findings as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.core.explore import Step, Violation
    from detent.core.machine import Edge
    from detent.machines.chart import Chart

    Move = tuple[str, str]  # a state, and the name of a move out of it

SIGN_OFF, UNGATED = "sign-off", "ungated-end"


def round_sign_offs(chart: Chart) -> Iterator[Violation]:
    """Every move that reaches what lies behind a sign-off without it, with the shortest story."""
    taken: dict[Move, list[Step]] = {}
    for step in chart.graph.steps:
        if step.edge:
            taken.setdefault(chart.place(step)[:2], []).append(step)
    edges = {move: chart.ways[chart.place(steps[0])][0] for move, steps in taken.items()}
    for target in dict.fromkeys(edge.target for edge in edges.values() if edge.sign_off):
        before = _reached(chart, edges, without=target)
        kept = {move: edge for move, edge in edges.items() if edge.sign_off and edge.target == target}
        if any(source in before for source, _ in kept):
            yield from _round(chart, taken, edges, {move: edge for move, edge in kept.items() if move[0] in before})


def _round(
    chart: Chart, taken: dict[Move, list[Step]], edges: dict[Move, Edge], kept: dict[Move, Edge]
) -> Iterator[Violation]:
    unsigned = chart.paths(chart.starts, lambda step: chart.place(step)[:2] not in kept)
    sign_off = next(iter(kept.values()))
    for move, edge in edges.items():
        steps = [step for step in taken[move] if chart.ways[chart.place(step)][1].by != ("person",)]
        if edge.target != sign_off.target:
            steps = [step for step in steps if step.source in unsigned]
        if edge.sign_off or not steps:
            continue
        if edge.target == sign_off.target or _is_behind(chart, move, edge.target, edges, kept):
            step = steps[0]
            path = chart.steps_to(step.source, unsigned) if step.source in unsigned else chart.way_to(step.source)
            rule = say.round_sign_off(edge.source, edge.target, edge.name, sign_off.name)
            yield chart.violation(SIGN_OFF, edge.name, rule, [*path, step])


def _is_behind(chart: Chart, move: Move, there: str, edges: dict[Move, Edge], kept: dict[Move, Edge]) -> bool:
    """Whether all other paths to where a move leads take the sign-off."""
    others = {other: edge for other, edge in edges.items() if other != move}
    unsigned = {other: edge for other, edge in others.items() if other not in kept}
    return there not in _reached(chart, unsigned) and there in _reached(chart, others)


def _reached(chart: Chart, edges: dict[Move, Edge], without: str = "") -> set[str]:
    """The states that these moves lead to from the start; `without`: never through this one."""
    leaving: dict[str, list[str]] = {}
    for edge in edges.values():
        leaving.setdefault(edge.source, []).append(edge.target)
    found = [chart.machine.initial] if chart.machine.initial != without else []
    seen = {*found, without}
    for name in found:  # grows while it is read
        new = [target for target in dict.fromkeys(leaving.get(name, ())) if target not in seen]
        seen.update(new)
        found += new
    return seen - {without}


def ungated_ends(chart: Chart) -> Iterator[Violation]:
    """Every move by which an agent can end a task though no gate was asked: its own, and what the engine does after."""
    reported: set[str] = set()
    seen: set[int] = set()  # where no end follows by itself
    for step in chart.graph.steps:
        pair = chart.taken(step)
        if pair is None or step.signal.who != "agent" or pair[1].needs or pair[1].spent:
            continue
        if step.target in seen or pair[0].name in reported:
            continue
        after = chart.paths([step.target], lambda step: _goes_on_alone(chart, step))
        ends = [at for at in after if chart.state(at).is_end or chart.state(at).is_rest or chart.state(at).lands]
        seen.update(() if ends else after)
        if ends:
            reported.add(pair[0].name)
            rule = say.ungated_end(pair[0].source, pair[0].target, pair[0].name)
            yield chart.violation(
                UNGATED, pair[0].name, rule, [*chart.way_to(step.source), step, *chart.steps_to(ends[0], after)]
            )


def _goes_on_alone(chart: Chart, step: Step) -> bool:
    """Whether the engine makes a move without an agent run, a gate or a spent limit."""
    pair = chart.taken(step)
    if pair is None or step.signal.who != "engine" or step.signal.exit:
        return False
    return not pair[1].needs and not pair[1].spent
