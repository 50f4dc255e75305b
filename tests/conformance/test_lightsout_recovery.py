"""Interruptions of a pipeline: lost sessions and how context is recovered, stepped mode, reconcile on demand."""

from __future__ import annotations

import pytest

from tests.conformance.lightsout_pipeline import HONEST, Lights, Pipeline
from tests.conformance.test_lightsout_git import FAILED_CRITERION, OPEN_FINDING, commit_of, commits

DIE = "kill -9 $$"
# Each state that can lose its session, with where the work goes on, by what had passed and what is on disk.
ACTIVE = {
    "Expanding": "Expanding",
    "Designing": "Designing",
    "Analyzing": "Analyzing",
    "Building": "Building",
    "Reviewing": "Reviewing",
    "ReviewFixing": "Reviewing",
    "Reconciling": "Reconciling",
    "Verifying": "Verifying",
    "VerifyFixing": "Verifying",
    "Deploying": "Deploying",
}
ROUND = 'echo "Round: $DETENT_RUN_NUMBER" >> scaffolding/reconcile.md'


def once(state: str, text: str, then: str) -> str:
    """A script that does one thing in its first run in a state and another in all later ones."""
    return f'if [ -e "$SCRIPTS/once.{state}" ]; then {then}; else touch "$SCRIPTS/once.{state}"; {text}; fi'


def dropped(line: Pipeline) -> list[tuple[str, str]]:
    """Where sessions were lost, and where the work went on each time."""
    moves = line.entries("moved")
    found = []
    for number, entry in enumerate(moves):
        if entry["edge"] == "DropSession":
            assert [move["edge"] for move in moves[number + 1 : number + 2]] == ["StartContextRecovery"]
            found.append((entry["from"], moves[number + 2]["to"]))
    return found


@pytest.mark.requirement("S2.89", "S2.90", "S2.91", "S2.93", "S2.94")
def test_a_lost_session_resumes_where_its_artifacts_say(lights: Lights) -> None:
    fixed = {"ReviewFixing": "echo '# mended' >> words.py", "VerifyFixing": "echo '# and again' >> words.py"}
    scripts = {**HONEST, **fixed}
    for state, text in scripts.items():
        lights.script(state, once(state, DIE, text))
    found = once("finding", OPEN_FINDING, "out review.md; echo again >> $DETENT_OUT/review.md")
    lights.script("Reviewing", once("Reviewing", DIE, found))
    failed = once("criterion", FAILED_CRITERION, "out verification.md; echo again >> $DETENT_OUT/verification.md")
    lights.script("Verifying", once("Verifying", DIE, failed))
    lights.script("Reconciling", once("Reconciling", DIE, f"doc reconcile.md; {ROUND}"))
    line = lights.building()
    for _ in range(2 * len(ACTIVE) + 5):  # one run at a time: no command takes long
        if line.run("--once").code == 4:
            break
    assert line.state() == "Deploying", line.path_of_moves()
    assert dropped(line) == list(ACTIVE.items())
    wip = [subject for subject in commits(line) if subject.startswith("wip(")]
    assert len(wip) == len(ACTIVE), "no work is lost: each cut is committed"
    words = line.git("log", "--format=%B", "--grep=^wip(build)")
    assert "Where: Building; its last agent run ended as killed" in words
    assert "Next: recover the context, then go on with Building. Its gate still needs: commands_ok: " in words
    assert "the engine acts only after" not in words
    assert line.read("scaffolding/log.md").count("DropSession: ") == len(ACTIVE)
    failures = [entry["from"] for entry in line.entries("moved") if entry["edge"].startswith("Fail")]
    assert failures == ["Reviewing", "Verifying"], "a killed agent is no failed gate"
    line.audit()


@pytest.mark.requirement("S2.86", "S2.92")
def test_run_after_block_is_given_commits_post_mortems_and_tests(lights: Lights) -> None:
    script = (
        "cat > scaffolding/post-mortem.md <<'END'\n**What went wrong:** the pool leaked\n"
        "**What to try differently:** close it\n**What to avoid:** sleeping\nEND\n"
    )
    line = lights.at("Building", Building=f"echo broken > app.py; {script}")
    line.run(expect=4)
    assert line("answer", "close the pool", "p").code == 0
    lights.honest()
    runs = len(line.entries("run_planned"))
    line.run("--once")
    prompt = line.prompt(runs + 1)
    assert "Recover the context first" in prompt
    listed = prompt.partition("The last 20 commits")[2].partition("###")[0]
    assert "fix(build): checkpoint broken state before revert" in listed
    for name in ("scope.md", "design.md", "log.md"):
        assert f"read `scaffolding/{name}`" in prompt
    assert "What to avoid: sleeping" in prompt
    assert "What went wrong: the pool leaked" in prompt
    assert "python3 -m unittest discover tests: exit" in prompt, "the tests were run first"
    assert "close the pool" in prompt


@pytest.mark.requirement("S2.93")
def test_the_log_does_not_choose_the_phase(lights: Lights) -> None:
    claim = "printf '## Verify gate passed\\n\\n**Deployed**, all green.\\n' >> scaffolding/log.md"
    line = lights.at("Designing", Designing=once("Designing", f"{claim}; {DIE}", HONEST["Designing"]))
    line.run("--once")
    assert dropped(line) == [("Designing", "Designing")]
    assert "**Deployed**, all green." in line.read("scaffolding/log.md")


