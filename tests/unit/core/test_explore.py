"""The exploration finds a seeded fault of every kind by its shortest story, and draws the graph that walks cover."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from detent.core.decide import decide, enter
from detent.core.explore import CONFIGURES, Graph, Violation, explore, route
from detent.core.machine import CRASH_CLASSES, Machine
from detent.core.values import Advance, Fact, Refuse, Signal, Snapshot
from detent.machines.load import load
from detent.words.machines import explore as say
from tests.unit.core.small import STATES, machine, small
from tests.walks.cover import cover

if TYPE_CHECKING:
    from detent.core.values import Decision

LINE = """
[[edge]]
name  = "show"
from  = "work"
to    = "look"
by    = ["agent", "engine"]
needs = ["ready"]
[[edge]]
name  = "back"
from  = "look"
to    = "work"
by    = ["agent"]
[[edge]]
name  = "hand-over"
from  = "look"
to    = "wait"
by    = ["engine"]
needs = ["seen"]
[[edge]]
name     = "accept"
from     = "wait"
to       = "over"
by       = ["person"]
needs    = ["ready"]
sign_off = true
"""
DONE_IS_SEEN = '[[property]]\nname = "accepted work was seen"\nthen = "accept"\nfirst = "hand-over"\nsince = ["work"]'


def rules(graph: Graph) -> list[str]:
    return [violation.rule for violation in graph.violations]


def edges_of(graph: Graph) -> set[tuple[str, str, int, str]]:
    """(source state, edge, way, actor) of every step that takes an edge."""
    return {
        (graph.snapshots[step.source].state, step.edge, step.way, step.signal.who) for step in graph.steps if step.edge
    }


def test_a_sound_machine_has_no_violation() -> None:
    asked_signals: list[Signal] = []

    def listening(made: Machine, at: Snapshot, facts: Mapping[str, Fact], signal: Signal) -> Decision:
        asked_signals.append(signal)
        return decide(made, at, facts, signal)

    graph = explore(small(LINE + DONE_IS_SEEN), listening)
    assert graph.violations == ()
    assert graph.decisions == len(asked_signals) > len(graph.steps) > 0


def test_everybody_with_a_hand_takes_every_edge() -> None:
    assert edges_of(explore(small(LINE))) == {
        ("work", "show", 0, "agent"),
        ("work", "show", 0, "engine"),
        ("work", "show", 0, "person"),
        ("look", "back", 0, "agent"),
        ("look", "back", 0, "person"),
        ("look", "hand-over", 0, "engine"),
        ("look", "hand-over", 0, "person"),
        ("wait", "accept", 0, "person"),
    }


TWO_WAYS = """
[register.seen]
[[edge]]
name  = "show"
from  = "work"
to    = "look"
by    = ["engine"]
needs = ["ready"]
[[edge]]
name = "back"
from = "look"
to   = "work"
by   = ["agent"]
set  = { seen = "yes" }
[[edge]]
name = "finish"
from = "work"
to   = "over"
by   = ["engine"]
needs = ["ready"]
ways = [ { when = { seen = "" } }, { when = { seen = "yes" } } ]
"""


def test_way_that_opens_later_is_taken_by_every_actor() -> None:
    graph = explore(small(TWO_WAYS))
    taken = edges_of(graph)
    assert {who for state, edge, way, who in taken if (edge, way) == ("finish", 2)} == {"engine", "person"}
    # The engine asks in every snapshot, not only where a state was first seen.
    shown = {tuple(graph.snapshots[step.source].registers.items()) for step in graph.steps
             if step.edge == "show" and step.signal.who == "engine"}  # fmt: skip
    assert shown == {(), (("seen", "yes"),)}
    # A person borrows a way once; more would only cost time.
    for edge, way in (("show", 0), ("finish", 1), ("finish", 2)):
        by_person = [step for step in graph.steps if (step.edge, step.way, step.signal.who) == (edge, way, "person")
                     and step.signal.want == edge and "stopped" not in graph.snapshots[step.source].registers
                     and step.open_gates == ("ready",)]  # fmt: skip
        assert len(by_person) == 1


def test_every_step_is_what_decide_answers() -> None:
    made = small(LINE + DONE_IS_SEEN)
    graph = explore(made)
    assert graph.snapshots[0] == enter(made).replace(visits={})
    for step in graph.steps:
        before = graph.snapshots[step.source]
        if step.signal.who == "engine" and step.signal.exit:
            before = before.replace(exit=step.signal.exit)
        found = {name: Fact(name, ok=name in step.open_gates) for name in made.gates}
        decision = decide(made, before, found, step.signal)
        assert not isinstance(decision, Refuse)
        after = getattr(decision, "after").replace(visits={}, exit="entry")  # noqa: B009  # two kinds have one
        assert after == graph.snapshots[step.target]


def test_crashes_are_counted_until_only_a_person_goes_on() -> None:
    made = small(LINE)
    graph = explore(made)
    stopped = [at for at, snapshot in enumerate(graph.snapshots) if "stopped" in snapshot.registers]
    assert {graph.snapshots[at].state for at in stopped} == {"work", "look"}
    leaving = [step for step in graph.steps if step.source in stopped]
    assert {step.signal.who for step in leaving} == {"person"}
    assert {(step.way, step.signal.exit) for step in graph.steps if not step.edge} == {
        (0, name) for name in CRASH_CLASSES
    }
    assert {(graph.snapshots[step.source].state, step.edge) for step in leaving} == {
        ("work", "show"),
        ("look", "back"),
        ("look", "hand-over"),
    }


def test_a_dead_end_is_told_by_the_shortest_story() -> None:
    made = machine(
        """
