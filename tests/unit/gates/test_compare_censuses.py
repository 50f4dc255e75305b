"""Tests of comparing two censuses: what is kept, lost, newly red, and which tests show a change."""

from __future__ import annotations

import pytest

from detent.gates.compare_censuses import Change, Comparison, Target, compare, find_targets, shown_by
from detent.store.text.census import OUTCOMES, RED, Call, Case, CaseId, Census, census_of

CALLS = (Call("pytest", has_ended=True, exit=0),)
A, B = CaseId("test_a.py", "test_a"), CaseId("test_a.py", "test_b")
FILE = CaseId("test_a.py", "")


def census(**_ends: str) -> Census:
    return census_of([ended(CaseId("test_a.py", f"test_{name}"), end) for name, end in _ends.items()], CALLS)


def ended(case: CaseId, end: str) -> Case:
    return Case(case, end, "test" if end in RED else "")


def group(comparison: Comparison) -> str:
    names = ("kept", "lost", "turned_green", "still_red", "turned_red", "other")
    return next(name for name in names if getattr(comparison, name))


@pytest.mark.parametrize(
    ("was", "now", "expected"),
    [
        ("passed", "passed", "kept"),
        ("passed", "failed", "lost"),
        ("passed", "skipped", "lost"),
        ("passed", "xfailed", "lost"),
        ("passed", "gone", "lost"),
        ("failed", "passed", "turned_green"),
        ("error", "failed", "still_red"),
        ("failed", "skipped", "lost"),
        ("failed", "xfailed", "lost"),
        ("skipped", "failed", "turned_red"),
        ("xfailed", "error", "turned_red"),
        ("skipped", "passed", "other"),
        ("skipped", "xfailed", "other"),
    ],
)
def test_one_test_lands_in_one_group(was: str, now: str, expected: str) -> None:
    assert group(compare(census(a=was), census(a=now))) == expected


@pytest.mark.parametrize("was", [outcome for outcome in OUTCOMES if outcome not in {"skipped", "xfailed", "gone"}])
def test_a_test_that_is_no_longer_there_is_lost(was: str) -> None:
    assert [change.now for change in compare(census(a=was), census(b="passed")).lost] == ["gone"]


def test_the_same_text_elsewhere_is_kept() -> None:
    moved = {("test_a.py", "test_a"): ("test_a.py", "test_b")}
    found = compare(census(a="passed"), census(b="passed"), moved)
    assert (found.kept, found.lost, found.added_green) == ((Change(A, "passed", "passed"),), (), ())


def test_the_name_counts_where_the_text_did_not_run_elsewhere() -> None:
    moved = {("test_a.py", "test_a"): ("test_b.py", "test_a")}
    assert compare(census(a="passed"), census(a="passed"), moved).kept


def test_a_file_that_is_collected_again_is_not_lost() -> None:
    base = census_of([Case(FILE, "error", "collection")], CALLS)
    found = compare(base, census(a="passed"))
    assert (found.lost, [change.id for change in found.turned_green]) == ((), [FILE])
    assert compare(base, Census((), CALLS)).lost
    assert compare(base, base).still_red


def test_new_red_has_the_lost_and_the_added() -> None:
    found = compare(census(a="passed"), census(a="failed", b="failed"))
    assert found.new_red == (A, B)


def test_a_new_test_that_was_red_before_is_a_target() -> None:
    base, now = census(a="passed"), census(a="passed", b="passed")
    assert find_targets(base, census(a="passed", b="failed"), now) == (Target(B, "test"),)
    assert find_targets(base, census(a="passed", b="passed"), now) == ()


def test_green_baseline_test_is_a_target_only_if_it_changed() -> None:
    base, before = census(a="passed"), census(a="failed")
    assert find_targets(base, before, base) == ()
    assert find_targets(base, before, base, {("test_a.py", "test_a")}) == (Target(A, "test"),)


def test_file_that_cannot_be_imported_shows_only_a_new_name() -> None:
    before = census_of([Case(FILE, "error", "collection")], CALLS)
    targets = find_targets(Census(), before, census(a="passed"))
    assert targets == (Target(A, "collection"),)
    assert shown_by(targets, None) == ()
    assert shown_by(targets, census(a="passed")) == ()
    assert shown_by(targets, census(a="failed")) == (A,)


@pytest.mark.parametrize(
    "why",
    [
        "AttributeError: module 'app' has no attribute 'NO_WORD'",
        "ImportError: cannot import name 'NO_WORD' from 'app'",
        "ModuleNotFoundError: No module named 'words'",
    ],
)
def test_missing_name_in_test_itself_shows_only_a_new_name(why: str) -> None:
    before = census_of([Case(A, "failed", "test", why)], CALLS)
    targets = find_targets(Census(), before, census(a="passed"))
    assert targets == (Target(A, "collection"),)


def test_missing_attribute_of_object_is_a_failure_of_the_code() -> None:
    before = census_of([Case(A, "failed", "test", "AttributeError: 'Words' object has no attribute 'count'")], CALLS)
    assert find_targets(Census(), before, census(a="passed")) == (Target(A, "test"),)


def test_test_that_failed_in_its_body_needs_no_further_run() -> None:
    assert shown_by((Target(A, "test"),), None) == (A,)


def test_a_run_without_an_end_counts_as_red_before() -> None:
    assert find_targets(Census(), Census(), census(a="passed")) == (Target(A, "test"),)
