"""Wherever a task rests or is repaired, STATE.md links to its artifacts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.e2e.phase_task import BLOCKED, FRAME, PhaseTask

At = Callable[[str], PhaseTask]


@pytest.mark.requirement("S0.38")
@pytest.mark.parametrize("phase", ["implement", "verify", "repair"])
@pytest.mark.parametrize("target", ["blocked", "needs_user_decision"])
@pytest.mark.parametrize("files", [1, 2])
def test_a_block_or_question_links_to_the_artifacts(at: At, phase: str, target: str, files: int) -> None:
    task = at(phase)
    for number in range(files):
        task.write(f"artifacts/{('result', 'log')[number]}.txt", "seen\n")
    task.set({**BLOCKED, "Evidence link": ""})
    task.move(target)
    wanted = "[result.txt](artifacts/result.txt)" if files == 1 else "[evidence](artifacts/evidence.html)"
    assert task.field("Evidence link") == wanted
    assert (task.folder / "artifacts/evidence.html").exists() == (files == 2)


def test_an_existing_link_stays(at: At) -> None:
    task = at("implement")
    task.write("artifacts/result.txt", "seen\n")
    task.set({**BLOCKED, "Evidence link": "https://ci.acme.dev/builds/7"})
    task.move("blocked")
    assert task.field("Evidence link") == "https://ci.acme.dev/builds/7"


@pytest.mark.requirement("S0.39")
def test_one_artifact_is_linked_by_its_full_address_where_the_project_has_one(
    detent: Detent, repo: MakeRepo, tmp_path: Path
) -> None:
    settings = '[evidence]\nbase = "https://proof.acme.dev/tasks"\n'
    path = repo(files={**SAMPLE_FILES, "detent.toml": settings})
    folder = tmp_path / "task"
    made = detent("new", "count", "--id", "t", "--check", "true", "--dir", folder, cwd=path)
    assert made.code == 0, made
    task = PhaseTask(detent, path, folder, "t")
    task.set(FRAME)
    task.move("shape")
    task.move("implement")
    task.candidate()
    task.move("verify")
    task.move("review")
    assert task.field("Evidence link") == "https://proof.acme.dev/tasks/t/artifacts/result.txt"
