"""The `ralf` machine is exactly the relation of its document, and only a person passes its checkpoints."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from detent.core.decide import decide
from detent.core.explore import Graph, explore
from detent.core.machine import EXIT_CLASSES, Edge, Machine
from detent.core.values import Advance, Fact, Signal, Snapshot
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.verify.compare import compare
from detent.verify.relation import edge_name

RELATION: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "relations" / "004_ralf.json").read_text(encoding="utf-8")
)
STATES: list[str] = RELATION["states"]
ROWS: list[dict[str, str]] = RELATION["transitions"]
PAIRS = [(row["from"], row["to"]) for row in ROWS]
OTHERS = [(source, target) for source in STATES for target in STATES if (source, target) not in PAIRS]
ACTORS = ("person", "agent", "engine")
MODES = ("methodical", "quick")
GROUPS = {
    "Spec Creation": ["Drafting", "Assessing", "Finalized"],
    "Implementation": [
        *("Preflight", "PreflightFailed", "Configuring", "Running", "Paused", "Verifying", "Stuck", "Implemented"),
    ],
    "Polish": ["Polishing"],
    "Review": ["PendingReview", "Approved"],
    "Complete": ["ReadyToCommit", "Done"],
}
CHECKPOINTS = [
    pytest.param("Drafting", "Finalized", marks=pytest.mark.requirement("S4.64")),
    pytest.param("Assessing", "Finalized", marks=pytest.mark.requirement("S4.64")),
    *(
        pytest.param("Stuck", target, marks=pytest.mark.requirement("S4.65"))
        for target in ("Configuring", "Running", "Drafting", "Abandoned")
    ),
    pytest.param("PendingReview", "Approved", marks=pytest.mark.requirement("S4.66")),
    pytest.param("ReadyToCommit", "Done", marks=pytest.mark.requirement("S4.67")),
]


@cache
def ralf() -> Machine:
    return load("ralf", vocabulary())[0]


@cache
def open_gates() -> dict[str, Fact]:
    return {name: Fact(name, ok=True) for name in ralf().gates}


@cache
def graph() -> Graph:
    return explore(ralf())


def snapshots(state: str, mode: str = "") -> list[Snapshot]:
    """Every way to stand in a state: each reachable set of counters and registers, after each end of a run."""
    reached = [snapshot for snapshot in graph().snapshots if snapshot.state == state and mode in ("", snapshot.mode)]
    return [snapshot.replace(exit=exit_class) for snapshot in reached for exit_class in ("entry", *EXIT_CLASSES)]


def all_open() -> dict[str, Fact]:
    return dict(open_gates())


def first_of_each_mode(state: str) -> list[Snapshot]:
    """What no counter or register can change is asked once."""
    return [
        next(snapshot for snapshot in graph().snapshots if (snapshot.state, snapshot.mode) == (state, mode))
        for mode in MODES
    ]


def edge(source: str, target: str) -> Edge:
    (found,) = [edge for edge in ralf().states[source].edges if edge.target == target]
    return found


@pytest.mark.requirement("S4.2")
def test_it_has_exactly_the_17_states_in_five_groups() -> None:
    assert list(ralf().states) == STATES
    assert len(STATES) == 17
    grouped = {name: [state.name for state in ralf().states.values() if state.group == name] for name in GROUPS}
    assert grouped == GROUPS
    assert {state.group for state in ralf().states.values()} == {*GROUPS, ""}


@pytest.mark.requirement("S4.3")
def test_a_thread_starts_in_drafting_in_every_mode() -> None:
    assert ralf().initial == RELATION["initial"] == "Drafting"
    assert ralf().modes == MODES
    assert {(snapshot.state, snapshot.mode) for snapshot in graph().snapshots[:2]} == {
        ("Drafting", mode) for mode in MODES
    }


@pytest.mark.requirement("S4.35")
def test_done_and_abandoned_are_ends_and_have_no_way_out() -> None:
    assert set(ralf().ends()) == set(RELATION["terminal"]) == {"Done", "Abandoned"}
    assert all(ralf().states[name].edges == () for name in ralf().ends())


def test_the_relation_is_the_document_s() -> None:
    assert compare(ralf(), RELATION).equal
    ours = [(edge.source, edge.target, edge.name, edge.label) for edge in ralf().edges()]
    theirs = [(row["from"], row["to"], edge_name(row), row["name"]) for row in ROWS]
    assert sorted(ours) == sorted(theirs)
    assert len(ours) == len(set(PAIRS)) == 45


@pytest.mark.requirement("S4.4", "S4.5", "S4.6", "S4.7", "S4.8", "S4.9", "S4.12", "S4.14", "S4.17", "S4.18")
@pytest.mark.requirement("S4.23", "S4.32", "S4.34")
def test_person_takes_each_edge_with_its_gates_open() -> None:
    """A person may ask for what the engine does too; counters and modes decide which of the ways is theirs."""
    for source, target in PAIRS:
        word = Signal("person", edge(source, target).name)
        decisions = [decide(ralf(), at, all_open(), word) for at in snapshots(source)]
        assert {decision.after.state for decision in decisions if isinstance(decision, Advance)} == {target}, (
            source,
            target,
        )


def test_each_gated_edge_is_refused_with_all_gates_closed() -> None:
    closed = {name: Fact(name, ok=False) for name in ralf().gates}
    gated = [pair for pair in PAIRS if all(way.needs for way in edge(*pair).ways)]
    assert gated
    for source, target in gated:
        for at, who in product(snapshots(source), ACTORS):
            decision = decide(ralf(), at, closed, Signal(who, edge(source, target).name))
            assert not isinstance(decision, Advance), (source, target, who, at)


def test_every_other_pair_is_refused_with_all_gates_open() -> None:
    assert OTHERS
    for source, target in OTHERS:
        for at, who in product(first_of_each_mode(source), ACTORS):
            decision = decide(ralf(), at, all_open(), Signal(who, target, reason="because"))
            assert not isinstance(decision, Advance), (source, target, who, at)


@pytest.mark.requirement("S4.34")
def test_every_state_but_ends_can_be_abandoned_by_people_only() -> None:
    abandoned = [edge for edge in ralf().edges() if edge.target == "Abandoned"]
    assert sorted(edge.source for edge in abandoned) == sorted(set(STATES) - set(RELATION["terminal"]))
    assert len(abandoned) == 15
    assert {edge.by() for edge in abandoned} == {("person",)}


# --- checkpoints and modes ---


@pytest.mark.requirement("S4.58", "S4.62", "S4.63")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("source", "target"), CHECKPOINTS)
def test_checkpoint_is_passed_by_a_person_alone_in_every_mode(source: str, target: str, mode: str) -> None:
    assert edge(source, target).sign_off
    assert edge(source, target).by() == ("person",)
    passed = set()
    for at in snapshots(source, mode):
        for who in (*ACTORS, "crash"):
            for want in (edge(source, target).name, target, ""):
                signal = Signal(who, want, reason="because", override="because", exit="lost" if who == "crash" else "")
                decision = decide(ralf(), at, all_open(), signal)
                if isinstance(decision, Advance) and decision.after.state == target:
                    passed.add(who)
    assert passed == {"person"}


@pytest.mark.requirement("S4.63")
def test_without_its_checkpoints_no_thread_is_ever_committed() -> None:
    """Take any one checkpoint's edges out of the machine, and Done can't be reached any more."""
    for gone in ({("Drafting", "Finalized"), ("Assessing", "Finalized")}, {("PendingReview", "Approved")}):
        reached = {"Drafting"}
        for _ in STATES:
            reached |= {target for source, target in PAIRS if source in reached and (source, target) not in gone}
        assert "Done" not in reached
    assert [source for source, target in PAIRS if target == "Done"] == ["ReadyToCommit"]


def by_engine(mode: str) -> set[tuple[str, str]]:
    """What the engine does alone with all gates open, in states where no agent has to work first."""
    found = set()
    for source, target in PAIRS:
        if ralf().states[source].role:
            continue
        for at in snapshots(source, mode):
            decision = decide(ralf(), at, all_open(), Signal("engine", edge(source, target).name))
            if isinstance(decision, Advance):
                found.add((source, target))
    return found


@pytest.mark.requirement("S4.59")
def test_in_methodical_mode_people_begin_configure_and_choose_to_polish() -> None:
    assert by_engine("methodical") == {
        ("Preflight", "Configuring"),
        ("Preflight", "PreflightFailed"),
        ("Approved", "ReadyToCommit"),
    }


@pytest.mark.requirement("S4.58", "S4.60")
def test_in_quick_mode_same_states_are_passed_with_fewer_stops() -> None:
    assert by_engine("quick") - by_engine("methodical") == {
        ("Finalized", "Preflight"),
        ("Configuring", "Running"),
        ("Implemented", "PendingReview"),
    }
    for mode in MODES:
        assert {snapshot.state for snapshot in graph().snapshots if snapshot.mode == mode} == set(STATES)


@pytest.mark.requirement("S4.59", "S4.60")
@pytest.mark.parametrize("source", ["Drafting", "Assessing"])
def test_only_methodical_mode_asks_for_an_assessment(source: str) -> None:
    facts = {**all_open(), **{name: Fact(name, ok=False) for name in ("draft_assessed", "assessment_given")}}
    said = {**facts, "skip_assess": Fact("skip_assess", ok=True)}
    unsaid = {**facts, "skip_assess": Fact("skip_assess", ok=False)}
    for at in snapshots(source):
        signal = Signal("person", edge(source, "Finalized").name)
        assert isinstance(decide(ralf(), at, said, signal), Advance)
        assert isinstance(decide(ralf(), at, unsaid, signal), Advance) == (at.mode == "quick")


# --- the loop ---


@pytest.mark.requirement("S4.19", "S4.21")
def test_failed_criteria_lead_to_stuck_once_iterations_run_out() -> None:
    most = ralf().limits["iteration"].most
    facts = {**all_open(), "criteria_met": Fact("criteria_met", ok=False)}
    for at in snapshots("Verifying"):
        decision = decide(ralf(), at, facts, Signal("engine"))
        if at.exit in ("entry", "finished") and not at.registers.get("stopped"):
            assert isinstance(decision, Advance)
            assert decision.after.state == ("Stuck" if at.counters.get("iteration", 0) >= most else "Running")
        else:
            assert not isinstance(decision, Advance)


@pytest.mark.requirement("S4.20")
def test_spent_iterations_and_exhausted_models_lead_to_stuck() -> None:
    closed = {name: Fact(name, ok=False) for name in ralf().gates}
    exhausted = {**closed, "models_exhausted": Fact("models_exhausted", ok=True)}
    for at in snapshots("Running"):
        if at.registers.get("stopped"):
            continue
        is_spent = at.counters.get("iteration", 0) >= ralf().limits["iteration"].most
        by_count = decide(ralf(), at, closed, Signal("engine"))
        assert isinstance(by_count, Advance) == (is_spent and at.exit not in ("entry", "lost"))
        by_models = decide(ralf(), at, exhausted, Signal("engine"))
        assert isinstance(by_models, Advance) == (
            at.exit in ("failed", "timeout", "killed", "quota") or isinstance(by_count, Advance)
        )


@pytest.mark.requirement("S4.16")
def test_person_pauses_the_loop_and_so_does_a_lost_run() -> None:
    for at in snapshots("Running"):
        decision = decide(ralf(), at, all_open(), Signal("person", verb="interrupt"))
        assert isinstance(decision, Advance)
        assert decision.after.state == "Paused"
        for exit_class in ("failed", "timeout", "killed", "lost"):
            crashed = decide(ralf(), at.replace(registers={}), {}, Signal("crash", exit=exit_class))
            assert isinstance(crashed, Advance) == (exit_class == "lost")


@pytest.mark.requirement("S4.52")
def test_a_pause_changes_no_counter() -> None:
    for at in snapshots("Running"):
        paused = decide(ralf(), at, all_open(), Signal("person", verb="interrupt"))
        assert isinstance(paused, Advance)
        resumed = decide(ralf(), paused.after, all_open(), Signal("person", verb="resume"))
        assert isinstance(resumed, Advance)
        assert resumed.after.counters.get("iteration", 0) == at.counters.get("iteration", 0)


@pytest.mark.parametrize("source", ["Configuring", "Stuck", "PendingReview"])
def test_a_loop_that_begins_anew_counts_from_the_start(source: str) -> None:
    for at in snapshots(source):
        decision = decide(ralf(), at, all_open(), Signal("person", edge(source, "Running").name))
        assert isinstance(decision, Advance)
        assert "iteration" not in decision.after.counters


@pytest.mark.requirement("S4.46")
def test_the_menu_of_stuck() -> None:
    stuck = ralf().states["Stuck"]
    keys = {edge.key: edge.target for edge in stuck.edges}
    assert keys == {"R": "Drafting", "C": "Configuring", "M": "Running", "A": "Abandoned"}
    assert stuck.views == {"D": "diagnosis"}


@pytest.mark.requirement("S4.53")
def test_the_menu_of_paused() -> None:
    keys = {edge.key: edge.target for edge in ralf().states["Paused"].edges}
    assert keys == {"R": "Running", "C": "Configuring", "A": "Abandoned"}


@pytest.mark.requirement("S4.28")
def test_polish_precedes_review_and_later_changes_need_another_review() -> None:
    assert {source for source, target in PAIRS if target == "Polishing"} == {"Implemented"}
    assert {target for source, target in PAIRS if source == "Polishing"} == {"Implemented", "Abandoned"}
    writing = {state.name for state in ralf().states.values() if state.access == "write"}
    assert writing == {"Running", "Polishing"}
    # From a state in which code is changed nothing leads to Approved but by PendingReview.
    for start in writing:
        reached = {start}
        for _ in STATES:
            reached |= {target for source, target in PAIRS if source in reached and source != "PendingReview"}
        assert "Approved" not in reached


@pytest.mark.requirement("S4.36")
def test_every_state_says_what_it_is() -> None:
    assert all(state.title for state in ralf().states.values())


def test_the_machine_holds_what_it_claims() -> None:
    assert graph().violations == ()
    assert len(ralf().properties) == 3
