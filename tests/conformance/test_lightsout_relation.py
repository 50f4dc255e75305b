"""The `lights-out` machine is its document's relation, action by action; the only impossible move is named."""

from __future__ import annotations

from itertools import product

import pytest

from detent.core.decide import decide, enter
from detent.core.values import Advance, Signal, Snapshot
from detent.verify.compare import compare
from tests.conformance.lightsout_walks import (
    ACTORS,
    NOTHING_LOST,
    PHASES,
    REFINEMENT,
    RELATION,
    ROWS,
    STATES,
    WAYS_TO,
    facts,
    graph,
    lights_out,
    open_moves,
    raw_walks,
    situations,
    take,
    walk,
)

# What the machine has of the relation and never takes, with the reason.
EXCEPTIONS = {"ResumeToVerify": "no gate that leads to a pause is followed by verify"}
NAMES = sorted({row["name"] for row in ROWS})


@pytest.mark.requirement("S2.1", "S2.2")
def test_it_has_exactly_the_41_states_and_begins_in_ideating() -> None:
    assert list(lights_out().states) == STATES
    assert len(STATES) == 41
    assert lights_out().initial == RELATION["initial"] == enter(lights_out()).state == "Ideating"


@pytest.mark.requirement("S2.3")
def test_its_112_edges_are_the_relation_s_by_action_name() -> None:
    assert compare(lights_out(), RELATION).equal
    ours = sorted((edge.source, edge.target, edge.name) for edge in lights_out().edges())
    assert ours == sorted((row["from"], row["to"], row["name"]) for row in ROWS)
    assert (len(ours), len({name for _, _, name in ours})) == (112, 91)


@pytest.mark.requirement("S2.102")
def test_nothing_is_end_and_work_rests_where_the_document_says() -> None:
    assert lights_out().ends() == ()
    assert [state.name for state in lights_out().states.values() if state.is_rest] == RELATION["resting"]


def test_it_holds_under_every_lie_crash_and_absence() -> None:
    assert graph().violations == ()


@pytest.mark.requirement("S2.3")
def test_each_action_can_be_taken_from_each_of_its_states() -> None:
    assert {row["name"] for row in ROWS} == set(NAMES)
    for row in ROWS:
        taken = [take(at, row["name"]) for at in situations(row["from"])]
        reached = {after.state for after in taken if after is not None}
        assert reached == (set() if row["name"] in EXCEPTIONS else {row["to"]}), row


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_what_is_never_taken_says_why(name: str) -> None:
    (edge,) = [edge for edge in lights_out().edges() if edge.never]
    assert (edge.name, name) == (name, *REFINEMENT["resume_never_valid"])
    for at in situations("SteppedModePaused"):
        decision = decide(lights_out(), at, facts(), Signal("person", name))
        assert EXCEPTIONS[name] in getattr(decision, "problem", "")


@pytest.mark.requirement("S2.3")
def test_no_other_pair_is_possible_for_anybody() -> None:
    pairs = {(row["from"], row["to"]) for row in ROWS}
    for source in STATES:
        at = situations(source)[0].replace(exit="finished")
        for target, who in product((other for other in STATES if (source, other) not in pairs), ACTORS):
            decision = decide(lights_out(), at, facts(), Signal(who, target, exit="killed"))
            is_taken = isinstance(decision, Advance) and decision.after.state == target
            assert not is_taken, (source, target, who)


# --- the document's own relation reaches the end with nothing built; ours does not ---


def _starts(names: list[str]) -> list[str]:
    """Where the bare relation can begin this and come to a delivered version without having earned it."""
    return [states[0] for states in raw_walks(names) if states[-1] == "PipelineComplete" and states[0] != "Deploying"]


