"""Walks through every edge of the explored `orange` machine, driven through the real engine on a real repository.

Before each step exactly the gates the model holds open are opened, by writing sections into TASK.md; after it, what the
engine remembers, and what TASK.md shows of it, is what the model remembers. What follows from the end of an agent run
is shown in tests/conformance, with real runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from detent.core.decide import decide
from detent.core.explore import Graph, Step, explore
from detent.core.values import Advance, Fact, Refuse, Signal, Snapshot, Wait
from detent.gates.judge import judge
from detent.machines.load import load
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.make.vocabulary import vocabulary
from detent.runner.step.look import look
from detent.runner.step.step import step as take
from detent.runner.task.open import Task, load_task
from tests.conftest import MakeRepo, trust
from tests.e2e.stubs import put_program
from tests.walks.cover import cover

ORANGE = load("orange", vocabulary(), options=["changes-requested"])[0]
# No text opens both of these.
OPPOSED = ({"review_passed", "review_failed"}, {"summary_known", "summary_missing"})
SUMMARY = {"summary_known", "summary_missing"}
# About the tree, which only the step looks at; the project has no commands.
SIGNED = {"signed_as_is", "tests_passed", "proven", "proof_accepted"}


def drivable() -> Graph:
    """The part of the explored graph that needs no agent run and no text that says two things at once."""
    graph = explore(ORANGE)
    kept = [
        step
        for step in graph.steps
        if step.signal.who != "crash"
        and not step.signal.exit
        and not any(pair <= set(step.open_gates) for pair in OPPOSED)
    ]
    return graph.replace(steps=tuple(kept))


GRAPH = drivable()
WALKS = cover(GRAPH)


def gates_of(state: str) -> set[str]:
    return {gate for edge in ORANGE.states[state].edges for way in edge.ways for gate in way.needs}


def remembered(snapshot: Snapshot) -> tuple[str, Mapping[str, int], Mapping[str, str]]:
    return snapshot.state, dict(snapshot.counters), dict(snapshot.registers)


class World:
    """One task, its folder and its tree."""

    def __init__(self, repository: Path, folder: Path, programs: Path) -> None:
        self.file = folder / "TASK.md"
        self.programs = programs  # of its agents, which are there while a gate asks for them
        self.task: Task = create(NewTask(machine="orange", title="walk", repo=str(repository), folder=str(folder)))
        self.turn = 0

    def ask(self, signal: Signal) -> object:
        outcome = take(self.task, signal)
        self.task = load_task(outcome.task.project, outcome.task.id)
        assert self.task.memory == outcome.task.memory
        return outcome.decision

    def write(self, section: str, body: str) -> None:
        self.turn += 1
        text = f"\n## {section}\n{body}{f' (note {self.turn})' if body else ''}\n"
        self.file.write_text(self.file.read_text(encoding="utf-8") + text, encoding="utf-8")

    def prepare(self, state: str, opened: set[str], edge: str = "") -> None:
        """Open just these gates; the last section of a name counts, and an empty one is none.

        One of the two about the summary is always open: it is the other one where a step wants the gate of its own edge
        closed.
        """
        if state == "pending":
            is_missing = "summary_missing" in opened or (edge == "pending-to-working" and "summary_known" not in opened)
            summary = "" if is_missing else "walk"
            text = re.sub("(?m)^summary:.*$", f"summary: {summary}", self.file.read_text(encoding="utf-8"))
            self.file.write_text(text, encoding="utf-8")
            for role in ("worker", "host"):
                (self.programs / role).unlink(missing_ok=True)
                if f"{role}_found" in opened:
                    put_program(self.programs, role, "true")
        self.write("Handoff", "DONE: it" if "handoff" in opened else "")
        verdict = "PASS" if "review_passed" in opened else "FAIL" if "review_failed" in opened else ""
        self.write("Review", f"Verdict: {verdict}\n\nread it" if verdict else "")
        seen = look(self.task, self.task.memory, self.task.native.read(), "")
        found = {name for name, fact in judge(seen, gates_of(state)).items() if fact.ok}
        assert found - SUMMARY - SIGNED == opened & gates_of(state) - SUMMARY - SIGNED

    def follow(self, step: Step) -> None:
        before, after = GRAPH.snapshots[step.source], GRAPH.snapshots[step.target]
        closed = {name: Fact(name, ok=False) for name in ORANGE.gates}
        # A person may leave stuck without what an agent needs, so that the model is asked what a closed gate means.
        # Nor does a sign-off with a reason depend on the files being those that were reviewed.
        needed = set(step.open_gates) - SUMMARY - SIGNED
        if needed and not isinstance(decide(ORANGE, before, closed, step.signal), Advance):
            self.prepare(before.state, set())
            assert isinstance(self.ask(step.signal), (Refuse, Wait))
            assert remembered(self.task.memory.snapshot) == remembered(before)
        self.prepare(before.state, set(step.open_gates), step.edge)
        decision = self.ask(step.signal)
        assert isinstance(decision, Advance), decision
        assert (decision.edge.name, decision.way.number) == (step.edge, step.way)
        assert remembered(self.task.memory.snapshot) == remembered(after)
        shown = self.file.read_text(encoding="utf-8")
        assert f"status: {after.state}\n" in shown
        assert f"review_round: {after.counters.get('review_round', 0)}\n" in shown


@pytest.mark.parametrize(
    "walk", WALKS, ids=[f"walk-{number}-of-{len(walk)}-steps" for number, walk in enumerate(WALKS, 1)]
)
def test_the_engine_follows_the_model(
    walk: tuple[Step, ...], repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    programs = tmp_path / "programs"
    agents = "".join(f'[agents.{role}-agent]\nargv = ["{programs / role}"]\n' for role in ("worker", "host"))
    settings = (
        '[machine.orange]\noptions = ["changes-requested"]\n[agents]\nworker = "worker-agent"\nhost = "host-agent"\n'
    )
    path = repo("repo", {"app.py": "", "detent.toml": settings + agents})
    trust(path)
    world = World(path, tmp_path / "task", programs)
    assert remembered(world.task.memory.snapshot) == remembered(GRAPH.snapshots[0])
    for step in walk:
        world.follow(step)


def test_the_walks_take_every_edge_by_every_allowed_actor() -> None:
    covered = {(GRAPH.snapshots[step.source].state, step.edge) for walk in WALKS for step in walk}
    assert covered == {(edge.source, edge.name) for edge in ORANGE.edges()}
    asking = {(GRAPH.snapshots[step.source].state, step.edge, step.signal.who) for walk in WALKS for step in walk}
    for edge in ORANGE.edges():
        assert (edge.source, edge.name, "person") in asking or edge.by() == ("agent", "engine", "crash")
        for who in set(edge.by()) & {"agent"}:
            assert (edge.source, edge.name, who) in asking