format  = 1
name    = "trap"
initial = "work"
by      = ["agent"]
[role.builder]
access = "write"
[gate.ready]
check = "file"
[state.work]
role = "builder"
[state.detour]
rest = true
[state.ring]
role = "builder"
[state.gnir]
role = "builder"
[state.over]
end = true
[[edge]]
name = "long"
from = "work"
to   = "detour"
[[edge]]
name  = "short"
from  = "work"
to    = "ring"
needs = ["ready"]
[[edge]]
name = "on"
from = "detour"
to   = "ring"
[[edge]]
name = "there"
from = "ring"
to   = "gnir"
[[edge]]
name = "back"
from = "gnir"
to   = "ring"
[[edge]]
name = "out"
from = "work"
to   = "over"
"""
    )
    assert explore(made).violations == (
        Violation(
            say.dead_end(),
            (say.start("work"), say.move_made("agent", "work", "ring", "short", ("ready",), "", said_no=False)),
            "dead end",
        ),
    )
    resting = made.states["gnir"].replace(is_rest=True)
    assert explore(made.replace(states={**made.states, "gnir": resting})).violations == ()


def test_a_broken_promise_is_told_by_the_shortest_story() -> None:
    shortcut = '[[edge]]\nname = "shortcut"\nfrom = "work"\nto = "wait"\nby = ["crash"]\nneeds = ["seen"]'
    graph = explore(small(LINE + shortcut + "\n" + DONE_IS_SEEN))
    assert graph.violations == (
        Violation(
            say.property_broken("accepted work was seen", "accept", ("hand-over",)),
            (
                say.start("work"),
                say.move_made("crash", "work", "wait", "shortcut", ("seen",), "failed", said_no=False),
                say.last_move("person", "wait", "over", "accept"),
            ),
            "property",
        ),
    )


def test_promise_is_void_once_state_of_since_is_entered_again() -> None:
    again = '[[edge]]\nname = "again"\nfrom = "wait"\nto = "work"\nby = ["person"]\n'
    skip = '[[edge]]\nname = "skip"\nfrom = "look"\nto = "wait"\nby = ["agent"]\nwhen = { old = "yes" }\n'
    old = (
        '[register.old]\n[[edge]]\nname = "mark"\nfrom = "wait"\nto = "wait"\nby = ["person"]\nset = { old = "yes" }\n'
    )
    with_skip = small(LINE + old + again + skip + DONE_IS_SEEN)
    (violation,) = explore(with_skip).violations
    assert violation.rule == say.property_broken("accepted work was seen", "accept", ("hand-over",))
    assert [part.partition("(")[2].partition(")")[0] for part in violation.story[1:]] == [
        "show",
        "hand-over",
        "mark",
        "again",
        "show",
        "skip",
        "accept",
    ]
    # Without going back to work, what was once seen stays seen.
    assert explore(
        small(LINE + old + skip.replace('when = { old = "yes" }', 'when = { old = "no" }') + DONE_IS_SEEN)
    ).violations == (Violation(say.move_never_taken("skip"), (), "never taken"),)


def test_crash_that_was_only_counted_is_part_of_the_story() -> None:
    falls = """
