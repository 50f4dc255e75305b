"""Each guard of `decide` on its own: the move is made with it satisfied, and not when it is violated."""

from __future__ import annotations

import pytest

from detent.core.decide import decide, enter
from detent.core.machine import EXIT_CLASSES, Machine
from detent.core.values import Fact, Missing, Signal, Snapshot
from detent.words import core as say
from tests.unit.core.small import advanced, ask, facts, missing, refused, small, waited

PEOPLE = ("agent", "engine", "person")


def one_way(by: str) -> Machine:
    return small(f'[[edge]]\nname = "go"\nfrom = "wait"\nto = "over"\nby = ["{by}"]', top="")


AT_WAIT = Snapshot("wait")


@pytest.mark.parametrize(
    ("by", "who", "may"),
    [
        ("agent", "agent", True),
        ("agent", "engine", False),
        ("agent", "person", True),
        ("engine", "agent", False),
        ("engine", "engine", True),
        ("engine", "person", True),
        ("person", "agent", False),
        ("person", "engine", False),
        ("person", "person", True),
        ("crash", "agent", False),
        ("crash", "engine", False),
        ("crash", "person", False),
    ],
)
def test_only_the_named_actor_may_use_a_way(by: str, who: str, may: bool) -> None:
    made = one_way(by)
    decision = decide(made, AT_WAIT, facts(made, *made.gates), Signal(who, "go"))
    if may:
        assert advanced(decision).after.state == "over"
    elif who == "engine":
        assert waited(decision).reason == say.move("wait", "over")
    else:
        why = say.only_by((by,), who, "move over" if by == "person" else "")
        assert refused(decision).missing == (Missing("by", why, why.next_step),)


def test_the_refusal_of_an_agent_names_the_person_s_command() -> None:
    made = small('[[edge]]\nfrom = "work"\nto = "over"\nby = ["person"]\nverb = ["approve", "accept"]')
    (need,) = refused(ask(made, Signal("agent", "over"))).missing
    assert need.fix == say.only_by(("person",), "agent", "approve").next_step


@pytest.mark.parametrize("who", PEOPLE)
def test_a_mode_closes_the_ways_of_other_modes(who: str) -> None:
    made = small(
        '[[edge]]\nname = "go"\nfrom = "wait"\nto = "over"\nby = ["agent", "engine"]\nmode = ["quick", "bold"]',
        top='modes = ["careful", "quick", "bold"]',
    )
    for mode in ("quick", "bold"):
        assert advanced(ask(made, Signal(who, "go"), at=Snapshot("wait", mode))).after.mode == mode
    at = Snapshot("wait", "careful")
    if who == "engine":
        waited(ask(made, Signal(who, "go"), at=at))
    else:
        (need,) = refused(ask(made, Signal(who, "go"), at=at)).missing
        assert need == Missing("mode", say.other_mode(("quick", "bold"), "careful"))


REGISTER = """
[register.origin]
[[edge]]
name = "back"
from = "wait"
to   = "work"
by   = ["agent", "engine"]
when = { origin = ["work", ""] }
"""


@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize(("value", "may"), [("work", True), ("", True), ("look", False)])
def test_a_register_closes_a_way(who: str, value: str, may: bool) -> None:
    made = small(REGISTER)
    at = Snapshot("wait", registers={"origin": value} if value else {})
    decision = ask(made, Signal(who, "back"), at=at)
    if may:
        advanced(decision)
    elif who == "engine":
        waited(decision)
    else:
        assert refused(decision).missing == (Missing("origin", say.register_differs("origin", ("work", ""), "look")),)


def test_every_register_of_a_way_must_hold() -> None:
    made = small('[register.a]\n[register.b]\n[[edge]]\nfrom = "wait"\nto = "over"\nwhen = { a = "1", b = "2" }')
    assert missing(ask(made, Signal("person", "over"), at=AT_WAIT)) == ("a", "b")
    assert missing(ask(made, Signal("person", "over"), at=AT_WAIT.replace(registers={"a": "1"}))) == ("b",)
    advanced(ask(made, Signal("person", "over"), at=AT_WAIT.replace(registers={"a": "1", "b": "2"})))


def test_a_register_that_is_empty_is_told_as_nothing() -> None:
    made = small('[register.origin]\n[[edge]]\nfrom = "wait"\nto = "over"\nwhen = { origin = "look" }')
    (need,) = refused(ask(made, Signal("person", "over"), at=AT_WAIT)).missing
    assert need.why == say.register_differs("origin", ("look",), "")


LIMITS = """
[limit.rounds]
max = 2
cap = 4
[[edge]]
name  = "again"
from  = "wait"
to    = "work"
by    = ["agent", "engine"]
under = "rounds"
[[edge]]
name  = "give-up"
from  = "wait"
to    = "over"
by    = ["agent", "engine"]
spent = "rounds"
"""