@pytest.mark.parametrize("names", REFINEMENT["counterexamples_in_raw_relation"], ids=lambda names: names[0])
def test_each_counterexample_is_in_bare_relation_and_not_in_ours(names: list[str]) -> None:
    starts = _starts(names)
    assert starts
    for state in starts:
        found = situations(state)
        if names[0] == "ReenterFromIdeation":  # it is right where a version was delivered
            found = [at for at in found if not at.registers.get("delivered")]
        assert found
        for at in found:
            assert _ends_early(at, names)


def _ends_early(at: Snapshot, names: list[str]) -> bool:
    for name in names:
        after = take(at, name, NOTHING_LOST)
        if after is None:
            return True
        at = after
    return False


@pytest.mark.parametrize("state", [state for state in WAYS_TO if state not in ("Deploying", "PipelineComplete")])
def test_no_move_from_before_deploying_delivers_anything(state: str) -> None:
    """Three moves suffice in the bare relation."""
    assert _starts(["DropSession", "StartContextRecovery", "RecoverToDeploy", "PassDeployGate"])
    at = walk(*WAYS_TO[state])
    dropped = walk("DropSession", "StartContextRecovery", start=at)
    assert "RecoverToDeploy" not in open_moves(dropped)


# --- memory ---


@pytest.mark.requirement("S2.87", "S2.88")
@pytest.mark.parametrize(("origin", "resume"), REFINEMENT["pause_origin_to_resume"].items())
def test_a_pause_is_left_to_where_its_gate_leads(origin: str, resume: str) -> None:
    phase = origin.removesuffix("GatePassed").lower()
    state, gate = PHASES[phase]
    passed = walk(*WAYS_TO[state], gate).replace(mode="stepped")
    assert passed.state == origin
    assert open_moves(passed) == {"PauseForSteppedMode"}
    paused = walk("PauseForSteppedMode", start=passed)
    assert open_moves(paused) == {resume}
    after = walk(resume, start=paused)
    assert "paused_from" not in after.registers
    everywhere = {frozenset(open_moves(at)) for at in situations("SteppedModePaused", paused_from=origin)}
    assert everywhere == {frozenset({resume})}


@pytest.mark.requirement("S2.14", "S2.30", "S2.50", "S2.56")
@pytest.mark.parametrize("origin", REFINEMENT["pause_origin_to_resume"])
def test_in_auto_mode_no_passed_gate_waits_for_anybody(origin: str) -> None:
    for at in situations(origin):
        if at.mode == "auto":
            (name,) = open_moves(at)
            assert name.startswith("AutoContinueTo")
            decision = decide(lights_out(), at, {}, Signal("engine"))
            assert isinstance(decision, Advance) != bool(at.no)  # a no that still stands waits for a person


@pytest.mark.requirement("S2.95")
@pytest.mark.parametrize("state", ["Designing", "Analyzing", "Building", "Reviewing", "Verifying"])
def test_a_reconcile_on_demand_goes_back_where_it_was_called(state: str) -> None:
    called = walk(f"ManualReconcileFrom{state}", start=walk(*WAYS_TO[state]))
    back = f"ResumeAfterReconcileTo{state}"
    assert {*open_moves(called)} - {"DropSession"} == set(REFINEMENT["reconcile_origin"][f"{state}(on demand)"])
    assert walk(back, start=called).state == state
    again = walk("ReconcileBlocked", "ResolveReconcileBlock", start=called)  # a block on the way forgets nothing
    assert back in open_moves(again)
    assert "ReconcileClean" not in open_moves(again)
    for at in situations("Reconciling", reconcile_for=state):
        assert not {"ReconcileClean", "ReconcileRepaired"} & open_moves(at)


@pytest.mark.requirement("S2.56", "S2.70")
@pytest.mark.parametrize(
    ("origin", "way"),
    [
        ("ReviewGatePassed", WAYS_TO["Reconciling"]),
        ("VerifyFixing", (*WAYS_TO["VerifyFixing"], "VerifyFixReconcile")),
        (
            "ContextRecovering",
            (*WAYS_TO["Reconciling"], "DropSession", "StartContextRecovery", "RecoverToReconcile"),
        ),
    ],
)
def test_a_reconcile_of_the_pipeline_leads_on_to_verify(origin: str, way: tuple[str, ...]) -> None:
    at = walk(*way)
    assert open_moves(at) - {"DropSession"} == set(REFINEMENT["reconcile_origin"][origin])
    assert walk("ReconcileRepaired", start=at).state == "Verifying"


