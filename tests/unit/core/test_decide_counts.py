"""What is counted, when, and up to where: limits of the file, crashes, and the two limits every machine has."""

from __future__ import annotations

import pytest

from detent.core.decide import decide, enter, spent
from detent.core.machine import CRASH_CLASSES
from detent.core.values import Signal, Snapshot
from detent.words import core as say
from tests.unit.core.small import STATES, advanced, ask, crashed, facts, machine, small, waited

ROUNDS = """
[limit.rounds]
max = 2
[limit.streak]
max    = 2
resets = "always"
[[edge]]
name   = "count"
from   = "work"
to     = "work"
by     = ["agent"]
counts = ["rounds"]
[[edge]]
name   = "both"
from   = "work"
to     = "work"
by     = ["agent"]
counts = ["rounds", "streak"]
[[edge]]
name   = "clear"
from   = "work"
to     = "work"
by     = ["agent"]
resets = "rounds"
[[edge]]
name = "plain"
from = "work"
to   = "over"
by   = ["agent"]
"""


def counted(made_from: str, *edges: str, who: str = "agent", at: Snapshot | None = None) -> Snapshot:
    made = small(made_from)
    at = at or enter(made)
    for name in edges:
        at = advanced(ask(made, Signal(who, name), at=at)).after
    return at


def test_only_the_way_that_says_so_counts_and_resets() -> None:
    assert counted(ROUNDS, "count").counters == {"rounds": 1}
    assert counted(ROUNDS, "count", "plain").counters == {"rounds": 1}
    assert counted(ROUNDS, "count", "clear").counters == {}


def test_a_counter_stops_at_its_cap() -> None:
    assert counted(ROUNDS, "count", "count", "count", "count").counters == {"rounds": 2}
    capped = ROUNDS.replace("max = 2\n", "max = 2\ncap = 3\n", 1)
    assert counted(capped, "count", "count", "count", "count").counters == {"rounds": 3}


def test_a_limit_that_resets_always_counts_only_in_a_row() -> None:
    assert counted(ROUNDS, "both").counters == {"rounds": 1, "streak": 1}
    assert counted(ROUNDS, "both", "count").counters == {"rounds": 2}
    # The reset comes before the count, so that a move which counts is never lost.
    assert counted(ROUNDS, "both", "both").counters == {"rounds": 2, "streak": 1}


@pytest.mark.parametrize(("who", "left"), [("agent", {"runs": 9}), ("person", {})])
def test_a_person_s_move_clears_the_runs_and_the_stop(who: str, left: dict[str, int]) -> None:
    at = Snapshot("work", counters={"runs": 9, "crashes": 1})
    assert counted(ROUNDS, "plain", who=who, at=at).counters == left


GROUPS = """
[limit.tries]
max = 2
per = "group"
[state.draft]
role  = "builder"
group = "first"
[state.redraft]
role  = "builder"
group = "first"
[state.build]
role  = "builder"
group = "second"
[[edge]]
name   = "fail"
from   = ["draft", "redraft", "build"]
to     = "wait"
by     = ["agent"]
counts = "tries"
[[edge]]
name = "go-draft"
from = "wait"
to   = "draft"
by   = ["person"]
[[edge]]
name = "go-redraft"
from = "wait"
to   = "redraft"
by   = ["person"]
[[edge]]
name = "go-build"
from = "wait"
to   = "build"
by   = ["person"]
[[edge]]
name   = "pass"
from   = ["draft", "redraft", "build"]
to     = "over"
by     = ["agent"]
resets = "tries"
[[edge]]
name  = "give-up"
from  = ["draft", "redraft", "build"]
to    = "over"
by    = ["agent"]
spent = "tries"
"""


CROSSING = """
[[edge]]
name   = "swap"
from   = ["draft", "redraft"]
to     = "build"
by     = ["agent"]
resets = "tries"
[[edge]]
name   = "back"
from   = "build"
to     = "draft"
by     = ["agent"]
resets = "tries"
"""


@pytest.mark.parametrize(
    ("state", "edge", "left"),
    [("draft", "swap", {}), ("build", "back", {"tries": 1}), ("build", "pass", {}), ("build", "fail", {"tries": 1})],
)
def test_group_takes_back_its_count_and_leaving_groups_takes_any(state: str, edge: str, left: dict[str, int]) -> None:
    """The count of the first group survives what the second one resets on the way back into the first."""
    at = Snapshot(state, counters={"tries": 1}, registers={"tries.group": "first"})
    after = advanced(ask(small(GROUPS + CROSSING), Signal("person", edge), at=at)).after
    assert after.counters == left


