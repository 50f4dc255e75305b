"""The `orange` machine is exactly the map of its document, and only the allowed actors can take each move."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from detent.core.decide import decide, enter
from detent.core.explore import Graph, explore
from detent.core.machine import EXIT_CLASSES, Machine
from detent.core.values import Advance, Crash, Fact, Refuse, Signal, Snapshot, Wait
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.verify.compare import compare

RELATION: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "relations" / "003_orange.json").read_text(encoding="utf-8")
)
STATES: list[str] = RELATION["states"]
MAP = {
    "pending": ["working", "clarification", "cancelled"],
    "clarification": ["working", "cancelled"],
    "working": ["agent-review", "clarification", "stuck", "cancelled"],
    "agent-review": ["reviewing", "working", "stuck", "cancelled"],
    "reviewing": ["done", "cancelled"],
    "stuck": ["working", "agent-review", "cancelled"],
    "done": [],
    "cancelled": [],
}
EDGES = [(source, target) for source, targets in MAP.items() for target in targets]
OTHERS = [(source, target) for source in STATES for target in STATES if target not in MAP[source]]
REVIEWED = ("agent-review", False)  # a move out of agent-review that is no cancelling
ACTORS = ("person", "agent", "engine")
# What each state's own agent may ask for.
BY_AGENT = {
    "clarification": {"working"},
    "working": {"agent-review", "clarification"},
    "agent-review": {"reviewing", "working", "stuck"},
    "stuck": {"agent-review"},
}
BY_ENGINE = {
    "pending": {"working", "clarification"},
    "working": {"agent-review"},
    "agent-review": {"reviewing", "working", "stuck"},
}


@cache
def orange(*options: str) -> Machine:
    return load("orange", vocabulary(), options=options)[0]


@cache
def graph() -> Graph:
    return explore(orange())


def snapshots(state: str) -> list[Snapshot]:
    """Every way to stand in a state, after each end of a run, as long as the task goes on."""
    reached = [
        snapshot for snapshot in graph().snapshots if snapshot.state == state and not snapshot.registers.get("stopped")
    ]
    return [snapshot.replace(exit=exit_class) for snapshot in reached for exit_class in ("entry", *EXIT_CLASSES)]


def gates(**closed: bool) -> dict[str, Fact]:
    """All gates open but those named here."""
    return {name: Fact(name, ok=closed.get(name, True)) for name in orange().gates}


def at(state: str, exit_class: str = "entry", **counters: int) -> Snapshot:
    return enter(orange()).replace(state=state, exit=exit_class, counters=counters)


@pytest.mark.requirement("S3.4")
def test_it_has_exactly_the_eight_statuses() -> None:
    assert list(orange().states) == STATES == list(MAP)
    assert len(STATES) == 8
    assert orange().initial == RELATION["initial"] == "pending"


@pytest.mark.requirement("S3.11")
def test_done_and_cancelled_are_terminal_for_everybody() -> None:
    assert set(orange().ends()) == set(RELATION["terminal"]) == {"done", "cancelled"}
    assert all(orange().states[name].edges == () for name in orange().ends())


def test_it_is_the_relation_of_the_document_name_by_name() -> None:
    assert compare(orange(), RELATION).equal
    assert sorted((edge.source, edge.target) for edge in orange().edges()) == sorted(EDGES)
    assert len(EDGES) == 18


@pytest.mark.requirement("S3.5", "S3.6", "S3.7", "S3.8", "S3.9", "S3.10")
@pytest.mark.parametrize(("source", "target"), EDGES)
def test_every_pair_of_the_map_moves_with_its_proof(source: str, target: str) -> None:
    taken = [decide(orange(), snapshot, gates(), Signal("person", target)) for snapshot in snapshots(source)]
    assert any(isinstance(decision, Advance) and decision.after.state == target for decision in taken)
    # Only counters close a move whose proof is there.
    for decision in taken:
        assert isinstance(decision, Advance) or {lack.gate for lack in decision.missing} <= {"review_round"}  # type: ignore[union-attr]


@pytest.mark.requirement("S3.5", "S3.6", "S3.7", "S3.8", "S3.9", "S3.10", "S3.11", "S3.12")
def test_every_other_pair_is_refused_to_everybody() -> None:
    verbs = ("", "complete", "approve", "resume", "cancel", "answer", "reject")
    assert OTHERS
    for source, target in OTHERS:
        for snapshot, who, verb in product(snapshots(source), ACTORS, verbs):
            decision = decide(orange(), snapshot, gates(), Signal(who, target, reason="because", verb=verb))
            assert not isinstance(decision, Advance), (source, target, who, verb, snapshot)


@pytest.mark.requirement("S3.12")
def test_a_refusal_names_what_is_allowed() -> None:
    decision = decide(orange(), at("working"), gates(), Signal("agent", "done"))
    assert isinstance(decision, Refuse)
    assert decision.allowed == tuple(MAP["working"])


@pytest.mark.requirement("S3.1", "S3.17")
@pytest.mark.parametrize("state", STATES)
def test_an_agent_takes_only_the_moves_of_its_own_role(state: str) -> None:
    """No agent ends a task, signs off, or sends its own work past a review."""
    found = set()
    for snapshot in snapshots(state):
        for target in STATES:
            decision = decide(orange(), snapshot, gates(), Signal("agent", target))
            if isinstance(decision, Advance):
                found.add(target)
    assert found == BY_AGENT.get(state, set())


@pytest.mark.parametrize("state", STATES)
def test_the_engine_alone_takes_only_what_the_document_lets_it(state: str) -> None:
    found = set()
    for snapshot in snapshots(state):
        for target in STATES:
            decision = decide(orange(), snapshot, gates(), Signal("engine", target))
            if isinstance(decision, Advance):
                found.add(target)
    assert found == BY_ENGINE.get(state, set())


def test_done_is_a_person_s_sign_off() -> None:
    (done,) = [edge for edge in orange().states["reviewing"].edges if edge.target == "done"]
    assert (done.sign_off, done.by()) == (True, ("person",))
    assert orange().states["done"].lands
    assert not orange().states["cancelled"].lands


@pytest.mark.requirement("S3.17")
@pytest.mark.parametrize(
    ("source", "target"),
    [pair for pair in EDGES if pair != ("working", "agent-review") and (pair[0], pair[1] == "cancelled") != REVIEWED],
)
def test_where_document_asks_for_no_artifact_a_person_needs_none(source: str, target: str) -> None:
    as_reviewed = {"signed_as_is", "tests_passed", "proven", "proof_accepted"}  # the files are, and no command fails
    nothing = {name: Fact(name, ok=name in as_reviewed) for name in orange().gates}
    assert isinstance(decide(orange(), at(source), nothing, Signal("person", target)), Advance)


@pytest.mark.requirement("S3.13", "S3.14", "S3.15", "S3.16")
@pytest.mark.parametrize(
    ("source", "target", "gate", "rounds"),
    [
        ("working", "agent-review", "handoff", 0),
        ("agent-review", "reviewing", "review_passed", 1),
        ("agent-review", "working", "review_failed", 1),
        ("agent-review", "stuck", "review_failed", 2),
    ],
)
def test_the_four_artifact_gates_close_their_move_to_everybody(
    source: str, target: str, gate: str, rounds: int
) -> None:
    for exit_class in ("entry", *EXIT_CLASSES):
        for who in ACTORS:
            now = at(source, exit_class, review_round=rounds)
            assert not isinstance(decide(orange(), now, gates(**{gate: False}), Signal(who, target)), Advance)
    now = at(source, review_round=rounds)
    assert isinstance(decide(orange(), now, gates(), Signal("agent", target)), Advance)


@pytest.mark.requirement("S3.16", "S3.27")
@pytest.mark.parametrize(("rounds", "allowed"), [(0, "working"), (1, "working"), (2, "stuck"), (3, "stuck")])
def test_failed_reviews_lead_back_and_from_round_two_to_stuck(rounds: int, allowed: str) -> None:
    for target in ("working", "stuck"):
        now = at("agent-review", review_round=rounds)
        decision = decide(orange(), now, gates(review_passed=False), Signal("agent", target))
        assert isinstance(decision, Advance) == (target == allowed)


def test_review_rounds_are_counted_and_reset_by_a_resume() -> None:
    first = decide(orange(), at("working", crash_count=1), gates(), Signal("agent", "agent-review"))
    assert isinstance(first, Advance)
    assert first.after.counters == {"review_round": 1}
    again = decide(orange(), at("stuck", review_round=2), gates(), Signal("agent", "agent-review"))
    assert isinstance(again, Advance)
    assert again.after.counters == {"review_round": 3}
    resumed = decide(orange(), at("stuck", review_round=2), gates(), Signal("person", verb="resume"))
    assert isinstance(resumed, Advance)
    assert (resumed.after.state, resumed.after.counters) == ("working", {})


def test_only_agent_needs_new_handoff_to_leave_stuck_for_review() -> None:
    closed = gates(handoff=False)
    assert isinstance(decide(orange(), at("stuck"), closed, Signal("agent", "agent-review")), Refuse)
    assert isinstance(decide(orange(), at("stuck"), closed, Signal("person", "agent-review")), Advance)


@pytest.mark.requirement("S3.46")
def test_every_move_sets_the_crashes_back() -> None:
    for source, target in EDGES:
        for rounds in (1, 2):
            now = at(source, review_round=rounds, crash_count=1)
            decision = decide(orange(), now, gates(), Signal("person", target))
            assert isinstance(decision, Refuse) or "crash_count" not in decision.after.counters  # type: ignore[union-attr]


@pytest.mark.requirement("S3.47", "S3.45")
@pytest.mark.parametrize("state", ["working", "agent-review"])
@pytest.mark.parametrize("exit_class", ["finished", "failed", "timeout", "killed", "lost"])
def test_the_second_run_without_an_artifact_leads_to_stuck(state: str, exit_class: str) -> None:
    closed = {name: Fact(name, ok=False) for name in orange().gates}
    first = decide(orange(), at(state, exit_class), closed, Signal("crash", exit=exit_class))
    assert isinstance(first, Crash)
    assert (first.after.state, first.after.counters, first.after.registers) == (state, {"crash_count": 1}, {})
    second = decide(orange(), first.after, closed, Signal("crash", exit=exit_class))
    assert isinstance(second, Advance)
    assert (second.after.state, second.after.counters) == ("stuck", {})


@pytest.mark.requirement("S3.39", "S3.40", "S3.41")
@pytest.mark.parametrize("state", ["clarification", "reviewing", "stuck"])
def test_run_ends_change_nothing_while_a_person_is_awaited(state: str) -> None:
    for exit_class in EXIT_CLASSES:
        now = at(state, exit_class, crash_count=1)
        assert isinstance(decide(orange(), now, gates(), Signal("engine")), Wait)
        assert isinstance(decide(orange(), now, gates(), Signal("crash", exit=exit_class)), Wait)


@pytest.mark.requirement("S3.38")
def test_only_the_reviewer_is_started_again_unasked() -> None:
    states = orange().states
    assert {name for name, state in states.items() if state.respawn == "auto"} == {"agent-review"}
    called = {name: state.role for name, state in states.items() if state.role and state.driver == "person"}
    assert called == {"reviewing": "host", "stuck": "worker"}


def test_person_may_ask_for_changes_only_where_project_wants_that() -> None:
    refused = decide(orange(), at("reviewing"), gates(), Signal("person", "working"))
    assert isinstance(refused, Refuse)
    assert refused.hint == "the option 'changes-requested' would allow it"
    machine = orange("changes-requested")
    taken = decide(machine, at("reviewing"), gates(), Signal("person", verb="reject", reason="one more test"))
    assert isinstance(taken, Advance)
    assert taken.after.state == "working"
    assert not isinstance(decide(machine, at("reviewing"), gates(), Signal("agent", "working")), Advance)
    assert explore(machine).violations == ()


def test_nothing_that_was_not_reviewed_is_ever_done() -> None:
    assert graph().violations == ()
    assert [rule.name for rule in orange().properties] == ["done is reviewed"]