@pytest.mark.requirement("S2.56")
def test_a_reconcile_after_a_pause_leads_on_to_verify() -> None:
    paused = walk(*WAYS_TO["Reviewing"], "PassReviewGate").replace(mode="stepped")
    at = walk("PauseForSteppedMode", "ResumeToReconcile", start=paused)
    wanted = REFINEMENT["reconcile_origin"]["SteppedModePaused(from ReviewGatePassed)"]
    assert open_moves(at) - {"DropSession"} == set(wanted)


@pytest.mark.requirement("S2.95")
@pytest.mark.parametrize("state", ["Expanding", "Deploying", "ReviewFixing", "VerifyFixing"])
def test_no_reconcile_on_demand_from_anywhere_else(state: str) -> None:
    refused = decide(lights_out(), walk(*WAYS_TO[state]), facts(), Signal("person", verb="reconcile"))
    assert not isinstance(refused, Advance)


@pytest.mark.requirement("S2.18", "S2.19", "S2.105")
@pytest.mark.parametrize(("origin", "back"), REFINEMENT["distill_origin"].items())
def test_distill_goes_back_where_it_came_from(origin: str, back: str) -> None:
    ways = {
        "Ideating": ("DistillFromIdeating",),
        "PreferencesConfigured": (*WAYS_TO["Expanding"][:-1], "DistillFromConfigured"),
        "PipelineComplete": (*WAYS_TO["PipelineComplete"], "DistillFromComplete"),
    }
    at = walk(*ways[origin])
    assert open_moves(at) == {back}
    assert "distill_from" not in walk(back, start=at).registers
    assert all(open_moves(situation) <= {back} for situation in situations("Distilling", distill_from=origin))


@pytest.mark.requirement("S2.104")
def test_only_a_delivered_version_is_iterated_on_from_ideation() -> None:
    assert "ReenterFromIdeation" not in open_moves(walk())
    again = walk(*WAYS_TO["PipelineComplete"], "StartPMFValidation", "PMFNeedsIteration")
    assert walk("ReenterFromIdeation", start=again).state == "Iterating"
    assert "CommitToBuild" in open_moves(again)


# --- recovery ---


@pytest.mark.requirement("S2.93")
@pytest.mark.parametrize("row", REFINEMENT["recovery_target_from_evidence"], ids=lambda row: row["target"])
def test_recovery_goes_to_the_phase_that_has_not_passed(row: dict[str, str]) -> None:
    phase = row["target"].removeprefix("RecoverTo").lower()
    at = walk(*WAYS_TO[PHASES[phase][0]], "DropSession", "StartContextRecovery")
    decision = decide(lights_out(), at.replace(exit="finished"), facts(closed=NOTHING_LOST), Signal("engine"))
    assert isinstance(decision, Advance)
    assert decision.edge.name == row["target"]
    assert decision.after.state == PHASES[phase][0]


@pytest.mark.requirement("S2.93")
@pytest.mark.parametrize(
    ("lost", "target"),
    [
        ("scope_lost", "Expanding"),
        ("design_lost", "Designing"),
        ("readiness_lost", "Analyzing"),
        ("build_lost", "Building"),
    ],
)
def test_recovery_goes_back_to_first_phase_whose_artifacts_are_gone(lost: str, target: str) -> None:
    at = walk(*WAYS_TO["Deploying"], "DropSession", "StartContextRecovery").replace(exit="finished")
    closed = tuple(name for name in NOTHING_LOST if name != lost)
    decision = decide(lights_out(), at, facts(closed=closed), Signal("engine"))
    assert isinstance(decision, Advance)
    assert decision.after.state == target
    before = list(PHASES)[: [state for state, _ in PHASES.values()].index(target)]
    assert decision.after.registers.get("passed", "") == (before[-1] if before else "")


