"""Walks every reachable snapshot of a machine by asking the real `decide`, with the worst company it may get.

The moves of the exploration are: an agent that claims anything, an engine, an impatient or absent person that may also
switch the mode at any time, and runs that end in every class and may say no; each gate may be open or closed whenever
it is asked. The exploration finds:

1. every edge that can be taken, and every snapshot it can be taken in (the graph that test walks cover);
2. violations, each with the shortest story that leads to it.

How the last run ended is no part of a node: only the engine's ways ask for it, so the engine asks once for each class,
and once more for each way in which that run may have said no. What was said is part of a node where the engine could go
on before another run has ended.
"""

from __future__ import annotations

from detent.core.decide import decide, enter
from detent.core.machine import (
    ACTORS,
    ASKED,
    CRASH_CLASSES,
    ENTRY,
    EXIT_CLASSES,
    RUNS,
    SAID,
    STOPPED,
    Edge,
    Machine,
    State,
)
from detent.core.record import Record
from detent.core.runs import run_over
from detent.core.values import Advance, Crash, Fact, Signal, Snapshot
from detent.words.machines import explore as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from detent.core.values import Decision

    Decider = Callable[[Machine, Snapshot, Mapping[str, Fact], Signal], Decision]
    Key = tuple[object, ...]
    Question = tuple[Signal, frozenset[str]]

MOST_SNAPSHOTS = 200_000  # a machine with more is refused: its counters or registers are not bounded sensibly
_NOTHING: frozenset[str] = frozenset()
CONFIGURES = "configure"  # the verb by which a person switches the mode; that is no move
# The reason of an engine that asks after a run that said no: that run asked for a state and was refused, or it said no
# in its files, and then it may get the state it asked for.
_SAYS_NO = "no"
_IN_FILES = f"{_SAYS_NO}_in_files"
_GETS_IT = f"{_IN_FILES}_and_gets_it"


class Step(Record):
    """One edge of the explored graph."""

    source: int
    target: int
    signal: Signal  # `exit` says how the last run of the visit ended, if one did
    edge: str  # "" for a crash that took no edge, a run that opened none, and a switch of the mode
    way: int
    open_gates: tuple[str, ...]


class Violation(Record):
    rule: str
    story: tuple[str, ...]
    kind: str = ""
    about: str = ""  # the move or state that a machine may name in an exception of this kind


class Graph(Record):
    snapshots: tuple[Snapshot, ...]
    steps: tuple[Step, ...]
    violations: tuple[Violation, ...]
    decisions: int  # how often decide was asked