@pytest.mark.parametrize("who", ["agent", "person"])
@pytest.mark.parametrize(("used", "is_spent"), [(0, False), (1, False), (2, True), (4, True)])
def test_limit_is_open_below_its_maximum_and_spent_from_there(who: str, used: int, is_spent: bool) -> None:
    made = small(LIMITS)
    at = Snapshot("wait", counters={"rounds": used} if used else {})
    again, give_up = ask(made, Signal(who, "again"), at=at), ask(made, Signal(who, "give-up"), at=at)
    if is_spent:
        assert refused(again).missing == (Missing("rounds", say.limit_reached("rounds", 2)),)
        assert advanced(give_up).after.state == "over"
    else:
        assert refused(give_up).missing == (Missing("rounds", say.limit_left("rounds", used, 2)),)
        assert advanced(again).after.state == "work"


def test_engine_takes_first_open_edge_on_both_sides_of_limit() -> None:
    made = small(LIMITS)
    for used, edge in ((1, "again"), (2, "give-up")):
        assert advanced(ask(made, Signal("engine"), at=Snapshot("wait", counters={"rounds": used}))).edge.name == edge


def after(classes: str) -> Machine:
    line = f"after = {classes}" if classes else ""
    return small(
        f'[[edge]]\nname = "go"\nfrom = "work"\nto = "over"\nby = ["agent", "engine"]\nneeds = ["ready"]\n{line}'
    )


@pytest.mark.parametrize(
    ("classes", "opened"),
    [
        ("", {"finished"}),
        ('["entry", "finished"]', {"entry", "finished"}),
        ('"any"', {"finished", "failed", "timeout", "killed", "lost"}),
        ('["quota"]', {"quota"}),
        ('"lost"', {"lost"}),
    ],
)
def test_engine_acts_only_after_the_exit_classes_of_a_way(classes: str, opened: set[str]) -> None:
    made = after(classes)
    for exit_class in ("entry", *EXIT_CLASSES):
        at = enter(made).replace(exit=exit_class)
        decision = ask(made, Signal("engine", "go"), "ready", at=at)
        if exit_class in opened:
            advanced(decision)
        else:
            assert [need.gate for need in waited(decision).missing] == ["after"]


def test_waiting_for_a_run_says_which_ends_count() -> None:
    made = after("")
    (need,) = waited(ask(made, Signal("engine", "go"), "ready")).missing
    assert need.why == say.acts_after("", "engine", ["finished"])
    (need,) = waited(ask(made, Signal("engine", "go"), "ready", at=enter(made).replace(exit="quota"))).missing
    assert need.why == say.acts_after("quota", "engine", ["finished"])


@pytest.mark.parametrize("who", ["agent", "person"])
def test_exit_classes_bind_only_the_engine(who: str) -> None:
    advanced(ask(after(""), Signal(who, "go"), "ready"))


def test_exit_classes_bind_nothing_where_no_agent_works() -> None:
    made = small('[[edge]]\nname = "go"\nfrom = "wait"\nto = "over"')
    advanced(ask(made, Signal("engine", "go"), at=AT_WAIT))


def test_a_closed_gate_is_told_with_its_fix() -> None:
    made = small('[[edge]]\nfrom = "work"\nto = "over"\nby = ["agent"]\nneeds = ["ready", "seen"]')
    decision = ask(made, Signal("agent", "over"), "seen")
    assert refused(decision).missing == (Missing("ready", "ready is closed", "write ready.txt"),)
    assert missing(ask(made, Signal("agent", "over"))) == ("ready", "seen")
    advanced(ask(made, Signal("agent", "over"), "ready", "seen"))


def test_a_gate_without_an_answer_is_closed() -> None:
    made = small('[[edge]]\nfrom = "work"\nto = "over"\nby = ["agent"]\nneeds = ["ready"]')
    decision = decide(made, enter(made), {}, Signal("agent", "over"))
    assert refused(decision).missing == (Missing("ready", say.not_asked(), "write ready.txt"),)


def test_a_pending_gate_is_told_as_pending() -> None:
    made = small('[[edge]]\nfrom = "work"\nto = "over"\nby = ["agent"]\nneeds = ["ready", "seen"]')
    decision = decide(made, enter(made), facts(made, pending=["seen"]), Signal("agent", "over"))
    assert [need.pending for need in refused(decision).missing] == [False, True]