@pytest.mark.requirement("S2.94")
@pytest.mark.parametrize(("state", "goes_on"), [("Verifying", "RecoverToVerify"), ("Deploying", "RecoverToDeploy")])
def test_a_reconcile_after_recovery_is_optional_for_a_person(state: str, goes_on: str) -> None:
    at = walk(*WAYS_TO[state], "DropSession", "StartContextRecovery")
    unasked = decide(lights_out(), at, facts(closed=NOTHING_LOST), Signal("engine"))
    assert isinstance(unasked, Advance)
    assert unasked.edge.name == goes_on
    refused = decide(lights_out(), at, facts(closed=NOTHING_LOST), Signal("engine", "RecoverToReconcile"))
    assert not isinstance(refused, Advance)
    chosen = decide(lights_out(), at, facts(closed=NOTHING_LOST), Signal("person", "RecoverToReconcile"))
    assert isinstance(chosen, Advance)
    assert walk("ReconcileClean", start=chosen.after).state == "Verifying"


@pytest.mark.requirement("S2.89", "S2.91")
@pytest.mark.parametrize("state", [row["from"] for row in ROWS if row["name"] == "DropSession"])
def test_a_lost_session_first_recovers_its_context(state: str) -> None:
    at = walk("DropSession", start=walk(*WAYS_TO[state]))
    assert open_moves(at) == {"StartContextRecovery"}
    for exit_class in ("killed", "lost", "timeout", "failed"):
        dropped = decide(lights_out(), walk(*WAYS_TO[state]), {}, Signal("crash", exit=exit_class))
        assert isinstance(dropped, Advance)
        assert dropped.after.state == "SessionDropped"


_FAILS = {"review": "FailReviewGate", "verify": "FailVerifyGate"}
_RETRIES = {"review": ("FixReviewFindings",), "verify": ("FixVerifyFailures",)}


def _failed(phase: str, times: int) -> tuple[str, ...]:
    """The way through so many failed gates of a phase, the last of them not tried again."""
    name = phase.capitalize()
    if phase == "reconcile":
        once, again = ("ReconcileBlocked",), ("ResolveReconcileBlock",)
    else:
        once, again = (_FAILS.get(phase, f"Fail{name}Gate"),), _RETRIES.get(phase, (f"Retry{name}",))
    return (*(once + again) * (times - 1), *once)


def _escalated(phase: str) -> tuple[str, ...]:
    return (f"Escalate{phase.capitalize()}Failure",) if phase in _FAILS else ()


@pytest.mark.requirement("S2.80", "S2.55", "S2.61", "S2.71")
@pytest.mark.parametrize("phase", PHASES)
def test_third_failed_gate_of_phase_forces_block_and_nothing_else(phase: str) -> None:
    start = walk(*WAYS_TO[PHASES[phase][0]])
    for times in (1, 2):
        at = walk(*_failed(phase, times), *_escalated(phase), start=start)
        assert at.counters["attempts"] == times
        moves = open_moves(at, ("stop_reported",))
        assert "BlockAfterThreeRetries" not in moves
        assert len(moves) == 1
    third = walk(*_failed(phase, 3), *_escalated(phase), start=start)
    assert open_moves(third) == {"BlockAfterThreeRetries"}
    blocked = walk("BlockAfterThreeRetries", start=third)
    assert blocked.registers["blocked_in"] == third.state
    assert open_moves(blocked) == {"UnblockByUser"}


