"""`[proof]` of the settings: each name of a test that can mean nothing is a problem of its own."""

from __future__ import annotations

import pytest

from detent.errors import UsageError
from detent.store.journal.settings import parse_settings
from detent.words.message import Message
from detent.words.store import proof as say
from detent.words.store.settings import problems_in


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('flaky = [""]', say.wrong_test("flaky", say.no_test_name(""))),
        ('red = ["tests/a.py::"]', say.wrong_test("red", say.no_test_name("tests/a.py::"))),
        ('red = ["::test_a"]', say.wrong_test("red", say.no_test_name("::test_a"))),
        ('red = [" tests/a.py::b"]', say.wrong_test("red", say.no_test_name(" tests/a.py::b"))),
        ('flaky = ["/tmp/a.py::b"]', say.wrong_test("flaky", say.test_outside("/tmp/a.py::b"))),
        ('flaky = ["../a.py::b"]', say.wrong_test("flaky", say.test_outside("../a.py::b"))),
        ("red = ['tests\\a.py::b']", say.wrong_test("red", say.test_outside("tests\\a.py::b"))),
        ('red = ["a.py::b", "a.py::b"]', say.wrong_test("red", say.test_named_twice("a.py::b"))),
        ('red = ["a.py::b"]\nflaky = ["a.py::b"]', say.flaky_and_red(["a.py::b"])),
    ],
)
def test_name_that_can_mean_no_test_is_a_problem(text: str, problem: Message) -> None:
    with pytest.raises(UsageError) as error:
        parse_settings(f"[proof]\n{text}\n".encode(), "detent.toml")
    assert error.value.what == problems_in("detent.toml", (problem,))


def test_names_of_tests_and_files_are_read() -> None:
    text = b'[proof]\nred = ["tests/a.py::A.test_b[1-2]", "tests/c.py"]\nflaky = ["src/x.test.js::group > one"]\n'
    assert parse_settings(text, "detent.toml").proof.red == ("tests/a.py::A.test_b[1-2]", "tests/c.py")
