"""VERIFY by running: the engine repeats the recorded commands on the frozen tree and compares what they print."""

from __future__ import annotations

import pytest

from tests.conformance.lightsout_pipeline import Lights


def report(change: str) -> str:
    """A verifier whose report differs from an honest one by a `sed` script."""
    return f"out verification.md; sed -i '{change}' $DETENT_OUT/verification.md"


@pytest.mark.requirement("S2.63", "S2.67")
def test_invented_commands_and_outputs_do_not_pass_verify(lights: Lights) -> None:
    invented = report("s/^- Command: .*/- Command: `frobnicate`/; s/^words=.*/all fine, trust me/")
    line = lights.at("Verifying", Verifying=invented)
    done = line.run(expect=6)
    assert line.state() == "Verifying"
    assert "PassVerifyGate" not in [entry["edge"] for entry in line.entries("moved")]
    assert "AC-1: `frobnicate` exited with 127, not 0" in done.out
    assert "not found" in done.out, "what it printed is quoted"
    assert "AC-1: `frobnicate` exited with 127" in line.prompt(line.entries("run_planned")[-1]["run"])
    line.audit()


@pytest.mark.requirement("S2.63", "S2.67")
def test_recorded_output_that_software_does_not_print_does_not_pass(lights: Lights) -> None:
    line = lights.at("Verifying", Verifying=report("s/^words=3$/words=4/"))
    done = line.run(expect=6)
    assert line.state() == "Verifying"
    assert 'does not print the recorded "words=4"; it prints "words=3"' in done.out


@pytest.mark.requirement("S2.63", "S2.112")
def test_a_browser_check_is_named_as_not_repeated(lights: Lights) -> None:
    line = lights.at("Verifying", Verifying=report("0,/^- Kind: CLI output/s//- Kind: browser check/"))
    line.run("--once", expect=0)
    assert line.path_of_moves()[-2:] == ["VerifyGatePassed", "Deploying"]
    named = "not repeated by the engine: AC-1 (browser check)"
    assert named in line.read("scaffolding/log.md")
    assert named in line("history", "p").out
    line.audit()


@pytest.mark.requirement("S2.64")
def test_an_invented_load_test_does_not_pass(lights: Lights) -> None:
    load = r"## Load Test\n\nCommand: `sh load.sh`\nConcurrency: 50\n\n```\nRequests: 512\n```\n\n"
    line = lights.at("Verifying", Verifying=report(f"s/^## Deploy Config/{load}&/"))
    assert '"## Load Test": `sh load.sh` exited with' in line.run(expect=6).out
    assert line.state() == "Verifying"