class _Exploration:
    def __init__(self, machine: Machine, decider: Decider, most: int) -> None:
        self.machine = machine
        self.decider = decider
        self.most = most
        self.nodes: dict[Key, int] = {}
        self.snapshots: list[Snapshot] = []
        self.passed: list[frozenset[str]] = []  # per node: properties whose `first` edge is still valid
        self.parents: list[Step | None] = []
        self.steps: list[Step] = []
        self.violations: list[Violation] = []
        self.decisions = 0
        self.facts: dict[frozenset[str], dict[str, Fact]] = {}
        self.questions: dict[str, tuple[Question, ...]] = {}
        self.borrowed: set[tuple[str, str, int]] = set()  # ways of others that a person has taken once
        self.goes_on = {state.name for state in machine.states.values() if _goes_on(state)}

    def run(self) -> Graph:
        for mode in self.machine.modes or ("",):
            self.node(enter(self.machine, mode), _NOTHING)
        for at, _ in enumerate(self.snapshots):  # grows while it is read
            if len(self.snapshots) > self.most:  # what was not walked to its end can't be judged further
                self.violations.append(Violation(say.too_many_snapshots(self.most), (self.tell_limits(),), "size"))
                return self.graph()
            self.visit(at)
        self.dead_ends()
        taken = {(self.snapshots[step.source].state, step.edge) for step in self.steps}
        for edge in self.machine.edges():
            if not edge.never and (edge.source, edge.name) not in taken:
                self.violations.append(Violation(say.move_never_taken(edge.name), (), "never taken"))
        return self.graph()

    def graph(self) -> Graph:
        return Graph(tuple(self.snapshots), tuple(self.steps), tuple(self.violations), self.decisions)

    def tell_limits(self) -> str:
        """What makes most of many situations: no story, which would be as long as they are many."""
        limits = sorted(self.machine.limits.values(), key=lambda limit: -limit.cap)
        return say.limits_counted([(limit.name, limit.cap) for limit in limits if limit.name != RUNS])

    def node(self, snapshot: Snapshot, passed: frozenset[str]) -> int:
        kept = map(frozenset, (snapshot.counters.items(), snapshot.registers.items()))
        no = {SAID: _SAYS_NO} if snapshot.no and snapshot.state in self.goes_on else {}
        key = (snapshot.state, snapshot.mode, *kept, passed, bool(no))
        found = self.nodes.get(key)
        if found is None:
            found = self.nodes[key] = len(self.snapshots)
            self.snapshots.append(snapshot.replace(visits={}, seq=0, exit=ENTRY, no=no))
            self.passed.append(passed)
            self.parents.append(None)
        return found

    def visit(self, at: int) -> None:
        snapshot = self.snapshots[at]
        state = self.machine.states[snapshot.state]
        if is_first := state.name not in self.questions:
            self.questions[state.name] = tuple(dict.fromkeys(self.state_ways(state)))
        stopped = STOPPED in snapshot.registers
        questions = () if stopped else self.questions[state.name]
        for question in (*questions, *(self.borrowed_ways(state) if stopped or snapshot.no else ())):
            self.ask(at, question)
        if state.counts_run and not stopped:  # a run ends and opens nothing; how many there ever were is no limit here
            for no in ({}, {SAID: _SAYS_NO}):
                over = run_over(self.machine, snapshot, EXIT_CLASSES[0], no)
                after = over.replace(counters={name: used for name, used in over.counters.items() if name != RUNS})
                self.connect(at, (Signal("engine", exit=over.exit), _NOTHING), Crash(after, over.exit), self.passed[at])
        can_switch = not state.is_end or any(edge.reopen for edge in state.edges)  # as `configure --mode` has it
        for mode in (name for name in self.machine.modes if can_switch and name != snapshot.mode):
            switched = Crash(snapshot.replace(mode=mode), "")
            self.connect(at, (Signal("person", mode, verb=CONFIGURES), _NOTHING), switched, self.passed[at])
        # What no counter or register can change is asked once for each state.
        for question in dict.fromkeys(self.everything(state)) if is_first else ():
            self.ask(at, question)

    def state_ways(self, state: State) -> Iterator[Question]:
        """Each actor asks for each of its ways with just that way's gates open; every run may crash."""
        in_files = (_IN_FILES, _GETS_IT) if state.no else ()
        for edge, way in ((move, way) for move in state.edges for way in move.ways):
            gates = frozenset(way.needs)
            if "agent" in way.by:
                yield Signal("agent", edge.name), gates
                for no in ("", *in_files[:1]):
                    yield Signal("agent", edge.name, exit=EXIT_CLASSES[0], reason=no), gates
            for name in (way.after if state.role else ("",)) if "engine" in way.by else ():
                yield Signal("engine", edge.name, exit="" if name == ENTRY else name), gates
                for no in (_SAYS_NO, *in_files) if name in EXIT_CLASSES else ():
                    yield Signal("engine", edge.name, exit=name, reason=no), gates
            if "person" in way.by:
                yield Signal("person", edge.name, reason="because"), gates
            if "crash" in way.by:
                kinds = [name for name in CRASH_CLASSES if name in way.after] or CRASH_CLASSES
                yield Signal("crash", exit=kinds[0]), gates
                yield Signal("crash", exit=kinds[0], reason=_SAYS_NO), gates
        if state.role:
            yield Signal("crash", exit=CRASH_CLASSES[0]), _NOTHING
            yield Signal("crash", exit=CRASH_CLASSES[0], reason=_SAYS_NO), _NOTHING

    def borrowed_ways(self, state: State) -> Iterator[Question]:
        """A person may also use the ways of agent and engine; only after a stop or a no this makes a difference."""
        for edge, way in ((move, way) for move in state.edges for way in move.ways):
            yield Signal("person", edge.name, reason="because"), frozenset(way.needs)

    def everything(self, state: State) -> Iterator[Question]:
        """Each actor asks for every move, with no gate open, with all, and by override; runs end in every class."""
        every = frozenset(self.machine.gates)
        for edge in state.edges:
            for who in ("agent", "engine", "person"):
                yield Signal(who, edge.name), every
                yield Signal(who, edge.name, reason="because", override="because"), _NOTHING
        for who in ACTORS:
            for name in ("", *EXIT_CLASSES):
                for gates in (_NOTHING, every):
                    yield Signal(who, exit=name), gates

    def ask(self, at: int, question: Question) -> None:
        signal, gates = question
        snapshot = self.snapshots[at]
        if signal.exit and signal.who != "person":  # a run of this visit has ended, and its no replaces the one before
            snapshot = snapshot.replace(exit=signal.exit, no=self.no_of(snapshot.state, signal))
        if gates not in self.facts:
            self.facts[gates] = {name: Fact(name, ok=name in gates) for name in self.machine.gates}
        self.decisions += 1
        decision = self.decider(self.machine, snapshot, self.facts[gates], signal)
        if isinstance(decision, Advance):
            if snapshot.no and signal.who == "engine" and signal.reason != _GETS_IT:
                self.judge_no(at, decision)
            self.connect(at, question, decision, self.judge(at, question, decision))
            taken = (decision.edge.source, decision.edge.name, decision.way.number)
            if signal.who in ("agent", "engine") and taken not in self.borrowed:
                self.borrowed.add(taken)
                self.ask(at, (Signal("person", decision.edge.name, reason="because"), gates))
        elif isinstance(decision, Crash):
            self.connect(at, question, decision, self.passed[at])

    def no_of(self, state: str, signal: Signal) -> Mapping[str, str]:
        """What the run that ended before a signal had said against going on."""
        wanted = next((edge.target for edge in self.machine.states[state].edges if edge.name == signal.want), "")
        said = {SAID: _IN_FILES} if signal.reason in (_IN_FILES, _GETS_IT) else {}
        requested = {_SAYS_NO: "", _GETS_IT: wanted}.get(signal.reason)
        return said if requested is None else {**said, ASKED: requested}

    def judge(self, at: int, question: Question, taken: Advance) -> frozenset[str]:
        """Report what a move violates; what is passed after it."""
        (signal, gates), edge, passed = question, taken.edge, self.passed[at]
        if not gates.union(taken.waived).issuperset(taken.way.needs):
            self.violate("gate", say.gate_closed(edge.name), at, edge, signal.who)
        if edge.never:
            self.violate("never", say.never_was_taken(edge.name), at, edge, signal.who)
        if edge.sign_off and (signal.who != "person" or taken.waived):
            self.violate("sign-off", say.sign_off_taken(signal.who, edge.name, taken.waived), at, edge, signal.who)
        for rule in self.machine.properties:
            if edge.name == rule.then and rule.name not in passed:
                self.violate("property", say.property_broken(rule.name, rule.then, rule.first), at, edge, signal.who)
            if taken.after.state in rule.since:
                passed = passed - {rule.name}
            if edge.name in rule.first:
                passed = passed | {rule.name}
        return passed

    def judge_no(self, at: int, taken: Advance) -> None:
        """No is never overruled: after one the engine takes marked ways only, and none that finishes the work."""
        edge, there = taken.edge, self.machine.states[taken.after.state]
        if not taken.way.after_no:
            self.violate("no", say.engine_overruled_no(edge.name), at, edge, "engine")
        elif there.is_rest or there.lands:
            self.violate("no", say.finished_after_no(edge.name), at, edge, "engine")

    def connect(self, at: int, question: Question, taken: Advance | Crash, passed: frozenset[str]) -> None:
        known = len(self.snapshots)
        target = self.node(taken.after, passed)
        edge, way = (taken.edge.name, taken.way.number) if isinstance(taken, Advance) else ("", 0)
        step = Step(at, target, question[0], edge, way, tuple(sorted(question[1])))
        self.steps.append(step)
        if target == known:
            self.parents[target] = step

    def dead_ends(self) -> None:
        """From every snapshot a state must stay reachable in which the work is over: branching time, backwards."""
        backwards: dict[int, list[int]] = {}
        for step in self.steps:
            backwards.setdefault(step.target, []).append(step.source)
        ends = {state.name for state in self.machine.states.values() if state.is_end or state.is_rest}
        todo = [at for at, snapshot in enumerate(self.snapshots) if snapshot.state in ends]
        alive = set(todo)
        while todo:
            found = set(backwards.get(todo.pop(), ())) - alive
            alive |= found
            todo += found
        if stuck := set(range(len(self.snapshots))) - alive:
            self.violate("dead end", say.dead_end(), min(stuck))

    def violate(self, kind: str, rule: str, at: int, last: Edge | None = None, who: str = "") -> None:
        story: list[str] = [say.last_move(who, last.source, last.target, last.name)] if last else []
        node = at
        while (step := self.parents[node]) is not None:
            story.append(tell(self.snapshots, step))
            node = step.source
        story.append(say.start(self.snapshots[node].state))
        if not any(violation.rule == rule for violation in self.violations):
            self.violations.append(Violation(rule, tuple(reversed(story)), kind))


def tell(snapshots: Sequence[Snapshot], step: Step) -> str:
    """One step of a story."""
    before, after = snapshots[step.source], snapshots[step.target]
    if step.signal.verb == CONFIGURES:
        return say.mode_switched(after.mode, before.state)
    if not step.edge:
        return say.run_ended(before.state, step.signal.exit)
    signal, said_no = step.signal, step.signal.reason.startswith(_SAYS_NO)
    return say.move_made(
        signal.who, before.state, after.state, step.edge, step.open_gates, signal.exit, said_no=said_no
    )


def _goes_on(state: State) -> bool:
    """Whether the engine may leave a state before an agent run has ended there."""
    ways = [way for edge in state.edges for way in edge.ways if "engine" in way.by]
    return any(not state.role or ENTRY in way.after for way in ways)


def explore(machine: Machine, decider: Decider = decide, most: int = MOST_SNAPSHOTS) -> Graph:
    """All that can happen; `decider` is there so that tests can show that a wrong one is found out."""
    return _Exploration(machine, decider, most).run()


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
