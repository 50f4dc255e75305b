"""What people type to a pipeline: plain words, and the slash commands of its document."""

from __future__ import annotations

import pytest

from tests.conformance.lightsout_pipeline import Lights


def reconciles(lights: Lights) -> None:
    """An honest agent whose reconciliations differ from one another."""
    lights.honest(Reconciling='doc reconcile.md; echo "Round: $DETENT_RUN_NUMBER" >> scaffolding/reconcile.md')


@pytest.mark.requirement("S2.13", "S2.107")
def test_build_me_something_is_the_only_input_and_is_told_to_the_agent(lights: Lights) -> None:
    lights.honest()
    line = lights.pipeline().configured().committed()
    done = line("say", "build me a counter of words", "p")
    assert done.code == 0, done
    assert line.state() == "Expanding"
    line.run("--once")
    assert "a counter of words" in line.prompt(1)


@pytest.mark.requirement("S2.88", "S2.107")
def test_continue_goes_on_after_a_pause_and_means_nothing_elsewhere(lights: Lights) -> None:
    lights.honest()
    line = lights.building("--mode", "stepped")
    line.run(expect=4)
    assert line("say", "continue", "p").code == 0
    assert line.state() == "Designing"
    refused = line("say", "continue", "p")
    assert refused.code != 0
    assert line.state() == "Designing"


@pytest.mark.requirement("S2.107")
@pytest.mark.parametrize(("words", "target"), [("/audit-stack", "AuditingStack"), ("/distill", "Distilling")])
def test_a_configured_project_can_be_audited_and_its_input_distilled(lights: Lights, words: str, target: str) -> None:
    line = lights.pipeline().configured()
    assert line("say", words, "p").code == 0
    assert line.state() == target


@pytest.mark.requirement("S2.107")
@pytest.mark.parametrize(("words", "target"), [("/iterate", "Iterating"), ("/distill", "Distilling")])
def test_a_delivered_project_can_be_iterated_on(lights: Lights, words: str, target: str) -> None:
    line = lights.delivered()
    assert line("say", words, "p").code == 0
    assert line.state() == target


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
    if line.state() == "Reconciling":  # the one who drove has left it to a person
        line.run("--once")
    assert line.state() == "Designing"
    assert line.json("status", "p")["counters"].get("attempts", 0) == 0


@pytest.mark.requirement("S2.8", "S2.107")
@pytest.mark.parametrize("word", ["expand", "design", "analyze", "build", "review", "reconcile", "verify", "deploy"])
def test_every_phase_has_its_command_and_none_goes_round_a_gate(lights: Lights, word: str) -> None:
    line = lights.pipeline()
    refused = line("say", f"/{word}", "p")
    assert refused.code == 1
    assert line.state() == "Ideating"


@pytest.mark.requirement("S2.8")
def test_the_command_of_the_phase_a_task_is_in_has_it_worked_on(lights: Lights) -> None:
    lights.honest()
    line = lights.building()
    done = line("say", "/expand", "p")
    assert done.code in (0, 4), done
    assert line.state() != "Expanding"
