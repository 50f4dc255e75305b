"""Walks every reachable snapshot of a machine by asking the real `decide`, with the worst company it may get.

The moves of the exploration are: an agent that claims anything, an engine, an impatient or absent person, and runs that
end in every class; each gate may be open or closed whenever it is asked. What is found:

1. every edge that can be taken, and every snapshot it can be taken in (the graph that test walks cover);
2. violations, each with the shortest story that leads to it.
"""

from __future__ import annotations

from detent.core.decide import decide, enter
from detent.core.machine import CRASH_CLASSES, EXIT_CLASSES, STOPPED, Edge, Machine
from detent.core.record import Record
from detent.core.values import Advance, Crash, Fact, Refuse, Signal, Snapshot, Wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Key = tuple[object, ...]

MOST_SNAPSHOTS = 200_000  # a machine with more is refused: its counters or registers are not bounded sensibly


class Step(Record):
    """One edge of the explored graph."""

    source: int
    target: int
    signal: Signal
    edge: str  # "" for a crash or a run's end that took no edge
    way: int
    open_gates: tuple[str, ...]


class Violation(Record):
    rule: str
    story: tuple[str, ...]


class Graph(Record):
    snapshots: tuple[Snapshot, ...]
    steps: tuple[Step, ...]
    violations: tuple[Violation, ...]
    asked: int  # how often decide was asked
    never_taken: tuple[str, ...]


class _Exploration:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.nodes: dict[Key, int] = {}
        self.snapshots: list[Snapshot] = []
        self.passed: list[frozenset[str]] = []  # per node: properties whose `first` edge is still valid
        self.parents: list[Step | None] = []
        self.steps: list[Step] = []
        self.violations: list[Violation] = []
        self.asked = 0
        self.facts: dict[frozenset[str], dict[str, Fact]] = {}

    def facts_with(self, gates: frozenset[str]) -> dict[str, Fact]:
        if gates not in self.facts:
            self.facts[gates] = {name: Fact(name, ok=name in gates) for name in self.machine.gates}
        return self.facts[gates]

    def node(self, snapshot: Snapshot, passed: frozenset[str], step: Step | None) -> int:
        plain = snapshot.replace(visits={}, seq=0)
        counters = tuple(sorted(plain.counters.items()))
        registers = tuple(sorted(plain.registers.items()))
        key = (plain.state, plain.mode, plain.exit, counters, registers, passed)
        if key not in self.nodes:
            self.nodes[key] = len(self.snapshots)
            self.snapshots.append(plain)
            self.passed.append(passed)
            self.parents.append(step.replace(target=self.nodes[key]) if step else None)
        return self.nodes[key]

    def run(self) -> Graph:
        for mode in self.machine.modes or ("",):
            self.node(enter(self.machine, mode), frozenset(), None)
        at = 0
        while at < len(self.snapshots):
            if len(self.snapshots) > MOST_SNAPSHOTS:
                self.violations.append(Violation(f"more than {MOST_SNAPSHOTS} snapshots", ()))
                break
            for signal, gates in self.questions(self.snapshots[at]):
                self.ask(at, signal, gates)
            self.end_of_run(at)
            at += 1
        self.dead_ends()
        taken = {(self.snapshots[step.source].state, step.edge) for step in self.steps}
        never = tuple(
            edge.name for edge in self.machine.edges() if not edge.never and (edge.source, edge.name) not in taken
        )
        self.violations += [Violation(f"the move {name} can never be taken", ()) for name in never]
        return Graph(tuple(self.snapshots), tuple(self.steps), tuple(self.violations), self.asked, never)

    def questions(self, snapshot: Snapshot) -> Iterator[tuple[Signal, frozenset[str]]]:
        """Every asker asks for every edge with just its gates open, and with all gates closed."""
        state = self.machine.states[snapshot.state]
        for edge in state.edges:
            for needs in {frozenset(way.needs) for way in edge.ways} | {frozenset[str]()}:
                for who in ("agent", "engine", "person"):
                    yield Signal(who, edge.name, reason="because"), needs
                    yield Signal(who, edge.target), needs
                yield Signal("engine"), needs
        every = frozenset(self.machine.gates)
        for who in ("agent", "engine", "person"):
            yield Signal(who), every
            yield Signal(who, "no such state"), every
        for name in CRASH_CLASSES:
            yield Signal("crash", exit=name), frozenset()

    def ask(self, at: int, signal: Signal, gates: frozenset[str]) -> None:
        snapshot = self.snapshots[at]
        self.asked += 1
        decision = decide(self.machine, snapshot, self.facts_with(gates), signal)
        if isinstance(decision, Advance):
            self.advanced(at, signal, gates, decision)
        elif isinstance(decision, Crash):
            self.connect(at, signal, decision.after, self.passed[at], "", 0, gates)
        elif not isinstance(decision, (Refuse, Wait)):
            self.violate("decide has no answer", at)

    def advanced(self, at: int, signal: Signal, gates: frozenset[str], taken: Advance) -> None:
        edge = taken.edge
        if not set(taken.way.needs) <= gates:
            self.violate(f"{edge.name} was taken with a gate closed", at)
        if edge.never:
            self.violate(f"{edge.name} may never be taken and was", at)
        if edge.sign_off and signal.who != "person":
            self.violate(f"{signal.who} took the sign-off {edge.name}", at)
        passed = self.passed[at]
        for rule in self.machine.properties:
            if edge.name == rule.then and rule.name not in passed:
                self.violate(f"{rule.name}: {rule.then} without {rule.first}", at, edge)
            if taken.after.state in rule.since:
                passed = passed - {rule.name}
            if edge.name == rule.first:
                passed = passed | {rule.name}
        self.connect(at, signal, taken.after, passed, edge.name, taken.way.number, gates)

    def end_of_run(self, at: int) -> None:
        """A run of the state's agent may end in any class; that alone moves nothing but opens engine ways."""
        snapshot = self.snapshots[at]
        if not self.machine.states[snapshot.state].role or snapshot.registers.get(STOPPED):
            return
        for name in EXIT_CLASSES:
            after = snapshot.replace(exit=name)
            self.connect(at, Signal("crash", exit=name), after, self.passed[at], "", 0, frozenset())

    def connect(
        self,
        at: int,
        signal: Signal,
        after: Snapshot,
        passed: frozenset[str],
        edge: str,
        way: int,
        gates: frozenset[str],
    ) -> None:
        step = Step(at, -1, signal, edge, way, tuple(sorted(gates)))
        target = self.node(after, passed, step)
        self.steps.append(step.replace(target=target))

    def dead_ends(self) -> None:
        """From every snapshot an end (or a state a person rests in) must stay reachable: branching time, backwards."""
        backwards: dict[int, list[int]] = {}
        for step in self.steps:
            backwards.setdefault(step.target, []).append(step.source)
        alive = {at for at, snapshot in enumerate(self.snapshots) if self.machine.states[snapshot.state].is_end}
        todo = list(alive)
        while todo:
            for source in backwards.get(todo.pop(), ()):
                if source not in alive:
                    alive.add(source)
                    todo.append(source)
        stuck = sorted(set(range(len(self.snapshots))) - alive)
        if stuck:
            self.violate("no end can be reached any more", stuck[0])

    def violate(self, rule: str, at: int, last: Edge | None = None) -> None:
        story = [f"{last.source} -> {last.target} ({last.name})"] if last else []
        node = at
        while (step := self.parents[node]) is not None:
            story.append(self.tell(step))
            node = step.source
        story.append(f"start in {self.snapshots[node].state}")
        if not any(violation.rule == rule for violation in self.violations):
            self.violations.append(Violation(rule, tuple(reversed(story))))

    def tell(self, step: Step) -> str:
        before, after = self.snapshots[step.source], self.snapshots[step.target]
        if not step.edge:
            return f"in {before.state} a run ends as {step.signal.exit or after.exit}"
        proof = f" with {', '.join(step.open_gates)}" if step.open_gates else ""
        return f"{step.signal.who}: {before.state} -> {after.state} ({step.edge}){proof}"


