"""The example folder is adopted as it lies there, and every command of the tutorial is one."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from detent.core.values import Advance, Signal
from detent.faces.cli.arguments import parse_arguments
from detent.gates.json_artifacts import misfit
from detent.runner.make.adopt import adopt
from detent.runner.make.begin import NewTask
from detent.runner.step.step import step
from tests.conftest import SAMPLE_FILES, MakeRepo, let_out

ROOT = Path(__file__).parents[2]


@pytest.mark.requirement("S1.49", "S1.50")
def test_the_example_is_taken_over_and_goes_on(repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    tree, folder = repo("words", SAMPLE_FILES), tmp_path / "codegen"
    let_out(tree)
    shutil.copytree(ROOT / "examples/global/codegen", folder)
    before = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    task = adopt(NewTask("global", "count", "count", str(tree), str(folder), by="ann"))
    found = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    before["actors"]["codegen"]["round"] = 1
    assert found == before
    (tree / "app.py").write_text("# split at any white space\n", encoding="utf-8")
    outcome = step(task, Signal("person", "review", name="ann"))
    assert isinstance(outcome.decision, Advance)
    for name, schema in {"planning/planning.ai.json": "planning", "review/plan-review.json": "plan-review"}.items():
        content = json.loads((folder / name).read_text(encoding="utf-8"))
        assert misfit(name, f"global/{schema}", content) == ""


def test_every_command_of_the_tutorial_is_one() -> None:
    page = (ROOT / "docs" / "tutorial-global.md").read_text(encoding="utf-8")
    lines = [line for block in page.split("```")[1::2] for line in block.splitlines() if line.startswith("detent ")]
    assert len(lines) > 12
    for line in lines:
        parse_arguments(shlex.split(line.partition("#")[0])[1:])
