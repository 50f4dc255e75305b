"""Over random machines, snapshots and signals: `decide` always answers, and advances exactly when the rules allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hypothesis import given, note, settings
from hypothesis import strategies as st

from detent.core.decide import decide
from detent.core.explore import explore
from detent.core.machine import ACTORS, CRASH_CLASSES, EXIT_CLASSES, Edge, Machine, Way
from detent.core.values import Advance, Crash, Fact, Refuse, Signal, Snapshot, Wait
from detent.machines.parse import parse

if TYPE_CHECKING:
    from detent.core.values import Decision

STATES = ("a", "b", "c", "end")
GATES = ("g", "h")
REGISTERS = ("r", "q")
VALUES = ("", "b", "c")
LIMITS = ("l", "m", "crashes")
MODES = ("slow", "fast")
GROUPS = ("", "one", "two")
HANDS = {"agent": {"agent"}, "engine": {"engine"}, "crash": {"crash"}, "person": {"person", "agent", "engine"}}

texts = st.sampled_from


def some(values: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(texts(values), max_size=len(values), unique=True)


def maybe(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A table in which each key may be missing."""
    return st.fixed_dictionaries({}, optional=keys)


registers = st.dictionaries(texts(REGISTERS), texts(VALUES), max_size=2)
ways = maybe(
    by=st.lists(texts(ACTORS), min_size=1, max_size=3, unique=True),
    needs=some(GATES),
    mode=some(MODES),
    under=texts(LIMITS),
    spent=texts(LIMITS),
    when=st.dictionaries(texts(REGISTERS), st.lists(texts(VALUES), min_size=1, max_size=2), max_size=2),
    after=st.one_of(st.just("any"), some((*EXIT_CLASSES, "entry"))),
    counts=some(("l", "m")),
    resets=some(("l", "m")),
    set=registers,
)


@st.composite
def edges(draw: st.DrawFn, source: str, number: int) -> dict[str, Any]:
    edge = {**draw(ways), "name": f"{source}{number}", "from": source, "to": draw(texts(STATES))}
    if draw(st.booleans()):
        edge["ways"] = draw(st.lists(ways, min_size=1, max_size=3))
    kind = draw(st.integers(0, 7))
    if kind == 0:
        edge["never"] = "because"
    if kind == 1:
        edge["option"] = "extra"
    if kind == 2:
        edge.pop("ways", None)
        edge.update(by=["person"], sign_off=True)
    return edge


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    limits = {
        name: {"max": draw(st.integers(1, 3)), **draw(maybe(per=st.just("group"), resets=st.just("always")))}
        for name in ("l", "m")
    }
    states: dict[str, dict[str, Any]] = {name: {"group": draw(texts(GROUPS))} for name in STATES}
    for name in ("a", "b", "c"):
        states[name].update(draw(maybe(role=st.just("worker"), must_open=st.booleans())))
        states[name].update(draw(maybe(counts_crash=some(("l", "m", "crashes")))))
    states["end"]["end"] = True
    document: dict[str, Any] = {
        "format": 1,
        "name": "random",
        "initial": "a",
        "modes": list(MODES),
        "role": {"worker": {"access": "write"}},
        "gate": {name: {"check": "file"} for name in GATES},
        "register": {name: {} for name in REGISTERS},
        "limit": limits,
        "state": states,
        "edge": [draw(edges(name, number)) for name in "abc" for number in range(draw(st.integers(0, 3)))],
        "reopen": [{"name": "reopen", "from": "end", "to": "{r}", "instead": {"b": "a"}}]
        if draw(st.booleans())
        else [],
        "crash": {"counts": draw(some(("l", "m")))},
        "override": draw(maybe(by=st.just("person"))),
        "forbidden": [{"from": "a", "to": "end", "why": "because"}],
    }
    known = {edge.get("option") for edge in document["edge"]} - {None}
    return parse(document, None, options=sorted(known) if draw(st.booleans()) else [])


snapshots = st.builds(
    Snapshot,
    state=texts((*STATES, "a", "b", "c", "moon")),
    mode=texts((*MODES, "")),
    counters=st.dictionaries(texts((*LIMITS, "runs")), st.integers(0, 4), max_size=3),
    registers=st.dictionaries(
        texts((*REGISTERS, "l.group", "stopped")), texts((*VALUES, "one", "two", "a")), max_size=3
    ),
    exit=texts(("entry", *EXIT_CLASSES)),
)
facts = st.dictionaries(
    texts(GATES), st.builds(Fact, gate=st.just(""), ok=st.booleans(), pending=st.booleans()), max_size=2
)
signals = st.builds(
    Signal,
    who=texts((*ACTORS, *ACTORS, "robot")),
    want=texts(("", "", "a", "b", "end", "a0", "a1", "b0", "c0", "reopen", "moon")),
    reason=texts(("", " ", "because")),
    exit=texts(("", *EXIT_CLASSES)),
    override=texts(("", " ", "because")),
    verb=texts(("", "", "", "approve")),
)


def used(made: Machine, at: Snapshot, limit: str) -> int:
    group = made.states[at.state].group
    is_other = made.limits[limit].per_group and at.registers.get(f"{limit}.group", "") != group
    return 0 if is_other else at.counters.get(limit, 0)


