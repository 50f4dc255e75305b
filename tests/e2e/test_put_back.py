"""A person's edit of what is locked is restored, and the person is told where the edit lies and how to keep it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.agent_runs import Agents
from tests.e2e.global_task import PLANNER, GlobalTask, make_global
from tests.e2e.phase_task import PhaseTask

WIDER = {"files": ["app.py", "test_app.py", "more.py"]}


def kept_in(text: str, repo: Path) -> bytes:
    """The file that a message names."""
    found = re.search(r"kept in (\S+)", text)
    assert found, text
    return (repo / found[1].rstrip(";,.")).read_bytes()


@pytest.fixture
def stopped(agents: Agents) -> GlobalTask:
    """A task whose coder did nothing."""
    task = make_global(agents)
    agents.script("codegen", "true")
    task.run(expect=6)
    return task


def test_restored_edit_is_kept_and_its_place_named(stopped: GlobalTask) -> None:
    stopped.put("plan.files.json", WIDER)
    said = stopped("resume", "--reason", "go on", stopped.id, cwd=stopped.repo).out
    assert "plan.files.json is locked in codegen and was put back" in said
    assert f'detent amend --reason "why" {stopped.id}' in said
    assert json.loads(kept_in(said, stopped.repo)) == WIDER
    assert "more.py" not in (stopped.folder / "plan.files.json").read_text(encoding="utf-8")
    output = stopped("history", stopped.id, cwd=stopped.repo).out
    assert json.loads(kept_in(output, stopped.repo)) == WIDER
    stopped.audit()


@pytest.mark.parametrize("is_stopped", [True, False], ids=["stopped", "going on"])
def test_run_tells_what_it_restored_before_it_starts_anything(stopped: GlobalTask, is_stopped: bool) -> None:
    if not is_stopped:
        assert stopped("resume", stopped.id, cwd=stopped.repo).code == 0
    stopped.put("plan.files.json", WIDER)
    said = stopped.run(expect=6).out
    assert said.startswith("  note: plan.files.json is locked in codegen and was put back\n")
    assert json.loads(kept_in(said, stopped.repo)) == WIDER


def test_each_file_of_a_locked_folder_is_named(stopped: GlobalTask) -> None:
    stopped.put("planning/notes.md", "a note of mine\n")
    said = stopped("resume", "--reason", "go on", stopped.id, cwd=stopped.repo).out
    assert "planning/notes.md kept in " in said
    assert kept_in(said, stopped.repo) == b"a note of mine\n"
    assert not (stopped.folder / "planning/notes.md").exists()


def test_locked_field_that_was_edited_is_kept_with_its_file(at: Callable[[str], PhaseTask]) -> None:
    task = at("implement")
    task.set({"Objective": "something larger"})
    said = task("move", "verify").out
    assert 'STATE.md: "Objective" is locked in implement and was put back' in said
    assert b"Objective: something larger" in kept_in(said, task.repo)


def test_an_edit_of_an_agent_names_no_place(agents: Agents) -> None:
    task = make_global(agents)
    agents.script("codegen", f"{PLANNER}; echo '{{}}' > $DETENT_TASK_DIR/plan.files.json; echo '#' >> app.py")
    said = task.run().out
    assert "plan.files.json is locked in codegen and was put back" in said
    assert "kept in" not in said