@pytest.mark.requirement("S2.84")
@pytest.mark.parametrize("phase", PHASES)
def test_unblocked_phase_goes_on_there_or_earlier_with_fresh_attempts(phase: str) -> None:
    start = walk(*WAYS_TO[PHASES[phase][0]])
    blocked = walk(*_failed(phase, 3), *_escalated(phase), "BlockAfterThreeRetries", start=start)
    for who in ("agent", "engine", "crash"):
        assert not isinstance(decide(lights_out(), blocked, facts(), Signal(who, "UnblockByUser")), Advance)
    recovering = walk("UnblockByUser", start=blocked)
    assert "attempts" not in recovering.counters
    order = [state for state, _ in PHASES.values()]
    reached = [take(recovering, name) for name in open_moves(recovering)]
    targets = {after.state for after in reached if after is not None}
    assert PHASES[phase][0] in targets
    assert targets <= set(order[: list(PHASES).index(phase) + 1])


@pytest.mark.requirement("S2.85")
@pytest.mark.parametrize("phase", [phase for phase in PHASES if phase != "reconcile"])
def test_agent_that_reports_why_it_stops_is_not_tried_again(phase: str) -> None:
    at = walk(*WAYS_TO[PHASES[phase][0]], *_failed(phase, 1), *_escalated(phase))
    for closed, target in ((("stop_reported",), "Retry"), ((), "BlockAfterThreeRetries")):
        decision = decide(lights_out(), at, facts(closed=closed), Signal("engine"))
        assert isinstance(decision, Advance)
        assert decision.edge.name.startswith(target)


def test_reconcile_that_was_blocked_on_demand_is_not_skipped_afterwards() -> None:
    """Verifying comes after reconcile: it is no earlier phase."""
    called = walk("ManualReconcileFromVerifying", start=walk(*WAYS_TO["Verifying"]))
    at = walk(*_failed("reconcile", 3), "BlockAfterThreeRetries", "UnblockByUser", start=called)
    decision = decide(lights_out(), at.replace(exit="finished"), facts(closed=NOTHING_LOST), Signal("engine"))
    assert isinstance(decision, Advance)
    assert decision.after.state == "Reconciling"


@pytest.mark.requirement("S2.49")
def test_person_resolves_a_brake_back_to_build_or_earlier() -> None:
    braked = walk("TriggerComplexityBrake", start=walk(*WAYS_TO["Building"], *_failed("build", 2), "RetryBuild"))
    assert braked.registers["blocked_in"] == "Building"
    assert braked.counters["attempts"] == 2  # the brake is no failed gate
    after = walk("ResolveComplexityBrake", start=braked)
    assert "attempts" not in after.counters
    reached = {taken.state for name in open_moves(after) if (taken := take(after, name)) is not None}
    assert reached == {"Expanding", "Designing", "Analyzing", "Building"}


# --- attempts: one live (phase, attempts) ---


@pytest.mark.parametrize(
    ("over", "back"),
    [
        (("DropSession", "StartContextRecovery", "RecoverToBuild"), "Building"),
        (("ManualReconcileFromBuilding", "ResumeAfterReconcileToBuilding"), "Building"),
        (("DropSession", "StartContextRecovery", "RecoverToDesign", "PassDesignGate"), "DesignGatePassed"),
    ],
    ids=["drop", "reconcile", "a drop back into an earlier phase"],
)
def test_attempts_are_kept_over_interruptions(over: tuple[str, ...], back: str) -> None:
    at = walk(*WAYS_TO["Building"], *_failed("build", 2), "RetryBuild", *over)
    assert at.state == back
    assert (at.counters["attempts"], at.registers["attempts.group"]) == (2, "build")


def test_attempts_are_kept_over_a_pause() -> None:
    at = walk(*WAYS_TO["Building"], *_failed("build", 2), "RetryBuild", "DropSession", "StartContextRecovery")
    stepped = walk("RecoverToDesign", "PassDesignGate", start=at).replace(mode="stepped")
    after = walk("PauseForSteppedMode", "ResumeToAnalyze", start=stepped)
    assert (after.counters["attempts"], after.registers["attempts.group"]) == (2, "build")


