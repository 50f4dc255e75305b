"""A build that outgrows its design is stopped, and a person decides; it counts as no failure."""

from __future__ import annotations

import pytest

from tests.conformance.lightsout_pipeline import Lights, Pipeline

BUILDING = '{"stage": "Building", "passed": "analyze"}'
APPROACH = "- problem: too slow; approach: {}\\n"
NOTED = "".join(APPROACH.format(way) for way in ("threads", "a cache", "another algorithm"))


def built(lights: Lights, script: str) -> Pipeline:
    lights.script("Building", script)
    line = lights.delivered(state=BUILDING)
    assert line.state() == "Building"
    line.run(expect=4)
    return line


@pytest.mark.requirement("S2.47", "S2.48")
@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("for name in a b c d e; do echo 'x = 1' > $name.py; done", "more than 2 times as many"),
        ("seq 301 > long.py", "longer than 300 lines: long.py"),
        (f"printf '# Notes\\n\\n## Approaches\\n\\n{NOTED}' > scaffolding/approaches.md", "the third approach"),
        ("echo 'requests==2.32.3' > requirements.txt", "requests is a dependency that design.md does not name"),
    ],
    ids=["files", "length", "approaches", "dependency"],
)
def test_each_trigger_stops_the_build_and_is_told_with_options(lights: Lights, script: str, words: str) -> None:
    line = built(lights, script)
    assert line.state() == "ComplexityBrakeTriggered"
    report = line.read("scaffolding/blocked.md")
    assert words in report
    for option in ("simplify design.md", "reduce scope.md", "split the project", "allow the complexity"):
        assert option in report
    assert line.shown()["attempts"] == 0
    assert "FailBuildGate" not in [entry["edge"] for entry in line.entries("moved")]


@pytest.mark.requirement("S2.47", "S2.49")
def test_design_exceptions_do_not_count_and_an_answer_leads_back(lights: Lights) -> None:
    line = built(lights, "seq 301 > long.py")
    design = line.read("scaffolding/design.md")
    excepted = design.replace("## Complexity Exceptions\n\nNone.", "## Complexity Exceptions\n\n- `long.py`: a table")
    assert excepted != design
    line.put("scaffolding/design.md", excepted)
    assert line("answer", "the table may be long", "p").code == 0
    lights.script("Building", "echo '# on' >> words.py")
    line.run("--once")
    assert "ComplexityBrakeTriggered" not in line.path_of_moves()[2:]
    assert line.path_of_moves()[1:3] == ["ContextRecovering", "Building"]


BLOCKED = "BLOCKED: the mail server is gone. Options: [wait, use another]. Recommendation: wait."


@pytest.mark.requirement("S2.85")
@pytest.mark.parametrize(
    ("script", "state"),
    [
        (f"echo '{BLOCKED}' > scaffolding/blocked.md", "BlockedOnGate"),
        (f"printf '%s\\n\\nKind: design\\n' '{BLOCKED}' > scaffolding/blocked.md", "ComplexityBrakeTriggered"),
        (
            f"echo '{BLOCKED}' > scaffolding/blocked.md; detent move ComplexityBrakeTriggered",
            "ComplexityBrakeTriggered",
        ),
    ],
    ids=["external", "design", "asked for"],
)
def test_only_a_concern_about_the_design_pulls_the_brake(lights: Lights, script: str, state: str) -> None:
    line = built(lights, script)
    assert line.state() == state, line.path_of_moves()
    assert "the mail server is gone" in line.read("scaffolding/blocked.md")
    assert "the mail server is gone" in line("inbox").out


def test_a_block_that_an_agent_reported_claims_no_three_failures(lights: Lights) -> None:
    line = built(lights, f"echo '{BLOCKED}' > scaffolding/blocked.md")
    shown = line("status", "p").out
    assert "an agent reported why it can't go on" in shown
    assert line.shown()["attempts"] == 1
