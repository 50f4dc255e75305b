"""What the tutorial of `global` shows is what is printed."""

from __future__ import annotations

import shlex
from pathlib import Path

from detent.faces.cli.arguments import parse_arguments
from tests.e2e.agent_runs import Agents
from tests.e2e.global_task import FILES, PLAN, add_global, make_global, out

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial-global.md").read_text(encoding="utf-8")
BLOCKS = PAGE.split("```")[1::2]
ASKED = {**PLAN, "open_questions": [{"question": "do tabs count?", "blocking": True}]}


def test_every_command_of_the_tutorial_is_one() -> None:
    lines = [line for block in BLOCKS for line in block.splitlines() if line.startswith("detent ")]
    assert len(lines) > 10
    for line in lines:
        parse_arguments(shlex.split(line.partition("  #")[0])[1:])


def test_an_honest_run_prints_what_the_tutorial_shows(agents: Agents) -> None:
    task = add_global(agents, make_global(agents).repo, "lines")
    said = task.run(expect=4).out.replace("starts scripted as", "starts claude as").splitlines()
    shown = next(block for block in BLOCKS if "agent run #1" in block).strip().splitlines()
    assert [line.partition(" (4 agent runs")[0] for line in said] == [
        line.partition(" (4 agent runs")[0] for line in shown
    ]


def test_a_blocking_question_is_shown_as_in_the_tutorial(agents: Agents) -> None:
    task = add_global(agents, make_global(agents).repo, "lines")
    agents.script("planning", f"{out('planning.ai.json', ASKED)}; {out('plan.files.json', FILES)}")
    task.run(expect=4)
    command, _, shown = next(block for block in BLOCKS if "$ detent next" in block).strip().partition("\n")
    assert task(*command.split()[2:], cwd=task.repo).out.strip() == shown.strip()
