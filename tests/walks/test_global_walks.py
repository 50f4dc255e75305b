"""Walks through every edge of `global`, and every way a person's artifacts can open, through the real engine.

Before each step just what its way asks for is written, each time with other words, so that proof is fresh; after it,
what the engine remembers, and what state.json shows of it, is what the model remembers. What follows from the end of
an agent run is shown in tests/e2e, with real runs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.core.decide import enter
from detent.core.explore import Step
from detent.core.values import Advance
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.verify.audit import audit
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
from tests.walks.by_hand import by_hand, remembered
from tests.walks.cover import cover

GLOBAL = load("global", vocabulary())[0]
REOPEN = frozenset(edge.name for state in GLOBAL.states.values() for edge in state.edges if edge.reopen)
# A plan that broke after its review, and work that an override let through untested: no artifact leads there.
UNOPENED = frozenset({"plan_broken", "as_overridden"})
GRAPH = by_hand(GLOBAL, enter(GLOBAL), unopened=UNOPENED)
WALKS = cover(GRAPH, REOPEN)
BLOCKING = {"severity": "blocking", "message": "no"}
# What opens a gate: the file of the task folder, and what it says.
ARTIFACTS: dict[str, tuple[str, dict[str, object]]] = {
    "plan_written": (PLANNING, dict(PLAN)),
    "plan_ok": (PLAN_REVIEW, {"ok": True, "blocked": False}),
    "plan_needs_changes": (PLAN_REVIEW, {"ok": False, "blocked": False}),
    "plan_blocked": (PLAN_REVIEW, {"ok": False, "blocked": True}),
    "plan_incomplete": (REPORT, {"signal": "plan_incomplete", "reason": "a part is missing"}),
    "plan_unclear": (REPORT, {"signal": "plan_unclear", "reason": "two ways"}),
    "review_clear": (CODE_REVIEW, {"ok": True, "issues": []}),
    "code_issues": (CODE_REVIEW, {"ok": False, "issues": [BLOCKING]}),
    "plan_issues": (CODE_REVIEW, {"ok": False, "issues": [{**BLOCKING, "target": "plan"}]}),
    "decision_accepted": (DECISION, {"verdict": "accepted"}),
    "decision_changes": (DECISION, {"verdict": "needs_changes"}),
    "decision_unclear": (DECISION, {"verdict": "unclear"}),
    "decision_upstream": (DECISION, {"verdict": "upstream"}),
    "decision_revert": (DECISION, {"verdict": "revert", "reason": "it is slow"}),
    "reverted": (RECORD, {"reason": "it is slow"}),
}
SETTINGS = '[commands]\ntest = "! grep -q broken app.py"\n'


class Walker(GlobalDesk):
    """One task, whose artifacts never say the same twice."""

    turn = 0

    def open(self, gates: tuple[str, ...]) -> None:
        self.turn += 1
        for gate in gates:
            if gate in ARTIFACTS:
                file, content = ARTIFACTS[gate]
                self.put(file, {**content, "round": self.turn})
        if "files_planned" in gates:
            self.put(FILES, ["app.py"])
        if "in_scope" in gates or {"tests_failed", "tests_passed"}.intersection(gates):
            self.work(text=f"{self.turn} {'broken' if 'tests_failed' in gates else 'good'}\n")
        self.work("other.py", "2\n" if "out_of_scope" in gates else "1\n")

    def follow(self, step: Step) -> None:
        before, after = GRAPH.snapshots[step.source], GRAPH.snapshots[step.target]
        assert remembered(self.task.memory.snapshot) == remembered(before)
        self.open(step.open_gates)
        decision = self.signal(step.signal).decision
        assert isinstance(decision, Advance), (before.state, step.edge, step.way, decision)
        assert (decision.edge.name, decision.way.number) == (step.edge, step.way)
        assert remembered(self.task.memory.snapshot) == remembered(after)
        assert self.read("state.json")["phase"] == after.state


@pytest.mark.parametrize("walk", WALKS, ids=[f"walk-{number}-of-{len(walk)}" for number, walk in enumerate(WALKS, 1)])
def test_the_engine_follows_the_model(
    walk: tuple[Step, ...], repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    walker = Walker(repo, tmp_path, settings=SETTINGS)
    for step in walk:
        walker.follow(step)
    assert audit(walker.task).ok


def test_walks_take_every_edge_and_every_way_that_artifacts_open() -> None:
    covered = {(GRAPH.snapshots[step.source].state, step.edge, step.way) for walk in WALKS for step in walk}
    for edge in GLOBAL.edges():
        wanted = {way.number for way in edge.ways if not UNOPENED.intersection(way.needs)}
        assert {number for state, name, number in covered if (state, name) == (edge.source, edge.name)} == wanted
