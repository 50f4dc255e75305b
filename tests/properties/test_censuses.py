"""Whatever two censuses hold: every test is in exactly one group, nothing green disappears unseen, JSON is lossless."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from detent.gates.compare_censuses import compare, find_targets
from detent.store.text.census import (
    GREEN,
    OUTCOMES,
    RED,
    STAGES,
    Call,
    Case,
    CaseId,
    Census,
    census_of,
    from_json,
    to_json,
)

IDS = st.builds(
    CaseId, st.sampled_from(["a.py", "b.py"]), st.sampled_from(["", "x", "y", "C.x"]), st.sampled_from(["", "1"])
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    outcome = draw(st.sampled_from(OUTCOMES))
    return Case(
        draw(IDS), outcome, draw(st.sampled_from(STAGES[1:])) if outcome in RED else "", draw(st.text(max_size=5))
    )


CALLS = st.lists(
    st.builds(Call, st.sampled_from(["pytest", "go"]), st.booleans(), st.none() | st.integers(0, 3)), max_size=3
)
CASES = st.lists(cases(), max_size=12)
CENSUSES = st.builds(census_of, CASES, CALLS)


@given(CASES, CALLS)
def test_the_order_of_reports_does_not_matter(found: list[Case], calls: list[Call]) -> None:
    mixed = found[::-1]
    assert census_of(found, calls) == census_of(mixed, calls[::-1])


@given(CENSUSES)
def test_a_census_survives_json(census: Census) -> None:
    assert from_json(json.loads(json.dumps(to_json(census))), "x") == census


@given(CENSUSES, CENSUSES)
def test_every_test_of_the_first_census_is_in_one_group(base: Census, now: Census) -> None:
    found = compare(base, now)
    groups = (found.kept, found.lost, found.turned_green, found.still_red, found.turned_red, found.other)
    ids = [change.id for group in groups for change in group]
    assert sorted(map(repr, ids)) == sorted(repr(case.id) for case in base.cases)


@given(CENSUSES, CENSUSES)
def test_what_was_green_and_is_not_is_lost(base: Census, now: Census) -> None:
    green = {case.id for case in now.of_outcome(GREEN)}
    missing = {case.id for case in base.of_outcome(GREEN) if case.id.name and case.id not in green}
    assert missing <= {change.id for change in compare(base, now).lost}


@given(CENSUSES)
def test_a_census_against_itself_loses_only_what_was_never_there(census: Census) -> None:
    found = compare(census, census)
    assert not found.lost
    assert not found.new_red
    assert not find_targets(census, census, census)
