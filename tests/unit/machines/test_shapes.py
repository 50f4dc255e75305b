"""One format hosts five kinds of machine: what each of them needs most is parsed, linted, explored and asked here."""

from __future__ import annotations

import pytest

from detent.core.decide import enter, spent
from detent.core.explore import explore
from detent.core.lint import lint
from detent.core.machine import Machine
from detent.core.values import Signal, Snapshot
from detent.words import core as say
from tests.unit.core.small import advanced, ask, crashed, machine, missing, refused, waited

# Artifact gates, a review loop with a limit, crashes that lead somewhere, and the engine as monitor of exits.
REVIEW_LOOP = """
format  = 1
name    = "review-loop"
initial = "pending"
by      = ["agent", "engine"]
[role.worker]
access = "write"
[role.reviewer]
access = "read"
[limit.review_round]
max = 2
[limit.crash_count]
max    = 2
resets = "always"
[crash]
counts = "crash_count"
[gate.handoff]
check = "section"
[gate.passed]
check = "verdict"
[gate.failed]
check = "verdict"
[state.pending]
[state.working]
role = "worker"
[state.agent-review]
role    = "reviewer"
respawn = "auto"
[state.reviewing]
[state.stuck]
[state.done]
end = true
[state.cancelled]
end = true
[[edge]]
from = "pending"
to   = "working"
by   = ["person"]
[[edge]]
from   = "working"
to     = "agent-review"
needs  = ["handoff"]
counts = "review_round"
after  = "any"
[[edge]]
from  = "working"
to    = "stuck"
by    = ["crash"]
spent = "crash_count"
[[edge]]
from  = "agent-review"
to    = "reviewing"
needs = ["passed"]
after = "any"
[[edge]]
from  = "agent-review"
to    = "working"
needs = ["failed"]
under = "review_round"
after = "any"
[[edge]]
from = "agent-review"
to   = "stuck"
ways = [
  { needs = ["failed"], spent = "review_round", after = "any" },
  { by = "crash", spent = "crash_count" },
]
[[edge]]
from     = "reviewing"
to       = "done"
by       = ["person"]
sign_off = true
verb     = "approve"
[[edge]]
from   = "reviewing"
to     = "working"
by     = ["person"]
option = "changes-requested"
[[edge]]
from   = "stuck"
to     = "working"
by     = ["person"]
resets = "review_round"
[[edge]]
from = ["pending", "working", "agent-review", "reviewing", "stuck"]
to   = "cancelled"
by   = ["person"]
verb = "cancel"
"""

# Phases with one live count of failures, modes, an interruption that remembers where it came from, no end but a rest.
PIPELINE = """
format  = 1
name    = "pipeline"
initial = "designing"
by      = ["engine"]
modes   = ["auto", "stepped"]
[role.main]
access = "write"
[limit.attempts]
max = 3
per = "group"
[register.origin]
[register.reconcile]
values = ["designing", "building", "design-passed"]
[register.delivered]
[gate.good]
check = "file"
[gate.bad]
check = "not"
of    = ["good"]
[state.designing]
role  = "main"
group = "design"
[state.design-failed]
driver = "engine"
group  = "design"
[state.design-passed]
driver = "engine"
group  = "design"
[state.building]
role  = "main"
group = "build"
[state.build-failed]
driver = "engine"
group  = "build"
[state.paused]
[state.reconciling]
role = "main"
[state.blocked]
[state.complete]
rest = true
[[edge]]
name   = "PassDesign"
from   = "designing"
to     = "design-passed"
needs  = ["good"]
resets = "attempts"
[[edge]]
name   = "FailDesign"
from   = "designing"
to     = "design-failed"
needs  = ["bad"]
counts = "attempts"
[[edge]]
name  = "RetryDesign"
from  = "design-failed"
to    = "designing"
under = "attempts"
[[edge]]
name = "AutoContinue"
from = "design-passed"
to   = "building"
mode = "auto"
[[edge]]
name = "Pause"
from = "design-passed"
to   = "paused"
mode = "stepped"
set  = { origin = "{from}" }
[[edge]]
name = "ResumeToBuild"
from = "paused"
to   = "building"
by   = ["person"]
when = { origin = "design-passed" }
set  = { origin = "" }
[[edge]]
name  = "ResumeToVerify"
from  = "paused"
to    = "designing"
by    = ["person"]
never = "no pause can lead there"
[[edge]]
name   = "PassBuild"
from   = "building"
to     = "complete"
needs  = ["good"]
resets = "attempts"
set    = { delivered = "yes" }
[[edge]]
name   = "FailBuild"
from   = "building"
to     = "build-failed"
needs  = ["bad"]
counts = "attempts"
[[edge]]
name  = "RetryBuild"
from  = "build-failed"
to    = "building"
under = "attempts"
[[edge]]
name  = "Block"
from  = ["design-failed", "build-failed"]
to    = "blocked"
spent = "attempts"
[[edge]]
name   = "Unblock"
from   = "blocked"
to     = "designing"
by     = ["person"]
resets = "attempts"
[[edge]]
name = "Reconcile"
from = ["designing", "building"]
to   = "reconciling"
by   = ["person"]
set  = { reconcile = "{from}" }
[[edge]]
name  = "BackToDesigning"
from  = "reconciling"
to    = "designing"
needs = ["good"]
when  = { reconcile = "designing" }
set   = { reconcile = "" }
[[edge]]
name  = "BackToBuilding"
from  = "reconciling"
to    = "building"
needs = ["good"]
when  = { reconcile = "building" }
set   = { reconcile = "" }
[[edge]]
name = "Iterate"
from = "complete"
to   = "designing"
by   = ["person"]
when = { delivered = "yes" }
[[property]]
name  = "built before complete"
then  = "PassBuild"
first = "PassDesign"
since = ["designing"]
"""