def test_a_group_has_its_own_count_until_another_group_fails() -> None:
    made = small(GROUPS)

    def walk(at: Snapshot, *edges: str) -> Snapshot:
        for name in edges:
            at = advanced(ask(made, Signal("person", name), at=at)).after
        return at

    start = Snapshot("draft")
    assert spent(made, start, "tries") == 0
    once = walk(start, "fail")
    assert (once.counters, once.registers) == ({"tries": 1}, {"tries.group": "first"})
    # The same group goes on counting in another of its states; in between, and elsewhere, nothing is spent.
    assert spent(made, once, "tries") == 0
    assert spent(made, walk(once, "go-redraft"), "tries") == 1
    assert spent(made, walk(once, "go-build"), "tries") == 0
    twice = walk(once, "go-redraft", "fail", "go-draft")
    assert spent(made, twice, "tries") == 2
    assert advanced(ask(made, Signal("agent", "give-up"), at=twice)).after.state == "over"
    # Visiting another group keeps the count; only its failure replaces it.
    assert spent(made, walk(once, "go-build").replace(state="draft"), "tries") == 1
    other = walk(twice.replace(state="wait"), "go-build", "fail")
    assert (other.counters, other.registers) == ({"tries": 1}, {"tries.group": "second"})
    passed = walk(once, "go-draft", "pass")
    assert (passed.counters, passed.registers) == ({}, {})


CRASHING = """
[limit.falls]
max    = 2
cap    = 3
resets = "always"
[crash]
counts = "falls"
[[edge]]
name  = "fell"
from  = "work"
to    = "wait"
by    = ["crash"]
spent = "falls"
[[edge]]
name  = "done"
from  = "work"
to    = "over"
by    = ["agent", "engine"]
needs = ["ready"]
[[edge]]
name  = "watched"
from  = "look"
to    = "over"
by    = ["crash"]
needs = ["seen"]
[[edge]]
name = "go"
from = "wait"
to   = "over"
"""


@pytest.mark.parametrize("exit_class", CRASH_CLASSES)
def test_a_crash_is_counted_before_the_crash_ways_are_asked(exit_class: str) -> None:
    made = small(CRASHING)
    first = crashed(ask(made, Signal("crash", exit=exit_class)))
    assert first.exit == exit_class
    assert (first.after.state, first.after.exit) == ("work", exit_class)
    assert first.after.counters == {"falls": 1, "crashes": 1}
    second = advanced(ask(made, Signal("crash", exit=exit_class), at=first.after))
    assert (second.edge.name, second.after.state) == ("fell", "wait")
    # Any move clears what only counts in a row.
    assert (second.after.counters, second.after.exit) == ({}, "entry")


def test_a_crash_can_not_take_the_ways_of_others() -> None:
    made = small(CRASHING)
    decision = decide(made, enter(made), facts(made, *made.gates), Signal("crash", exit="failed"))
    assert crashed(decision).after.state == "work"


def test_a_crash_way_asks_for_its_gates() -> None:
    made = small(CRASHING)
    at = Snapshot("look")
    assert crashed(ask(made, Signal("crash", exit="lost"), at=at)).after.state == "look"
    assert advanced(ask(made, Signal("crash", exit="lost"), "seen", at=at)).edge.name == "watched"


@pytest.mark.parametrize("exit_class", ["finished", "quota", "", "entry"])
def test_a_run_that_ended_otherwise_is_no_crash(exit_class: str) -> None:
    reason = waited(ask(small(CRASHING), Signal("crash", exit=exit_class))).reason
    assert reason == say.no_crash(exit_class)


def test_where_no_agent_works_nothing_crashes() -> None:
    assert waited(ask(small(CRASHING), Signal("crash", exit="failed"), at=Snapshot("wait"))).reason == (
        say.no_agent_to_crash("wait")
    )


PLAIN = '[[edge]]\nname = "done"\nfrom = "work"\nto = "over"\nby = ["agent", "engine"]\nneeds = ["ready"]'


def test_crashes_in_a_row_stop_the_task_at_their_limit() -> None:
    made = small(PLAIN, limits={"crashes": 3})
    at = enter(made)
    for number in (1, 2):
        at = crashed(ask(made, Signal("crash", exit="killed"), at=at)).after
        assert (at.counters, at.registers) == ({"crashes": number}, {})
    at = crashed(ask(made, Signal("crash", exit="killed"), at=at)).after
    assert (at.counters, at.registers) == ({"crashes": 3}, {"stopped": say.crashes_in_a_row(3)})


def test_two_crashes_in_a_row_are_enough_by_default() -> None:
    made = small(PLAIN)
    at = crashed(ask(made, Signal("crash", exit="killed"))).after
    assert crashed(ask(made, Signal("crash", exit="failed"), at=at)).after.registers == {
        "stopped": say.crashes_in_a_row(2)
    }