[limit.falls]
max = 1
[crash]
counts = "falls"
[[edge]]
name  = "shortcut"
from  = "work"
to    = "wait"
by    = ["agent"]
spent = "falls"
"""
    (violation,) = explore(small(LINE + falls + DONE_IS_SEEN)).violations
    assert violation.story == (
        say.start("work"),
        say.run_ended("work", "failed"),
        say.move_made("agent", "work", "wait", "shortcut", (), "", said_no=False),
        say.last_move("person", "wait", "over", "accept"),
    )


def test_an_edge_that_can_not_be_taken_is_found() -> None:
    blocked = '[register.key]\n[[edge]]\nname = "locked"\nfrom = "look"\nto = "over"\nwhen = { key = "gold" }\n'
    never = '[[edge]]\nname = "unwanted"\nfrom = "look"\nto = "work"\nnever = "no"\n'
    graph = explore(small(LINE + blocked + never))
    assert graph.violations == (Violation(say.move_never_taken("locked"), (), "never taken"),)


def test_an_impossible_edge_is_found_beside_one_of_its_name() -> None:
    blocked = '[register.key]\n[[edge]]\nname = "show"\nfrom = "look"\nto = "over"\nwhen = { key = "gold" }\n'
    assert say.move_never_taken("show") in rules(explore(small(LINE + blocked)))


def test_a_machine_without_bounds_is_given_up() -> None:
    made = small(LINE + "[limit.falls]\nmax = 1\n[limit.turns]\nmax = 7\n")
    whole = explore(made)
    assert explore(made, most=len(whole.snapshots)) == whole
    cut = explore(made, most=3)
    (violation,) = cut.violations
    assert violation.rule == say.too_many_snapshots(3)
    # No story of thousands of steps, and nothing of runs, which are not counted here: what counts furthest comes first.
    assert violation.story == (say.limits_counted([("turns", 7), ("crashes", 2), ("falls", 1)]),)
    assert len(cut.snapshots) < len(whole.snapshots)


def test_a_sign_off_that_an_agent_holds_is_found() -> None:
    made = small(LINE)
    edge = made.states["look"].edges[0].replace(sign_off=True)
    state = made.states["look"].replace(edges=(edge, *made.states["look"].edges[1:]))
    graph = explore(made.replace(states={**made.states, "look": state}))
    assert (
        Violation(
            say.sign_off_taken("agent", "back", ()),
            (
                say.start("work"),
                say.move_made("agent", "work", "look", "show", ("ready",), "", said_no=False),
                say.last_move("agent", "look", "work", "back"),
            ),
            "sign-off",
        )
        in graph.violations
    )


SWITCHED = """
modes = ["slow", "fast"]
"""
SKIPS = """
[[edge]]
name = "skip"
from = "look"
to   = "wait"
by   = ["agent"]
mode = ["fast"]
when = { begun = "slow" }
[[edge]]
name = "mark"
from = "work"
to   = "work"
by   = ["person"]
mode = ["slow"]
set  = { begun = "slow" }
[register.begun]
"""


def test_a_person_may_switch_the_mode_in_every_situation() -> None:
    """What needs one mode first and another later is found, with the switch as a part of its story."""
    (violation,) = explore(small(LINE + SKIPS + DONE_IS_SEEN, top=SWITCHED)).violations
    assert violation.rule == say.property_broken("accepted work was seen", "accept", ("hand-over",))
    assert violation.story[:-1] == (
        say.start("work"),
        say.move_made("person", "work", "work", "mark", (), "", said_no=False),
        say.move_made("agent", "work", "look", "show", ("ready",), "", said_no=False),
        say.mode_switched("fast", "look"),
        say.move_made("agent", "look", "wait", "skip", (), "", said_no=False),
    )


def test_no_mode_is_switched_in_an_end_that_stays_one() -> None:
    def switched(edges: str) -> set[str]:
        graph = explore(small(edges, top=SWITCHED))
        return {graph.snapshots[step.source].state for step in graph.steps if step.signal.verb == CONFIGURES}

    assert switched(LINE) == {"work", "look", "wait"}
    again = '[[reopen]]\nname = "again"\nfrom = "over"\nto = "work"\n'
    assert switched(LINE + again) == {"work", "look", "wait", "over"}


def test_one_of_several_first_moves_is_enough() -> None:
    also = '[[edge]]\nname = "wave"\nfrom = "look"\nto = "wait"\nby = ["agent"]\n'
    either = DONE_IS_SEEN.replace('"hand-over"', '["hand-over", "wave"]')
    assert explore(small(LINE + also + either)).violations == ()
    assert rules(explore(small(LINE + also + DONE_IS_SEEN))) == [
        say.property_broken("accepted work was seen", "accept", ("hand-over",))
    ]
    other = '[[edge]]\nname = "slip"\nfrom = "look"\nto = "wait"\nby = ["agent"]\n'
    broken = rules(explore(small(LINE + also + other + either)))
    assert broken == [say.property_broken("accepted work was seen", "accept", ("hand-over", "wave"))]


def deaf(made: Machine, at: Snapshot, facts: Mapping[str, Fact], signal: Signal) -> Decision:
    """A decider that does not look at gates."""
    return decide(made, at, {name: Fact(name, ok=True) for name in facts}, signal)


def reckless(made: Machine, at: Snapshot, facts: Mapping[str, Fact], signal: Signal) -> Decision:
    """A decider that takes edges marked as never to be taken."""
    edges = made.states[at.state].edges
    states = {**made.states, at.state: made.states[at.state].replace(edges=tuple(e.replace(never="") for e in edges))}
    decision = decide(made.replace(states=states), at, facts, signal)
    if isinstance(decision, Advance):
        (real,) = [edge for edge in edges if edge.name == decision.edge.name]
        return decision.replace(edge=real)
    return decision


def servile(made: Machine, at: Snapshot, facts: Mapping[str, Fact], signal: Signal) -> Decision:
    """A decider that takes everybody for a person."""
    return decide(made, at, facts, signal.replace(who="person")) if signal.who != "crash" else Refuse("no")


def formal(made: Machine, at: Snapshot, facts: Mapping[str, Fact], signal: Signal) -> Decision:
    """A decider that takes every actor for a person that names an edge."""
    return servile(made, at, facts, signal) if signal.want else decide(made, at, facts, signal)


def eager(made: Machine, at: Snapshot, facts: Mapping[str, Fact], signal: Signal) -> Decision:
    """A decider that takes every actor for a person that leaves the choice to it."""
    return decide(made, at, facts, signal) if signal.want else servile(made, at, facts, signal)


def lax(made: Machine, at: Snapshot, facts: Mapping[str, Fact], signal: Signal) -> Decision:
    """A decider that lets a person waive the gates of a sign-off."""
    decision = decide(made, at, {name: Fact(name, ok=True) for name in facts}, signal)
    if isinstance(decision, Advance) and signal.override:
        return decision.replace(waived=decision.way.needs)
    return decide(made, at, facts, signal)


NEVER = '[[edge]]\nname = "skip"\nfrom = "look"\nto = "over"\nnever = "no"\n'


@pytest.mark.parametrize(
    ("decider", "rule"),
    [
        (deaf, say.gate_closed("show")),
        (reckless, say.never_was_taken("skip")),
        (servile, say.sign_off_taken("agent", "accept", ())),
        (formal, say.sign_off_taken("agent", "accept", ())),
        (eager, say.sign_off_taken("agent", "accept", ())),
        (lax, say.sign_off_taken("person", "accept", ("ready",))),
    ],
)
def test_a_wrong_decider_is_found_out(decider: object, rule: str) -> None:
    assert callable(decider)
    assert rule in rules(explore(small(LINE + NEVER), decider))
    assert rule not in rules(explore(small(LINE + NEVER)))


def test_an_override_takes_no_gate_for_closed_that_was_waived() -> None:
    graph = explore(small('[override]\nby = "person"\n' + LINE))
    assert graph.violations == ()
    assert any(step.signal.override and step.edge == "show" for step in graph.steps)
    assert not any(step.signal.override and step.edge == "accept" for step in graph.steps)


def test_the_engine_is_asked_after_every_end_a_way_names() -> None:
    text = LINE.replace('needs = ["seen"]', 'needs = ["seen"]\nafter = ["entry", "timeout", "quota"]')
    steps = [step for step in explore(small(text)).steps if step.edge == "hand-over" and step.signal.who == "engine"]
    assert {step.signal.exit for step in steps} == {"", "timeout", "quota"}


def test_run_that_opens_nothing_is_counted_where_state_says_so() -> None:
    turns = """
