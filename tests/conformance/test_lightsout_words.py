"""The words a person leads a pipeline by: build me X, continue, and the commands on demand."""

from __future__ import annotations

import pytest

from tests.conformance.lightsout_pipeline import Lights, Pipeline


def say(line: Pipeline, words: str, code: int = 0) -> str:
    done = line("say", words, line.id)
    assert done.code == code, done
    return done.out + done.err


@pytest.mark.requirement("S2.107")
def test_build_me_x_begins_the_build_and_tells_x(lights: Lights) -> None:
    lights.honest()
    line = lights.pipeline().configured().committed()
    assert "moved: PreferencesConfigured -> Expanding" in say(line, "Build me a program that counts words")
    assert line.last("moved")["answer"] == "a program that counts words"
    line.run("--once")
    assert "a program that counts words" in line.prompt(1)
    assert "'build me more' is said in PreferencesConfigured" in say(line, "build me more", code=1)


@pytest.mark.requirement("S2.107")
@pytest.mark.parametrize("words", ["continue", "/continue", "Continue"])
def test_continue_goes_on_from_where_a_stepped_pipeline_paused(lights: Lights, words: str) -> None:
    lights.honest()
    line = lights.building("--mode", "stepped")
    line.run("--once")
    assert line.state() == "SteppedModePaused"
    assert "(ResumeToDesign)" in say(line, words)  # of all that say it, the one whose memory fits
    assert line.state() == "Designing"


@pytest.mark.requirement("S2.107")
@pytest.mark.parametrize(("words", "state"), [("/audit-stack", "AuditingStack"), ("/distill", "Distilling")])
def test_audit_and_distillation_are_there_on_demand(lights: Lights, words: str, state: str) -> None:
    line = lights.pipeline().configured()
    say(line, words)
    assert line.state() == state


@pytest.mark.requirement("S2.107")
def test_reconcile_can_be_asked_for_in_an_active_phase(lights: Lights) -> None:
    line = lights.at("Designing")
    assert "moved: Designing -> Reconciling" in say(line, "/reconcile the scope has changed")


@pytest.mark.requirement("S2.107")
def test_iterate_re_enters_a_delivered_pipeline(lights: Lights) -> None:
    repository = lights.repository()
    (repository / "scaffolding").mkdir()
    (repository / "scaffolding/state.json").write_text('{"stage": "PipelineComplete"}\n', encoding="utf-8")
    adopted = lights.detent("adopt", "scaffolding", "lights-out", "--id", "p", cwd=repository)
    assert adopted.code == 0, adopted
    line = Pipeline(lights.detent, repository, repository / "scaffolding", "p")
    lights.tasks.append(line)
    assert "moved: PipelineComplete -> Iterating" in say(line, "/iterate")


def test_no_way_is_told_that_leads_through_pause_or_comparison(lights: Lights) -> None:
    line = lights.pipeline().configured().committed()
    said = line("say", "/deploy", "p")
    assert "PreferencesConfigured does not lead to Deploying" in said.out + said.err
    assert "the way is" not in said.out + said.err, "it would be SteppedModePaused -> Deploying after the first gate"
