"""One small project from an idea to its second version, as a person leads it: by the command line only.

On the way a gate fails, a phase is blocked, an agent is killed while it builds, the pipeline is led step by step for a
while, and documents are reconciled on demand. The agent is scripted and a real process; git, gates and deploy are real.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.lightsout_pipeline import COMMANDS, EXAMPLE, Lights, Pipeline
from tests.conftest import Detent, MakeRepo

# The documents of the version at hand lie in $SCRIPTS/docs; a line that differs makes each of them new.
WORDS = r"""
lay() { cp "$SCRIPTS/docs/scaffolding/$1" "$2/$1"; printf '\nRound: %s\n' "$DETENT_RUN_NUMBER" >> "$2/$1"; }
doc() { lay "$1" scaffolding; }
out() { lay "$1" "$DETENT_OUT"; }
hasty() { echo "# Later" >> "scaffolding/$1"; }
half() { echo half > half.txt; kill -9 $$; }
once() { if [ -e "$SCRIPTS/$1" ]; then return 1; fi; : > "$SCRIPTS/$1"; }
"""
SCRIPTS = {
    "Expanding": "echo __pycache__/ > .gitignore; if once first; then hasty scope.md; else doc scope.md; fi",
    "Designing": 'if [ -e "$SCRIPTS/answered" ]; then doc design.md; else hasty design.md; fi',
    "Analyzing": "out readiness.md",
    "Building": 'if once killed; then half; fi; cp -r "$SCRIPTS/docs/words.py" "$SCRIPTS/docs/tests" .',
    "Reviewing": "out review.md",
    "Reconciling": "doc reconcile.md",
    "Verifying": "out verification.md",
    "Deploying": 'cp "$SCRIPTS/docs/README.md" "$SCRIPTS/docs/DELIVERY.md" .',
    "Iterating": "out proposal.md",
    "IterationConfirmed": "doc scope.md",
}


def second_version(folder: Path) -> Path:
    """The same project with one criterion more, in every document that must know it."""
    shutil.copytree(EXAMPLE, folder)
    documents = folder / "scaffolding"
    for name in ("scope.md", "readiness.md"):
        text = (documents / name).read_text(encoding="utf-8")
        text = re.sub(r"(?m)^- AC-3:.*$", lambda line: f"{line[0]}\n{line[0].replace('AC-3', 'AC-4')}", text)
        (documents / name).write_text(text.replace("3. AC-2", "3. AC-2\n4. AC-4"), encoding="utf-8")
    text = (documents / "verification.md").read_text(encoding="utf-8")
    part = re.search(r"(?ms)^### AC-3$.*?(?=^## )", text)
    assert part is not None
    text = text.replace(part[0], part[0] + part[0].replace("AC-3", "AC-4"))
    (documents / "verification.md").write_text(text.replace("AC-2 and AC-3", "AC-2, AC-3 and AC-4"), encoding="utf-8")
    test = next((folder / "tests").glob("test_*.py"))
    test.write_text(test.read_text(encoding="utf-8") + "\n# AC-4 is shown by the test of AC-3\n", encoding="utf-8")
    return folder


@pytest.fixture
def line(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Pipeline]:
    lights = Lights(detent, repo, tmp_path)
    lights.words += WORDS
    (lights.scripts / "docs").symlink_to(EXAMPLE)
    for state, text in SCRIPTS.items():
        lights.script(state, text)
    brief = (EXAMPLE / "docs/input/brief.md").read_text(encoding="utf-8")
    yield lights.pipeline(files={"docs/input/brief.md": brief}, more=COMMANDS)
    lights.close()


def scripts_of(line: Pipeline) -> Path:
    return Path(line.detent.environment["SCRIPTS"])


def say(line: Pipeline, words: str) -> None:
    done = line("say", words, "p")
    assert done.code == 0, done


def moves(line: Pipeline) -> list[str]:
    return [entry["edge"] for entry in line.entries("moved")]


def _to_a_block(line: Pipeline) -> None:
    """The idea, the set-up, a scope that fails once, a pause, and a design that fails three times."""
    assert line.state() == "Ideating"
    line.configured().committed()
    assert line("configure", "--mode", "stepped", "p").code == 0
    say(line, "build me a counter of words")
    line.run(expect=4)
    assert (line.state(), line.shown()["paused_from"]) == ("SteppedModePaused", "ExpandGatePassed")
    assert moves(line).count("FailExpandGate") == 1
    assert line.shown()["attempts"] == 0
    say(line, "continue")
    line.run(expect=4)
    assert line.state() == "BlockedOnGate"
    assert moves(line).count("FailDesignGate") == 3


def _out_of_the_block(line: Pipeline) -> None:
    assert not (line.folder / "design.md").exists()
    history = line.git("log", "--format=%s")
    assert "fix(design): checkpoint broken state before revert" in history
    assert re.search(r"(?m)^BLOCKED: .*Options: \[.*\]\. Recommendation: ", line.read("scaffolding/blocked.md"))
    assert "What went wrong" in line.read("scaffolding/log.md")
    (scripts_of(line) / "answered").touch()
    done = line("answer", "write the whole design in one go", "p")
    assert done.code == 0, done
    line.run(expect=4)
    planned = [entry["run"] for entry in line.entries("run_planned") if entry["state"] == "Designing"]
    told = line.prompt(planned[-1])
    assert "Post-mortems" in told
    assert "write the whole design in one go" in told
    assert line.shown()["paused_from"] == "DesignGatePassed"


def _to_the_first_delivery(line: Pipeline) -> None:
    """Back to auto; a killed builder, documents reconciled on demand, and the deploy a person confirms."""
    assert line("configure", "--mode", "auto", "p").code == 0
    while line.state() != "Building":
        line.run("--once")
    line.run("--once")
    while line.state() != "Building":
        line.run("--once")
    assert "DropSession" in moves(line)
    assert line.shown()["attempts"] == 0
    assert "half.txt" in line.git("show", "--stat", "--format=%s", "HEAD")
    (line.repo / "half.txt").unlink()
    say(line, "/reconcile is the design still true?")
    line.run("--once")
    assert line.state() == "Building"
    line.run(expect=4)
    assert line.state() == "Deploying"
    assert line("approve", "--reason", "my own folder", "p").code == 0
    line.run(expect=4)
    assert (line.state(), line.shown()["delivered"]) == ("PipelineComplete", "yes")
    assert (Path(line.detent.environment["HOME"]) / "live/words").is_file()


def _to_the_second_version(line: Pipeline) -> None:
    say(line, "/iterate")
    line.run(expect=4)
    assert line.state() == "IterationProposed"
    documents = scripts_of(line) / "docs"
    documents.unlink()
    second_version(documents)
    assert line("approve", "--reason", "all of it", "p").code == 0
    line.run(expect=4)
    assert (line.state(), line.shown()["delivered"]) == ("PipelineComplete", "yes")
    assert "AC-4" in line.read("scaffolding/scope.md")
    assert moves(line).count("PassDeployGate") == 2
    assert moves(line).count("PassDesignGate") == 1


@pytest.mark.requirement("S2.14", "S2.27", "S2.79", "S2.89", "S2.102")
def test_a_project_from_an_idea_to_its_second_version(line: Pipeline) -> None:
    before = line.git("rev-parse", "main")
    _to_a_block(line)
    _out_of_the_block(line)
    _to_the_first_delivery(line)
    _to_the_second_version(line)
    line.audit()
    assert line.git("branch", "--show-current") == "lights-out/p"
    assert line.git("rev-list", "--count", f"{before}..main") == "1"  # the set-up a person committed; nothing since
    gates = ("expand", "design", "analyze", "build", "review", "reconcile", "verify", "deploy")
    subjects = line.git("log", "--format=%s", "main..lights-out/p")
    for gate in gates:
        assert re.search(rf"(?m)^\w+\({gate}\): pass the {gate} gate$", subjects)
    assert all((line.folder / name).is_file() for name in ("scope.md", "design.md", "readiness.md", "log.md"))
    assert (line.repo / "docs/input/brief.md").is_file()