def test_all_that_closes_the_nearest_way_is_told_at_once() -> None:
    made = small(
        """
[limit.rounds]
max = 1
[register.origin]
[[edge]]
from  = "work"
to    = "over"
by    = ["engine"]
mode  = "quick"
when  = { origin = "look" }
spent = "rounds"
under = "runs"
needs = ["ready"]
""",
        top='modes = ["careful", "quick"]',
    )
    at = enter(made).replace(counters={"runs": 30})
    decision = ask(made, Signal("agent", "over"), at=at)
    assert missing(decision) == ("by", "mode", "origin", "runs", "rounds", "ready")
    assert refused(decision).edge == made.states["work"].edges[0]


def test_a_way_lacking_proof_is_nearer_than_a_forbidden_one() -> None:
    made = small(
        """
[[edge]]
name = "go"
from = "work"
to   = "over"
ways = [ { by = ["person"] }, { by = ["agent"], needs = ["ready", "seen"] } ]
"""
    )
    assert missing(ask(made, Signal("agent", "over"))) == ("ready", "seen")


def test_of_equally_near_ways_the_unanswerable_one_is_reported() -> None:
    made = small(
        """
[[edge]]
name = "brake"
from = "work"
to   = "look"
by   = ["engine"]
after = "any"
needs = ["ready"]
[[edge]]
name = "go"
from = "work"
to   = "over"
by   = ["engine"]
after = "any"
needs = ["seen"]
"""
    )
    at, signal = enter(made).replace(exit="finished"), Signal("engine")
    answered = facts(made)
    assert [need.gate for need in waited(decide(made, at, answered, signal)).missing] == ["ready"]
    unsure = {**answered, "seen": Fact("seen", ok=False, why="the scan proves nothing", is_known=False)}
    assert [need.gate for need in waited(decide(made, at, unsure, signal)).missing] == ["seen"]


def test_of_two_ways_the_one_with_less_missing_is_told() -> None:
    made = small(
        """
[[edge]]
name = "go"
from = "work"
to   = "over"
by   = ["agent"]
ways = [ { needs = ["ready", "seen"] }, { needs = ["ready"] }, { needs = ["seen"] } ]
"""
    )
    assert missing(ask(made, Signal("agent", "over"))) == ("ready",)


def test_edges_and_ways_are_tried_in_order_of_the_file() -> None:
    made = small(
        """
[[edge]]
name  = "first"
from  = "work"
to    = "look"
by    = ["agent"]
needs = ["ready"]
[[edge]]
name = "second"
from = "work"
to   = "over"
by   = ["agent"]
ways = [ { needs = ["seen"] }, { needs = [] } ]
"""
    )
    assert advanced(ask(made, Signal("agent"), "ready", "seen")).edge.name == "first"
    taken = advanced(ask(made, Signal("agent"), "seen"))
    assert (taken.edge.name, taken.way.number) == ("second", 1)
    taken = advanced(ask(made, Signal("agent")))
    assert (taken.edge.name, taken.way.number) == ("second", 2)


def test_a_signal_names_an_edge_a_target_or_a_verb() -> None:
    made = small(
        """
[[edge]]
name = "stay-here"
from = "wait"
to   = "look"
by   = ["person"]
verb = "reject"
[[edge]]
name = "finish"
from = "wait"
to   = "over"
by   = ["person"]
verb = ["approve", "accept"]
"""
    )
    for signal in (
        Signal("person", "finish"),
        Signal("person", "over"),
        Signal("person", verb="approve"),
        Signal("person", verb="accept"),
        Signal("person", "over", verb="accept"),
    ):
        assert advanced(ask(made, signal, at=AT_WAIT)).edge.name == "finish"
    assert advanced(ask(made, Signal("person"), at=AT_WAIT)).edge.name == "stay-here"
    decision = refused(ask(made, Signal("person", verb="resume"), at=AT_WAIT))
    assert (decision.problem, decision.allowed) == (say.no_move_called("wait", "resume"), ("look", "over"))
    assert refused(ask(made, Signal("person", "over", verb="reject"), at=AT_WAIT)).problem == (
        say.no_move_called("wait", "reject")
    )


def test_an_edge_with_no_way_for_anybody_is_still_answered() -> None:
    made = small('[[edge]]\nname = "go"\nfrom = "wait"\nto = "over"')
    edge = made.states["wait"].edges[0].replace(ways=())
    state = made.states["wait"].replace(edges=(edge,))
    bare = made.replace(states={**made.states, "wait": state})
    decision = refused(ask(bare, Signal("person", "go"), at=AT_WAIT))
    assert (decision.problem, decision.allowed) == (say.no_way_out("wait", "person"), ("over",))


