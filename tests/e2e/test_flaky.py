"""Flaky tests from the command line: what goes both ways on the first commit gets another chance, nothing else does.

Each run of the test command has a number, which tests read as `RUN`: 1 to 3 are on the first commit (plain, with code
that raises, with planted tests), 4 is the first on the work.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.graded_task import Counted, Graded, new_task, to_review
from tests.e2e.graded_work import CODE, COMMAND, FIXED, HONEST, NEW_TEST, TESTS

NAME = "tests/test_moody.py::test_moody"
Moody = Callable[..., Graded]


def moody(*red: int) -> str:
    """A test file whose test fails in these runs."""
    return f"import os\n\n\ndef test_moody():\n    assert int(os.environ['RUN']) not in {set(red) or '()'}\n"


@pytest.fixture
def counted(repo: MakeRepo, tmp_path: Path) -> Callable[..., Counted]:
    return lambda files: Counted(repo, tmp_path, files)


@pytest.fixture
def task_of(detent: Detent, tmp_path: Path) -> Callable[[Counted], Graded]:
    return lambda counted: new_task(detent, counted.top, tmp_path / "task", "words", COMMAND)


def test_test_that_goes_both_ways_on_the_first_commit_passes_as_flaky(
    counted: Callable[..., Counted], task_of: Callable[[Counted], Graded]
) -> None:
    project = counted({"tests/test_moody.py": moody(4, 5)})
    task = task_of(project)
    done = to_review(task, HONEST)
    assert "on the first commit again, 2 of 2" in done.err
    assert "(again, 1 of at most 2: only flaky tests failed)" in done.err
    receipt = task.receipt(COMMAND)
    assert (receipt["attempts"], receipt["flaky"]) == ([1, 0], NAME)
    assert project.runs() == 7
    task.move("done")
    assert task.part("census")["why"] == f"flaky: 1 test failed, and passed when it was run again: {NAME}"
    assert task.part("census")["result"] == "ok"
    assert f"flaky: 1 test failed, and passed when it was run again: {NAME}" in task("status", task.id).out


def test_test_that_the_work_makes_fail_sometimes_stays_red(
    counted: Callable[..., Counted], task_of: Callable[[Counted], Graded]
) -> None:
    project = counted({})
    task = task_of(project)
    sometimes = (
        "import os\n\n\ndef count_words(text):\n    return 2 if os.environ['RUN'] == '4' else len(text.split())\n"
    )
    assert to_review(task, {"app.py": sometimes}).code == 1
    assert task.receipt(COMMAND)["attempts"] == [1]
    assert project.runs() == 6  # the first commit was run twice more, the work was not
    assert task.state() == "verify"


def test_new_test_that_fails_sometimes_is_not_run_again(
    counted: Callable[..., Counted], task_of: Callable[[Counted], Graded]
) -> None:
    project = counted({"detent.toml": f'[proof]\nflaky = ["{NAME}"]\n'})
    task = task_of(project)
    assert to_review(task, {"tests/test_moody.py": moody(4)}).code == 1
    assert project.runs() == 4


@pytest.mark.parametrize(("red", "attempts"), [((4,), [1, 0]), ((4, 5), [1, 1, 0]), ((4, 5, 6), [1, 1, 1])])
def test_listed_test_is_run_again_twice_at_most(
    counted: Callable[..., Counted], task_of: Callable[[Counted], Graded], red: tuple[int, ...], attempts: list[int]
) -> None:
    project = counted({"tests/test_moody.py": moody(*red), "detent.toml": f'[proof]\nflaky = ["{NAME}"]\n'})
    task = task_of(project)
    assert to_review(task, HONEST).code == attempts[-1]
    assert task.receipt(COMMAND)["attempts"] == attempts


@pytest.mark.parametrize("how", ["removed", "skipped"])
def test_listed_test_that_is_gone_or_skipped_is_no_flaky_one(
    counted: Callable[..., Counted], task_of: Callable[[Counted], Graded], how: str
) -> None:
    project = counted({"tests/test_moody.py": moody(), "detent.toml": f'[proof]\nflaky = ["{NAME}"]\n'})
    task = task_of(project)
    skipped = "import pytest\n\n\n@pytest.mark.skip\n" + moody().partition("\n\n\n")[2]
    to_review(task, {**HONEST, "tests/test_moody.py": None if how == "removed" else skipped})
    assert f"what judges the work changed: {NAME}" in task.refused("done")


def test_code_that_skips_a_listed_test_is_refused(
    counted: Callable[..., Counted], task_of: Callable[[Counted], Graded]
) -> None:
    calls = "from app import count_words\n\n\ndef test_moody():\n    assert count_words('a b c') == 3\n"
    project = counted({"tests/test_moody.py": calls, "detent.toml": f'[proof]\nflaky = ["{NAME}"]\n'})
    skips = (
        "import pytest\n\n\ndef count_words(text):\n    return len(text.split()) if len(text) < 5 else pytest.skip()\n"
    )
    said = to_review(task_of(project), {"app.py": skips}).out
    assert f"is now skipped, failed or gone: {NAME}" in said
    assert project.runs() == 4


def test_flaky_failure_on_the_first_commit_shows_no_change(
    counted: Callable[..., Counted], task_of: Callable[[Counted], Graded]
) -> None:
    project = counted({"tests/test_moody.py": moody(1)})
    task = task_of(project)
    to_review(task, {"app.py": CODE + "\n\ndef other():\n    return 1\n"})
    assert "what passed before still passes (kept)" in task.refused("done")
    assert task.proof()["commands"][0]["targets"] == []


def test_person_runs_a_refused_proof_again(
    counted: Callable[..., Counted], task_of: Callable[[Counted], Graded]
) -> None:
    project = counted({})
    task = task_of(project)
    # Run 5 is of the new code under the tests of the first commit.
    odd = "import os\n\n\ndef count_words(text):\n    return 5 if os.environ['RUN'] == '5' else len(text.split())\n"
    to_review(task, {"app.py": odd, "tests/test_app.py": TESTS + NEW_TEST})
    assert "are now skipped, failed or gone" in task.refused("done")
    runs = project.runs()
    refused = task("prove")
    assert refused.code == 1
    assert "next: mend the tree, or have it proven again with: detent prove --again" in refused.out
    assert project.runs() == runs
    assert task("prove", "--again").code == 0
    assert task.receipt("full proof")["attempts"] == [1, 0]
    task.move("done")


def test_second_task_pays_nothing_for_the_baseline(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    project = Counted(repo, tmp_path, {})
    first = new_task(detent, project.top, tmp_path / "first", "first", COMMAND)
    second = new_task(detent, project.top, tmp_path / "second", "second", COMMAND)
    to_review(first, HONEST)
    assert project.runs() == 4  # three on the first commit, plain on the work
    first.move("done")
    assert project.runs() == 7  # and under the old tests, on the old code, with planted tests
    runs = project.runs()
    to_review(second, {})  # the work of the first stands in the same checkout
    assert project.runs() == runs + 1
    second.move("done")
    assert project.runs() == runs + 4


def test_proof_without_changed_tests_is_two_runs(
    counted: Callable[..., Counted], task_of: Callable[[Counted], Graded]
) -> None:
    project = counted({})
    task = task_of(project)
    to_review(task, {"app.py": FIXED})
    task.refused("done")
    assert project.runs() == 3 + 2  # those on the first commit; plain and planted on the work
    assert task.proof()["commands"][0]["runs"] == 1
