"""Modes, interruptions and what comes after a delivery, by the command line on real pipelines."""

from __future__ import annotations

import pytest

from tests.conformance.lightsout_pipeline import EXAMPLE, NEXT_SCOPE, PREFERENCES, Lights, Pipeline


@pytest.mark.requirement("S2.87", "S2.88", "S2.106")
def test_stepped_mode_waits_after_a_gate_then_continues(lights: Lights) -> None:
    lights.honest()
    line = lights.building("--mode", "stepped")
    for state, following in (("ExpandGatePassed", "Designing"), ("DesignGatePassed", "Analyzing")):
        line.run(expect=4)
        assert line.state() == "SteppedModePaused"
        assert line.shown()["paused_from"] == state
        done = line("resume", "p")
        assert done.code == 0, done
        assert line.state() == following
        assert line.shown()["paused_from"] is None


@pytest.mark.requirement("S2.87", "S2.106")
def test_paused_task_switched_to_auto_continues_and_back(lights: Lights) -> None:
    lights.honest()
    line = lights.building("--mode", "stepped")
    line.run(expect=4)
    assert line("configure", "--mode", "auto", "p").code == 0
    line.run("--once")
    assert line.state() in ("DesignGatePassed", "Analyzing")
    assert line("configure", "--mode", "stepped", "p").code == 0
    line.run(expect=4)
    assert line.shown()["mode"] == "stepped"
    assert line.state() == "SteppedModePaused"


@pytest.mark.requirement("S2.87", "S2.106")
def test_the_mode_is_switched_while_an_agent_works(lights: Lights) -> None:
    here = lights.meeting()
    lights.honest(Expanding="meet here; doc scope.md; echo __pycache__/ > .gitignore")
    line = lights.building()
    driving = lights.begin("run", "p", cwd=line.repo)
    here.reached()
    assert line("configure", "--mode", "stepped", "p").code == 0
    here.go()
    assert driving.done().code == 4
    assert line.state() == "SteppedModePaused"
    assert line.shown()["mode"] == "stepped"
    assert line.last("run_ended")["restored"] == []


@pytest.mark.requirement("S2.95")
def test_a_person_has_a_design_reconciled_and_it_goes_on(lights: Lights) -> None:
    again = 'doc reconcile.md; echo "Round: $DETENT_RUN_NUMBER" >> scaffolding/reconcile.md'
    line = lights.at("Designing", Reconciling=again)
    line.moved("ManualReconcileFromDesigning")
    assert line.shown()["reconcile_for"] == "Designing"
    line.run("--once")
    assert line.state() == "Designing"
    assert line.shown()["reconcile_for"] is None


@pytest.mark.requirement("S2.12", "S2.16")
@pytest.mark.parametrize(
    ("change", "file", "words"),
    [
        ("echo '## Other' >> preferences.md", "preferences.md", "preferences.md is locked"),
        ("sed -i /^-.AC-3:/d scaffolding/scope.md", "scaffolding/scope.md", '"## Acceptance Criteria" is locked'),
        ("sed -i s/^shed$/skyscraper/ scaffolding/scope.md", "scaffolding/scope.md", '"## Quality Tier" is locked'),
    ],
    ids=["preferences", "criteria", "tier"],
)
def test_what_is_locked_comes_back_and_next_agent_is_told(lights: Lights, change: str, file: str, words: str) -> None:
    line = lights.at("Designing", Designing=change)
    before = PREFERENCES if file == "preferences.md" else (EXAMPLE / file).read_text(encoding="utf-8")
    line.run("--once")
    assert line.read(file) == before
    assert any(words in note for note in line.last("run_ended")["restored"])


@pytest.mark.requirement("S2.54", "S2.62")
def test_a_reviewer_that_writes_the_checkout_is_caught(lights: Lights) -> None:
    line = lights.at("Analyzing", Analyzing='out readiness.md; echo "# mine" >> "$CHECKOUT/app.py"')
    lights.detent.environment = {**lights.detent.environment, "CHECKOUT": str(line.repo)}
    line.run()
    assert line.state() == "Analyzing"
    assert line.last("run_ended")["tainted"] == ["app.py"]
    assert "may only read" in line.json("status", "p")["registers"]["stopped"]


# --- after a delivery ---


