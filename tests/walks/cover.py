"""Walks through an explored graph that together take everything in it."""

from __future__ import annotations

from detent.core.explore import Graph, Step


def cover(graph: Graph, passed_over: frozenset[str] = frozenset()) -> tuple[tuple[Step, ...], ...]:
    """Walks from the start that together take every way of every edge, by every allowed actor, in every state.

    Edges that are `passed_over` may be taken on the way and need not be.
    """
    leaving: dict[int, list[Step]] = {}
    for step in graph.steps:
        leaving.setdefault(step.source, []).append(step)
    wanted = {_goal(graph, step) for step in graph.steps if step.edge and step.edge not in passed_over}
    walks: list[tuple[Step, ...]] = []
    while wanted:
        walk: list[Step] = []
        while path := _nearest(graph, leaving, walk[-1].target if walk else 0, wanted):
            walk += path
            wanted -= {_goal(graph, step) for step in path}
        if not walk:
            break  # what is left can't be reached from the first start; the caller sees it missing
        walks.append(tuple(walk))
    return tuple(walks)


def _goal(graph: Graph, step: Step) -> tuple[str, str, int, str]:
    return (graph.snapshots[step.source].state, step.edge, step.way, step.signal.who)


def _nearest(
    graph: Graph, leaving: dict[int, list[Step]], start: int, goals: set[tuple[str, str, int, str]]
) -> list[Step]:
    """The fewest steps from a snapshot to the end of a wanted one; none when nothing wanted can be reached."""
    paths: dict[int, list[Step]] = {start: []}
    for at in (todo := [start]):
        for step in leaving.get(at, ()):
            if _goal(graph, step) in goals:
                return [*paths[at], step]
            if step.target not in paths:
                paths[step.target] = [*paths[at], step]
                todo.append(step.target)
    return []
