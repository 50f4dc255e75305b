"""The part of a machine that a person can walk by asking alone: every move but a crash's, without an agent run."""

from __future__ import annotations

from collections.abc import Mapping

from detent.core.decide import decide
from detent.core.explore import Graph, Step
from detent.core.machine import ENTRY, Machine
from detent.core.values import Advance, Fact, Signal, Snapshot


def remembered(snapshot: Snapshot) -> tuple[str, str, Mapping[str, int], Mapping[str, str]]:
    return snapshot.state, snapshot.mode, dict(snapshot.counters), dict(snapshot.registers)


def by_hand(machine: Machine, *starts: Snapshot, unopened: frozenset[str] = frozenset()) -> Graph:
    """Everything a person can reach from these snapshots, asking for each way with just its own gates open.

    `unopened`: gates that nothing a person writes can open; a way that needs one is left out.
    """
    nodes: dict[object, int] = {}
    snapshots: list[Snapshot] = []
    steps: list[Step] = []

    def node(snapshot: Snapshot) -> int:
        state, mode, counters, registers = remembered(snapshot)
        key = (state, mode, frozenset(counters.items()), frozenset(registers.items()))
        if key not in nodes:
            nodes[key] = len(snapshots)
            snapshots.append(snapshot.replace(visits={}, seq=0, exit=ENTRY))
        return nodes[key]

    for start in starts:
        node(start)
    for at, snapshot in enumerate(snapshots):  # grows while it is read
        for edge in machine.states[snapshot.state].edges:
            for way in edge.ways:
                if edge.never or unopened.intersection(way.needs):
                    continue
                signal = Signal("person", edge.name, name="walker", reason="walk")
                facts = {name: Fact(name, ok=name in way.needs) for name in machine.gates}
                found = decide(machine, snapshot, facts, signal)
                if isinstance(found, Advance) and found.way.number == way.number:
                    steps.append(Step(at, node(found.after), signal, edge.name, way.number, way.needs))
    return Graph(tuple(snapshots), tuple(steps), (), 0)
