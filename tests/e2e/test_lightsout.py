"""One small real project through the whole pipeline, from an idea to its second version, by the command line alone.

On the way: a failed gate, a block that a person answers, a session killed in Building, stepped mode, a reconcile on
demand, deploy commands that a person confirms, and one iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.lightsout_pipeline import COMMANDS, EXAMPLE, HONEST, Lights, Pipeline
from tests.conformance.test_lightsout_git import commit_of
from tests.conformance.test_lightsout_recovery import DIE, ROUND, once
from tests.conftest import Detent, MakeRepo


@pytest.fixture
def lights(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Lights]:
    made = Lights(detent, repo, tmp_path)
    made.honest()
    yield made
    made.close()


def person(line: Pipeline, *words: str) -> None:
    done = line(*words, "p")
    assert done.code == 0, done


@pytest.mark.requirement("S2.14", "S2.27", "S2.79", "S2.89", "S2.102")
def test_from_an_idea_to_the_second_version(lights: Lights) -> None:
    line = asked_for(lights)
    main = line.git("rev-parse", "main")
    failed_gate(lights, line)
    block(lights, line)
    reconcile_on_demand(lights, line)
    killed_session(lights, line)
    stepped(line)
    live = delivered(lights, line)
    second_version(lights, line)
    assert live.read_text(encoding="utf-8") == line.read("words.py")
    assert "# version 2" in line.read("words.py")
    for name in ("scaffolding/scope.md", "scaffolding/log.md", "docs/input/brief.md"):
        assert line.read(name) == line.git("show", f"HEAD:{name}") + "\n", "what the work rests on stays"
    assert line.git("rev-parse", "main") == main, "nobody's branch was moved"
    assert line.git("status", "--porcelain") == ""
    line.audit()


def asked_for(lights: Lights) -> Pipeline:
    """Ideating, set up, and one sentence; the rest is inferred from preferences and inputs."""
    brief = (EXAMPLE / "docs/input/brief.md").read_text(encoding="utf-8")
    line = lights.pipeline(files={"docs/input/brief.md": brief}, more=COMMANDS)
    assert line.state() == "Ideating"
    line.configured().committed()
    person(line, "say", "build me a word counter")
    assert line.state() == "Expanding"
    return line


def failed_gate(lights: Lights, line: Pipeline) -> None:
    """Mended in the next run, and counted until the gate is passed."""
    lights.script("Expanding", once("Expanding", "echo nothing yet", HONEST["Expanding"]))
    line.run("--once")
    assert line.path_of_moves()[-2:] == ["ExpandRetrying", "Expanding"]
    assert line.json("status", "p")["counters"]["attempts"] == 1
    line.run("--once")
    assert line.state() == "Designing"
    assert line.json("status", "p")["counters"].get("attempts", 0) == 0


def block(lights: Lights, line: Pipeline) -> None:
    """Three designs that are none, then a person says what is missing."""
    lights.script("Designing", "echo '# Design' > scaffolding/design.md; echo draft > draft.txt")
    line.run(expect=4)
    assert line.state() == "BlockedOnGate"
    assert not (line.repo / "draft.txt").exists()
    assert line.git("show", f"{commit_of(line, 'fix(design)')}:draft.txt") == "draft"
    assert "BLOCKED: design" in line("inbox").out
    person(line, "answer", "draw one component, with its interfaces")
    lights.honest()
    runs = len(line.entries("run_planned"))
    line.run("--once")
    assert "draw one component" in line.prompt(runs + 1)
    assert line.state() == "Analyzing"
    line.run("--once")
    assert line.state() == "Building"


def reconcile_on_demand(lights: Lights, line: Pipeline) -> None:
    """And back to where it was asked for."""
    lights.script("Reconciling", f"doc reconcile.md; {ROUND}")
    person(line, "say", "/reconcile")
    assert line.state() == "Reconciling"
    line.run("--once")
    assert line.state() == "Building"


def killed_session(lights: Lights, line: Pipeline) -> None:
    """Nothing is lost, and no gate has failed."""
    killed = f"echo half > half.txt; {DIE}"
    lights.script("Building", once("Building", killed, f"rm -f half.txt; {HONEST['Building']}"))
    person(line, "configure", "--mode", "stepped")
    line.run(expect=4)
    dropped = ["SessionDropped", "ContextRecovering", "Building", "BuildGatePassed", "SteppedModePaused"]
    assert line.path_of_moves()[-5:] == dropped
    assert "half.txt" in line.git("show", "--name-only", "--format=", commit_of(line, "wip(build)"))


def stepped(line: Pipeline) -> None:
    """A person reads and says continue; then back to auto."""
    person(line, "say", "continue")
    assert line.state() == "Reviewing"
    line.run(expect=4)
    assert line.path_of_moves()[-2:] == ["ReviewGatePassed", "SteppedModePaused"]
    person(line, "configure", "--mode", "auto")
    line.run(expect=4)
    assert line.state() == "Deploying"


def delivered(lights: Lights, line: Pipeline) -> Path:
    """The commands are a person's to confirm, the first time."""
    person(line, "approve", "--reason", "our own folder")
    done = line.run(expect=4)
    assert "FULL PIPELINE COMPLETE" in done.out
    assert line.state() == "PipelineComplete"
    live = Path(lights.detent.environment["HOME"]) / "live" / "words"
    assert live.read_text(encoding="utf-8") == line.read("words.py")
    line.audit()
    return live


def second_version(lights: Lights, line: Pipeline) -> None:
    """From the delivered state through a proposal that a person confirms to the next delivery."""
    line.put("docs/input/feedback.md", "People count several files.\n")
    line.git("add", "--all")
    line.git("commit", "--quiet", "--message=docs: what people said")
    person(line, "say", "/iterate")
    line.run(expect=4)
    assert line.state() == "IterationProposed"
    person(line, "approve", "--reason", "both changes")
    again = 'echo "Round: $DETENT_RUN_NUMBER" >>'
    scope = "sed -i -e 's/brief.md/brief.md and feedback.md/' -e 's/^# Scope.*/&\\n\\nVersion: 2/' scaffolding/scope.md"
    lights.script("IterationConfirmed", f"{scope}; {again} scaffolding/scope.md")
    lights.script("Analyzing", f"out readiness.md; {again} $DETENT_OUT/readiness.md")
    lights.script("Building", "echo '# version 2' >> words.py")
    lights.script("Reviewing", f"out review.md; {again} $DETENT_OUT/review.md")
    lights.script("Verifying", f"out verification.md; {again} $DETENT_OUT/verification.md")
    assert "words.py changed since" in line.run(expect=4).out, "the first word was about other files"
    person(line, "approve", "--reason", "the next version too")
    line.run(expect=4)
    assert line.state() == "PipelineComplete", (line.path_of_moves()[-12:], line.run().out)
    start = line.path_of_moves().index("IterationConfirmed")
    assert line.path_of_moves()[start + 1] == "Analyzing", "no change of the architecture: design is skipped"
    assert len(line.entries("deploy")) == 6, "each version was confirmed and deployed"
