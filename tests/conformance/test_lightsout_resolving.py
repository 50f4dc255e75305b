"""A block of RECONCILE: whatever a person answers is carried out by a role with the rights to do it."""

from __future__ import annotations

import pytest

from tests.conformance.lightsout_pipeline import Lights, Pipeline

CREEP = "Lines are counted too"
REPORT = (
    f"BLOCKED: {CREEP}. Options: [accept the scope change, revert the code, split it into scope items of its own, "
    "defer the behaviour]. Recommendation: revert the code."
)
BLOCKED = rf"""
sed -e 's/^CLEAN$/BLOCKED/' -e 's/^None\.$/- {CREEP}; class: spec-violating/' \
  "$EXAMPLE/scaffolding/reconcile.md" > scaffolding/reconcile.md
printf '\n## Report\n\n%s\n' '{REPORT}' >> scaffolding/reconcile.md
"""
# The reconciler blocks as long as the code has what the scope does not name.
RECONCILER = f"""
if grep -q LINES words.py && ! grep -q 'AC-4' scaffolding/scope.md; then {BLOCKED}
else doc reconcile.md; fi
echo "Round: $DETENT_RUN_NUMBER" >> scaffolding/reconcile.md
"""


def blocked(lights: Lights, main: str) -> Pipeline:
    """A pipeline whose code counts lines, which the scope does not name: RECONCILE has blocked."""
    script = f'if [ "$DETENT_ROLE" = reconciler ]; then {RECONCILER}\nelse {main}\nfi'
    line = lights.at("Reconciling", Reconciling=script)
    line.put("words.py", line.read("words.py") + "LINES = True\n")
    line.run(expect=4)
    assert line.state() == "ReconcileBlocked", line.path_of_moves()
    return line


def roles(line: Pipeline) -> list[str]:
    return [planned["role"] for planned in line.entries("run_planned") if planned["state"] == "Reconciling"]


@pytest.mark.requirement("S2.111")
@pytest.mark.parametrize(
    ("answer", "main", "holds"),
    [
        ("revert the code", "sed -i /LINES/d words.py", lambda line: "LINES" not in line.read("words.py")),
        (
            "accept the scope change",
            "sed -i 's/^- AC-3:.*/&\\n- AC-4: prints the number of lines within 5 s./' scaffolding/scope.md; "
            "echo '# AC-4' >> tests/test_words.py",
            lambda line: "AC-4" in line.read("scaffolding/scope.md"),
        ),
        (
            "split it into scope items of its own",
            "sed -i 's/^- AC-3:.*/&\\n- AC-4: prints lines within 5 s.\\n- AC-5: prints help./' scaffolding/scope.md; "
            "echo '# AC-4 AC-5' >> tests/test_words.py",
            lambda line: "AC-5" in line.read("scaffolding/scope.md"),
        ),
        (
            "defer the behaviour",
            "sed -i /LINES/d words.py; echo 'Counting lines.' >> scaffolding/scope.md",
            lambda line: "Counting lines" in line.read("scaffolding/scope.md"),
        ),
    ],
    ids=["revert", "accept", "split", "defer"],
)
def test_answer_is_carried_out_and_looked_at_by_another_role(
    lights: Lights, answer: str, main: str, holds: object
) -> None:
    line = blocked(lights, main)
    assert line("answer", answer, "p").code == 0
    said = line.run("--once").out
    assert roles(line) == ["reconciler", "main"]
    assert "the decision was its task; the reconciler looks next" in said
    prompt = line.prompt(line.last("run_planned")["run"])
    assert "a person has decided" in prompt
    assert f"> {answer}" in prompt
    line.run("--once")
    assert roles(line) == ["reconciler", "main", "reconciler"]
    assert f"> {answer}" in line.prompt(line.last("run_planned")["run"])
    assert callable(holds)
    assert holds(line)
    assert "ReconcileBlocked" not in line.path_of_moves()[-1:]
    line.audit()


def test_reverted_drift_leads_to_verify_with_the_tests_run_again(lights: Lights) -> None:
    line = blocked(lights, "sed -i /LINES/d words.py")
    assert line("answer", "revert the code", "p").code == 0
    line.run("--once")
    line.run("--once")
    assert line.state() == "Verifying", line("next", "p").out
    assert line.last("moved")["facts"]["commands_ok"]["ok"] is True


def test_the_reconciler_can_not_change_criteria_after_an_answer(lights: Lights) -> None:
    line = blocked(lights, "sed -i /LINES/d words.py")
    assert line("answer", "revert the code", "p").code == 0
    line.run("--once")
    change = "sed -i 's/^- AC-3:.*/- AC-3: prints nothing within 9 s./' scaffolding/scope.md"
    lights.script("Reconciling", f"{RECONCILER}\n{change}")
    before = line.read("scaffolding/scope.md")
    line.run("--once")
    assert line.read("scaffolding/scope.md") == before
    assert "is for the main, not the reconciler" in line.last("run_ended")["restored"][0]


def test_a_drift_that_stays_is_named_in_the_last_report(lights: Lights) -> None:
    line = blocked(lights, "true")
    for _ in range(2):
        assert line("answer", "revert the code", "p").code == 0
        line.run(expect=4)
    assert line.state() == "BlockedOnGate", line.path_of_moves()
    for text in (line.read("scaffolding/blocked.md"), line.read("scaffolding/log.md"), line("inbox").out):
        assert CREEP in text
    assert "failed as often as it may" not in line.read("scaffolding/log.md")
    log = line.read("scaffolding/log.md")
    assert "write scaffolding/reconcile.md" not in log  # it is written: that is not what is to be tried differently
    assert "resolve what reconcile.md reports" in log
    assert "Options: [say what to do about drift_violates, " in line.read("scaffolding/blocked.md")
