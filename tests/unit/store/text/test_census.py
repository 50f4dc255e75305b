"""Tests of the census: merging, wholeness, and reading its JSON back."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import UnreadableError
from detent.store.text.census import OUTCOMES, Call, Case, CaseId, Census, census_of, from_json, names_of, to_json
from detent.words.store import census as say

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
        ({"schema": 2}, say.no_census(say.no_table())),
        ({"more": 1}, say.no_census(say.no_table())),
        ({"cases": {}}, say.no_census(say.no_lists())),
        ({"cases": [ROW[:5]]}, say.no_census(say.wrong_case(1, say.wrong_fields()))),
        (
            {"cases": [["a.py", "t", "", "green", "", ""]]},
            say.no_census(say.wrong_case(1, say.no_outcome("green", OUTCOMES))),
        ),
        (
            {"cases": [["a.py", "t", "", "failed", "", ""]]},
            say.no_census(say.wrong_case(1, say.no_stage("", "failed"))),
        ),
        (
            {"cases": [["a.py", "t", "", "passed", "test", ""]]},
            say.no_census(say.wrong_case(1, say.no_stage("test", "passed"))),
        ),
        ({"cases": [["", "", "", "passed", "", ""]]}, say.no_census(say.wrong_case(1, say.no_file_or_name()))),
        (
            {"cases": [["a.py", "t" * 2001, "", "passed", "", ""]]},
            say.no_census(say.wrong_case(1, say.too_long(2000, 300))),
        ),
        ({"cases": [ROW, ROW]}, say.no_census(say.not_in_order())),
        ({"calls": [["pytest", 1, 0]]}, say.no_census(say.wrong_call(1))),
        ({"calls": [["pytest", True, True]]}, say.no_census(say.wrong_call(1))),
    ],
)
def test_json_that_no_census_wrote_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        from_json({**to_json(Census((Case(ID, "passed"),), (ENDED,))), **change}, "receipt")
    assert refused.value.what == said