[limit.turns]
max = 2
[[edge]]
name  = "give-up"
from  = "work"
to    = "wait"
by    = ["agent"]
spent = "turns"
"""
    text = STATES.replace("[state.work]", '[state.work]\ncounts_run = ["turns"]') + LINE + turns
    graph = explore(machine(text))
    ends = [step for step in graph.steps if not step.edge and step.signal.who == "engine"]
    assert {(graph.snapshots[step.source].state, step.signal.exit) for step in ends} == {("work", "finished")}
    assert {snapshot.counters.get("turns", 0) for snapshot in graph.snapshots} == {0, 1, 2}
    is_counted = [snapshot for snapshot in graph.snapshots if "runs" in snapshot.counters]
    assert not is_counted, "how many there ever were is no limit here"
    assert graph.violations == ()


def test_run_dies_in_way_that_edge_held_by_crash_names() -> None:
    fall = (
        '[[edge]]\nname = "fall"\nfrom = "work"\nto = "wait"\nby = ["crash"]\nneeds = ["ready"]\nafter = ["timeout"]\n'
    )
    falls = [step for step in explore(small(LINE + fall)).steps if step.edge == "fall"]
    assert {step.signal.exit for step in falls if step.open_gates == ("ready",)} == {"timeout"}


def test_every_mode_is_a_start() -> None:
    made = small(
        '[[edge]]\nname = "slow"\nfrom = "work"\nto = "over"\nmode = "careful"\n'
        '[[edge]]\nname = "fast"\nfrom = "work"\nto = "over"\nmode = "quick"',
        top='modes = ["careful", "quick"]\nby = ["person"]',
    )
    graph = explore(made)
    assert {snapshot.mode for snapshot in graph.snapshots} == {"careful", "quick"}
    assert graph.violations == ()
    # A walk starts in the first mode, and switches it for what belongs to another one.
    assert {step.edge for walk in cover(graph) for step in walk} == {"slow", "fast", ""}


def test_walks_cover_every_way_by_everybody() -> None:
    made = load("phase", None)[0]
    graph = explore(made)
    walks = cover(graph)
    wanted = edges_of(graph)
    covered = set()
    for walk in walks:
        at = 0
        for step in walk:
            assert step.source == at
            at = step.target
            covered.add((graph.snapshots[step.source].state, step.edge, step.way, step.signal.who))
    assert wanted <= covered
    assert all(walk[-1].edge for walk in walks)


def test_a_graph_without_steps_has_no_walk() -> None:
    assert cover(Graph((Snapshot("work"),), (), (), 0)) == ()


def test_a_route_takes_the_fewest_edges_and_no_forbidden_ones() -> None:
    made = small(
        LINE
        + '[[edge]]\nname = "hop"\nfrom = "work"\nto = "over"\nnever = "no"\n'
        + '[[reopen]]\nname = "redo"\nfrom = "over"\nto = "work"'
    )
    found = route(made, "work", "over")
    assert found is not None
    assert [edge.name for edge in found] == ["show", "hand-over", "accept"]
    assert route(made, "work", "work") == ()
    assert route(made, "over", "work") is None


@pytest.mark.requirement("S0.29")
def test_phase_verifies_every_repair_before_its_review() -> None:
    made = load("phase", None)[0]
    (edge,) = [edge for edge in made.states["repair"].edges if not made.states[edge.target].is_end]
    assert edge.target == "verify"
    graph = explore(made)
    assert graph.violations == ()
    leaving = {
        graph.snapshots[step.target].state for step in graph.steps if graph.snapshots[step.source].state == "repair"
    }
    assert leaving == {"repair", "verify", "blocked", "needs_user_decision"}
