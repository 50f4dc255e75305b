"""Asks whether a machine delivers only trees that were judged: the files may change between any two moves.

A move judges the tree by the gates it needs (`judges` of their checks). Before a move delivers (it leads where work
lands, or a check, step or effect of it says that it delivers), an agent or a person may have changed the files. So it
must ask again for all that was asked on the way, or be bound to the tree of a move that did: by a check that says what
it `binds` to, or because it delivers the tree that was signed last. The sign-off shows a person what it `accepts`. A
move that delivers though nothing was asked of the files and no person signed is refused too.
"""

from __future__ import annotations

from detent.core.explore import Violation, tell
from detent.machines.meanings import ENTERED, JUDGED, SIGNED
from detent.words.machines import findings as say
from detent.words.machines.explore import start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detent.core.explore import Step
    from detent.core.machine import Edge, Gate, Machine, Way
    from detent.machines.chart import Chart, Place
    from detent.machines.meanings import Meanings

UNJUDGED, UNPROVEN = "unjudged", "unproven"
_NOT_OF_THE_KEY = ("value", "about", "again")


def delivers(machine: Machine, edge: Edge, way: Way, meanings: Meanings) -> bool:
    """Whether what this way leaves behind is handed over to people."""
    target = machine.states.get(edge.target)
    if edge.reopen or target is None:
        return False
    is_delivered = any(meanings.check(gate.check).delivers for gate in needed_gates(machine, way.needs))
    return target.lands or is_delivered or meanings.delivers(way, is_rest=target.is_rest)


def needed_gates(machine: Machine, names: Iterable[str]) -> Iterator[Gate]:
    """The gates that must be open where these are, without those they are made of; a negated one says nothing good."""
    for name in names:
        gate = machine.gates[name]
        if gate.check in ("all", "accepts"):
            yield from needed_gates(machine, gate.params["of"])
        elif gate.check != "not":
            yield gate


def key_of(gate: Gate) -> str:
    """Two gates that ask the same of the tree have the same key, whichever answer they want and since when."""
    params = {name: value for name, value in gate.params.items() if name not in _NOT_OF_THE_KEY}
    return f"{gate.check}:{sorted(params.items())}"


def covered(
    machine: Machine, edge: Edge, way: Way, meanings: Meanings, behind: frozenset[str] = frozenset()
) -> frozenset[str]:
    """The keys of all that was asked of the tree that this way sees, here or by a move it is bound to."""
    found: set[str] = set()
    for gate in needed_gates(machine, way.needs):
        if meanings.judges(gate):
            found.add(key_of(gate))
        binds = meanings.check(gate.check).binds
        if binds in (JUDGED, SIGNED):
            names = gate.params[JUDGED] if binds == JUDGED else [gate.params.get(SIGNED, "")]
            bound = [before for before in machine.edges() if before.name in names]
        elif binds == ENTERED:
            bound = [before for before in machine.edges() if before.target == edge.source]
        else:
            continue
        sets = [
            covered(machine, before, its, meanings, behind | {before.name})
            for before in bound
            if before.name not in behind
            for its in before.ways
        ]
        found.update(frozenset.intersection(*sets) if sets else ())
    return frozenset(found)


