"""The `phase` machine is exactly the relation of its document: the same states, the same edges, and nothing else."""

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
from detent.core.values import Advance, Fact, Refuse, Signal, Snapshot
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary

RELATION: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "relations" / "000_phase.json").read_text(encoding="utf-8")
)
STATES: list[str] = RELATION["states"]
EDGES = [(row["from"], row["to"]) for row in RELATION["transitions"]]
OTHERS = [(source, target) for source in STATES for target in STATES if (source, target) not in EDGES]
FORBIDDEN = [(source, target) for source, target in RELATION["forbidden_explicit"]]
ACTORS = ("person", "agent", "engine")


@cache
def phase() -> Machine:
    return load("phase", vocabulary())[0]


@cache
def graph() -> Graph:
    return explore(phase())


def snapshots(state: str) -> list[Snapshot]:
    """Every way to stand in a state: each reachable set of registers, after each end of a run."""
    reached = [snapshot for snapshot in graph().snapshots if snapshot.state == state]
    return [snapshot.replace(exit=exit_class) for snapshot in reached for exit_class in ("entry", *EXIT_CLASSES)]


def all_open() -> dict[str, Fact]:
    return {name: Fact(name, ok=True) for name in phase().gates}


@pytest.mark.requirement("S0.10")
def test_it_has_exactly_the_nine_phases() -> None:
    assert list(phase().states) == STATES
    assert len(STATES) == 9
    assert phase().initial == RELATION["initial"] == "intake"


@pytest.mark.requirement("S0.30")
def test_only_done_blocked_and_needs_user_decision_are_terminal() -> None:
    assert set(phase().ends()) == set(RELATION["terminal"]) == {"done", "blocked", "needs_user_decision"}


@pytest.mark.requirement("S0.30")
@pytest.mark.parametrize("state", RELATION["terminal"])
@pytest.mark.parametrize("who", ["agent", "engine"])
def test_no_agent_and_no_engine_leaves_a_terminal_phase(state: str, who: str) -> None:
    for at in snapshots(state):
        for want in ("", "reopen", *STATES):
            for verb in ("", "resume", "answer"):
                signal = Signal(who, want, reason="because", verb=verb)
                assert not isinstance(decide(phase(), at, all_open(), signal), Advance)


@pytest.mark.requirement("S0.30")
def test_no_actor_leaves_done() -> None:
    assert phase().states["done"].edges == ()


@pytest.mark.requirement("S0.31")
def test_it_has_exactly_the_seventeen_edges_with_their_names() -> None:
    ours = [(edge.source, edge.target, edge.name) for edge in phase().edges()]
    theirs = [(row["from"], row["to"], row["name"]) for row in RELATION["transitions"]]
    assert sorted(ours) == sorted(theirs)
    assert len(ours) == len({(source, target) for source, target, _ in ours}) == 17


@pytest.mark.requirement("S0.31")
@pytest.mark.parametrize(("source", "target"), EDGES)
def test_each_edge_is_taken_when_its_gates_are_open(source: str, target: str) -> None:
    for at in snapshots(source):
        if at.registers.get("stopped"):
            continue
        decision = decide(phase(), at, all_open(), Signal("agent", target))
        assert isinstance(decision, Advance)
        assert (decision.edge.source, decision.edge.target, decision.after.state) == (source, target, target)


@pytest.mark.requirement("S0.31")
@pytest.mark.parametrize(("source", "target"), EDGES)
def test_each_edge_is_refused_with_one_closed_gate(source: str, target: str) -> None:
    (edge,) = [edge for edge in phase().states[source].edges if edge.target == target]
    for closed in {gate for way in edge.ways for gate in way.needs}:
        facts = {**all_open(), closed: Fact(closed, ok=False)}
        for at in snapshots(source):
            for who in ACTORS:
                assert not isinstance(decide(phase(), at, facts, Signal(who, target)), Advance)


@pytest.mark.requirement("S0.31")
def test_every_other_pair_is_refused_with_all_gates_open() -> None:
    assert OTHERS
    for source, target in OTHERS:
        for at, who in product(snapshots(source), ACTORS):
            # Without a reason nothing re-opens; what a person may re-open with one is tested below.
            decision = decide(phase(), at, all_open(), Signal(who, target))
            assert not isinstance(decision, Advance), (source, target, who, at)


@pytest.mark.requirement("S0.32")
def test_the_document_s_forbidden_pairs_are_named_in_the_machine() -> None:
    assert len(FORBIDDEN) == 4
    assert set(FORBIDDEN) <= {(pair.source, pair.target) for pair in phase().forbidden}
    assert not {(pair.source, pair.target) for pair in phase().forbidden} & set(EDGES)


@pytest.mark.requirement("S0.32", "S0.33")
@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("implement", "done", "no skipping proof"),
        ("shape", "done", "no skipping proof"),
        ("repair", "done", "no skipping revalidation after a repair"),
        ("verify", "implement", "a failed check is fixed in repair, which leads back to verify"),
    ],
)
@pytest.mark.parametrize("who", ACTORS)
def test_a_forbidden_pair_is_refused_with_its_reason(source: str, target: str, reason: str, who: str) -> None:
    assert (source, target) in FORBIDDEN
    decision = decide(phase(), enter(phase()).replace(state=source), all_open(), Signal(who, target))
    assert isinstance(decision, Refuse)
    assert decision.problem == f"{source} -> {target} is forbidden: {reason}"
    assert decision.allowed == tuple(to for edge_from, to in EDGES if edge_from == source)


@pytest.mark.requirement("S0.33")
@pytest.mark.parametrize(("source", "target"), [("intake", "blocked"), ("review", "blocked"), ("implement", "review")])
def test_any_other_refusal_says_where_the_phase_does_lead(source: str, target: str) -> None:
    decision = decide(phase(), enter(phase()).replace(state=source), all_open(), Signal("agent", target))
    assert isinstance(decision, Refuse)
    assert f"{source} " in decision.problem
    assert set(decision.allowed) == {to for edge_from, to in EDGES if edge_from == source}


@pytest.mark.requirement("S0.29")
def test_repair_leads_to_verify_or_to_an_end() -> None:
    leaving = {target for source, target in EDGES if source == "repair"}
    assert leaving == {"verify", "blocked", "needs_user_decision"}
    assert {edge.target for edge in phase().states["repair"].edges} == leaving


@pytest.mark.requirement("S0.29")
def test_after_repair_nothing_is_done_that_was_not_verified_again() -> None:
    assert graph().violations == ()
    for step in graph().steps:
        before, after = graph().snapshots[step.source].registers, graph().snapshots[step.target]
        if step.edge == "review_to_done" and before["Repair applied"] == "yes":
            assert (before["Validator status"], before["Revalidation status"]) == ("pass", "pass")
        if after.state == "repair" and step.edge:
            assert after.registers["Revalidation status"] == "pending"


@pytest.mark.parametrize("end", ["blocked", "needs_user_decision"])
def test_an_answer_leads_back_to_its_phase_at_most_verify(end: str) -> None:
    for source, target in EDGES:
        if target != end:
            continue
        decision = decide(phase(), enter(phase()).replace(state=source), all_open(), Signal("agent", end))
        assert isinstance(decision, Advance)
        back = decide(phase(), decision.after, all_open(), Signal("person", reason="answered", verb="answer"))
        assert isinstance(back, Advance)
        assert back.after.state == ("verify" if source == "review" else source)
        assert "origin" not in back.after.registers
