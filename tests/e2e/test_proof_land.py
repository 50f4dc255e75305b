"""`land` repeats what the receiving branch can judge of the merged tree, and asks about what was waived."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.agent_runs import Agents
from tests.e2e.clone_task import CloneTask
from tests.e2e.global_task import PLAN, GlobalTask, make_global, out
from tests.e2e.graded_work import ALWAYS_TWO, ASKED, CODE, COMMAND, FILES, HONEST, TESTS, Work, script_of
from tests.e2e.test_land import assert_refused, commit_in_checkout

Done = Callable[..., CloneTask]


@pytest.fixture
def done(detent: Detent, repo: MakeRepo) -> Done:
    """A finished `phase` task with this work; what its tests prove was accepted where that was asked."""

    def make(work: Work, *accept: str, files: Mapping[str, str] = FILES) -> CloneTask:
        task = CloneTask(detent, repo, repo("repo", dict(files)), check=COMMAND)
        for name, text in work.items():
            path = task.tree / name
            path.unlink() if text is None else path.write_text(text, encoding="utf-8")
        if accept:
            task.to("review")
            task.review()
            task.refused("done")
            assert task("approve", *accept, task.id, cwd=task.repo).code == 0
        else:
            task.to("done")
        assert task.state() == "done"
        return task

    return make


def proofs(task: CloneTask) -> list[dict[str, Any]]:
    """The assessments that the journal vouches for, by what their receipt says they are."""
    receipts = [json.loads(path.read_text()) for path in (task.control / "receipts").glob("*.json")]
    return [receipt for receipt in receipts if receipt["command"].startswith("full proof")]


def test_proven_tree_and_branch_are_not_proven_again(done: Done) -> None:
    task = done(HONEST)
    landed = task("land", task.id, cwd=task.repo)
    assert landed.code == 0, landed
    assert "proof: proven by the agent's own test" in landed.err
    assert "checking the tests" not in landed.err
    assert len(proofs(task)) == 1
    assert task("audit", task.id, cwd=task.repo).code == 0


def test_branch_that_moved_on_judges_the_merged_tree(done: Done) -> None:
    task = done(HONEST)
    commit_in_checkout(task, "other.txt", "other\n")
    landed = task("land", task.id, cwd=task.repo)
    assert landed.code == 0, landed
    assert "(with planted tests)" in landed.err
    found = proofs(task)
    assert sorted(len(receipt["command"]) > len("full proof") for receipt in found) == [False, True]
    assert task("audit", task.id, cwd=task.repo).code == 0


def test_accepted_change_of_a_test_is_not_asked_about_twice(done: Done) -> None:
    task = done(ASKED["removes a test"][0], "--tests")
    commit_in_checkout(task, "other.txt", "other\n")
    landed = task("land", task.id, cwd=task.repo)
    assert landed.code == 0, landed


def test_new_branch_test_that_the_work_fails_closes_landing(done: Done) -> None:
    task = done({"app.py": ALWAYS_TWO, "tests/test_app.py": TESTS.partition("\n\n\ndef test_one")[0] + "\n"}, "--tests")
    new = "from app import count_words\n\n\ndef test_three():\n    assert count_words('a b c') == 3\n"
    commit_in_checkout(task, "tests/test_three.py", new)
    assert_refused(task, "fails on the merged tree")


@pytest.fixture
def overridden(agents: Agents, tmp_path: Path) -> GlobalTask:
    """A `global` task whose red tests a person let through."""
    task = make_global(agents, check=COMMAND, files=FILES)
    agents.script("planning", f"{out('planning.ai.json', PLAN)}; {out('plan.files.json', {'files': ['app.py']})}")
    agents.script("codegen", script_of({"app.py": CODE + "# better\n"}, tmp_path))
    task("run", task.id, cwd=task.repo)
    assert task("move", "redo-test", "--reason", "one more change", task.id, cwd=task.repo).code == 0
    (task.tree / "app.py").write_text(ALWAYS_TWO, encoding="utf-8")
    assert task("move", "accept", "--override", "one word is rare", task.id, cwd=task.repo).code == 0
    done = task("approve", "--reason", "known", task.id, cwd=task.repo)
    assert (done.code, task.phase) == (0, "done"), done
    return task


def test_override_of_red_tests_is_shown_and_asked_about(overridden: GlobalTask) -> None:
    task, why = overridden, "waived tests_passed for this work: one word is rare"
    refused = task("land", task.id, cwd=task.repo)
    assert refused.code == 1, refused
    assert refused.err.count(why) == 2, "in the plan, and in the question"
    assert f"detent land {task.id} --yes" in refused.err
    landed = task("land", task.id, "--yes", cwd=task.repo)
    assert landed.code == 0, landed
    assert "it was waived" in landed.out
    assert why in task.entries("landed")[-1]["accepted"][0]
    assert task("audit", task.id, cwd=task.repo).code == 0


def test_yes_lets_no_red_command_through_that_was_not_waived(done: Done) -> None:
    task = done(HONEST)
    commit_in_checkout(task, "tests/test_red.py", "def test_red():\n    assert False\n")
    assert_refused(task, "fails on the merged tree", words=("--yes",))