# Overrides, loops back to earlier phases, re-opening of the end by name.
LIFECYCLE = """
format  = 1
name    = "lifecycle"
initial = "planning"
by      = ["engine", "person"]
[role.planner]
access = "write"
[override]
by = "person"
[gate.plan]
check = "json"
[gate.accepted]
check = "json"
[state.planning]
role = "planner"
[state.accept]
[state.done]
end = true
[[edge]]
name  = "planning-succeeded"
from  = "planning"
to    = "accept"
needs = ["plan"]
[[edge]]
name = "re-plan"
from = "planning"
to   = "planning"
by   = ["person"]
verb = "redo"
[[edge]]
name  = "accepted"
from  = "accept"
to    = "done"
needs = ["accepted"]
[[edge]]
name = "upstream"
from = "accept"
to   = "planning"
by   = ["person"]
[[reopen]]
name = "redo"
from = "done"
to   = "planning"
verb = "redo"
[[reopen]]
name = "revert"
from = "done"
to   = "accept"
verb = "revert"
"""

# Modes that decide the actor of an edge, keys of a menu, an edge with a question, a sign-off.
THREADS = """
format  = 1
name    = "threads"
initial = "Configuring"
by      = ["engine"]
modes   = ["methodical", "quick"]
[role.implementer]
access = "write"
[limit.iteration]
max = 3
[gate.claims]
check = "promise"
[gate.criteria_pass]
check = "criteria"
[gate.criteria_fail]
check = "not"
of    = ["criteria_pass"]
[state.Configuring]
[state.Running]
role       = "implementer"
counts_run = ["iteration"]
[state.Verifying]
driver = "engine"
[state.Stuck]
[state.PendingReview]
[state.Done]
end = true
[[edge]]
from   = "Configuring"
to     = "Running"
resets = "iteration"
ways   = [ { by = "person", mode = "methodical" }, { mode = "quick" } ]
[[edge]]
from  = "Running"
to    = "Verifying"
needs = ["claims"]
[[edge]]
from  = "Running"
to    = "Stuck"
spent = "iteration"
after = "any"
[[edge]]
from  = "Verifying"
to    = "PendingReview"
needs = ["criteria_pass"]
[[edge]]
from   = "Verifying"
to     = "Running"
needs  = ["criteria_fail"]
under  = "iteration"
counts = "iteration"
[[edge]]
from  = "Verifying"
to    = "Stuck"
needs = ["criteria_fail"]
spent = "iteration"
[[edge]]
from    = "Stuck"
to      = "Configuring"
by      = ["person"]
key     = "C"
confirm = "the changes are thrown away"
[[edge]]
from     = "PendingReview"
to       = "Done"
by       = ["person"]
sign_off = true
"""
SHAPES = {"review loop": REVIEW_LOOP, "pipeline": PIPELINE, "lifecycle": LIFECYCLE, "threads": THREADS}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_each_shape_is_sound(text: str) -> None:
    made = machine(text)
    assert lint(made) == ()
    assert explore(made).violations == ()


def test_in_review_loop_round_decides_between_another_try_and_stuck() -> None:
    made = machine(REVIEW_LOOP)
    at = advanced(ask(made, Signal("person", "working"))).after
    for left_over in ("working", "stuck"):
        at = advanced(ask(made, Signal("agent", "agent-review"), "handoff", at=at)).after
        at = at.replace(exit="finished")
        at = advanced(ask(made, Signal("engine"), "failed", at=at)).after
        assert at.state == left_over
    assert at.counters == {"review_round": 2}
    at = advanced(ask(made, Signal("person", "working"), at=at)).after
    assert at.counters == {}


