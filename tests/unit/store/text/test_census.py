"""Tests of the census: merging, wholeness, and reading its JSON back."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import UnreadableError
from detent.store.text.census import Call, Case, CaseId, Census, census_of, from_json, names_of, to_json

ID = CaseId("tests/test_a.py", "test_a")
ENDED = Call("pytest", has_ended=True, exit=0)


def test_a_test_that_ran_twice_counts_by_its_worst_end() -> None:
    twice = [Case(ID, "passed"), Case(ID, "failed", "test", "no"), Case(ID, "skipped")]
    assert census_of(twice, [ENDED]).cases == (Case(ID, "failed", "test", "no"),)


def test_whole_needs_a_report_and_every_end() -> None:
    assert not Census().is_whole
    assert Census((), (ENDED,)).is_whole
    assert not Census((), (ENDED, Call("pytest", has_ended=False))).is_whole


def test_parameters_of_one_test_are_grouped() -> None:
    cases = [Case(ID.replace(parameters="1"), "passed"), Case(ID.replace(parameters="2"), "failed", "test")]
    assert names_of(cases) == {("tests/test_a.py", "test_a"): tuple(cases)}


def test_json_is_read_back_as_it_was() -> None:
    census = census_of([Case(ID, "error", "collection", "ImportError"), Case(CaseId("", "x"), "passed")], [ENDED])
    assert from_json(to_json(census), "receipt") == census


ROW = ["a.py", "test_a", "", "passed", "", ""]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 2}, "schema 1"),
        ({"more": 1}, "schema 1"),
        ({"cases": {}}, "must be lists"),
        ({"cases": [ROW[:5]]}, "case 1: must be [file"),
        ({"cases": [["a.py", "t", "", "green", "", ""]]}, "'green' is no outcome"),
        ({"cases": [["a.py", "t", "", "failed", "", ""]]}, "no stage of failed"),
        ({"cases": [["a.py", "t", "", "passed", "test", ""]]}, "no stage of passed"),
        ({"cases": [["", "", "", "passed", "", ""]]}, "neither a file nor a name"),
        ({"cases": [["a.py", "t" * 2001, "", "passed", "", ""]]}, "longer than 2000"),
        ({"cases": [ROW, ROW]}, "stands there twice"),
        ({"calls": [["pytest", 1, 0]]}, "call 1 must be"),
        ({"calls": [["pytest", True, True]]}, "call 1 must be"),
    ],
)
def test_json_that_no_census_wrote_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        from_json({**to_json(Census((Case(ID, "passed"),), (ENDED,))), **change}, "receipt")
    assert said in refused.value.what