def explore(machine: Machine) -> Graph:
    return _Exploration(machine).run()


def route(machine: Machine, start: str, goal: str) -> tuple[Edge, ...] | None:
    """The fewest edges from one state to another, or None."""
    ways: dict[str, tuple[Edge, ...]] = {start: ()}
    todo = [start]
    for state in todo:
        if state == goal:
            return ways[state]
        for edge in machine.states[state].edges:
            if not edge.never and not edge.reopen and edge.target not in ways:
                ways[edge.target] = (*ways[state], edge)
                todo.append(edge.target)
    return None


def cover(graph: Graph) -> tuple[tuple[Step, ...], ...]:
    """Walks from the start that together take every (edge, way) of the graph in every state it leaves."""
    leaving: dict[int, list[Step]] = {}
    for step in graph.steps:
        leaving.setdefault(step.source, []).append(step)
    wanted = {_goal(graph, step) for step in graph.steps if step.edge}
    walks: list[tuple[Step, ...]] = []
    while wanted:
        walk: list[Step] = []
        at = 0
        while (path := _nearest(graph, leaving, at, wanted)) is not None:
            walk += path
            wanted -= {_goal(graph, step) for step in path}
            at = path[-1].target
        if not walk:
            break  # what is left starts in another mode; the caller sees it missing
        walks.append(tuple(walk))
    return tuple(walks)


def _goal(graph: Graph, step: Step) -> tuple[str, str, int, str]:
    return (graph.snapshots[step.source].state, step.edge, step.way, step.signal.who)


def _nearest(
    graph: Graph, leaving: dict[int, list[Step]], start: int, wanted: Iterable[tuple[str, str, int, str]]
) -> list[Step] | None:
    goals = set(wanted)
    came: dict[int, Step | None] = {start: None}
    todo = [start]
    for at in todo:
        for step in leaving.get(at, ()):
            if _goal(graph, step) in goals:
                path = [step]
                while (before := came[path[-1].source]) is not None:
                    path.append(before)
                return path[::-1]
            if step.target not in came:
                came[step.target] = step
                todo.append(step.target)
    return None
