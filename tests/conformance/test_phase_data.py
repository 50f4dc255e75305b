"""Rows of the phase document that data, documents and the evidence page show, without an agent run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from tests.e2e.phase_task import PhaseTask, Stages

MACHINE = load("phase", vocabulary())[0]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Stages:
    return Stages(tmp_path_factory.mktemp("stages"))


def of_state(name: str, kind: str) -> str:
    return " / ".join(getattr(MACHINE.states[name], kind))


@pytest.mark.told("S0.16")
@pytest.mark.parametrize("action", ["edit code, docs", "create artifacts", "exploratory checks", "substeps"])
def test_what_implement_may_do(action: str) -> None:
    assert action in of_state("implement", "may")


@pytest.mark.told("S0.18", "S0.19")
@pytest.mark.parametrize(
    "action", ["run tests", "scenario checks", "inspect outputs", "collect evidence", "mark failed categories"]
)
def test_what_verify_may_do(action: str) -> None:
    assert action in of_state("verify", "may")
    assert MACHINE.states["verify"].access == "read", "who finds is not who fixes"


@pytest.mark.told("S0.20")
def test_verify_forbids_new_features() -> None:
    assert "broad new feature work" in of_state("verify", "must_not")


@pytest.mark.told("S0.27", "S0.28")
@pytest.mark.parametrize("action", ["fix known failed checks", "tighten docs and evidence", "hide or disable"])
def test_what_repair_may_do(action: str) -> None:
    assert action in of_state("repair", "may")
    assert "open-ended implementation" in of_state("repair", "must_not")


@pytest.mark.told("S0.1", "S0.4")
@pytest.mark.parametrize(
    "words",
    ["implementing", "migrating", "auditing", "hardening", "several passes", "one-off questions", "brainstorming"],
)
def test_the_readme_says_what_it_is_for_and_what_not(words: str) -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert words in text
    assert "not a general workflow engine" in text


@pytest.mark.requirement("S0.53")
def test_one_artifact_is_linked_directly(stages: Stages) -> None:
    task = stages.at("verify")
    task.move("review")
    assert not (task.folder / "artifacts" / "evidence.html").exists()
    assert task.field("Evidence link") == "[result](artifacts/result.txt)"


def with_many(stages: Stages) -> PhaseTask:
    task = stages.at("verify")
    task.write("artifacts/run.log", "12 passed\n")
    (task.folder / "artifacts" / "shot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(32))
    task.move("review")
    return task


@pytest.mark.requirement("S0.37", "S0.40", "S0.50", "S0.54", "S0.55")
@pytest.mark.parametrize("shown", ["result.txt", "run.log", "shot.png", "12 passed", "grep -q"])
def test_many_artifacts_are_joined_by_one_page(stages: Stages, shown: str) -> None:
    task = with_many(stages)
    page = (task.folder / "artifacts" / "evidence.html").read_text(encoding="utf-8")
    assert shown in page
    assert "<script" not in page
    assert task.field("Evidence link") == "[evidence](artifacts/evidence.html) and [result](artifacts/result.txt)"
    assert task("audit").code == 0


@pytest.mark.requirement("S0.39")
def test_with_a_base_the_link_is_a_full_address(stages: Stages) -> None:
    task = stages.at("intake")
    (task.repo / "detent.toml").write_text('[evidence]\nbase = "https://files.example.org/t"\n', encoding="utf-8")
    for words in (("add", "-A"), ("commit", "-q", "-m", "settings")):
        subprocess.run(["git", *words], cwd=task.repo, env=stages.environment, check=True)
    folder = task.folder.parent / "second"
    assert task("new", "count", "--id", "second", "--check", "true", "--dir", folder, cwd=task.repo).code == 0
    second = PhaseTask(task.detent, task.repo, folder, "second")
    second.set({"Done gate": "a", "Not doing": "b", "Reality constraints": "c", "User facing": "no"})
    second.move("shape")
    second.move("implement")
    second.candidate()
    second.write("artifacts/more.txt", "more\n")
    second.move("verify")
    second.move("review")
    page = "https://files.example.org/t/second/artifacts/evidence.html"
    assert second.field("Evidence link") == f"{page} and [result](artifacts/result.txt)"
