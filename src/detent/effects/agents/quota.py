"""Recognises in an agent's own error text that a quota is used up, and when it says that work can go on.

Only texts of errors are ever asked: an agent may well write about rate limits in its work.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

_USED_UP = re.compile(
    r"\b429\b|too many requests|rate[ _-]?limit|usage[ _-]?limit|hit your [a-z0-9 -]{0,20}limit|(?<!disk )quota"
    r"|out of (extra )?(credits?|usage)|insufficient[ _](credits?|balance|funds)|credit balance is too low",
    re.IGNORECASE,
)
_UNITS_S = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_AMOUNT = r"(\d+(?:\.\d+)?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)\b"
_AFTER = re.compile(
    rf"(?:again|retry|reset[s]?|wait|available|later)[a-z ,:]{{0,20}}?((?:{_AMOUNT}(?:,? and |,? )?){{1,4}})",
    re.IGNORECASE,
)
_RETRY_AFTER = re.compile(r"retry[ _-]after[\"']?[ :=]+[\"']?(\d+)\b(?! ?(?:ms|m|h|d))", re.IGNORECASE)
_EPOCH = re.compile(r"(?<!\d)(1[6-9]\d{8}|[2-9]\d{9})(\d{3})?(?!\d)")
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = re.compile(
    r"(?:again|resets?|available|until)(?: on| at)? "
    rf"(?:(?P<month>{'|'.join(_MONTHS)})[a-z]*\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    r"(?:, (?P<year>\d{4}))?,?(?: at)? )?"
    r"(?P<hour>1[0-2]|0?[1-9])(?::(?P<minute>\d\d))? ?(?P<half>[ap])\.?m\b\.?(?: \((?P<zone>[A-Za-z_/+-]+)\))?",
    re.IGNORECASE,
)
FURTHEST_S = 32 * 86_400  # quotas are counted by the month at most; a later time is a misreading


def is_quota(text: str) -> bool:
    """Whether an error text says that a quota or a rate limit is used up."""
    return _USED_UP.search(text) is not None


def wake_time(text: str, now_s: float) -> str:
    """When the text says that work can go on, in UTC; empty when it does not say, or says what can't be."""
    moment = _moment(text, now_s)
    if moment is None or not now_s < moment <= now_s + FURTHEST_S:
        return ""
    return stamp(moment)


def stamp(moment_s: float) -> str:
    from math import ceil
    from time import gmtime, strftime

    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(ceil(moment_s)))  # never before the given time


def _moment(text: str, now_s: float) -> float | None:
    if found := _AFTER.search(text):
        amounts = re.findall(_AMOUNT, found.group(1), re.IGNORECASE)
        return now_s + sum(float(number) * _seconds(unit) for number, unit in amounts)
    if found := _RETRY_AFTER.search(text):
        return now_s + int(found.group(1))
    if found := _STAMP.search(text):
        return _stamped(found.group())
    if found := _CLOCK.search(text):
        return _clock(found, now_s)
    if found := _EPOCH.search(text):
        return float(found.group(1))
    return None


def _seconds(unit: str) -> float:
    unit = unit.lower()
    return _UNITS_S["ms" if unit.startswith(("ms", "milli")) else unit[0]]


def _stamped(text: str) -> float | None:
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _clock(found: re.Match[str], now_s: float) -> float | None:
    """A time of day as people write it, in the zone it names or else in that of this host."""
    from datetime import timedelta

    now = _local(now_s, found["zone"])
    try:
        moment = now.replace(
            year=int(found["year"] or now.year),
            month=_MONTHS.index(found["month"][:3].lower()) + 1 if found["month"] else now.month,
            day=int(found["day"] or now.day),
            hour=int(found["hour"]) % 12 + (12 if found["half"] in "pP" else 0),
            minute=int(found["minute"] or 0),
            second=0,
            microsecond=0,
        )
    except ValueError:
        return None
    if moment <= now and not found["day"]:
        moment += timedelta(days=1)
    return moment.timestamp()


def _local(now_s: float, zone: str | None) -> datetime:
    from datetime import UTC, datetime
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if zone:
        try:
            return datetime.fromtimestamp(now_s, ZoneInfo(zone))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass  # an unknown zone is most likely the one this host lives in
    return datetime.fromtimestamp(now_s, UTC).astimezone()
