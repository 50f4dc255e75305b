"""`global`: an acceptance asks what the green tests prove, and an override of red tests is asked about again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.agent_runs import Agents
from tests.e2e.global_task import PLAN, GlobalTask, make_global, out
from tests.e2e.graded_work import ASKED, COMMAND, EXITS, FILES, HONEST, REFUSED, Work, script_of

PLANNED = {"files": ["app.py", "tests/", "conftest.py"]}
Tested = Callable[[Work], GlobalTask]


@pytest.fixture
def tested(agents: Agents, tmp_path: Path) -> Tested:
    """A task whose agent did this work, driven as far as it goes."""

    def make(work: Work) -> GlobalTask:
        task = make_global(agents, check=COMMAND, files=FILES, kind="feature")
        plan = f"{out('planning.ai.json', PLAN)}; {out('plan.files.json', PLANNED)}"
        agents.script("planning", plan)
        agents.script("codegen", script_of(work, tmp_path))
        ran = task("run", task.id, cwd=task.repo)
        assert ran.code in (0, 4, 6), ran
        return task

    return make


def test_honest_change_is_accepted(tested: Tested) -> None:
    task = tested(HONEST)
    assert task.phase == "accept"
    done = task("approve", task.id, cwd=task.repo)
    assert (done.code, task.phase) == (0, "done"), done
    assert task.json("status", task.id)["proof"]["word"] == "proven_by_own_test"
    assert task("audit", task.id, cwd=task.repo).code == 0


@pytest.mark.parametrize("cheat", ASKED)
def test_acceptance_waits_until_a_person_accepts_what_the_tests_prove(tested: Tested, cheat: str) -> None:
    work, answer = ASKED[cheat]
    task = tested(work)
    assert task.phase == "accept"
    refused = task("approve", task.id, cwd=task.repo)
    assert (refused.code, task.phase) == (1, "accept"), refused
    assert answer in refused.out
    word = ("--proof", "kept", "--reason", "seen") if "(kept)" in answer else ("--tests",)
    done = task("approve", *word, task.id, cwd=task.repo)
    assert (done.code, task.phase) == (0, "done"), done
    assert task("audit", task.id, cwd=task.repo).code == 0


@pytest.mark.parametrize("cheat", REFUSED)
def test_refused_proof_is_accepted_by_no_word(tested: Tested, cheat: str) -> None:
    work, answer = REFUSED[cheat]
    task = tested(work)
    for words in ((), ("--tests",), ("--reason", "I trust it")):
        refused = task("approve", *words, task.id, cwd=task.repo)
        assert (refused.code, task.phase) == (1, "accept"), refused
    assert answer in refused.out


def test_exit_before_the_tests_goes_back_to_the_coder(tested: Tested) -> None:
    task = tested(EXITS)
    assert task.phase != "accept"
    assert "test-failures" in [line["edge"] for line in task.entries("moved")]


def test_override_of_green_tests_leaves_the_proof_asked(tested: Tested) -> None:
    task = tested(REFUSED["patches reports"][0])
    assert task("move", "redo-test", "--reason", "again", task.id, cwd=task.repo).code == 0
    assert task("move", "accept", "--override", "they are green", task.id, cwd=task.repo).code == 0
    assert task("approve", task.id, cwd=task.repo).code == 1
    assert task.phase == "accept"
