"""The commands of the phases: they begin or interrupt work, and none goes round a gate."""

from __future__ import annotations

import pytest

from tests.conformance.lightsout_pipeline import Lights


def reconciles(lights: Lights) -> None:
    """An honest agent whose reconciliations differ from one another."""
    lights.honest(Reconciling='doc reconcile.md; echo "Round: $DETENT_RUN_NUMBER" >> scaffolding/reconcile.md')


@pytest.mark.requirement("S2.95", "S2.107")
def test_reconcile_interrupts_the_agent_that_works_and_comes_back(lights: Lights) -> None:
    here = lights.meeting()
    reconciles(lights)
    lights.script("Designing", "meet here")
    line = lights.building()
    driving = lights.begin("run", "p", cwd=line.repo)
    here.reached()
    done = line("say", "/reconcile", "p")
    assert done.code == 0, done
    assert line.shown()["reconcile_for"] == "Designing"
    driving.done()
    if line.state() == "Reconciling":  # the drive has left it to a person
        line.run("--once")
    assert line.state() == "Designing"
    assert line.json("status", "p")["counters"].get("attempts", 0) == 0


@pytest.mark.requirement("S2.8", "S2.107")
@pytest.mark.parametrize("word", ["expand", "design", "analyze", "build", "review", "reconcile", "verify", "deploy"])
def test_every_phase_has_its_command_and_none_goes_round_gate(lights: Lights, word: str) -> None:
    line = lights.pipeline()
    refused = line("say", f"/{word}", "p")
    assert refused.code == 1
    assert line.state() == "Ideating"


@pytest.mark.requirement("S2.8")
def test_command_of_phase_task_is_in_has_it_worked_on(lights: Lights) -> None:
    lights.honest()
    line = lights.building()
    done = line("say", "/expand", "p")
    assert done.code in (0, 4), done
    assert line.state() != "Expanding"
