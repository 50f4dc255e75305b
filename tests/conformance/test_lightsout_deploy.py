"""Deploy of a pipeline: the engine runs the commands of preferences.md against a target that is really served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.lightsout_pipeline import PREFERENCES, Lights, Pipeline
from tests.conftest import Detent
from tests.e2e.test_deploy import Target

ROLLBACK = 'rm -f "$TARGET/words.py"'
# One of them fails where a test says so: `FAILS` is its name.
COMMANDS = {
    "Pre-flight": 'test -n "$CREDENTIAL" && test -d "$TARGET" && test "$FAILS" != Pre-flight',
    "Deploy": 'test "$FAILS" != Deploy || exit 7; echo deployed >> "$TARGET/../count"; cp words.py "$TARGET/words.py"',
    "Check": 'python3 -c "import os, urllib.request as u; '
    "u.urlopen(os.environ['LIVE'] + {'Check': '/nowhere'}.get(os.environ['FAILS'], '/words.py'), timeout=10)\"",
    "Persistence": 'test "$FAILS" != Persistence || exit 3',
    "Rollback": ROLLBACK,
}


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Target]:
    made = Target(tmp_path)
    yield made
    made.close()


@pytest.fixture
def lights(lights: Lights, target: Target) -> Lights:
    more = {"TARGET": str(target.folder), "LIVE": target.url, "CREDENTIAL": "of the person", "FAILS": ""}
    lights.detent = Detent(lights.detent.directory, {**lights.detent.environment, **more})
    return lights


def preferences() -> str:
    before, _, rest = PREFERENCES.partition("## Deploy Commands\n")
    listed = "".join(f"- {label}: `{line}`\n" for label, line in COMMANDS.items())
    return f"{before}## Deploy Commands\n\n{listed}\n## {rest.partition('## ')[2]}"


def verified(lights: Lights, **scripts: str) -> Pipeline:
    """A pipeline that has come to Deploying, where a person's word is wanted."""
    line = lights.at("Verifying", preferences(), **scripts)
    line.run()
    assert line.state() in ("Deploying", "BlockedOnGate"), line.path_of_moves()
    return line


def confirmed(line: Pipeline) -> Pipeline:
    done = line("approve", "--reason", "our own host", "p")
    assert done.code == 0, done
    return line


@pytest.mark.requirement("S2.72", "S2.73", "S2.74", "S2.79")
def test_the_engine_deploys_verifies_and_completes_the_pipeline(lights: Lights, target: Target) -> None:
    line = verified(lights)
    assert target.get("words.py") == "404", "nothing is deployed before a person confirmed the commands"
    assert "a person must confirm the deploy commands" in line("inbox").out
    done = confirmed(line).run(expect=4)
    assert line.state() == "PipelineComplete"
    assert target.get("words.py") == line.read("words.py")
    assert "FULL PIPELINE COMPLETE" in done.out
    assert line.run(expect=4).out.count("starts") == 0, "the agent stops"
    _, begun, ended = line.entries("deploy")
    assert ["Rollback", ROLLBACK] in begun["commands"], "the way back is known before anything is deployed"
    assert (ended["ok"], len(ended["receipts"]), target.deployed()) == (True, 4, 1)
    assert ROLLBACK.split(maxsplit=1)[0] in line("history", "p").out
    paused = [entry["to"] for entry in line.entries("moved") if entry["by"] == "person"]
    assert paused[-1] == "Expanding", "in auto mode nobody was asked for a move since the build was requested"
    line.audit()


@pytest.mark.requirement("S2.78")
@pytest.mark.parametrize(
    ("name", "code", "count"), [("Pre-flight", 1, 0), ("Deploy", 7, 0), ("Check", 1, 3), ("Persistence", 3, 3)]
)
def test_a_failed_deploy_command_is_tried_three_times(
    lights: Lights, target: Target, name: str, code: int, count: int
) -> None:
    lights.detent = Detent(lights.detent.directory, {**lights.detent.environment, "FAILS": name})
    line, why = confirmed(verified(lights)), f"{name} failed (exit {code})"
    line.run(expect=4)
    failed = [entry for entry in line.entries("moved") if entry["edge"] == "FailDeployGate"]
    assert len(failed) == 3
    assert all(why in entry["facts"]["deployed"]["why"] for entry in failed)
    assert (line.state(), target.deployed()) == ("BlockedOnGate", count)
    assert why in line.read("scaffolding/blocked.md")


@pytest.mark.requirement("S2.78")
def test_a_missing_readme_fails_the_gate_without_a_deployment(lights: Lights, target: Target) -> None:
    line = verified(lights, Deploying="rm -f README.md")
    assert line.entries("moved")[-1]["to"] == "BlockedOnGate"
    assert target.deployed() == 0


def test_rolled_back_version_is_reported_and_deployed_again_on_request(lights: Lights) -> None:
    line = lights.at("Deploying")
    line.run(expect=4)
    assert line("approve", "--reason", "mine", "p").code == 0
    line.run(expect=4)
    assert line.state() == "PipelineComplete"
    assert "because: to go back: rm" in " ".join(line("status", "p").out.split())
    done = line("say", "/redeploy once more", "p")
    assert (done.code, "no deployment was taken back" in done.out) == (1, True)
    live = Path(lights.detent.environment["HOME"]) / "live" / "words"
    assert line("rollback", "--reason", "the page is empty", "p").code == 0
    assert not live.exists()
    for words in (("status", "p"), ("next", "p")):
        assert 'nothing of this version is live; deploy it again: detent say "/redeploy why" p' in line(*words).out
    for output in (line("inbox").out, line("run", "p").out, line("status", "p").out):
        assert ("nothing of this version is live" in output, "to go back: rm" in output) == (True, False), output
    assert line("say", "/redeploy the host is back", "p").code == 0
    assert (line.state(), line.shown().get("delivered") or "") == ("Deploying", "")
    assert "nothing of this version is live" in line("status", "p").out
    line.run(expect=4)
    assert not live.exists(), "deployed without a confirmation"
    assert line("approve", "--reason", "mine", "p").code == 0
    line.run(expect=4)
    assert (line.state(), live.exists()) == ("PipelineComplete", True)
    assert "taken back" not in line("status", "p").out
    line.audit()