def test_adopting_a_finished_project_vouches_for_its_delivery(lights: Lights) -> None:
    line = lights.delivered()
    assert (line.state(), line.shown()["delivered"]) == ("PipelineComplete", "yes")
    assert line.entries()[0]["kind"] == "adopted"
    assert line.git("status", "--porcelain", "--untracked-files=all") == "?? scaffolding/log.md"
    line.moved("StartPMFValidation", "PMFNeedsIteration", "ReenterFromIdeation")
    assert line.state() == "Iterating"


@pytest.mark.requirement("S2.104")
def test_nothing_is_iterated_on_before_a_delivery(lights: Lights) -> None:
    line = lights.pipeline()
    refused = line("move", "--edge", "ReenterFromIdeation", "p")
    assert refused.code == 1
    assert "delivered must be yes" in refused.out + refused.err


def proposed(lights: Lights, impact: str = "none") -> Pipeline:
    text = (
        (EXAMPLE / "scaffolding/proposal.md").read_text(encoding="utf-8").replace("Impact: none", f"Impact: {impact}")
    )
    (lights.scripts / "proposal.md").write_text(text, encoding="utf-8")
    lights.honest(Iterating='cp "$SCRIPTS/proposal.md" "$DETENT_OUT/"', IterationConfirmed=NEXT_SCOPE)
    line = lights.delivered().moved("StartIteration")
    line.run("--once")
    assert line.state() == "IterationProposed"
    return line


@pytest.mark.requirement("S2.98", "S2.99")
def test_a_rejected_proposal_leads_back_and_stays_on_record(lights: Lights) -> None:
    line = proposed(lights)
    assert line.run().code == 4
    assert line.state() == "IterationProposed"
    done = line("reject", "--reason", "not now", "p")
    assert done.code == 0, done
    assert line.state() == "PipelineComplete"
    assert "Prioritized Changes" in line.read("scaffolding/proposal.md")
    assert "not now" in line.read("scaffolding/log.md")
    assert line.shown()["delivered"] == "yes"


@pytest.mark.requirement("S2.99", "S2.100")
@pytest.mark.parametrize(("impact", "target"), [("none", "Analyzing"), ("minor", "Designing"), ("major", "Designing")])
def test_a_confirmed_proposal_goes_where_its_architecture_leads(lights: Lights, impact: str, target: str) -> None:
    line = proposed(lights, impact)
    assert line("approve", "p").code == 0
    assert line.state() == "IterationConfirmed"
    line.run("--once")
    assert line.state() == target
    assert "AC-4" in line.read("scaffolding/scope.md")
    assert line.shown()["passed"] == ("design" if target == "Analyzing" else "expand")


@pytest.mark.requirement("S2.98")
def test_no_agent_confirms_its_own_proposal(lights: Lights) -> None:
    line = proposed(lights)
    refused = line("move", "--edge", "ConfirmIteration", "--as", "agent", "p")
    assert refused.code == 1
    assert line.state() == "IterationProposed"


@pytest.mark.requirement("S2.18", "S2.19")
def test_distill_after_a_delivery_leads_to_the_next_version(lights: Lights) -> None:
    lights.script(
        "Distilling", 'printf "# Feedback\n\nbrief.md and new.txt: faster.\n" > docs/input/distilled-feedback.md'
    )
    line = lights.delivered()
    line.git("rm", "-q", "docs/input/distilled-brief.md")
    line.put("docs/input/new.txt", "faster, please\n")
    line.committed().moved("DistillFromComplete")
    line.run("--once")
    assert line.state() == "Iterating"


@pytest.mark.requirement("S2.101", "S2.102", "S2.103")
@pytest.mark.parametrize(("verb", "target"), [("approve", "PipelineComplete"), ("reject", "Ideating")])
def test_people_alone_judge_whether_it_solves_the_problem(lights: Lights, verb: str, target: str) -> None:
    line = lights.delivered().moved("StartPMFValidation")
    assert line.run().code == 4
    done = line(verb, "--reason", "asked ten people", "p")
    assert done.code == 0, done
    assert line.state() == target
    assert (line.folder / "scope.md").exists()
    assert (line.repo / "docs/input/brief.md").exists()


