"""What only people may do, and what even they may not: overrides, sign-offs, re-opening."""

from __future__ import annotations

import pytest

from detent.core.decide import allowed_targets, candidates_for, decide, enter, target_of
from detent.core.machine import Machine, State
from detent.core.values import Missing, Signal, Snapshot
from detent.words import core as say
from tests.unit.core.small import advanced, ask, facts, missing, refused, small, waited

OVERRIDE = """
[override]
by = "person"
[limit.rounds]
max = 1
[register.origin]
[[edge]]
name   = "go"
from   = "work"
to     = "look"
by     = ["agent", "engine"]
needs  = ["ready", "seen"]
counts = "rounds"
[[edge]]
name     = "approve"
from     = "work"
to       = "over"
by       = ["person"]
needs    = ["ready"]
sign_off = true
[[edge]]
name  = "guarded"
from  = "work"
to    = "wait"
by    = ["person"]
needs = ["ready"]
when  = { origin = "look" }
"""
WANTED = Signal("person", "go", override="the checks are down")


def test_an_override_waives_the_closed_gates_and_names_them() -> None:
    made = small(OVERRIDE)
    taken = advanced(ask(made, WANTED))
    assert (taken.after.state, taken.waived) == ("look", ("ready", "seen"))
    assert advanced(ask(made, WANTED, "ready")).waived == ("seen",)
    assert advanced(ask(made, WANTED, "ready", "seen")).waived == ()


def test_an_override_changes_no_counter_of_its_own() -> None:
    assert advanced(ask(small(OVERRIDE), WANTED)).after.counters == {"rounds": 1}


@pytest.mark.parametrize(
    "signal",
    [
        Signal("person", "go"),
        Signal("person", "go", override="  "),
        Signal("agent", "go", override="because"),
    ],
)
def test_only_a_person_with_a_reason_overrides(signal: Signal) -> None:
    assert missing(ask(small(OVERRIDE), signal)) == ("ready", "seen")


def test_the_engine_does_not_override() -> None:
    made = small(OVERRIDE)
    decision = ask(made, Signal("engine", "go", override="because"), at=enter(made).replace(exit="finished"))
    assert [need.gate for need in waited(decision).missing] == ["ready", "seen"]


def test_without_leave_of_the_machine_there_is_no_override() -> None:
    made = small(OVERRIDE.replace('[override]\nby = "person"\n', ""))
    assert missing(ask(made, WANTED)) == ("ready", "seen")


def test_an_override_never_waives_a_sign_off_s_gates() -> None:
    made = small(OVERRIDE)
    signal = Signal("person", "approve", override="because")
    assert missing(ask(made, signal)) == ("ready",)
    assert advanced(ask(made, signal, "ready")).waived == ()


def test_an_override_never_waives_a_guard() -> None:
    made = small(OVERRIDE)
    signal = Signal("person", "guarded", override="because")
    assert missing(ask(made, signal)) == ("origin", "ready")
    at = enter(made).replace(registers={"origin": "look"})
    assert advanced(ask(made, signal, at=at)).waived == ("ready",)


def test_an_override_never_waives_what_has_not_been_run() -> None:
    made = small(OVERRIDE)
    decision = decide(made, enter(made), facts(made, pending=["seen"]), WANTED)
    assert refused(decision).missing[1] == Missing("seen", "seen is closed", "write seen.txt", pending=True)


def test_way_without_a_waiver_is_taken_first() -> None:
    made = small(
        """
[override]
by = "person"
[[edge]]
name = "go"
from = "work"
to   = "over"
ways = [ { by = ["agent"], needs = ["ready"] }, { by = ["engine"], needs = ["seen"] }, { by = ["engine"], needs = [] } ]
[[edge]]
name = "other"
from = "work"
to   = "look"
"""
    )
    taken = advanced(ask(made, Signal("person", override="because")))
    assert (taken.edge.name, taken.way.number, taken.waived) == ("go", 3, ())


def test_an_override_waives_the_first_way_of_the_edge() -> None:
    made = small(
        """
[override]
by = "person"
[[edge]]
name = "go"
from = "work"
to   = "over"
ways = [ { by = ["agent"], needs = ["ready"] }, { by = ["engine"], needs = ["seen"] } ]
[[edge]]
name = "other"
from = "work"
to   = "look"
"""
    )
    taken = advanced(ask(made, Signal("person", override="because")))
    assert (taken.edge.name, taken.way.number, taken.waived) == ("go", 1, ("ready",))


@pytest.mark.parametrize("who", ["agent", "engine"])
def test_a_sign_off_is_a_person_s(who: str) -> None:
    made = small(OVERRIDE)
    at = enter(made).replace(exit="finished")
    decision = ask(made, Signal(who, "approve"), "ready", at=at)
    found = waited(decision).missing if who == "engine" else refused(decision).missing
    assert "by" in [need.gate for need in found]


