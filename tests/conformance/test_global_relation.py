"""The `global` machine is exactly the diagram of its document, and each edge is taken by the artifacts it asks for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.core.decide import decide, enter
from detent.core.explore import explore
from detent.core.values import Advance, Fact, Refuse, Signal, Wait
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.verify.compare import compare
from detent.verify.relation import edge_name
from tests.conformance.global_desk import (
    CODE_REVIEW,
    DECISION,
    FILES,
    PLAN,
    PLAN_REVIEW,
    PLANNING,
    RECORD,
    REPORT,
    GlobalDesk,
)
from tests.conftest import MakeRepo

RELATION: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "relations" / "001_global.json").read_text(encoding="utf-8")
)
MACHINE = load("global", vocabulary())[0]
PHASES = ["planning", "plan_review", "codegen", "review", "test", "accept", "revert", "done"]
ORDER = {name: number for number, name in enumerate(PHASES[:6])}
FORWARD = [("planning", "plan_review"), ("plan_review", "codegen"), ("codegen", "review"), ("review", "test")]
PAIRS = {(row["from"], row["to"]) for row in RELATION["transitions"]}


@pytest.fixture(autouse=True)
def _homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.requirement("S1.25")
@pytest.mark.requirement("S1.1")
def test_the_machine_is_the_diagram() -> None:
    assert compare(MACHINE, RELATION).equal
    assert sum(1 for _ in MACHINE.edges()) == len(RELATION["transitions"]) == 20
    labels = {(edge.source, edge.target, edge.label) for edge in MACHINE.edges()}
    assert {(row["from"], row["to"], row["name"] or edge_name(row)) for row in RELATION["transitions"]} == labels


@pytest.mark.requirement("S1.2")
@pytest.mark.parametrize("phase", PHASES)
def test_each_phase_is_a_state(phase: str) -> None:
    assert phase in MACHINE.states
    assert list(MACHINE.states) == PHASES


@pytest.mark.requirement("S1.3")
def test_a_task_starts_in_planning() -> None:
    assert enter(MACHINE).state == RELATION["initial"] == "planning"


@pytest.mark.requirement("S1.4")
@pytest.mark.parametrize("who", ["agent", "engine", "person"])
def test_done_is_an_end_that_leads_nowhere(who: str) -> None:
    assert MACHINE.ends() == ("done",)
    facts = {name: Fact(name, ok=True) for name in MACHINE.gates}
    for want in ("", *PHASES):
        decision = decide(MACHINE, enter(MACHINE).replace(state="done"), facts, Signal(who, want))
        assert isinstance(decision, (Refuse, Wait)), (want, decision)


def _plan(desk: GlobalDesk) -> None:
    desk.put(PLANNING, PLAN)


def _code(desk: GlobalDesk) -> None:
    desk.work()


def _put(name: str, content: object) -> Callable[[GlobalDesk], None]:
    def put(desk: GlobalDesk) -> None:
        desk.put(name, content)

    return put


def _fail(desk: GlobalDesk) -> None:
    desk.work("test.sh", "exit 1\n")


def _nothing(_desk: GlobalDesk) -> None:
    return


BLOCKING = {"severity": "blocking"}
# edge, from, to, what opens it
EDGES = [
    pytest.param("planning-succeeded", "planning", "plan_review", _plan, marks=pytest.mark.requirement("S1.5")),
    pytest.param("re-plan-redo", "planning", "planning", _nothing, marks=pytest.mark.requirement("S1.6")),
    pytest.param(
        "review-ok",
        "plan_review",
        "codegen",
        _put(PLAN_REVIEW, {"ok": True, "blocked": False}),
        marks=pytest.mark.requirement("S1.7"),
    ),
    pytest.param(
        "review-needs-changes",
        "plan_review",
        "planning",
        _put(PLAN_REVIEW, {"ok": False, "blocked": False}),
        marks=pytest.mark.requirement("S1.8"),
    ),
    pytest.param(
        "review-blocked",
        "plan_review",
        "planning",
        _put(PLAN_REVIEW, {"ok": False, "blocked": True}),
        marks=pytest.mark.requirement("S1.9"),
    ),
    pytest.param("codegen-completed", "codegen", "review", _code, marks=pytest.mark.requirement("S1.10")),
    pytest.param(
        "scope-mismatch",
        "codegen",
        "planning",
        lambda desk: desk.work("other.py"),
        marks=pytest.mark.requirement("S1.11"),
    ),
    pytest.param(
        "plan-unclear",
        "codegen",
        "plan_review",
        _put(REPORT, {"signal": "plan_unclear", "reason": "two ways"}),
        marks=pytest.mark.requirement("S1.12"),
    ),
    pytest.param("re-run-codegen", "codegen", "codegen", _nothing, marks=pytest.mark.requirement("S1.13")),
    pytest.param(
        "review-passes",
        "review",
        "test",
        _put(CODE_REVIEW, {"ok": True, "issues": []}),
        marks=pytest.mark.requirement("S1.14"),
    ),
    pytest.param(
        "needs-code-changes",
        "review",
        "codegen",
        _put(CODE_REVIEW, {"issues": [BLOCKING]}),
        marks=pytest.mark.requirement("S1.15"),
    ),
    pytest.param(
        "plan-flawed",
        "review",
        "planning",
        _put(CODE_REVIEW, {"issues": [{**BLOCKING, "target": "plan"}]}),
        marks=pytest.mark.requirement("S1.16"),
    ),
    pytest.param("tests-complete", "test", "accept", _nothing, marks=pytest.mark.requirement("S1.17")),
    pytest.param("test-failures", "test", "codegen", _fail, marks=pytest.mark.requirement("S1.18")),
    pytest.param(
        "accepted", "accept", "done", _put(DECISION, {"verdict": "accepted"}), marks=pytest.mark.requirement("S1.19")
    ),
    pytest.param(
        "requires-further-changes",
        "accept",
        "codegen",
        _put(DECISION, {"verdict": "needs_changes"}),
        marks=pytest.mark.requirement("S1.20"),
    ),
    pytest.param(
        "unclear-needs-review",
        "accept",
        "review",
        _put(DECISION, {"verdict": "unclear"}),
        marks=pytest.mark.requirement("S1.21"),
    ),
    pytest.param(
        "upstream-problem",
        "accept",
        "planning",
        _put(DECISION, {"verdict": "upstream"}),
        marks=pytest.mark.requirement("S1.22"),
    ),
    pytest.param(
        "revert-requested",
        "accept",
        "revert",
        _put(DECISION, {"verdict": "revert", "reason": "slow"}),
        marks=pytest.mark.requirement("S1.23"),
    ),
    pytest.param(
        "revert-to-done",
        "revert",
        "done",
        _put(RECORD, {"reason": "it broke the import"}),
        marks=pytest.mark.requirement("S1.24"),
    ),
]
WALKED = [tuple(map(str, case.values[:3])) for case in EDGES]  # edge, from, to
EXPLICIT = ("re-plan-redo", "re-run-codegen")  # a person's own wish is all they ask for


@pytest.mark.parametrize(("edge", "source", "target", "opens"), EDGES)
def test_an_edge_is_taken_by_its_artifact_and_not_without(
    edge: str, source: str, target: str, opens: Callable[[GlobalDesk], None], repo: MakeRepo, tmp_path: Path
) -> None:
    desk = GlobalDesk(repo, tmp_path, source)
    opens(desk)
    if opens is not _nothing and opens is not _fail:
        # A task that was taken over was judged elsewhere: accepting its files needs a reason.
        reason = "looked at it" if edge == "accepted" else ""
        assert desk.moved(reason=reason) == edge, "unasked, the artifact alone says which"
    elif edge in EXPLICIT:
        assert desk.refused("", verb="approve") == {}
        assert desk.moved(edge) == edge
    else:
        assert desk.moved(target) == edge
    assert desk.state == target
    last = [line for line in desk.transcript() if line["type"] == "phase.changed"][-1]
    assert (last["from"], last["to"], last["edge"]) == (source, target, edge)


@pytest.mark.requirement("S1.58")
@pytest.mark.parametrize(
    ("edge", "source"),
    [(row[0], row[1]) for row in WALKED if row[0] not in (*EXPLICIT, "tests-complete") and row[1] != "accept"],
)
def test_no_edge_is_open_without_its_artifact(edge: str, source: str, repo: MakeRepo, tmp_path: Path) -> None:
    desk = GlobalDesk(repo, tmp_path, source)
    missing = desk.refused(edge)
    assert missing, "it says what is missing"
    assert all(missing.values())


def test_every_row_of_the_diagram_is_walked() -> None:
    assert {(source, target, edge) for edge, source, target in WALKED} == {
        (row["from"], row["to"], edge_name(row)) for row in RELATION["transitions"]
    }


@pytest.mark.requirement("S1.54")
@pytest.mark.parametrize("source", PHASES[:6])
def test_no_phase_is_skipped_and_refusal_says_what_comes_first(source: str) -> None:
    facts = {name: Fact(name, ok=True) for name in MACHINE.gates}
    for target in PHASES:
        if (source, target) in PAIRS:
            continue
        for who in ("agent", "engine", "person"):
            signal = Signal(who, target, reason="because", override="I accept the risk")
            decision = decide(MACHINE, enter(MACHINE).replace(state=source), facts, signal)
            assert isinstance(decision, (Refuse, Wait))
            if isinstance(decision, Refuse) and ORDER.get(target, 0) > ORDER[source]:
                assert "no phase is skipped: first" in decision.problem


def test_the_way_forward_goes_through_every_phase() -> None:
    """However gates, crashes and people fall, acceptance comes only after every phase since the last regression."""
    graph = explore(MACHINE)
    assert graph.violations == ()
    names = [prop.name for prop in MACHINE.properties]
    assert names == ["nothing is accepted that was not tested", "nothing is tested that was not reviewed"]
    for source, target in FORWARD:
        assert MACHINE.states[source].edges[0].target == target, "the way forward stands first"


def test_an_agent_never_moves_the_task_itself() -> None:
    facts = {name: Fact(name, ok=True) for name in MACHINE.gates}
    for state in MACHINE.states:
        for edge in (edge for edge in MACHINE.states[state].edges if not edge.reopen):
            snapshot = enter(MACHINE).replace(state=state, exit="finished")
            assert not isinstance(decide(MACHINE, snapshot, facts, Signal("agent", edge.name)), Advance)
            is_engine_s = isinstance(decide(MACHINE, snapshot, facts, Signal("engine", edge.name)), Advance)
            assert is_engine_s == (state != "accept" and edge.name not in EXPLICIT)


def test_files_named_by_the_plan_alone_are_enough(repo: MakeRepo, tmp_path: Path) -> None:
    desk = GlobalDesk(repo, tmp_path, "planning")
    desk.put(PLANNING, {"summary": "count words", "open_questions": []})
    assert set(desk.refused("plan_review")) == {"files_planned"}
    desk.put(FILES, ["app.py"])
    assert desk.moved("plan_review") == "planning-succeeded"
