"""What a pipeline leaves in git: a commit and a log entry at every gate, and around a block nothing that is lost."""

from __future__ import annotations

import re

import pytest

from tests.conformance.lightsout_pipeline import Lights, Pipeline

CONVENTIONAL = re.compile(r"(docs|feat|fix|revert|wip)\([a-z]+\): \S.*")
PHASES = ("expand", "design", "analyze", "build", "review", "reconcile", "verify")
REPORT = re.compile(r"BLOCKED: .+\. Options: \[.+, .+\]\. Recommendation: .+\.\n")
OPEN_FINDING = (
    'out review.md; sed -i "s/status: fixed/status: open/" $DETENT_OUT/review.md; '
    'echo "Round $DETENT_RUN_NUMBER" >> $DETENT_OUT/review.md'
)
FAILED_CRITERION = (
    'out verification.md; sed -i "s/^PASS$/FAIL/; 0,/Result: PASS/s//Result: FAIL/" $DETENT_OUT/verification.md; '
    r'printf "\n## Reproduction\n\n- AC-1; command: \`python words.py a.txt\`; expected: 3; got: $DETENT_RUN_NUMBER\n" '
    ">> $DETENT_OUT/verification.md"
)
DRIFT = r"""doc reconcile.md
sed -i "s/^CLEAN$/BLOCKED/; s/^None\.$/- Lines are counted too (run $DETENT_RUN_NUMBER); class: spec-violating/" \
  scaffolding/reconcile.md
cat >> scaffolding/reconcile.md <<'END'

## Report

BLOCKED: the code counts lines. Options: [accept the scope change, revert the code, split it into scope items]. \
Recommendation: revert the code.
END
"""
# What an agent does in a state so that the gate of its phase keeps failing.
FAILING = {
    "expand": {"Expanding": "echo n > note.txt"},
    "design": {"Designing": "echo n > note.txt"},
    "analyze": {"Analyzing": "true"},
    "build": {"Building": "echo broken > app.py; echo n > note.txt"},
    "review": {"Reviewing": OPEN_FINDING, "ReviewFixing": "echo '# tried' >> words.py"},
    "verify": {"Verifying": FAILED_CRITERION, "VerifyFixing": "echo '# tried' >> app.py"},
}


def commits(line: Pipeline) -> list[str]:
    """The subjects on the pipeline's own branch, oldest first."""
    return line.git("log", "--reverse", "--format=%s", "main..lights-out/p").splitlines()


def commit_of(line: Pipeline, subject: str) -> str:
    rows = line.git("log", "--format=%H %s", "main..lights-out/p").splitlines()
    return next(row.split()[0] for row in rows if row.partition(" ")[2].startswith(subject))


@pytest.mark.requirement("S2.14", "S2.27", "S2.28", "S2.30")
def test_every_gate_is_committed_before_the_next_phase_begins(lights: Lights) -> None:
    lights.honest()
    lights.script("Designing", "true", run=2)
    line = lights.building()
    main = line.git("rev-parse", "main")
    line.run(expect=4)
    assert [subject.partition("(")[2].partition(")")[0] for subject in commits(line)] == list(PHASES)
    assert all(CONVENTIONAL.fullmatch(subject) for subject in commits(line))
    assert line.git("rev-parse", "main") == main
    assert line.git("rev-parse", "--abbrev-ref", "HEAD") == "lights-out/p"
    log = line.read("scaffolding/log.md")
    logged = re.findall(r"^## \S+ (\w+): (\w+) -> (\w+) <!--", log, re.MULTILINE)
    moves = [(entry["edge"], entry["from"], entry["to"]) for entry in line.entries("moved")]
    assert logged == moves, "every gate, passed or failed, and every move"
    assert ("FailDesignGate", "Designing", "DesignRetrying") in moves
    for phase, edge in (("build", "PassBuildGate"), ("verify", "PassVerifyGate")):
        commit = commit_of(line, f"docs({phase})" if phase == "verify" else f"feat({phase})")
        assert f"{edge}: " in line.git("show", f"{commit}:scaffolding/log.md"), "its entry is in the commit"
        assert commit in [entry["result"].get("sha") for entry in line.entries("acted")]
    continued = [entry for entry in line.entries("moved") if entry["edge"].startswith("AutoContinue")]
    assert [entry["by"] for entry in continued] == ["engine"] * 6
    line.audit()


def blocked(lights: Lights, phase: str) -> Pipeline:
    line = lights.at(next(iter(FAILING[phase])), **FAILING[phase])
    output = line.run(expect=4).out
    assert line.state() == "BlockedOnGate", line.path_of_moves()
    assert f"needs a person: p is in BlockedOnGate: report: BLOCKED: {phase}: " in output
    return line