REOPEN = """
[register.origin]
values = ["work", "look", "wait"]
[state.asked]
end = true
[[edge]]
name = "ask"
from = ["work", "look", "wait"]
to   = "asked"
by   = ["agent"]
set  = { origin = "{from}" }
[[edge]]
name = "finish"
from = ["work", "look", "wait"]
to   = "over"
[[reopen]]
name    = "reopen"
from    = "asked"
to      = "{origin}"
instead = { look = "work" }
verb    = ["resume", "answer"]
set     = { origin = "" }
"""


def asked_from(state: str) -> tuple[Machine, Snapshot]:
    made = small(REOPEN)
    return made, advanced(ask(made, Signal("agent", "ask"), at=Snapshot(state))).after


@pytest.mark.parametrize(("came_from", "goes_to"), [("work", "work"), ("look", "work"), ("wait", "wait")])
@pytest.mark.parametrize("how", ["name", "verb", "target"])
def test_person_re_opens_an_end_to_where_it_came_from(came_from: str, goes_to: str, how: str) -> None:
    made, at = asked_from(came_from)
    signal = {
        "name": Signal("person", "reopen", reason="answered"),
        "verb": Signal("person", reason="answered", verb="resume"),
        "target": Signal("person", goes_to, reason="answered"),
    }[how]
    taken = advanced(ask(made, signal, at=at))
    assert (taken.after.state, taken.after.registers) == (goes_to, {})


@pytest.mark.parametrize("reason", ["", "  "])
def test_re_opening_needs_a_reason(reason: str) -> None:
    made, at = asked_from("work")
    decision = refused(ask(made, Signal("person", "reopen", reason=reason), at=at))
    assert decision.missing == (Missing("reason", say.reason_missing(), say.reason_missing().next_step),)
    assert (decision.problem, decision.allowed) == (say.move("asked", "work"), ("work",))


def test_only_a_person_re_opens() -> None:
    made, at = asked_from("work")
    assert missing(ask(made, Signal("agent", "reopen", reason="because"), at=at)) == ("by",)
    assert [need.gate for need in waited(ask(made, Signal("engine", "reopen", reason="x"), at=at)).missing] == ["by"]


def test_an_end_is_never_re_opened_in_passing() -> None:
    made, at = asked_from("work")
    assert refused(ask(made, Signal("person", reason="because"), at=at)).problem == say.is_an_end("asked")
    assert refused(ask(made, Signal("agent"), at=at)).problem == say.is_an_end("asked")
    assert waited(ask(made, Signal("engine"), at=at)).reason == say.is_an_end("asked")


def test_an_end_that_remembers_nothing_says_so() -> None:
    made = small(REOPEN)
    at = Snapshot("asked")
    assert allowed_targets(made, at) == ()
    decision = refused(ask(made, Signal("person", "reopen", reason="because"), at=at))
    assert decision.problem == say.return_unknown("reopen")


def test_target_is_read_from_a_register_only_when_re_opening() -> None:
    made, at = asked_from("look")
    reopen, ask_edge = made.states["asked"].edges[0], made.states["look"].edges[0]
    assert (target_of(at, reopen), target_of(at, ask_edge)) == ("work", "asked")
    assert candidates_for(made, at, Signal("person", "look")) == []


@pytest.mark.parametrize("who", ["agent", "engine", "person"])
def test_never_edge_is_refused_with_its_reason(who: str) -> None:
    made = small(
        '[[edge]]\nname = "skip"\nfrom = "wait"\nto = "over"\nnever = "it would skip the proof"\n'
        '[[edge]]\nname = "go"\nfrom = "wait"\nto = "work"'
    )
    for want in ("skip", "over"):
        decision = refused(ask(made, Signal(who, want), at=Snapshot("wait")))
        assert decision.problem == say.never_taken("wait", "over", "it would skip the proof")
        assert decision.allowed == ("work",)
    assert candidates_for(made, Snapshot("wait"), Signal(who))[0].name == "go"
    assert refused(ask(made, Signal(who, "look"), at=Snapshot("wait"))).problem == say.does_not_lead_to("wait", "look")


OPTION = (
    '[[edge]]\nname = "early"\nfrom = "wait"\nto = "over"\noption = "ask-early"\n[[edge]]\nfrom = "wait"\nto = "work"'
)


