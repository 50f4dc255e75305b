"""What a green test command proves, from the command line: cheats are refused, honest changes proven or asked about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.graded_task import Graded, new_task, to_review
from tests.e2e.graded_work import CODE, COMMAND, FILES, FIXED, NEW_TEST, TESTS

Reviewed = Callable[..., Graded]


@pytest.fixture
def reviewed(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Reviewed:
    """A task in review whose work is these files; nothing is missing but what its tests prove."""

    def make(work: dict[str, str | None], *more: str, files: dict[str, str] = FILES) -> Graded:
        top = repo("repo", {**files, ".gitignore": "__pycache__/\n"})
        task = new_task(detent, top, tmp_path / "task", "words", COMMAND, *more)
        to_review(task, work)
        return task

    return make


def test_fix_with_a_test_that_was_red_is_proven(reviewed: Reviewed) -> None:
    task = reviewed({"app.py": FIXED, "tests/test_app.py": TESTS + NEW_TEST})
    done = task.move("done")
    assert task.state() == "done", done
    assert f"checking the tests: {COMMAND} (with the code of the first commit)\n" in done.err
    assert f"checking the tests: {COMMAND} (with planted tests)\n  took " in done.err
    assert "checking" not in done.out
    assert task.proof()["word"] == "proven_by_own_test"
    assert task.proof()["commands"][0]["targets"] == ["tests/test_app.py::test_no_word"]


def test_change_that_no_test_shows_waits_for_a_person(reviewed: Reviewed) -> None:
    task = reviewed({"app.py": FIXED})
    said = task.refused("done")
    assert "what passed before still passes (kept); a feature needs: proven by the agent's own test" in said
    assert task("approve", "--proof", "proven", "--reason", "I hope so").code == 1
    assert task("approve", "--proof", "kept").code == 2
    assert task("approve", "--proof", "kept", "--reason", "the tests come tomorrow").code == 0
    assert task.state() == "done"
    assert task("audit").code == 0


def test_word_that_no_receipt_says_is_found_by_audit(reviewed: Reviewed) -> None:
    task = reviewed({"app.py": FIXED})
    task.refused("done")
    assert task("approve", "--proof", "kept", "--reason", "the tests come tomorrow").code == 0
    for path in (task.control / "receipts").glob("*.json"):
        if '"full proof"' in path.read_text():
            path.unlink()
    audit = task("audit")
    assert audit.code == 1
    assert "prove 'kept', which was accepted" in audit.out + audit.err


ALWAYS_EQUAL = """class Anything(int):
    def __eq__(self, other):
        return True


def count_words(text):
    return Anything()
"""
EQUAL_TO_NUMBERS = """class Number:
    def __eq__(self, other):
        return isinstance(other, int)


def count_words(text):
    return Number()
