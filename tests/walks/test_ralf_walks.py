"""Walks through every edge of `ralf` with the real engine, real git and a scripted agent, in both modes.

A thread is led to each state by the way a person would take; from there every edge out of it is taken. What the engine
remembers after each move is what the model says. Each station of a way is reached once and kept, and put back to the
very same place for the ways that lead through it, because tasks know their paths.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.core.decide import decide
from detent.core.values import Advance, Fact, Signal
from detent.effects.host.keeper.watch import wait_for_end
from detent.machines.load import load
from detent.runner.drive.drive import drive
from detent.runner.drive.mandate import interrupt
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.make.vocabulary import vocabulary
from detent.runner.run.ending import attend
from detent.runner.run.ready import make_ready
from detent.runner.run.runs import start_run
from detent.runner.step.step import step
from detent.runner.task.open import Task, load_task
from detent.store.journal.places import project_at
from tests.conftest import SAMPLE_FILES, MakeRepo, let_out, trust
from tests.e2e.phase_task import environment_in

RALF = load("ralf", vocabulary())[0]
EDGES = [(edge.source, edge.name) for edge in RALF.edges()]
SPEC = "Promise: <promise>DONE</promise>\n\n## Criteria\n\n- ready; cmd: grep -q ready app.py\n"
AGENT = 'if [ -f "$SCRIPTS/$DETENT_STATE" ]; then exec sh -eu "$SCRIPTS/$DETENT_STATE"; fi'
PROMISE = "echo '<promise>DONE</promise>'"
FAIL = "printf '## Assessment\\n\\nVerdict: FAIL\\n\\nno\\n' > \"$DETENT_TASK_DIR/assessment.md\""
SETTINGS = f"""
[agents]
default = "scripted"
[agents.scripted]
argv = {json.dumps(["sh", "-c", AGENT])}
events = "text"
[sandbox]
pass = ["SCRIPTS"]
[machine.ralf.limits]
iteration = 2
"""
# By which states a person leads a thread to a state, and what an agent does there on the way.
ROUTES = {
    "Drafting": [],
    "Assessing": ["Assessing"],
    "Finalized": ["Finalized"],
    "Preflight": ["Finalized", "Preflight"],
    "PreflightFailed": ["Finalized", "dirty", "Preflight", "PreflightFailed"],
    "Configuring": ["Finalized", "Preflight", "Configuring"],
    "Running": ["Finalized", "Preflight", "Configuring", "Running"],
    "Paused": ["Finalized", "Preflight", "Configuring", "Running", "Paused"],
    "Verifying": ["Finalized", "Preflight", "Configuring", "Running", "promise", "Verifying"],
    "Stuck": ["Finalized", "Preflight", "Configuring", "Running", "Stuck"],
    "Implemented": ["Finalized", "Preflight", "Configuring", "Running", "ready", "Implemented"],
    "Polishing": ["Finalized", "Preflight", "Configuring", "Running", "ready", "Implemented", "Polishing"],
    "PendingReview": ["Finalized", "Preflight", "Configuring", "Running", "ready", "Implemented", "PendingReview"],
}
ROUTES["Approved"] = [*ROUTES["PendingReview"], "Approved"]
ROUTES["ReadyToCommit"] = [*ROUTES["Approved"], "ReadyToCommit"]


class World:
    """One thread and the scripts of its agent."""

    def __init__(self, repository: Path, scripts: Path, task: Task) -> None:
        self.repository, self.scripts, self.task = repository, scripts, task

    @property
    def state(self) -> str:
        return self.task.memory.snapshot.state

    def script(self, state: str, text: str) -> None:
        (self.scripts / state).write_text(text, encoding="utf-8")

    def take(self, edge: str) -> object:
        """As a person that says yes, and that may leave an assessment out."""
        answers = {"yes": "yes", "skip-assess": "yes"}
        outcome = step(self.task, Signal("person", edge, name="walker", reason="walk"), options=answers)
        self.task = load_task(outcome.task.project, outcome.task.id)
        return outcome.decision

    def drive(self) -> None:
        """One agent run, or what the engine does alone."""
        self.task = drive(self.task, lambda _told: None, lambda _outcome: {}, once=True).task

    def lead(self, *stations: str) -> None:
        for station in stations:
            match station:
                case "dirty":
                    (self.repository / "app.py").write_text("mine\n", encoding="utf-8")
                case "promise":
                    self.script("Running", PROMISE)
                case "ready":
                    self.script("Running", f"echo '# ready' >> app.py; {PROMISE}")
                case "Verifying":
                    self._promise_without_verification()
                case "Paused":
                    outcome = interrupt(self.task, "walker")
                    assert outcome is not None
                    self.task = outcome.task
                case "Implemented" | "Stuck" | "PreflightFailed":
                    self.until(station)
                case _:
                    found = self.take(station)
                    assert isinstance(found, Advance), (station, found)
            assert station not in RALF.states or self.state == station, (station, self.state)

    def until(self, state: str) -> None:
        for _ in range(6):
            if self.state != state:
                self.drive()

    def _promise_without_verification(self) -> None:
        """A run that promises, judged by hand, so that the thread rests in Verifying."""
        self.task = start_run(self.task, make_ready(self.task))
        wait_for_end([self.task.places.run(self.task.memory.run.run)], 30)
        self.task = attend(self.task)[0]


class Stations:
    """One thread, kept as it was at each station of a way."""

    def __init__(self, top: Path) -> None:
        self.live, self.kept = top / "live", top / "kept"
        self.repository, self.scripts, self.state = (self.live / name for name in ("repo", "scripts", "state"))

    def at(self, *route: str) -> World:
        saved = self.kept / "-".join(("start", *route))
        if not saved.exists():
            world = self._begin() if not route else self.at(*route[:-1])
            world.lead(*route[-1:])
            shutil.copytree(self.live, saved, symlinks=True)
            return world
        shutil.rmtree(self.live)
        shutil.copytree(saved, self.live, symlinks=True)
        project = project_at(str(self.repository), str(self.repository / ".git"))
        return World(self.repository, self.scripts, load_task(project, "walk"))

    def _begin(self) -> World:
        self.scripts.mkdir(parents=True)
        environment = environment_in(self.live / "home")
        MakeRepo(self.live, environment)("repo", {**SAMPLE_FILES, "detent.toml": SETTINGS})
        let_out(self.repository)
        trust(self.repository)
        task = create(NewTask(machine="ralf", title="walk", task_id="walk", repo=str(self.repository)))
        (Path(task.native.folder) / "spec" / "draft.md").write_text(SPEC, encoding="utf-8")
        return World(self.repository, self.scripts, task)


@pytest.fixture(scope="module")
def stations(tmp_path_factory: pytest.TempPathFactory) -> Stations:
    return Stations(tmp_path_factory.mktemp("stations"))


@pytest.fixture
def at(stations: Stations, monkeypatch: pytest.MonkeyPatch) -> Callable[..., World]:
    monkeypatch.setenv("XDG_STATE_HOME", str(stations.state))
    monkeypatch.setenv("SCRIPTS", str(stations.scripts))
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
        monkeypatch.setenv(name, "Walker")
    for name in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "walker@example.org")
    return stations.at


def open_by(world: World, source: str, edge: str) -> None:
    """What has to be there before an edge can be taken."""
    match (source, edge):
        case ("Verifying", "all-criteria-pass") | ("Stuck", "manual-assist"):
            with (world.repository / "app.py").open("a", encoding="utf-8") as file:
                file.write("# ready\n")
        case _:
            pass  # the way there has left all that is asked for


# What needs the end of an agent run, or a check that fails, is taken in the second test.
BY_ENGINE = {
    ("Assessing", "revise-needed"),
    ("Running", "model-claims-done"),
    ("Running", "max-iterations-or-all-models-exhausted"),
    ("Verifying", "criteria-failed-no-iterations-remain"),
    ("Preflight", "checks-fail"),
}


@pytest.mark.parametrize(("source", "edge"), [pair for pair in EDGES if pair not in BY_ENGINE])
def test_real_thread_takes_every_edge_of_a_person(at: Callable[..., World], source: str, edge: str) -> None:
    world = at(*ROUTES[source])
    open_by(world, source, edge)
    before = world.task.memory.snapshot
    facts = {name: Fact(name, ok=True) for name in RALF.gates}
    model = decide(world.task.machine, before, facts, Signal("person", edge, reason="walk"))
    assert isinstance(model, Advance)
    found = world.take(edge)
    assert isinstance(found, Advance), found
    after = world.task.memory.snapshot
    assert (after.state, dict(after.counters)) == (model.after.state, dict(model.after.counters))
    native = json.loads((Path(world.task.native.folder) / "thread.json").read_text(encoding="utf-8"))
    assert native["phase"]["type"] == after.state


@pytest.mark.parametrize(
    ("route", "state"),
    [
        (["Assessing"], "Drafting"),
        (["Finalized", "dirty", "Preflight"], "PreflightFailed"),
        (["Finalized", "Preflight", "Configuring", "Running", "promise"], "Stuck"),
        (["Finalized", "Preflight", "Configuring", "Running"], "Stuck"),
        (["Finalized", "Preflight", "Configuring", "Running", "ready"], "Implemented"),
    ],
)
def test_the_engine_takes_its_own_edges(at: Callable[..., World], route: list[str], state: str) -> None:
    world = at(*route)
    world.script("Assessing", FAIL)
    world.until(state)
    assert world.state == state