def test_a_refusal_names_the_option_that_would_help() -> None:
    at = Snapshot("wait")
    for want in ("early", "over"):
        decision = refused(ask(small(OPTION), Signal("person", want), at=at))
        assert decision.hint == say.option_would_allow("ask-early")
    assert refused(ask(small(OPTION), Signal("person", "look"), at=at)).hint == ""
    assert refused(ask(small(OPTION), Signal("person", "over"))).hint == ""
    assert advanced(ask(small(OPTION, options=["ask-early"]), Signal("person", "early"), at=at)).after.state == "over"


@pytest.mark.parametrize("who", ["agent", "engine", "person"])
def test_a_forbidden_pair_is_refused_with_its_reason(who: str) -> None:
    made = small(
        '[[edge]]\nfrom = "wait"\nto = "work"\n[[forbidden]]\nfrom = "wait"\nto = "over"\nwhy = "no skipping proof"\n'
        '[[forbidden]]\nfrom = "work"\nto = "look"\nwhy = "something else"'
    )
    decision = refused(ask(made, Signal(who, "over"), at=Snapshot("wait")))
    assert (decision.problem, decision.allowed) == (say.forbidden("wait", "over", "no skipping proof"), ("work",))
    decision = refused(ask(made, Signal(who, "look"), at=Snapshot("wait")))
    assert decision.problem == say.does_not_lead_to("wait", "look")


def test_unknown_move_and_forbidden_move_have_different_reasons() -> None:
    made = small('[[edge]]\nname = "go"\nfrom = "wait"\nto = "work"')
    at = Snapshot("wait")
    assert refused(ask(made, Signal("person", "over"), at=at)).problem == say.does_not_lead_to("wait", "over")
    decision = refused(ask(made, Signal("person", "moon"), at=at))
    assert (decision.problem, decision.allowed) == (say.unknown_state_or_move("small", "moon"), ("work",))
    assert refused(ask(made, Signal("engine", "moon"), at=at)).problem == say.unknown_state_or_move("small", "moon")


def test_where_nothing_leads_out_the_engine_waits() -> None:
    made = small('[[edge]]\nname = "go"\nfrom = "wait"\nto = "work"')
    assert waited(ask(made, Signal("engine"), at=Snapshot("look"))).reason == say.no_move_for_engine("look")
    assert waited(ask(made, Signal("engine"), at=Snapshot("over"))).reason == say.is_an_end("over")


def test_allowed_targets_are_named_once_and_in_order() -> None:
    made = small(
        '[[edge]]\nname = "b"\nfrom = "wait"\nto = "over"\n[[edge]]\nname = "a"\nfrom = "wait"\nto = "look"\n'
        '[[edge]]\nname = "c"\nfrom = "wait"\nto = "over"\n'
        '[[edge]]\nname = "n"\nfrom = "wait"\nto = "work"\nnever = "no"'
    )
    assert allowed_targets(made, Snapshot("wait")) == ("over", "look")


BACK = """
[[edge]]
name = "finish"
from = ["work", "look"]
to   = "over"
[[edge]]
name  = "flawed"
from  = "look"
to    = "work"
needs = ["ready"]
says  = ["continue", "fix {text}"]
[[reopen]]
name = "redo-work"
from = ["look", "over"]
to   = "work"
verb = ["redo"]
"""


def test_going_back_past_gates_is_never_what_a_target_means() -> None:
    made, at = small(BACK), Snapshot("look")
    for signal in (Signal("person", "work", reason="because"), Signal("person", reason="because")):
        assert [edge.name for edge in candidates_for(made, at, signal) if edge.reopen] == []
    assert missing(ask(made, Signal("person", "work", reason="because"), at=at)) == ("ready",)
    assert "work" not in allowed_targets(made.replace(states={**made.states, "look": _only_back(made)}), at)
    for signal in (
        Signal("person", "redo-work", reason="because"),
        Signal("person", "work", reason="because", verb="redo"),
        Signal("person", reason="because", verb="redo"),
    ):
        assert advanced(ask(made, signal, at=at)).edge.name == "redo-work"
    assert advanced(ask(made, Signal("person", "work", reason="x"), at=Snapshot("over"))).edge.name == "redo-work"


def _only_back(made: Machine) -> State:
    look = made.states["look"]
    return look.replace(edges=tuple(edge for edge in look.edges if edge.reopen))


@pytest.mark.parametrize("verb", ["continue", "fix {text}"])
def test_what_move_says_is_verb_of_it_with_same_gates(verb: str) -> None:
    made, at = small(BACK), Snapshot("look")
    assert missing(ask(made, Signal("person", verb=verb), at=at)) == ("ready",)
    assert advanced(ask(made, Signal("person", verb=verb), "ready", at=at)).edge.name == "flawed"
    assert refused(ask(made, Signal("person", verb="nothing"), at=at)).missing == ()
