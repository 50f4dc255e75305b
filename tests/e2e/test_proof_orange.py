"""`orange`: a person's approval asks what the green tests prove, where the project has commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo, let_out
from tests.e2e.graded_work import ASKED, COMMAND, EXITS, FILES, HONEST, REFUSED, Work, script_of
from tests.e2e.orange_task import Oranges, OrangeTask

Reviewed = Callable[..., OrangeTask]


@pytest.fixture
def oranges(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Oranges]:
    made = Oranges(detent, repo, tmp_path)
    yield made
    made.close()


@pytest.fixture
def reviewed(oranges: Oranges, tmp_path: Path) -> Reviewed:
    """A task in reviewing whose worker did this work."""

    def make(work: Work, commands: str = f'[commands]\ntest = "{COMMAND}"\n') -> OrangeTask:
        done = "handoff; orange task update --status agent-review"
        oranges.honest(working=f"{script_of(work, tmp_path)}; {done}")
        repo = oranges.make_repo("repo", {**FILES, "detent.toml": oranges.settings(commands)})
        let_out(repo)
        task = oranges.orange(repo=repo)
        ran = task.run()
        assert task.state() == "reviewing", ran
        return task

    return make


def test_honest_change_is_approved_and_lands_without_another_proof(reviewed: Reviewed) -> None:
    task = reviewed(HONEST)
    done = task("approve", task.id, cwd=task.repo)
    assert (done.code, task.state()) == (0, "done"), done
    proof = task.json("status", task.id)["proof"]
    assert (proof["word"], proof["enough"]) == ("proven_by_own_test", True)
    landed = task("land", task.id, cwd=task.repo)
    assert landed.code == 0, landed
    assert "proof: proven by the agent's own test" in landed.err
    assert "checking the tests" not in landed.err
    task.audit()


@pytest.mark.parametrize("cheat", ASKED)
def test_approval_waits_until_a_person_accepts_what_the_tests_prove(reviewed: Reviewed, cheat: str) -> None:
    work, answer = ASKED[cheat]
    task = reviewed(work)
    refused = task("approve", task.id, cwd=task.repo)
    assert (refused.code, task.state()) == (1, "reviewing"), refused
    assert answer in refused.out
    waiting = task.json("inbox", cwd=task.repo)["waiting"][0]
    assert answer in str(waiting["proof"]) or "kept" in waiting["proof"]["word"]
    word = ("--proof", "kept", "--reason", "seen") if "(kept)" in answer else ("--tests",)
    done = task("approve", *word, task.id, cwd=task.repo)
    assert (done.code, task.state()) == (0, "done"), done
    task.audit()


@pytest.mark.parametrize("cheat", REFUSED)
def test_refused_proof_is_approved_by_no_word(reviewed: Reviewed, cheat: str) -> None:
    work, answer = REFUSED[cheat]
    task = reviewed(work)
    for words in ((), ("--tests",), ("--reason", "I trust it")):
        refused = task("approve", *words, task.id, cwd=task.repo)
        assert (refused.code, task.state()) == (1, "reviewing"), refused
    assert answer in task("approve", task.id, cwd=task.repo).out


def test_exit_before_the_tests_closes_the_approval(reviewed: Reviewed) -> None:
    task = reviewed(EXITS)
    refused = task("approve", task.id, cwd=task.repo)
    assert (refused.code, task.state()) == (1, "reviewing"), refused
    assert "a process ended before its tests did" in refused.out, refused
    (task.tree / "app.py").write_text(HONEST["app.py"] or "", encoding="utf-8")
    mended = task("approve", "--reason", "it ended the tests", task.id, cwd=task.repo)
    assert "(kept)" in mended.out, "what is mended by hand is proven like any other work"


def test_project_without_commands_is_asked_nothing(reviewed: Reviewed) -> None:
    task = reviewed(HONEST, "")
    done = task("approve", task.id, cwd=task.repo)
    assert (done.code, task.state()) == (0, "done"), done