def test_a_move_between_two_crashes_starts_the_count_again() -> None:
    made = small('[[edge]]\nname = "again"\nfrom = "work"\nto = "work"\nby = ["agent"]')
    at = crashed(ask(made, Signal("crash", exit="killed"))).after
    at = advanced(ask(made, Signal("agent", "again"), at=at)).after
    assert at.counters == {}
    assert crashed(ask(made, Signal("crash", exit="killed"), at=at)).after.registers == {}


def test_a_counter_above_its_cap_comes_back_to_it() -> None:
    made = small(PLAIN)
    at = enter(made).replace(counters={"crashes": 7})
    assert crashed(ask(made, Signal("crash", exit="killed"), at=at)).after.counters == {"crashes": 2}


def test_crash_count_of_a_group_is_kept_with_the_group() -> None:
    made = small(
        '[limit.falls]\nmax = 2\nper = "group"\n[crash]\ncounts = "falls"\n[state.deep]\nrole = "builder"\n'
        'group = "core"\n[[edge]]\nname = "go"\nfrom = "deep"\nto = "over"\nspent = "falls"'
    )
    at = crashed(ask(made, Signal("crash", exit="lost"), at=Snapshot("deep"))).after
    assert (at.counters["falls"], at.registers) == (1, {"falls.group": "core"})


def test_a_crash_way_may_be_for_one_kind_of_crash() -> None:
    edge = '[[edge]]\nname = "pause"\nfrom = "work"\nto = "wait"\nby = ["person", "crash"]\nafter = ["lost"]'
    made = small(edge)
    assert advanced(ask(made, Signal("crash", exit="lost"))).after.state == "wait"
    for exit_class in ("failed", "timeout", "killed"):
        assert crashed(ask(made, Signal("crash", exit=exit_class))).after.state == "work"
    assert advanced(ask(made, Signal("person", "wait"))).after.state == "wait", "after binds nobody who asks"


OWN = """
[limit.falls]
max = 2
[state.dig]
role         = "builder"
counts_crash = ["falls"]
must_open    = true
[state.chat]
role         = "builder"
counts_crash = []
[[edge]]
name  = "fell"
from  = "dig"
to    = "wait"
by    = ["crash"]
spent = "falls"
[[edge]]
name = "go"
from = ["chat", "wait"]
to   = "over"
by   = ["person"]
"""


def test_a_state_counts_a_crash_towards_its_own_limits_only() -> None:
    made = small(OWN)
    first = crashed(ask(made, Signal("crash", exit="killed"), at=Snapshot("dig")))
    assert (first.after.counters, first.after.registers) == ({"falls": 1}, {})
    assert advanced(ask(made, Signal("crash", exit="killed"), at=first.after)).after.state == "wait"


def test_where_nothing_is_counted_run_that_dies_is_no_crash() -> None:
    at = Snapshot("chat", counters={"crashes": 1})
    assert waited(ask(small(OWN), Signal("crash", exit="killed"), at=at)).reason == say.no_agent_to_crash("chat")


def test_must_open_state_counts_every_end_but_quota() -> None:
    made = small(OWN)
    for exit_class in ("finished", *CRASH_CLASSES):
        assert crashed(ask(made, Signal("crash", exit=exit_class), at=Snapshot("dig"))).after.counters == {"falls": 1}
    assert waited(ask(made, Signal("crash", exit="quota"), at=Snapshot("dig"))).reason == (say.no_crash("quota"))


def test_counted_crash_of_tainted_run_leaves_no_move_to_engine() -> None:
    made = small(
        OWN.replace(
            'name  = "fell"',
            'name = "done"\nfrom = "dig"\nto = "over"\nby = ["engine"]\nafter = "any"\n'
            'needs = ["ready"]\n[[edge]]\nname  = "fell"',
        )
    )
    after = crashed(ask(made, Signal("crash", exit="finished"), at=Snapshot("dig", exit="tainted"))).after
    assert after.exit == "tainted"
    assert waited(ask(made, Signal("engine"), "ready", at=after)).missing[0].gate == "after"


def test_crash_that_counts_as_none_does_not_stop_the_task() -> None:
    """Whatever the limit: what was never counted has not reached it."""
    text = STATES.replace("[state.work]", "[state.work]\ncounts_crash = []") + PLAIN
    falls = text + '\n[[edge]]\nname = "fall"\nfrom = "work"\nto = "look"\nby = ["crash"]\nneeds = ["seen"]\n'
    made = machine(falls, limits={"crashes": 1})
    after = crashed(ask(made, Signal("crash", exit="failed"))).after
    assert (after.counters, after.registers) == ({}, {})
