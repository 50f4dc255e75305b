"""The `lights-out` machine and its document's relation, walked by asking `decide` and nothing else."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from detent.core.decide import decide, enter
from detent.core.explore import Graph, explore
from detent.core.machine import Edge, Machine
from detent.core.values import Advance, Fact, Signal, Snapshot
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary

_RELATIONS = Path(__file__).parents[1] / "data" / "relations"
RELATION: dict[str, Any] = json.loads((_RELATIONS / "002_lightsout.json").read_text(encoding="utf-8"))
REFINEMENT: dict[str, Any] = json.loads((_RELATIONS / "002_refinement.json").read_text(encoding="utf-8"))
STATES: list[str] = RELATION["states"]
ROWS: list[dict[str, str]] = RELATION["transitions"]
ACTORS = ("person", "agent", "engine", "crash")
# Which edge passes a phase, and in which state; in the order of the pipeline.
PHASES = {
    "expand": ("Expanding", "PassExpandGate"),
    "design": ("Designing", "PassDesignGate"),
    "analyze": ("Analyzing", "PassAnalyzeGate"),
    "build": ("Building", "PassBuildGate"),
    "review": ("Reviewing", "PassReviewGate"),
    "reconcile": ("Reconciling", "ReconcileClean"),
    "verify": ("Verifying", "PassVerifyGate"),
    "deploy": ("Deploying", "PassDeployGate"),
}
NOTHING_LOST = ("scope_lost", "design_lost", "readiness_lost", "build_lost")
SETUP = ("CommitToBuild", "CloneRepo", "OpenInEditor", "ConfigurePreferences", "RequestBuild")
TO_DESIGNING = (*SETUP, "PassExpandGate", "AutoContinueToDesign")
TO_ANALYZING = (*TO_DESIGNING, "PassDesignGate", "AutoContinueToAnalyze")
TO_BUILDING = (*TO_ANALYZING, "PassAnalyzeGate", "AutoContinueToBuild")
TO_REVIEWING = (*TO_BUILDING, "PassBuildGate", "AutoContinueToReview")
TO_RECONCILING = (*TO_REVIEWING, "PassReviewGate", "AutoContinueToReconcile")
TO_VERIFYING = (*TO_RECONCILING, "ReconcileClean")
TO_DEPLOYING = (*TO_VERIFYING, "PassVerifyGate", "AutoContinueToDeploy")
TO_COMPLETE = (*TO_DEPLOYING, "PassDeployGate")
WAYS_TO = {
    "Expanding": SETUP,
    "Designing": TO_DESIGNING,
    "Analyzing": TO_ANALYZING,
    "Building": TO_BUILDING,
    "Reviewing": TO_REVIEWING,
    "ReviewFixing": (*TO_REVIEWING, "FailReviewGate"),
    "Reconciling": TO_RECONCILING,
    "Verifying": TO_VERIFYING,
    "VerifyFixing": (*TO_VERIFYING, "FailVerifyGate"),
    "Deploying": TO_DEPLOYING,
    "PipelineComplete": TO_COMPLETE,
}


@cache
def lights_out() -> Machine:
    return load("lights-out", vocabulary())[0]


@cache
def graph() -> Graph:
    return explore(lights_out())


def edges_of(state: str) -> dict[str, Edge]:
    return {edge.name: edge for edge in lights_out().states[state].edges}


@cache
def facts(*, closed: tuple[str, ...] = ()) -> dict[str, Fact]:
    """Every gate open but these; a lost artifact is none unless it is asked for."""
    return {name: Fact(name, ok=name not in closed) for name in lights_out().gates}


def take(at: Snapshot, name: str, closed: tuple[str, ...] = ()) -> Snapshot | None:
    """The snapshot after a move, by any allowed actor after any end of a run; None when no actor may make it."""
    for who in ACTORS:
        for exit_class in ("finished", "killed", "entry"):
            signal = Signal(who, name, exit=exit_class if who == "crash" else "", reason="because")
            decision = decide(lights_out(), at.replace(exit=exit_class), facts(closed=closed), signal)
            if isinstance(decision, Advance) and decision.edge.name == name:
                return decision.after
    return None


def walk(*names: str, mode: str = "auto", start: Snapshot | None = None) -> Snapshot:
    """The snapshot after these moves from a new task, or from another snapshot; each of them must be possible."""
    at = start or enter(lights_out(), mode)
    for name in names:
        after = take(at, name)
        assert after is not None, f"{at.state}: {name} is not possible"
        at = after
    return at


def open_moves(at: Snapshot, closed: tuple[str, ...] = ()) -> set[str]:
    """Every move that any actor can make from a snapshot."""
    return {name for name in edges_of(at.state) if take(at, name, closed) is not None}


def situations(state: str, **registers: str) -> list[Snapshot]:
    """Every reachable way to stand in a state with these registers."""
    return [
        snapshot
        for snapshot in graph().snapshots
        if snapshot.state == state
        and all(snapshot.registers.get(name, "") == value for name, value in registers.items())
    ]


def raw_walks(names: list[str]) -> list[list[str]]:
    """The states that the bare relation passes through when it takes these actions in a row, from every start."""
    walks = [[state] for state in STATES]
    for name in names:
        steps = {row["from"]: row["to"] for row in ROWS if row["name"] == name}
        walks = [[*states, steps[states[-1]]] for states in walks if states[-1] in steps]
    return walks