class _Trees:
    def __init__(self, chart: Chart, meanings: Meanings) -> None:
        self.chart, self.machine, self.graph, self.meanings = chart, chart.machine, chart.graph, meanings
        self.gates = {key_of(gate): gate for gate in self.machine.gates.values() if meanings.judges(gate)}
        self.known: dict[tuple[Place, tuple[str, ...]], frozenset[str]] = {}
        self.covers = {place: covered(self.machine, *pair, meanings) for place, pair in chart.ways.items()}

    def judged(self, step: Step) -> frozenset[str]:
        """What a step asks of the tree; a gate that was waived was not asked."""
        if not step.edge:
            return frozenset()
        asks = (self.chart.place(step), step.open_gates)
        if asks not in self.known:
            names = [name for name in self.chart.ways[asks[0]][1].needs if name in step.open_gates]
            self.known[asks] = frozenset(
                key_of(gate) for gate in needed_gates(self.machine, names) if self.meanings.judges(gate)
            )
        return self.known[asks]

    def lacks(self, keys: Iterable[str], cover: frozenset[str]) -> Iterator[Gate]:
        """The gates among these that a cover does not answer for, itself or by the gate that judges it again."""
        for key in keys:
            again = self.gates[key].params.get("again", "")
            if key not in cover and not (again and key_of(self.machine.gates[again]) in cover):
                yield self.gates[key]

    def run(self) -> Iterator[Violation]:
        owed, signed = self.flow()
        reported: set[tuple[str, str]] = set()
        for step in self.graph.steps:
            if not step.edge or not self.delivers(step):
                continue
            covers = [self.covers[self.chart.place(step)]]
            if self.meanings.is_signed(
                self.chart.ways[self.chart.place(step)][1]
            ):  # it holds the tree that was signed last
                covers = [covers[0] | self.covers[place] for place in signed.get(step.source, ())] or covers
            for gate in {
                gate.name: gate for cover in covers for gate in self.lacks(owed.get(step.source, ()), cover)
            }.values():
                if (step.edge, gate.name) not in reported:
                    reported.add((step.edge, gate.name))
                    yield self.violation(say.delivers_unjudged(step.edge, gate.name), gate, step.edge)
        yield from self.unproven()
        yield from self.declared()

    def unproven(self) -> Iterator[Violation]:
        """Moves that deliver on a path on which nothing was ever asked of the files, and no person signed."""
        blind = self.chart.paths(self.chart.starts, lambda step: not self.proves(step))
        reported: set[str] = set()
        for step in self.graph.steps:
            if step.source not in blind or not step.edge or step.edge in reported or self.proves(step):
                continue
            if self.delivers(step):
                reported.add(step.edge)
                path = [*self.chart.steps_to(step.source, blind), step]
                yield self.chart.violation(UNPROVEN, step.edge, say.delivers_unproven(step.edge), path)

    def delivers(self, step: Step) -> bool:
        return delivers(self.machine, *self.chart.ways[self.chart.place(step)], self.meanings)

    def proves(self, step: Step) -> bool:
        """Whether a step asks something of the files, is a person's sign-off or override, or takes the work back."""
        pair = self.chart.taken(step)
        if pair is None:
            return False
        is_decided = pair[0].sign_off or bool(step.signal.override)
        return is_decided or self.meanings.takes_back(pair[1]) or bool(self.judged(step))

    def declared(self) -> Iterator[Violation]:
        """All that `first` asked of the tree holds of the tree that `then` sees, where a property says so."""
        for rule in (rule for rule in self.machine.properties if rule.tree):
            first = {key for place, cover in self.covers.items() if place[1] in rule.first for key in cover}
            for place, cover in self.covers.items():
                for gate in self.lacks(sorted(first), cover) if place[1] == rule.then else ():
                    yield self.violation(say.not_asked_again(rule.name, rule.then, gate.name), gate, rule.then)

    def flow(self) -> tuple[dict[int, frozenset[str]], dict[int, set[Place]]]:
        """What was asked on some way to each node, and which sign-off may have been the last one there."""
        owed: dict[int, frozenset[str]] = {}
        signed: dict[int, set[Place]] = {}
        todo = list(range(len(self.graph.snapshots)))
        for at in todo:  # grows while it is read
            for step in self.chart.leaving.get(at, ()):
                pair = self.chart.ways.get(self.chart.place(step)) if step.edge else None
                # Work that is taken back leaves the tree it was taken back to.
                before = frozenset() if pair and self.meanings.takes_back(pair[1]) else owed.get(at, frozenset())
                now = before | self.judged(step)
                last = {self.chart.place(step)} if pair and pair[0].sign_off else signed.get(at, set())
                old, known = owed.get(step.target, frozenset()), signed.setdefault(step.target, set())
                if not (now <= old and last <= known):
                    owed[step.target] = old | now
                    known |= last
                    todo.append(step.target)
        return owed, signed

    def violation(self, rule: str, gate: Gate, edge: str) -> Violation:
        """The shortest story: the gate is asked, the files change, the move is made."""
        key, snapshots = key_of(gate), self.graph.snapshots
        roots = [(at, False) for at in range(len(snapshots)) if snapshots[at].state == self.machine.initial][:1]
        parents: dict[tuple[int, bool], tuple[tuple[int, bool], Step] | None] = dict.fromkeys(roots)
        for node in (todo := list(roots)):  # grows while it is read
            for step in self.chart.leaving.get(node[0], ()):
                if node[1] and step.edge == edge:
                    return Violation(rule, tuple(self.story(parents, node, step, key)), UNJUDGED)
                after = (step.target, node[1] or key in self.judged(step))
                if after not in parents:
                    parents[after] = (node, step)
                    todo.append(after)
        return Violation(rule, (), UNJUDGED)

    def story(
        self,
        parents: dict[tuple[int, bool], tuple[tuple[int, bool], Step] | None],
        node: tuple[int, bool],
        last: Step,
        key: str,
    ) -> list[str]:
        steps, snapshots = [last], self.graph.snapshots
        while (found := parents[node]) is not None:
            node, step = found
            steps.append(step)
        steps.reverse()
        at = next(number for number, step in enumerate(steps) if key in self.judged(step))
        between = [snapshots[step.target].state for step in steps[at:-1]]
        writers = [name for name in between if self.machine.states[name].access == "write"]
        changed = say.agent_changes_files(writers[0]) if writers else say.edited_by_hand(between[0])
        where = at + 1 + (between.index(writers[0]) if writers else 0)
        shown = [tell(snapshots, step) for step in steps]
        return [start(snapshots[node[0]].state), *shown[:where], changed, *shown[where:]]


def unjudged(chart: Chart, meanings: Meanings) -> tuple[Violation, ...]:
    """Every move that may deliver a tree which a gate on the way has not judged, each with its shortest story."""
    return tuple(_Trees(chart, meanings).run())
