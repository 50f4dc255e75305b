"""A report that opens no move is answered with what is wrong with it, not with what another move would have needed."""

from __future__ import annotations

import pytest

from tests.conformance.lightsout_pipeline import Lights

VERIFICATION, REVIEW, RECONCILIATION = (
    "$DETENT_OUT/verification.md",
    "$DETENT_OUT/review.md",
    "scaffolding/reconcile.md",
)
CASES = [
    ("Verifying", VERIFICATION, "s/^Critical: none/Critical: SQL injection/", 'does not say "Critical: none"'),
    ("Verifying", VERIFICATION, "s/matches: yes/matches: no/", 'does not say "matches: yes"'),
    ("Verifying", VERIFICATION, "s/^Hold: yes/Hold: no/", 'does not say "Hold: yes"'),
    ("Verifying", VERIFICATION, "s/^PASS$/FAIL/; s/^- Result: PASS/- Result: FAIL/", 'no section "## Reproduction"'),
    ("Reviewing", REVIEW, "/^- performance/d", '"## Axes" says nothing to "performance"'),
    ("Reconciling", RECONCILIATION, "s/^CLEAN$/BLOCKED/", "BLOCKED lists no spec-violating drift"),
    ("Reconciling", RECONCILIATION, "/^- interfaces/d", '"## Axes" says nothing to "interfaces"'),
]


@pytest.mark.requirement("S2.28")
@pytest.mark.parametrize(("state", "file", "change", "why"), CASES, ids=[case[3] for case in CASES])
def test_the_reason_shown_is_that_of_the_report(lights: Lights, state: str, file: str, change: str, why: str) -> None:
    name = file.rpartition("/")[2]
    report = f"cp $EXAMPLE/scaffolding/{name} {file}; sed -i '{change}' {file}"
    line = lights.at(state, **{state: report})
    said = line.run("--once").out
    assert line.state() == state
    reason = line.last("unmoved")["why"]
    for words in (said, reason):
        assert why in words
        assert "not FAIL" not in words
        assert "not CLEAN" not in words
        assert "not run on this tree" not in words, "what was not asked yet is no reason"
    assert reason in line("history", "p").out
    log = line.read("scaffolding/log.md")
    assert f"No gate passed in {state}" in log, "the result of every gate is logged"
    assert f"- Why: {reason}" in log
    line.audit()
