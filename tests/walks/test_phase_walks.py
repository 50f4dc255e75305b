"""Walks through every edge of the explored `phase` machine, driven through the real engine on a real repository.

Before each step exactly the gates the model holds open are opened, by writing evidence; after it, what the engine
remembers is what the model remembers. Steps that follow the end of an agent run are left out, because no run can be
started yet: the engine's own steps are those it may take on entry, and nothing crashes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from detent.core.explore import Graph, Step, explore
from detent.core.machine import Machine
from detent.core.values import Advance, Refuse, Signal, Snapshot, Wait
from detent.gates.judge import judge
from detent.machines.load import load
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.make.vocabulary import vocabulary
from detent.runner.step.look import current_tree, look
from detent.runner.step.step import step as take
from detent.runner.task.open import Task, load_task
from tests.conftest import MakeRepo
from tests.walks.cover import cover
from tests.walks.evidence import PhaseFolder, PhaseGates

PHASE = load("phase", vocabulary())[0]


def drivable(machine: Machine) -> Graph:
    """The part of the explored graph that needs no agent run."""
    graph = explore(machine)
    return graph.replace(
        steps=tuple(step for step in graph.steps if step.signal.who != "crash" and not step.signal.exit)
    )


GRAPH = drivable(PHASE)
WALKS = cover(GRAPH)


def gates_of(state: str) -> set[str]:
    return {gate for edge in PHASE.states[state].edges for way in edge.ways for gate in way.needs}


def remembered(snapshot: Snapshot) -> tuple[str, Mapping[str, int], Mapping[str, str]]:
    return snapshot.state, dict(snapshot.counters), dict(snapshot.registers)


class World:
    """One task, its folder and its tree."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.task: Task = create(
            NewTask(machine="phase", title="walk", repo=str(repository), folder=str(folder), in_place=True)
        )
        self.folder = PhaseFolder(folder)
        self.gates = PhaseGates(self.folder, repository)

    def ask(self, signal: Signal) -> object:
        outcome = take(self.task, signal)
        self.task = load_task(outcome.task.project, outcome.task.id)
        assert self.task.memory == outcome.task.memory
        return outcome.decision

    def open_gates(self, state: str) -> set[str]:
        """The gates of a state's edges that hold now, as the engine's own checks see them."""
        seen = look(self.task, self.task.memory, self.task.native.read(), current_tree(self.task))
        return {name for name, fact in judge(seen, gates_of(state)).items() if fact.ok}

    def prepare(self, state: str, opened: set[str]) -> None:
        self.gates.set(gates_of(state), opened)
        # The command's gate holds only once the engine has run it, and the engine's own memory is not for us to write.
        ours = gates_of(state) - {"validation_passed"} - PhaseGates.BY_ENGINE - PhaseGates.OPPOSITES
        assert self.open_gates(state) & ours == opened & ours

    def follow(self, step: Step) -> None:
        before, after = GRAPH.snapshots[step.source], GRAPH.snapshots[step.target]
        self.prepare(before.state, set())
        if step.open_gates:
            assert isinstance(self.ask(step.signal), (Refuse, Wait))
            assert remembered(self.task.memory.snapshot) == remembered(before)
        self.prepare(before.state, set(step.open_gates))
        decision = self.ask(step.signal)
        assert isinstance(decision, Advance), decision
        assert (decision.edge.name, decision.way.number) == (step.edge, step.way)
        assert remembered(self.task.memory.snapshot) == remembered(after)
        assert f"Phase: {after.state}\n" in (self.folder.path / "STATE.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "walk", WALKS, ids=[f"walk-{number}-of-{len(walk)}-steps" for number, walk in enumerate(WALKS, 1)]
)
def test_the_engine_follows_the_model(
    walk: tuple[Step, ...], repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    world = World(repo(), tmp_path / "task")
    assert remembered(world.task.memory.snapshot) == remembered(GRAPH.snapshots[0])
    for step in walk:
        world.follow(step)


def test_the_walks_take_every_way_by_every_allowed_actor() -> None:
    def taken(steps: tuple[Step, ...]) -> set[tuple[str, str, int, str]]:
        return {(GRAPH.snapshots[taken.source].state, taken.edge, taken.way, taken.signal.who) for taken in steps}

    covered = taken(tuple(step for walk in WALKS for step in walk))
    assert covered == taken(GRAPH.steps)
    for edge in (edge for state in PHASE.states.values() for edge in state.edges):
        for way in edge.ways:
            asking = {
                who
                for state, name, number, who in covered
                if (state, name, number) == (edge.source, edge.name, way.number)
            }
            assert asking - {"engine"} == {"person"} | ({"agent"} & set(way.by))
            assert ("engine" in asking) == ("engine" in way.by and "entry" in way.after)