def test_attempts_are_replaced_when_another_phase_fails() -> None:
    at = walk(
        *WAYS_TO["Building"], *_failed("build", 2), "RetryBuild", "ManualReconcileFromBuilding", "ReconcileBlocked"
    )
    assert (at.counters["attempts"], at.registers["attempts.group"]) == (1, "reconcile")
    back = walk("ResolveReconcileBlock", "ResumeAfterReconcileToBuilding", "FailBuildGate", start=at)
    assert (back.counters["attempts"], back.registers["attempts.group"]) == (1, "build")


@pytest.mark.parametrize("phase", PHASES)
def test_attempts_are_cleared_by_the_pass_of_their_phase(phase: str) -> None:
    again = {"review": "FixReviewFindings", "reconcile": "ResolveReconcileBlock", "verify": "FixVerifyFailures"}
    state, gate = PHASES[phase]
    at = walk(*WAYS_TO[state], *_failed(phase, 2), again.get(phase, f"Retry{phase.capitalize()}"))
    assert at.counters["attempts"] == 2
    after = walk(gate, start=at)
    assert "attempts" not in after.counters
    assert "attempts.group" not in after.registers


@pytest.mark.parametrize("exit_class", ["killed", "lost", "timeout", "failed"])
def test_three_lost_agents_are_three_drops_and_no_failed_gate(exit_class: str) -> None:
    at = walk(*WAYS_TO["Building"])
    for _ in range(3):
        dropped = decide(lights_out(), at, {}, Signal("crash", exit=exit_class))
        assert isinstance(dropped, Advance)
        at = walk("StartContextRecovery", "RecoverToBuild", start=dropped.after)
    assert at.counters == {}


# --- roles ---


@pytest.mark.requirement("S2.54", "S2.62")
@pytest.mark.parametrize(
    ("state", "role"),
    [
        ("Analyzing", "analyst"),
        ("Reviewing", "reviewer"),
        ("Verifying", "verifier"),
        ("AuditingStack", "explorer"),
        ("Iterating", "proposer"),
    ],
)
def test_a_judge_only_reads(state: str, role: str) -> None:
    found = lights_out().states[state]
    assert (found.role, found.access) == (role, "read")


@pytest.mark.requirement("S2.110")
@pytest.mark.parametrize(("finds", "fixes"), [("Reviewing", "ReviewFixing"), ("Verifying", "VerifyFixing")])
def test_the_role_that_finds_does_not_fix_and_looks_again(finds: str, fixes: str) -> None:
    states = lights_out().states
    assert (states[finds].access, states[fixes].access) == ("read", "write")
    assert states[finds].role != states[fixes].role
    assert finds in {edge.target for edge in states[fixes].edges}


@pytest.mark.requirement("S2.106")
def test_auto_is_the_default_mode_and_stepped_the_other() -> None:
    assert lights_out().modes == ("auto", "stepped")
    assert enter(lights_out()).mode == "auto"


@pytest.mark.requirement("S2.5", "S2.79", "S2.101", "S2.103")
@pytest.mark.parametrize(
    "name",  # a paused task that was switched to auto goes on by itself, so that its moves are not only a person's
    [row["name"] for row in ROWS if row["actor"] == "human" and not row["name"].startswith("ResumeTo")],
)
def test_what_people_decide_no_agent_and_no_engine_does(name: str) -> None:
    for edge in (edge for edge in lights_out().edges() if edge.name == name):
        assert edge.by() == ("person",)
        for at in situations(edge.source)[:3]:
            for who in ("agent", "engine", "crash"):
                decision = decide(lights_out(), at.replace(exit="finished"), facts(), Signal(who, name, exit="killed"))
                assert not isinstance(decision, Advance) or decision.edge.name != name


def test_explored_graph_has_every_move_of_the_relation() -> None:
    taken = {(graph().snapshots[step.source].state, step.edge) for step in graph().steps}
    assert {(row["from"], row["name"]) for row in ROWS} - taken == {("SteppedModePaused", name) for name in EXCEPTIONS}
