"""Which tests of a run are planted again."""

from __future__ import annotations

from detent.runner.step.proving.planted import small_tests
from detent.store.text.census import PASSED, Case, CaseId


def cases(name: str, number: int) -> list[Case]:
    return [Case(CaseId("tests/test_a.py", name, str(at) if number > 1 else ""), PASSED) for at in range(number)]


def test_tests_of_few_cases_are_planted_before_those_of_many() -> None:
    found = [*cases("test_many", 400), *cases("test_some", 30), *cases("test_one", 1)]
    assert small_tests(found) == [("tests/test_a.py", "test_one"), ("tests/test_a.py", "test_some")]


def test_single_test_of_many_cases_is_planted() -> None:
    assert small_tests(cases("test_many", 400)) == [("tests/test_a.py", "test_many")]


def test_every_test_of_one_case_may_be_planted() -> None:
    found = [case for number in range(300) for case in cases(f"test_{number}", 1)]
    assert len(small_tests(found)) == 300


def test_file_that_is_a_case_of_its_own_is_not_planted() -> None:
    assert small_tests([Case(CaseId("tests/test_a.py", ""), PASSED)]) == []