def test_review_loop_a_crash_after_the_work_advances() -> None:
    made = machine(REVIEW_LOOP)
    at = Snapshot("working", exit="killed")
    assert advanced(ask(made, Signal("engine"), "handoff", at=at)).after.state == "agent-review"
    assert waited(ask(made, Signal("engine"), at=at)).reason == say.move("working", "agent-review")
    out_of_money = at.replace(exit="quota")
    assert [need.gate for need in waited(ask(made, Signal("engine"), "handoff", at=out_of_money)).missing] == ["after"]


@pytest.mark.parametrize("state", ["working", "agent-review"])
def test_in_review_loop_second_crash_is_stuck_whatever_the_round(state: str) -> None:
    made = machine(REVIEW_LOOP)
    at = crashed(ask(made, Signal("crash", exit="failed"), at=Snapshot(state))).after
    taken = advanced(ask(made, Signal("crash", exit="lost"), at=at))
    assert taken.after.state == "stuck"
    assert taken.way.by == ("crash",)


def test_in_a_review_loop_a_switched_off_option_is_named() -> None:
    at = Snapshot("reviewing")
    decision = refused(ask(machine(REVIEW_LOOP), Signal("person", "working"), at=at))
    assert decision.hint == say.option_would_allow("changes-requested")
    on = machine(REVIEW_LOOP, options=["changes-requested"])
    assert advanced(ask(on, Signal("person", "working"), at=at)).after.state == "working"


def failed(made: Machine, at: Snapshot) -> Snapshot:
    """The phase fails its gate, and tries again if it may."""
    at = advanced(ask(made, Signal("engine"), "bad", at=at.replace(exit="finished"))).after
    return advanced(ask(made, Signal("engine"), at=at)).after


def test_in_a_pipeline_the_third_failure_of_a_phase_blocks() -> None:
    made = machine(PIPELINE)
    at = enter(made)
    for used in (1, 2):
        at = failed(made, at)
        assert (at.state, spent(made, at, "attempts")) == ("designing", used)
    assert failed(made, at).state == "blocked"


def test_pipeline_an_interruption_keeps_the_count_of_its_phase() -> None:
    made = machine(PIPELINE)
    at = failed(made, failed(made, enter(made)))
    at = advanced(ask(made, Signal("person", "Reconcile"), at=at)).after
    assert (at.registers["reconcile"], at.counters) == ("designing", {"attempts": 2})
    at = advanced(ask(made, Signal("engine"), "good", at=at.replace(exit="finished"))).after
    assert (at.state, spent(made, at, "attempts")) == ("designing", 2)
    other = failed(made, at.replace(state="building"))
    assert (other.counters, other.registers["attempts.group"]) == ({"attempts": 1}, "build")


def test_pipeline_an_interruption_leads_back_to_its_own_phase() -> None:
    made = machine(PIPELINE)
    at = advanced(ask(made, Signal("person", "Reconcile"), at=Snapshot("building"))).after
    assert missing(ask(made, Signal("person", "BackToDesigning"), "good", at=at)) == ("reconcile",)
    assert advanced(ask(made, Signal("person", "BackToBuilding"), "good", at=at)).after.registers == {}


def test_in_pipeline_mode_decides_between_going_on_and_a_pause() -> None:
    made = machine(PIPELINE)
    for mode, target in (("auto", "building"), ("stepped", "paused")):
        assert advanced(ask(made, Signal("engine"), at=Snapshot("design-passed", mode))).after.state == target
    at = Snapshot("paused", "stepped", registers={"origin": "design-passed"})
    assert advanced(ask(made, Signal("person"), at=at)).edge.name == "ResumeToBuild"
    assert refused(ask(made, Signal("person", "ResumeToVerify"), at=at)).problem == (
        say.never_taken("paused", "designing", "no pause can lead there")
    )


def test_lifecycle_overrides_relax_gates_and_verbs_reopen_an_end() -> None:
    made = machine(LIFECYCLE)
    signal = Signal("person", "accept", override="the plan is in my head")
    assert advanced(ask(made, signal)).waived == ("plan",)
    assert missing(ask(made, signal.replace(override=""))) == ("plan",)
    at = Snapshot("done")
    for verb, target in (("redo", "planning"), ("revert", "accept")):
        assert advanced(ask(made, Signal("person", reason="why", verb=verb), at=at)).after.state == target


def test_threads_start_a_run_by_engine_or_person_per_mode() -> None:
    made = machine(THREADS)
    quick, methodical = Snapshot("Configuring", "quick"), Snapshot("Configuring", "methodical")
    assert advanced(ask(made, Signal("engine"), at=quick)).way.number == 2
    assert [need.gate for need in waited(ask(made, Signal("engine"), at=methodical)).missing] == ["by"]
    assert advanced(ask(made, Signal("person", "Running"), at=methodical)).way.number == 1
    edge = made.states["Stuck"].edges[0]
    assert (edge.key, edge.confirm) == ("C", "the changes are thrown away")
