"""Tests that go both ways by themselves: which may be run again, and what several runs of a command say together.

Pure. Only a test that stands as it did on the baseline and went both ways there, or that a person listed, gets another
chance; a skipped or missing one never does. So code that makes a test fail sometimes stays refused.
"""

from __future__ import annotations

from detent.store.text.census import GONE, GREEN, RED, Case, CaseId, Census, census_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    Place = tuple[str, str]  # file and name of a test

MOST_RETRIES = 2


def red_in(census: Census) -> frozenset[CaseId]:
    return frozenset(case.id for case in census.of_outcome(RED))


def may_be_flaky(red: frozenset[CaseId], base: Census, changed: Collection[Place]) -> bool:
    """Whether each of these is a test of the baseline that ran there and has not changed since."""
    ran = {case.id for case in base.of_outcome(GREEN | RED)}
    return bool(red) and all(case in ran and (case.file, case.name) not in changed for case in red)


def retried_of(flaky: Collection[CaseId], base: Census, changed: Collection[Place]) -> frozenset[CaseId]:
    """Those known to be flaky that get another chance: they pass on the baseline and have not changed since."""
    green = {case.id for case in base.of_outcome(GREEN)}
    return frozenset(case for case in flaky if case in green and (case.file, case.name) not in changed)


def together(first: Census, later: Census, retried: frozenset[CaseId]) -> Census:
    """What two runs of a command say: of a retried test that failed the better end counts, of any other the worse."""
    before, after = first.by_id(), later.by_id()
    cases = [
        _better(before.get(case_id, Case(case_id, GONE)), after.get(case_id, Case(case_id, GONE)))
        for case_id in before.keys() & retried | after.keys() & retried
    ]
    for case_id in (before.keys() | after.keys()) - retried:
        cases += [
            before.get(case_id, Case(case_id, GONE)),
            after.get(case_id, Case(case_id, GONE)),
        ]  # a census keeps the worse one
    return census_of(cases, later.calls)


def _better(before: Case, after: Case) -> Case:
    """A failure is made good by a pass alone, and no pass makes good that the test was skipped or did not run."""
    if before.outcome in RED:
        return after
    return before if after.outcome in RED else max(before, after, key=_is_no_pass)


def _is_no_pass(case: Case) -> bool:
    return case.outcome not in GREEN
