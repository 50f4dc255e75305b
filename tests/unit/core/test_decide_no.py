"""No is never overruled: after a run that said no the engine takes only marked ways, and what the run asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from detent.core.decide import decide
from detent.core.explore import explore
from detent.core.lint import lint
from detent.core.machine import ASKED, SAID, Machine
from detent.core.runs import run_over
from detent.core.values import Advance, Fact, Signal, Snapshot
from detent.machines.load import load
from detent.words import core as core_words
from detent.words.machines import explore as explore_words
from detent.words.machines import lint as lint_words
from detent.words.message import code_of
from tests.unit.core.small import advanced, ask, facts, small, waited

if TYPE_CHECKING:
    from detent.core.values import Decision

EDGES = """
[[edge]]
name  = "show"
from  = "work"
to    = "look"
by    = ["agent", "engine"]
needs = ["ready"]
[[edge]]
name  = "give-up"
from  = "work"
to    = "wait"
by    = ["engine"]
needs = ["seen"]
after_no = MARK
[[edge]]
name  = "finish"
from  = "look"
to    = "over"
by    = ["engine"]
needs = ["seen"]
[[edge]]
name = "again"
from = "wait"
to   = "work"
by   = ["person", "engine"]
"""
MARKED, UNASKED = EDGES.replace("MARK", "true"), EDGES.replace("MARK", '"unasked"')
ENGINE = Signal("engine")


def said(edges: str, no: Mapping[str, str]) -> tuple[Machine, Snapshot]:
    return small(edges), Snapshot("work", exit="finished", no=no)


def test_refused_request_closes_the_engines_way_on_and_says_why() -> None:
    made, at = said(MARKED, {ASKED: "elsewhere"})
    missing = waited(ask(made, ENGINE.replace(want="show"), "ready", at=at)).missing
    why = core_words.run_said_no(core_words.asked_and_refused("elsewhere"))
    assert [(need.gate, need.why) for need in missing] == [("no", why)]


def test_the_state_that_was_asked_for_stays_open() -> None:
    made, at = said(MARKED, {ASKED: "look"})
    assert advanced(ask(made, ENGINE, "ready", at=at)).after.no == {}


def test_marked_way_is_taken_after_no_and_carries_it_on() -> None:
    made, at = said(MARKED, {"seen": "NO.md says no"})
    taken = advanced(ask(made, ENGINE, "ready", "seen", at=at))
    assert (taken.edge.name, taken.after.no) == ("give-up", {SAID: "NO.md says no"})
    assert [need.gate for need in waited(ask(made, ENGINE, at=taken.after)).missing] == ["no"]  # to work, unmarked


def test_unasked_way_is_reason_only_where_a_run_said_no() -> None:
    made, at = said(UNASKED.replace('["ready"]', '["ready", "seen"]'), {})
    assert waited(ask(made, ENGINE, at=at)).reason == core_words.move("work", "look")
    assert waited(ask(made, ENGINE, at=at.replace(no={SAID: "a failed check"}))).reason == core_words.move(
        "work", "wait"
    )


def test_unasked_way_is_closed_where_run_asked_for_another_state() -> None:
    made, at = said(UNASKED, {"seen": "no"})
    assert advanced(ask(made, ENGINE, "ready", "seen", at=at)).edge.name == "give-up"
    waited(ask(made, ENGINE, "ready", "seen", at=at.replace(no={"seen": "no", ASKED: "over"})))
    assert advanced(ask(made, ENGINE, "seen", at=at.replace(no={ASKED: "wait"}))).edge.name == "give-up"


def test_a_withdrawn_no_stops_binding_but_an_unseen_gate_binds() -> None:
    made, at = said(MARKED, {"seen": "no"})
    assert advanced(ask(made, ENGINE, "ready", at=at)).after.no == {}
    unseen = {"ready": Fact("ready", ok=True)}
    assert not isinstance(decide(made, at, unseen, ENGINE.replace(want="show")), Advance)


def test_agents_and_people_are_not_bound_and_person_answers_it() -> None:
    made, at = said(MARKED, {"seen": "no", ASKED: "elsewhere"})
    assert advanced(ask(made, Signal("agent", "show"), "ready", "seen", at=at)).after.no == {SAID: "no"}
    assert advanced(ask(made, Signal("person", "show"), "ready", "seen", at=at)).after.no == {}


def test_next_run_replaces_a_no_unless_it_did_no_work() -> None:
    made, at = said(MARKED, {"seen": "no"})
    assert run_over(made, at, "finished").no == {}
    assert run_over(made, at, "finished", {ASKED: "look"}).no == {ASKED: "look"}
    assert run_over(made, at, "quota").no == {"seen": "no"}


def deaf(made: Machine, at: Snapshot, seen: Mapping[str, Fact], signal: Signal) -> Decision:
    """A decider that hears no no."""
    return decide(made, at.replace(no={}), seen, signal)


@pytest.mark.parametrize("name", ["phase", "global", "lights-out", "orange", "ralf"])
def test_every_machine_holds_and_decider_that_overrules_is_found_out(name: str) -> None:
    made = load(name, None)[0]
    assert explore(made).violations == ()
    found = [violation for violation in explore(made, deaf).violations if violation.kind == "no"]
    # In orange every way of the engine out of an agent's state is one its document decides after any exit.
    assert bool(found) == (name != "orange")


@pytest.mark.parametrize(
    ("way", "who"),
    [
        ('by = ["agent"]', "agent"),  # its accepted request is its own word; what its files say still binds the engine
        ('by = ["engine"]\nneeds = ["ready"]', "engine"),  # the run asked for this state, and another no stands
        ('by = ["engine"]\nneeds = ["seen"]\nafter_no = "unasked"', "engine"),
        ('by = ["crash"]\nafter = ["killed"]', "crash"),  # a run that is killed may have said no before
    ],
)
def test_no_is_explored_behind_every_move_that_carries_it_on(way: str, who: str) -> None:
    """Agents and crashes carry a no on: behind their move is a situation in which the engine may not act."""
    made = small(
        f'[[edge]]\nname = "stop"\nfrom = "work"\nto = "wait"\n{way}\n'
        '[[edge]]\nname = "on"\nfrom = "wait"\nto = "over"\nby = ["engine"]\n'
    )
    made = made.replace(states={**made.states, "work": made.states["work"].replace(no=("seen",))})
    graph = explore(made)
    steps = [taken for taken in graph.steps if taken.edge == "stop" and graph.snapshots[taken.target].no]
    assert {taken.signal.who for taken in steps} == {who}
    people = [taken for taken in graph.steps if taken.edge == "on" and graph.snapshots[taken.source].no]
    assert {taken.signal.who for taken in people} == {"person"}


def test_the_story_of_an_overruled_no_is_the_shortest() -> None:
    violation = next(violation for violation in explore(small(MARKED), deaf).violations if violation.kind == "no")
    assert violation.rule == explore_words.engine_overruled_no("show")
    assert violation.story == (explore_words.start("work"), explore_words.last_move("engine", "work", "look", "show"))


def test_machine_that_finishes_the_work_after_a_no_is_refused() -> None:
    made = small(
        EDGES.replace("MARK", "true").replace(
            'needs = ["seen"]\n[[edge]]\nname = "again"', 'needs = ["seen"]\nafter_no = true\n[[edge]]\nname = "again"'
        )
    )
    over = made.states["over"].replace(lands=True)
    made = made.replace(states={**made.states, "over": over})
    assert explore_words.finished_after_no("finish") in [violation.rule for violation in explore(made).violations]


@pytest.mark.parametrize(
    ("line", "is_fine"),
    [
        ("after_no = true", False),
        ('after_no = true\nafter = "any"', True),
        ('after_no = true\nafter = ["failed"]', True),
    ],
)
def test_mark_on_a_way_that_answers_no_no_is_refused(line: str, is_fine: bool) -> None:
    made = small(MARKED.replace('needs = ["ready"]', f'needs = ["ready"]\n{line}', 1))
    assert (lint_words.after_no_misplaced("work", "look") not in lint(made)) == is_fine


def test_mark_is_fine_on_a_way_that_needs_a_no() -> None:
    states = small(MARKED).states
    made = small(MARKED).replace(states={**states, "work": states["work"].replace(no=("seen",))})
    assert not [problem for problem in lint(made) if code_of(problem) == "lint.after_no_misplaced"]
    assert facts(made)  # it has gates to ask
