"""What the tutorial of the pipeline shows is what there is."""

from __future__ import annotations

import shlex
from pathlib import Path

from detent.faces.cli.arguments import parse_arguments
from detent.packs.lights_out.deploy_plan import read_plan

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial-lights-out.md").read_text(encoding="utf-8")
BLOCKS = PAGE.split("```")[1::2]


def test_every_command_of_the_tutorial_is_one() -> None:
    lines = [line for block in BLOCKS for line in block.splitlines() if line.startswith("detent ")]
    assert len(lines) > 15
    for line in lines:
        parse_arguments(shlex.split(line.partition("  #")[0])[1:])


def test_its_deploy_commands_are_a_plan() -> None:
    block = next(block.removeprefix("markdown") for block in BLOCKS if block.startswith("markdown"))
    plan, problem = read_plan(block)
    assert (plan is not None, problem) == (True, "")