@pytest.mark.requirement("S2.80", "S2.81", "S2.82", "S2.83")
@pytest.mark.parametrize("phase", list(FAILING))
def test_the_third_failure_of_a_gate_blocks(lights: Lights, phase: str) -> None:
    line = blocked(lights, phase)
    gates = [subject for subject in commits(line) if subject.endswith(" gate") and "pass the" in subject]
    assert commits(line)[len(gates) :] == [
        f"fix({phase}): checkpoint broken state before revert",
        f"revert({phase}): restore the tree of the last passed gate",
        f"docs({phase}): log the post-mortem of the block",
    ]
    restored = commit_of(line, "revert")
    gate = commit_of(line, gates[-1]) if gates else ""
    if gate:
        assert line.git("rev-parse", f"{restored}^{{tree}}") == line.git("rev-parse", f"{gate}^{{tree}}")
    assert line.git("diff", "--name-only", commit_of(line, "docs"), "HEAD") == ""
    assert line.git("status", "--porcelain") == ""
    log = line.git("show", "HEAD:scaffolding/log.md")
    for part in ("What went wrong", "What to try differently", "What to avoid"):
        assert f"- {part}:" in log
    report = line.read("scaffolding/blocked.md")
    assert REPORT.fullmatch(report)
    assert "not run on this tree" not in report + log, "what nobody asked has not failed"
    assert line.json("status", "p")["registers"]["blocked_in"].lower().startswith(phase)
    assert "BLOCKED: " in line("inbox").out
    line.audit()


@pytest.mark.requirement("S2.82")
def test_the_reasons_of_a_block_are_told_apart(lights: Lights) -> None:
    line = blocked(lights, "expand")
    (wrong,) = [words for entry in line.entries("acted") if (words := entry["result"].get("wrong"))]
    assert len(wrong.splitlines()) > 1
    assert f"BLOCKED: expand: {'; '.join(wrong.splitlines())}. Options: [" in line.read("scaffolding/blocked.md")


@pytest.mark.requirement("S2.84")
def test_person_unblocks_and_the_blocked_phase_goes_on_after_recovery(lights: Lights) -> None:
    line = blocked(lights, "build")
    assert line.run(expect=4).out.count("agent run") == 1, "it waits: no agent is started"
    runs = len(line.entries("run_planned"))
    lights.honest()
    done = line("answer", "use the standard library", "p")
    assert done.code == 0, done
    assert line.state() == "ContextRecovering"
    assert not (line.folder / "blocked.md").exists()
    assert line.json("status", "p")["counters"].get("attempts", 0) == 0
    line.run("--once", expect=0)
    assert line.path_of_moves()[-3:] == ["Building", "BuildGatePassed", "Reviewing"]
    assert "use the standard library" in line.prompt(runs + 1)


@pytest.mark.requirement("S2.61", "S2.80")
def test_drift_that_is_never_resolved_blocks_at_last(lights: Lights) -> None:
    line = lights.at("Reconciling", Reconciling=DRIFT)
    for _ in range(2):
        line.run(expect=4)
        assert line.state() == "ReconcileBlocked", line.path_of_moves()
        assert "BLOCKED: the code counts lines" in line("inbox").out
        assert line("answer", "accept it", "p").code == 0
    line.run(expect=4)
    assert line.path_of_moves()[-3:] == ["Reconciling", "ReconcileBlocked", "BlockedOnGate"]
    assert "fix(reconcile): checkpoint broken state before revert" in commits(line)


@pytest.mark.requirement("S2.85")
@pytest.mark.parametrize(("state", "stop"), [("Expanding", "BlockedOnGate"), ("Building", "BlockedOnGate")])
def test_agent_that_cannot_go_on_stops_with_the_same_report(lights: Lights, state: str, stop: str) -> None:
    line = lights.at(state, **{state: "doc blocked.md"})
    line.run(expect=4)
    assert line.state() == stop
    shown = line.json("status", "p")
    assert "BLOCKED: AC-2 is not met on this computer" in line("inbox").out
    assert shown["counters"].get("attempts", 0) <= 1
    assert line.shown()["report"].startswith("BLOCKED: AC-2 is not met")


@pytest.mark.requirement("S2.81")
def test_the_broken_state_can_be_brought_back(lights: Lights) -> None:
    line = blocked(lights, "build")
    assert not (line.repo / "note.txt").exists()
    assert line("restore", "p").code == 0
    assert line.read("note.txt") == "n\n"
    assert line.read("app.py") == "broken\n"
