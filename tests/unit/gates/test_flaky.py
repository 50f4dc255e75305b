"""Tests of which red tests may be run again, and of what several runs say together."""

from __future__ import annotations

import pytest

from detent.gates.flaky import may_be_flaky, red_in, retried_of, together
from detent.store.text.census import BODY, FAILED, GONE, PASSED, RED, SKIPPED, Call, Case, CaseId, Census, census_of

MOODY, OTHER, NEW = CaseId("a.py", "test_moody"), CaseId("a.py", "test_other"), CaseId("a.py", "test_new")


def ran(*ends: tuple[CaseId, str]) -> Census:
    cases = [Case(case, end, BODY if end in RED else "") for case, end in ends]
    return census_of(cases, [Call("pytest", has_ended=True)])


BASE = ran((MOODY, PASSED), (OTHER, PASSED))


def test_only_unchanged_tests_of_the_baseline_may_be_flaky() -> None:
    assert may_be_flaky(frozenset({MOODY, OTHER}), BASE, ())
    assert not may_be_flaky(frozenset(), BASE, ())
    assert not may_be_flaky(frozenset({MOODY, NEW}), BASE, ())
    assert not may_be_flaky(frozenset({MOODY}), BASE, {("a.py", "test_moody")})
    assert not may_be_flaky(frozenset({MOODY}), ran((MOODY, SKIPPED)), ())


def test_listed_test_must_pass_on_the_baseline_unchanged() -> None:
    assert retried_of([MOODY, NEW], BASE, ()) == {MOODY}
    assert retried_of([MOODY], BASE, {("a.py", "test_moody")}) == frozenset()
    assert retried_of([MOODY], ran((MOODY, FAILED)), ()) == frozenset()


@pytest.mark.parametrize(
    ("first", "second", "end"),
    [
        (FAILED, PASSED, PASSED),
        (PASSED, FAILED, PASSED),
        (FAILED, FAILED, FAILED),
        (FAILED, SKIPPED, SKIPPED),
        (FAILED, GONE, GONE),
        (SKIPPED, PASSED, SKIPPED),
    ],
)
def test_pass_makes_good_a_failure_of_a_flaky_test_alone(first: str, second: str, end: str) -> None:
    both = together(ran((MOODY, first)), ran((MOODY, second)), frozenset({MOODY}))
    assert [case.outcome for case in both.cases] == [end]


def test_any_other_test_counts_by_its_worse_end() -> None:
    both = together(ran((MOODY, FAILED), (OTHER, PASSED)), ran((MOODY, PASSED), (OTHER, FAILED)), frozenset({MOODY}))
    assert red_in(both) == {OTHER}
    gone = together(ran((OTHER, PASSED)), ran((MOODY, PASSED)), frozenset({MOODY}))
    assert gone.by_id()[OTHER].outcome == GONE