def guards_hold(made: Machine, at: Snapshot, signal: Signal, edge: Edge, way: Way) -> bool:
    """The rules once more, written as one flat list and not as `decide` writes them."""
    binds_exit = signal.who == "engine" and made.states[at.state].role != ""
    return all(
        (
            HANDS[signal.who] & set(way.by),
            at.mode in (way.modes or (at.mode,)),
            all(at.registers.get(name, "") in allowed for name, allowed in way.when.items()),
            way.under == "" or used(made, at, way.under) < made.limits[way.under].most,
            way.spent == "" or used(made, at, way.spent) >= made.limits[way.spent].most,
            at.exit in way.after or not binds_exit,
            signal.reason.strip() or not edge.reopen,
            edge.never == "",
        )
    )


def open_gates(found: Mapping[str, Fact]) -> set[str]:
    return {name for name, fact in found.items() if fact.ok}


@given(machines(), st.lists(snapshots, min_size=4, max_size=8), facts, st.lists(signals, min_size=4, max_size=8))
@settings(max_examples=120)
def test_an_answer_is_always_given_and_always_right(
    made: Machine, moments: list[Snapshot], found: dict[str, Fact], all_signals: list[Signal]
) -> None:
    for at in moments:
        for signal in all_signals:
            note(f"{at!r}\n{signal!r}")
            judge(made, at, found, signal, decide(made, at, found, signal))


def judge(made: Machine, at: Snapshot, found: Mapping[str, Fact], signal: Signal, decision: Decision) -> None:
    assert isinstance(decision, (Advance, Refuse, Crash, Wait))
    if at.state not in made.states or signal.who not in ACTORS:
        assert isinstance(decision, Refuse)
    elif at.registers.get("stopped", "") and signal.who != "person":
        assert isinstance(decision, (Refuse, Wait))
    elif signal.who == "crash":
        judge_crash(made, at, found, signal, decision)
    else:
        judge_move(made, at, found, signal, decision)


def judge_crash(made: Machine, at: Snapshot, found: Mapping[str, Fact], signal: Signal, decision: Decision) -> None:
    state = made.states[at.state]
    classes = {*CRASH_CLASSES, "finished"} if state.must_open else set(CRASH_CLASSES)
    if signal.exit not in classes or not state.role or not state.counts_crash:
        assert isinstance(decision, Wait)
        return
    assert isinstance(decision, (Advance, Crash))
    if isinstance(decision, Advance):
        assert decision.way.by.count("crash") == 1
        assert set(decision.way.needs) <= open_gates(found)
        return
    assert (decision.after.state, decision.after.exit) == (at.state, signal.exit)
    after = decision.after
    if "crashes" in state.counts_crash:
        assert after.counters["crashes"] == min(at.counters.get("crashes", 0) + 1, 2)
    assert bool(after.registers.get("stopped", "")) == (after.counters.get("crashes", 0) >= 2)
    for limit in state.counts_crash:
        assert 1 <= after.counters[limit] <= made.limits[limit].cap
    assert {*after.counters} - {*at.counters} <= {*state.counts_crash}


def judge_move(made: Machine, at: Snapshot, found: Mapping[str, Fact], signal: Signal, decision: Decision) -> None:
    if isinstance(decision, Advance):
        edge, way, after = decision.edge, decision.way, decision.after
        assert edge in made.states[at.state].edges
        assert way in edge.ways
        assert guards_hold(made, at, signal, edge, way)
        assert set(way.needs) - open_gates(found) == set(decision.waived)
        if decision.waived:
            assert made.may_override
            assert signal.who == "person"
            assert signal.override.strip()
            assert not edge.sign_off
            assert not any(fact.pending and not fact.ok for name, fact in found.items() if name in way.needs)
        assert after.state in made.states
        assert (after.exit, after.mode) == ("entry", at.mode)
        assert all(
            count <= max(made.limits[name].cap, at.counters.get(name, 0)) for name, count in after.counters.items()
        )
        assert "crashes" not in after.counters
        assert all(after.registers.values())
        return
    # Nothing was taken, so nothing that was asked for may be open.
    for edge in made.states[at.state].edges:
        for way in edge.ways:
            is_wanted = signal.want in (edge.name, edge.target) or (signal.want == "" and not edge.reopen)
            if is_wanted and not signal.verb and not edge.reopen and guards_hold(made, at, signal, edge, way):
                assert not set(way.needs) <= open_gates(found), f"{edge.name} way {way.number} was open"


@given(machines())
@settings(max_examples=60)
def test_random_machine_explores_to_its_bounds_without_breaking_a_rule(made: Machine) -> None:
    graph = explore(made)
    forbidden = ("gate closed", "never be taken and was", "took the sign-off", "more than")
    assert [
        violation.rule for violation in graph.violations if any(words in violation.rule for words in forbidden)
    ] == []
    for step in graph.steps:
        after = graph.snapshots[step.target]
        assert all(count <= made.limits[name].cap for name, count in after.counters.items())
        ways_by_number = {
            way.number: way
            for edge in made.states[graph.snapshots[step.source].state].edges
            if edge.name == step.edge
            for way in edge.ways
        }
        if step.edge and not step.signal.override:
            assert set(ways_by_number[step.way].needs) <= set(step.open_gates)