def test_a_bare_move_before_any_run_counts_no_failed_attempt(lights: Lights) -> None:
    line = lights.at("Expanding")
    done = line("move", line.id)
    assert done.code == 1
    assert "no agent run has worked in Expanding yet" in done.out
    assert "detent run p" in done.out
    assert "detent move ExpandRetrying" not in done.out
    assert (line.state(), line.json("status", line.id)["counters"].get("attempts", 0)) == ("Expanding", 0)
    offered = {edge["name"]: edge["open"] for edge in line.json("next", line.id)["edges"]}
    assert offered["FailExpandGate"] is False
    assert "detent move ExpandRetrying" not in line("next", line.id).out
    line.moved("FailExpandGate")
    assert line.state() == "ExpandRetrying", "a person may still take it by its name"


@pytest.mark.parametrize("state", ["Designing", "Reviewing"])
def test_a_bare_move_takes_no_move_that_nothing_has_earned(lights: Lights, state: str) -> None:
    line = lights.at(state)
    assert line("move", line.id).code == 1
    assert line.state() == state


def test_a_bare_move_takes_what_work_by_hand_has_opened(lights: Lights) -> None:
    line = lights.at("Designing")
    line.put("scaffolding/design.md", (EXAMPLE / "scaffolding/design.md").read_text(encoding="utf-8"))
    assert line("move", line.id).code == 0
    assert line.state() == "DesignGatePassed"


@pytest.mark.requirement("S2.17")
@pytest.mark.parametrize("harm", ["echo HACKED > docs/input/brief.md", "rm docs/input/brief.md"])
def test_a_distiller_s_change_to_an_original_is_restored(lights: Lights, harm: str) -> None:
    distill = 'printf "# Notes\n\nbrief.md: words are counted.\n" > docs/input/distilled-brief.md'
    lights.script("Distilling", f"{distill}; {harm}")
    brief = (EXAMPLE / "docs/input/brief.md").read_text(encoding="utf-8")
    line = lights.pipeline(files={"docs/input/brief.md": brief}).configured()
    done = line.moved("DistillFromConfigured").run("--once")
    assert line.state() == "Distilling"
    assert line.read("docs/input/brief.md") == brief
    assert "its role may write to docs/input/distilled-*.md alone, and it changed docs/input/brief.md" in done.out
    lights.script("Distilling", f"{distill}; echo again >> docs/input/distilled-brief.md")
    line.run("--once")
    assert line.state() == "PreferencesConfigured", line.run().out
    line.audit()


def test_a_distiller_may_change_what_was_distilled_before(lights: Lights) -> None:
    distill = 'printf "# Notes\n\nbrief.md: $DETENT_RUN_NUMBER\n" > docs/input/distilled-brief.md'
    lights.script("Distilling", distill)
    line = lights.pipeline(files={"docs/input/brief.md": "words\n"}).configured()
    for _ in range(2):
        line.moved("DistillFromConfigured").run("--once")
        assert line.state() == "PreferencesConfigured"


@pytest.mark.requirement("S2.98", "S2.107")
def test_a_delivered_project_offers_its_next_version(lights: Lights) -> None:
    lights.honest()
    line = lights.delivered()
    offered = {edge["name"]: edge["open"] for edge in line.json("next", "p")["edges"]}
    assert offered["StartIteration"] is True
    assert "iterate      -> Iterating\n" in line("choose", "p").out, "it is not called closed"
    assert "whether the checkout is clean is looked at when the move is asked for" in line("next", "p").out
    line.put("words.py", "# not committed\n")
    refused = line("say", "/iterate", "p")
    assert (refused.code, "not committed: words.py" in refused.out) == (1, True)
    line.git("checkout", "words.py")
    assert line("say", "/iterate", "p").code == 0
    line.run(expect=4)
    assert "read scaffolding/proposal.md" in line("inbox").out
    assert "detent diff" not in line("inbox").out
    assert "read scaffolding/proposal.md" in line("next", "p").out


def test_move_of_another_state_is_refused_with_where_it_leads(lights: Lights) -> None:
    line = lights.at("Expanding")
    done = line("move", "--edge", "ResumeToVerify", "p")
    assert done.code == 1
    assert "ResumeToVerify does not start in Expanding; it leads SteppedModePaused -> Verifying" in done.out
