"""Nothing is deployed before what its tests prove is known, and accepted where a person must look."""

from __future__ import annotations

import pytest

from tests.conformance.lightsout_pipeline import COMMANDS, EXAMPLE, HONEST, PREFERENCES, Lights, Pipeline

OLD_TEST = """import unittest

import old


class Old(unittest.TestCase):
    def test_three(self):
        self.assertEqual(old.three(), 3)

    def test_four(self):
        self.assertEqual(old.four(), 4)
"""
OLD = {"old.py": "def three():\n    return 3\n\n\ndef four():\n    return 4\n", "tests/test_old.py": OLD_TEST}
BREAK = "sed -i 's/return 4/return 5/' old.py"
CHEATS = {
    "removed": f"{BREAK}; sed -i '/def test_four/,$d' tests/test_old.py",
    "weakened": f"{BREAK}; sed -i 's/assertEqual(old.four(), 4)/assertTrue(old.four())/' tests/test_old.py",
}
# However many tests the engine counts when it repeats what the verification records.
VERIFIED = """out verification.md
sed -i -e 's/^Ran 3 tests.*/Ran [...]/' -e 's/^[.][.][.]$/[...]/' -e 's/^OK$/OK[...]/' "$DETENT_OUT/verification.md"
"""


def built(lights: Lights, build: str) -> Pipeline:
    """A pipeline over a project that has tests, driven until a person must confirm the deploy commands."""
    lights.honest(Building=f"{HONEST['Building']}; {build}", Verifying=VERIFIED)
    brief = (EXAMPLE / "docs/input/brief.md").read_text(encoding="utf-8")
    line = lights.pipeline(files={**OLD, "docs/input/brief.md": brief}, more=COMMANDS)
    line.configured(PREFERENCES).committed().moved("RequestBuild")
    line.run()
    assert line.state() == "Deploying", line.path_of_moves()
    return line


def is_deployed(line: Pipeline) -> bool:
    return any(entry["stage"] == "begun" for entry in line.entries("deploy"))


@pytest.mark.parametrize("cheat", CHEATS)
def test_changed_test_waits_for_a_person_before_anything_is_deployed(lights: Lights, cheat: str) -> None:
    line = built(lights, CHEATS[cheat])
    runs = len(line.entries("run_planned"))
    assert line("approve", "--reason", "our own host", "p").code == 0
    rest = line.run(expect=4)
    assert (line.state(), is_deployed(line)) == ("Deploying", False), rest
    assert len(line.entries("run_planned")) == runs, "no agent can accept it"
    assert "tests/test_old.py::Old.test_four" in rest.out
    assert line.json("inbox")["waiting"][0]["proof"]["word"] == "ask"
    done = line("approve", "--tests", "p")
    assert done.code == 0, done
    line.run(expect=4)
    assert (line.state(), is_deployed(line)) == ("PipelineComplete", True)
    line.audit()