def test_what_a_move_sets_and_where_it_leads() -> None:
    made = small(
        """
[register.origin]
[register.note]
start = "new"
[[edge]]
name = "pause"
from = "work"
to   = "wait"
by   = ["agent"]
set  = { origin = "{from}", note = "" }
"""
    )
    before = enter(made).replace(seq=7, exit="finished", entry={"a": "1"}, locked={"b": "2"})
    assert before.registers == {"note": "new"}
    after_ = advanced(ask(made, Signal("agent", "pause"), at=before)).after
    assert after_.registers == {"origin": "work"}
    assert (after_.state, after_.exit, after_.seq) == ("wait", "entry", 7)
    assert (after_.entry, after_.locked) == ({"a": "1"}, {"b": "2"})
    assert after_.visits == {"work": 1, "wait": 1}


def test_visits_are_counted_per_state() -> None:
    made = small('[[edge]]\nname = "again"\nfrom = "work"\nto = "work"\nby = ["agent"]')
    at = enter(made)
    assert at.visits == {"work": 1}
    for visit in (2, 3):
        at = advanced(ask(made, Signal("agent", "again"), at=at)).after
        assert at.visits == {"work": visit}


def test_a_task_starts_in_its_first_mode_by_default() -> None:
    made = small('[[edge]]\nfrom = "work"\nto = "over"', top='modes = ["careful", "quick"]')
    assert (enter(made).mode, enter(made, "quick").mode) == ("careful", "quick")
    assert enter(small('[[edge]]\nfrom = "work"\nto = "over"')).mode == ""


@pytest.mark.parametrize("who", [*PEOPLE, "crash"])
def test_a_state_the_machine_does_not_have_is_refused(who: str) -> None:
    made = one_way("agent")
    decision = refused(ask(made, Signal(who, "go"), at=Snapshot("elsewhere")))
    assert decision.problem == say.unknown_state_or_actor("small", "elsewhere", who)


def test_an_unknown_actor_is_refused() -> None:
    decision = refused(ask(one_way("agent"), Signal("robot", "go"), at=AT_WAIT))
    assert decision.problem == say.unknown_state_or_actor("small", "wait", "robot")


def test_a_stopped_task_moves_only_for_a_person() -> None:
    made = small('[[edge]]\nname = "go"\nfrom = "work"\nto = "over"\nby = ["agent", "engine", "crash"]\nafter = "any"')
    at = enter(made).replace(registers={"stopped": say.crashes_in_a_row(2)}, exit="finished")
    decision = refused(ask(made, Signal("agent", "go"), at=at))
    assert (decision.problem, decision.allowed) == (say.stopped(say.crashes_in_a_row(2)), ("over",))
    assert decision.hint == say.person_goes_on_first()
    assert waited(ask(made, Signal("engine", "go"), at=at)).reason == say.stopped(say.crashes_in_a_row(2))
    assert waited(ask(made, Signal("crash", exit="failed"), at=at)).reason == say.stopped(say.crashes_in_a_row(2))
    assert advanced(ask(made, Signal("person", "go"), at=at)).after.registers == {}
    for who in ("agent", "engine"):
        advanced(ask(made, Signal(who, "go"), at=at.replace(registers={})))


EITHER = '[[edge]]\nname = "{}"\nfrom = "wait"\nto = "{}"\nby = ["engine"]\nneeds = [{}]\n'


def closed(**facts_by_name: Fact) -> dict[str, Fact]:
    return facts_by_name


def test_a_way_that_was_not_meant_is_no_reason() -> None:
    made = small(EITHER.format("back", "look", '"seen"') + EITHER.format("on", "over", '"ready"'))
    seen, ready = Fact("seen", ok=False, why="it says PASS", is_meant=False), Fact("ready", ok=False, why="a finding")
    decision = decide(made, AT_WAIT, closed(seen=seen, ready=ready), Signal("engine"))
    assert [need.why for need in waited(decision).missing] == ["a finding"]
    decision = decide(made, AT_WAIT, closed(seen=seen, ready=ready), Signal("person"))
    assert [need.why for need in refused(decision).missing] == ["a finding"]


def test_what_only_has_to_be_run_makes_way_no_farther() -> None:
    made = small(EITHER.format("on", "over", '"ready", "seen"') + EITHER.format("back", "look", '"ready"'))
    found = closed(ready=Fact("ready", ok=False, why="closed"), seen=Fact("seen", ok=False, pending=True))
    assert waited(decide(made, AT_WAIT, found, Signal("engine"))).reason == say.move("wait", "over")


def test_move_of_another_state_is_told_with_where_it_leads() -> None:
    made = small(EITHER.format("on", "over", '"ready"') + EITHER.replace("wait", "look").format("on", "over", '"seen"'))
    decision = decide(made, Snapshot("work"), {}, Signal("person", "on"))
    assert refused(decision).problem == say.starts_elsewhere("on", "work", [("look", "over"), ("wait", "over")])
    unknown = refused(decide(made, Snapshot("work"), {}, Signal("person", "off")))
    assert unknown.problem == say.unknown_state_or_move("small", "off")
