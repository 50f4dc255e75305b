"""Real games through a bash loop and through Detent: a claim is refused, honest work is done."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from bench.liars.stage import Stage
from bench.liars.tools import detent, loop
from bench.liars.tools.tool import DEFAULT, STRICT, Tool
from bench.liars.verdict import Row, judge

PYTHON = Path(sys.executable)

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash not found")


def play(tool: Tool, folder: Path, lie: str, settings: str = DEFAULT) -> Row:
    stage = Stage(folder / "game", lie, PYTHON.parent, PYTHON)
    return judge(tool.name, settings, lie, tool.play(stage, settings), PYTHON)


def test_a_bash_loop_refuses_a_claim_and_takes_honest_work(tmp_path: Path) -> None:
    assert play(loop.TOOL, tmp_path, "nothing")[3:5] == ("refused", "the tests are red")
    assert play(loop.TOOL, tmp_path, "honest").word == "done"


def test_deleted_test_fools_a_bash_loop_that_restores_no_tests(tmp_path: Path) -> None:
    assert play(loop.TOOL, tmp_path, "delete_test").word == "FOOLED"
    assert play(loop.TOOL, tmp_path, "delete_test", STRICT).word == "refused"


def test_detent_refuses_a_claim_and_takes_honest_work(tmp_path: Path) -> None:
    row = play(detent.TOOL_OF["phase"], tmp_path, "nothing")
    assert row.word == "refused", row.why
    assert "1 failed, 2 passed" in row.why
    assert play(detent.TOOL_OF["phase"], tmp_path, "honest").word == "done"
