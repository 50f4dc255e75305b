"""What ends a build in `lights-out`: a gate over the work itself, or a brake before it outgrows its design."""

from __future__ import annotations

import json
import re

import pytest

from tests.advisories import Advisories, advisory
from tests.conformance.lightsout_pipeline import HONEST, Lights, Pipeline

KEY = "AKIA" + "QWERTYUIOPASDFGH"  # the form of a key, but not a real one
REPORT = re.compile(r"BLOCKED: .+\. Options: \[.+, .+\]\. Recommendation: .+\.\n")
DESIGN = """doc design.md
sed -i '/^## External/,/^## Obs/s/^None\\.$/- foo: counts; failure: it stops/' scaffolding/design.md
"""
TOO_MUCH = f"""{HONEST["Building"]}
for name in a b c; do echo "$name = 1" > $name.py; done
for number in $(seq 301); do echo "# $number" >> a.py; done
echo flask==3.0 > requirements.txt
printf '# Approaches\\n\\n## Approaches\\n\\n' > scaffolding/approaches.md
for way in one two three; do echo "- problem: apostrophes; approach: $way" >> scaffolding/approaches.md; done
"""


def facts_of_failure(line: Pipeline) -> str:
    """What the last failure of the gate rests on."""
    failed = [entry["facts"] for entry in line.entries("moved") if entry["edge"] == "FailBuildGate"]
    return json.dumps(failed[-1])


@pytest.mark.requirement("S2.45")
def test_the_build_gate_is_about_the_work_itself(lights: Lights, advisories: Advisories) -> None:
    advisories.answers["foo"] = advisory("foo")
    lights.honest(Designing=DESIGN)
    line = lights.building(more=f'[audit]\nosv_url = "{advisories.url}"\n')
    for _ in range(3):
        line.run("--once", expect=0)
    lights.script("Building", f"{HONEST['Building']}; echo foo > requirements.in; echo '# TODO' >> words.py")
    line.run("--once", expect=0)
    assert "requirements.in declares foo, and no lock file" in facts_of_failure(line)
    assert "it only stands for work: words.py:" in facts_of_failure(line)
    secret = f"echo 'key = \"{KEY}\"  # pragma: allowlist secret' >> words.py"
    # The tests would take it out of what is scanned, if they ran first.
    hide = "echo \"__import__('os').system('sed -i /AKIA/d words.py')\" >> tests/test_words.py"
    lights.script("Building", f"sed -i /TODO/d words.py; echo foo==1.0 > requirements.txt; {secret}; {hide}")
    line.run("--once", expect=0)
    assert "the secret scan found something" in facts_of_failure(line)
    assert "the dependency audit found something" in facts_of_failure(line)
    advisories.status = 500
    lights.script("Building", "sed -i /AKIA/d words.py tests/test_words.py; echo foo==2.0 > requirements.txt")
    said = line.run("--once", expect=0).out
    assert line.state() == "Building"
    assert "the dependency audit proves nothing" in line("next", "p").out
    failed = [moved for moved in line("history", "p").out.splitlines() if "Building -> BuildRetrying" in moved]
    assert ", because lockfile_ok: requirements.in declares foo" in failed[0], failed
    assert ", because secrets_none: the secret scan found something" in failed[1], failed
    assert "- Because: secrets_none: the secret scan found something" in line.read("scaffolding/log.md")
    assert "the dependency audit proves nothing" in said, "the same reason, not why another move was not taken"
    assert "no larger than its design" not in said
    advisories.status, advisories.answers = 200, {}
    done = line("prove", "--again", "p")
    assert done.code == 0, done
    done = line.run("--once", expect=0)
    assert "BuildGatePassed" in line.path_of_moves(), done
    line.audit()


@pytest.mark.requirement("S2.47", "S2.48", "S2.49")
def test_the_brake_stops_a_build_that_outgrows_its_design(lights: Lights) -> None:
    line = lights.at("Building", Building=TOO_MUCH)
    line.run(expect=4)
    assert line.state() == "ComplexityBrakeTriggered"
    assert line.last("moved")["by"] == "engine"
    report = line.read("scaffolding/blocked.md")
    assert REPORT.fullmatch(report)
    for issue in ("6 files, and", "a.py (", "third approach to the same problem", "flask is a dependency"):
        assert issue in report
    for option in ("simplify design.md", "reduce scope.md", "split the project", "allow the complexity"):
        assert option in report
    assert line.json("status", "p")["counters"].get("attempts", 0) == 0, "it is no failed gate"
    assert "FailBuildGate" not in [entry["edge"] for entry in line.entries("moved")]
    runs = len(line.entries("run_planned"))
    lights.script("Building", "rm -f b.py c.py requirements.txt")
    design = line.read("scaffolding/design.md")
    body = "## Complexity Exceptions\n\n"
    line.put("scaffolding/design.md", design.replace(f"{body}None.", f"{body}- `a.py`: a table of words"))
    line.put("scaffolding/approaches.md", "# Approaches\n")
    done = line("answer", "keep the table, drop the rest", "p")
    assert done.code == 0, done
    assert line.state() == "ContextRecovering"
    line.run("--once", expect=0)
    assert line.path_of_moves()[-3:] == ["Building", "BuildGatePassed", "Reviewing"]
    assert "keep the table, drop the rest" in line.prompt(runs + 1)
    line.audit()


@pytest.mark.requirement("S2.45")
def test_a_source_placeholder_missing_from_readiness_fails_the_build(lights: Lights) -> None:
    unnamed = r"sed 's/\([^_]\)words\.py/\1words/g' $EXAMPLE/scaffolding/readiness.md > $DETENT_OUT/readiness.md"
    lights.honest(Analyzing=unnamed, Building=f"{HONEST['Building']}; echo '# TODO' >> words.py")
    line = lights.building()
    for _ in range(4):
        line.run("--once", expect=0)
    assert line.path_of_moves()[-2:] == ["BuildRetrying", "Building"]
    assert "it only stands for work: words.py:" in facts_of_failure(line)
