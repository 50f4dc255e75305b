"""Tests of reading quota errors and the times they tell."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from detent.effects.agents.quota import is_quota, wake_time

NOW_S = 1_800_000_000.0  # 2027-01-15T08:00:00Z, a Friday


@pytest.fixture(autouse=True)
def utc() -> Iterator[None]:
    """The host's own zone stands for a missing one, so the tests choose it."""
    earlier = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    if earlier is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = earlier
    time.tzset()


@pytest.mark.parametrize(
    "text",
    [
        "429 Too Many Requests",
        "exceeded retry limit, last status: 429",
        "Rate limit reached for requests",
        "rate_limit_error: slow down",
        "You've hit your usage limit.",
        "You've hit your weekly limit · resets 3pm",
        "You exceeded your current quota, please check your plan",
        "insufficient_quota",
        "Your credit balance is too low",
        "out of extra usage",
    ],
)
def test_a_used_up_quota_is_recognised(text: str) -> None:
    assert is_quota(text)


@pytest.mark.parametrize(
    "text",
    [
        "500 internal error",
        "401 bad key",
        "connection to http://127.0.0.1:42900 refused",
        "Disk quota exceeded",
        "context length limit reached",
    ],
)
def test_other_errors_are_no_quota(text: str) -> None:
    assert not is_quota(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("try again in 20s", "2027-01-15T08:00:20Z"),
        ("Please try again in 1.5s.", "2027-01-15T08:00:02Z"),
        ("Please try again in 350ms.", "2027-01-15T08:00:01Z"),
        ("try again in 2 days 17 hours 14 minutes.", "2027-01-18T01:14:00Z"),
        ("The session limit resets in 3h 20m.", "2027-01-15T11:20:00Z"),
        ("retry after 1 hour, 5 minutes and 3 seconds", "2027-01-15T09:05:03Z"),
        ('"retry-after": "30"', "2027-01-15T08:00:30Z"),
        ("Retry-After: 30", "2027-01-15T08:00:30Z"),
        ("usage limit reached|1800003600", "2027-01-15T09:00:00Z"),
        ("limit until 2027-01-16T00:00:00Z", "2027-01-16T00:00:00Z"),
        ("limit until 2027-01-16T00:00:00+02:00", "2027-01-15T22:00:00Z"),
        ("resets 3pm", "2027-01-15T15:00:00Z"),
        ("resets 7:30am", "2027-01-16T07:30:00Z"),
        ("resets at 12am", "2027-01-16T00:00:00Z"),
        ("resets 3pm (Europe/Berlin)", "2027-01-15T14:00:00Z"),
        ("resets 3pm (Nowhere/Land)", "2027-01-15T15:00:00Z"),
        ("try again at Jan 20th, 2027 7:38 AM.", "2027-01-20T07:38:00Z"),
        ("or try again at Jan 20, 2027, 7:38 AM", "2027-01-20T07:38:00Z"),
    ],
)
def test_the_time_it_tells_is_read(text: str, expected: str) -> None:
    assert wake_time(text, NOW_S) == expected


@pytest.mark.parametrize(
    "text",
    [
        "try again later",
        "usage limit reached",
        "try again at Jan 10th, 2027 7:38 AM",  # over already
        "try again in 400 days",
        "resets at 27pm",
        "limit 1000000000 tokens",
        "try again at Feb 31st, 2027 1:00 AM",
    ],
)
def test_no_time_or_an_impossible_one_is_no_time(text: str) -> None:
    assert wake_time(text, NOW_S) == ""
