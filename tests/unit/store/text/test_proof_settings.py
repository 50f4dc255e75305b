"""`[proof]` of the settings: each name of a test that can mean nothing is a problem of its own."""

from __future__ import annotations

import pytest

from detent.errors import UsageError
from detent.store.journal.settings import parse_settings


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('flaky = [""]', "names no test"),
        ('red = ["tests/a.py::"]', "names no test"),
        ('red = ["::test_a"]', "names no test"),
        ('red = [" tests/a.py::b"]', "names no test"),
        ('flaky = ["/tmp/a.py::b"]', "is no path inside the repository"),
        ('flaky = ["../a.py::b"]', "is no path inside the repository"),
        ('red = ["tests\\\\a.py::b"]', "is no path inside the repository"),
        ('red = ["a.py::b", "a.py::b"]', "stands there twice"),
        ('red = ["a.py::b"]\nflaky = ["a.py::b"]', "a test can't be both flaky and red"),
    ],
)
def test_name_that_can_mean_no_test_is_a_problem(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_settings(f"[proof]\n{text}\n".encode(), "detent.toml")
    assert problem in str(vars(error.value))


def test_names_of_tests_and_files_are_read() -> None:
    text = b'[proof]\nred = ["tests/a.py::A.test_b[1-2]", "tests/c.py"]\nflaky = ["src/x.test.js::group > one"]\n'
    assert parse_settings(text, "detent.toml").proof.red == ("tests/a.py::A.test_b[1-2]", "tests/c.py")