"""
ALWAYS_TWO = "def count_words(text):\n    return 2\n"
PATCHED_REPORTS = """import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
SKIPPED = TESTS.replace("def test_one", "@pytest.mark.skip\ndef test_one").replace(
    "from app", "import pytest\n\nfrom app"
)
UNREACHED = """import app


def test_no_word():
    if app.__doc__:
        assert app.count_words("") == 0
"""
NOWHERE = "the work does not even leave verify"
# cheat -> the work, and how the last move answers
CHEATS: dict[str, tuple[dict[str, str | None], str]] = {
    "exits at import": (
        {"app.py": "import os\nimport sys\n\nif 'pytest' in sys.modules:\n    os._exit(0)\n" + CODE},
        NOWHERE,
    ),
    "shadows the runner": ({"pytest.py": "import sys\n\nprint('3 passed')\nsys.exit(0)\n"}, NOWHERE),
    "is equal to everything": (
        {"app.py": ALWAYS_EQUAL, "tests/test_app.py": TESTS + NEW_TEST},
        "1 test that should show the change passes whatever it expects: tests/test_app.py::test_no_word",
    ),
    "is equal to everything, and no number": (
        {"app.py": ALWAYS_EQUAL.replace("Anything(int)", "Anything"), "tests/test_app.py": TESTS + NEW_TEST},
        "1 test that should show the change passes whatever it expects: tests/test_app.py::test_no_word",
    ),
    "is equal to every number": (
        {"app.py": EQUAL_TO_NUMBERS, "tests/test_app.py": TESTS + NEW_TEST},
        "1 test that shows the change compares a value that equals several others: tests/test_app.py::test_no_word",
    ),
    "patches reports": (
        {"conftest.py": PATCHED_REPORTS, "tests/test_app.py": TESTS + NEW_TEST},
        "a planted test that must fail was reported as passed",
    ),
    "deselects": (
        {"pytest.ini": "[pytest]\naddopts = --deselect tests/test_app.py::test_one_word\n"},
        "what judges the work changed: pytest.ini",
    ),
    "deletes a test": (
        {"app.py": ALWAYS_TWO, "tests/test_app.py": TESTS.partition("\n\n\ndef test_one")[0] + "\n"},
        "what judges the work changed: tests/test_app.py::test_one_word",
    ),
    "skips a test": (
        {"app.py": ALWAYS_TWO, "tests/test_app.py": SKIPPED},
        "what judges the work changed: tests/test_app.py::test_one_word",
    ),
    "weakens a test": (
        {"app.py": ALWAYS_TWO, "tests/test_app.py": TESTS.replace('("a") == 1', '("a") >= 1')},
        "what judges the work changed: tests/test_app.py::test_one_word",
    ),
    "has an empty test": (
        {"app.py": FIXED, "tests/test_app.py": TESTS + "\n\ndef test_no_word():\n    count_words('')\n"},
        "what passed before still passes (kept)",
    ),
    "never reaches its assertion": (
        {"app.py": CODE, "tests/test_new.py": UNREACHED},
        "what passed before still passes (kept)",
    ),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_cheat_does_not_reach_done(reviewed: Reviewed, cheat: str) -> None:
    work, answer = CHEATS[cheat]
    task = reviewed(work)
    if answer == NOWHERE:
        assert task.state() == "verify"
        return
    assert answer in task.refused("done")


def test_word_stands_on_every_face_until_a_person_accepts(reviewed: Reviewed) -> None:
    task = reviewed(CHEATS["deletes a test"][0])
    assert task.json("status", task.id)["proof"] is None
    task.refused("done")
    why = "1 part of what judges the work changed: tests/test_app.py::test_one_word"
    fix = "look at them: detent diff; accept them: detent approve --tests"
    answer = task.json("next", task.id)
    assert [(need["why"], need["fix"]) for need in answer["edges"][0]["missing"]] == [(why, fix)]
    proof = answer["proof"]
    assert (proof["word"], proof["required"], proof["enough"]) == ("ask", "proven_by_own_test", False)
    assert {"name": "seen", "result": "asks", "why": why, "next": fix} in proof["commands"][0]["parts"]
    assert [(path["name"], path["how"]) for path in proof["changed"]] == [("test_one_word", "removed")]
    assert "-    assert count_words" in proof["changed"][0]["diff"]
    assert task.json("status", task.id)["proof"] == proof
    assert task.json("inbox", cwd=task.repo)["waiting"][0]["proof"] == proof
    row = "a person must look (ask); this feature, as guessed from the request, needs: proven by the agent's own test"
    for words in (("status", task.id), ("next", task.id), ("inbox",), ("evidence", task.id)):
        assert row in task(*words, cwd=task.repo).out
    shown = Path(task.json("evidence", task.id)["path"]).read_text(encoding="utf-8")
    assert "What the tests prove" in shown
    assert "tests/test_app.py::test_one_word" in shown
    assert "-    assert count_words(&quot;a&quot;) == 1" in shown
    assert task("approve", "--tests").code == 0
    accepted = task.json("status", task.id)
    assert (accepted["state"], accepted["proof"]["enough"]) == ("done", True)
    assert accepted["proof"]["accepted_by"]