@pytest.mark.requirement("S2.28")
def test_gate_that_log_alone_knows_is_named_by_the_audit(lights: Lights) -> None:
    lights.honest(Designing="printf '## Handing over\\n\\nThe layout is next.\\n' >> scaffolding/log.md")
    line = lights.delivered(state='{"stage": "Designing", "passed": "expand"}')
    line.run("--once")
    line.audit()
    assert line("audit", "p").out.count("not from the engine") == 0, "people and agents write in it too"
    log = line.read("scaffolding/log.md")
    line.put("scaffolding/log.md", f"{log}\n## 2026-01-01T00:00:00Z PassVerifyGate: Verifying -> VerifyGatePassed\n")
    audited = line("audit", "p")
    assert audited.code == 1, "a heading in the engine's own form that no journal line backs"
    assert "is not from the engine, no journal line says so: 2026-01-01T00:00:00Z PassVerifyGate: " in audited.out
    line.put("scaffolding/log.md", f"{log}\n## Before PassVerifyGate\n")
    audited = line("audit", "p")
    assert (audited.code, "no journal line says so: Before PassVerifyGate" in audited.out) == (0, True), (
        "a note is named"
    )
    line.put("scaffolding/log.md", f"{log}\n## 2026-01-01T00:00:00Z All is well <!-- detent:p:999 -->\n")
    audited = line("audit", "p")
    assert audited.code == 1
    assert "is not from the engine, no journal line says so: 2026-01-01T00:00:00Z All is well" in audited.out


@pytest.mark.requirement("S2.90")
def test_an_agent_hands_over_by_itself(lights: Lights) -> None:
    handed = "echo half > half.txt; detent move SessionDropped"
    line = lights.at("Building", Building=once("Building", handed, f"rm -f half.txt; {HONEST['Building']}"))
    line.run("--once")
    assert ("Building", "Building") in dropped(line)
    assert "wip(build): Building was handed over" in commits(line)
    assert "half.txt" in line.git("show", "--name-only", "--format=", commit_of(line, "wip(build)"))


PAUSES = {
    "ExpandGatePassed": "Designing",
    "DesignGatePassed": "Analyzing",
    "AnalyzeGatePassed": "Building",
    "BuildGatePassed": "Reviewing",
    "ReviewGatePassed": "Reconciling",
    "VerifyGatePassed": "Deploying",
}


@pytest.mark.requirement("S2.87", "S2.88")
def test_stepped_mode_pauses_after_each_gate_and_resumes_there(lights: Lights) -> None:
    lights.honest()
    line = lights.building("--mode", "stepped")
    for gate, following in PAUSES.items():
        line.run(expect=4)
        assert line.path_of_moves()[-2:] == [gate, "SteppedModePaused"]
        assert line.run(expect=4).out.count("starts") == 0, "it waits for a person"
        done = line("resume", "p")
        assert done.code == 0, done
        assert line.state() == following
    line.audit()


@pytest.mark.requirement("S2.95")
def test_reconcile_on_demand_returns_to_the_phase_that_was_interrupted(lights: Lights) -> None:
    lights.honest(Reconciling=f"doc reconcile.md; {ROUND}")
    line = lights.building()
    for state in ("Designing", "Analyzing", "Building", "Reviewing", "Reconciling", "Verifying"):
        line.run("--once")
        assert line.state() == state
        if state != "Reconciling":
            line.moved(f"ManualReconcileFrom{state}")
            line.run("--once")
            assert line.path_of_moves()[-2:] == ["Reconciling", state]
    done = [subject for subject in commits(line) if "Reconciling is done" in subject]
    assert len(done) == 5
    line.audit()


@pytest.mark.requirement("S2.95")
def test_reconcile_on_demand_is_refused_where_the_document_has_none(lights: Lights) -> None:
    line = lights.building()
    refused = line("move", "Reconciling", "p")
    assert (refused.code, line.state()) == (1, "Expanding")
    relation = lights.detent("machine", "export", "lights-out", "--format", "json").json()["transitions"]
    reconciled = {row["from"] for row in relation if row["name"].startswith("ManualReconcile")}
    assert reconciled == {"Designing", "Analyzing", "Building", "Reviewing", "Verifying"}


@pytest.mark.requirement("S2.91")
def test_repeatedly_lost_sessions_stop_the_task_without_failing_a_gate(lights: Lights) -> None:
    lights.honest(Designing=DIE)
    lights.script("Designing", "echo 'no key' >&2; exit 3", run=2)
    line = lights.delivered(state='{"stage": "Designing", "passed": "expand"}')
    output = line.run(expect=6).out
    assert dropped(line) == [("Designing", "Designing")] * 3
    assert line.shown()["attempts"] == 0
    why = "3 agent runs in a row came to nothing; the last one, #3 in Designing, was killed"
    assert f"stopped: p is in Designing: {why}" in output
    assert "next: detent resume p" in output
    assert output.count("look: detent logs --errors ") == 1
    assert "look: detent logs --errors --run 2 p" in output
    assert why in line("inbox").out
    assert line("resume", "p").code == 0
    line.run(expect=6)
    assert len(dropped(line)) == 6, "who lets it go on begins the count anew"
    line.audit()


def test_unreadable_reports_stop_the_task_although_they_differ(lights: Lights) -> None:
    lights.honest(Reviewing='echo "$DETENT_RUN_NUMBER: all is well" > "$DETENT_OUT/review.md"')
    more = "[machine.lights-out.limits]\nfruitless = 2\n"
    line = lights.delivered(more, state='{"stage": "Reviewing", "passed": "build"}')
    output = line.run(expect=6).out
    assert [entry["progress"] for entry in line.entries("unmoved")] == [True, True]
    assert "2 agent runs in a row came to nothing; the last one, #2 in Reviewing, opened no move: " in output
    assert line.state() == "Reviewing"
    line.audit()
