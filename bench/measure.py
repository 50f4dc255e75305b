"""Times and what is said about them: medians, ratios and bars. Nothing here runs anything."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Times = Sequence[float]  # seconds, one per repetition


def median(times: Times) -> float:
    return statistics.median(times)


def rank(times: Times, percent: int) -> float:
    """The nearest rank, so that it is a time that was really measured."""
    ordered = sorted(times)
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `ratio` compares the median with the part's baseline; `bar` is the most `value` may be."""

    part: str
    what: str
    least_s: float | None = None
    median_s: float | None = None
    p95_s: float | None = None
    count: int = 0
    ratio: float | None = None
    bar: float | None = None
    held: str = "ratio"  # what the bar is held against: ratio, median, p99 or most
    value: float | None = None  # and how much that is
    unit: str = "s"  # of everything but a ratio: s or MB
    must_beat: tuple[str, ...] = ()  # rows of the same part whose median must be larger
    note: str = ""


def row(
    part: str,
    what: str,
    times: Times,
    *,
    base: Times | None = None,
    bar: float | None = None,
    held: str = "ratio",
    must_beat: Sequence[str] = (),
    note: str = "",
) -> Row:
    middle = median(times)
    ratio = middle / median(base) if base else None
    value = {"ratio": ratio, "median": middle, "p99": rank(times, 99), "most": max(times)}[held]
    return Row(
        part,
        what,
        min(times),
        middle,
        rank(times, 95),
        len(times),
        ratio,
        bar,
        held,
        value,
        must_beat=tuple(must_beat),
        note=note,
    )


def missing(part: str, what: str, why: str) -> Row:
    return Row(part, what, note=why)


def verdict(one: Row, rows: Sequence[Row]) -> str:
    """What became of a row's bars: met, MISSED with the reason, or nothing when it has none."""
    if one.median_s is None:
        return ""
    has_bar = one.bar is not None and one.value is not None
    problems = ["over the bar"] if one.bar is not None and one.value is not None and one.value > one.bar else []
    others = [other for other in rows if other.part == one.part and other.what in one.must_beat]
    problems += [f"slower than {other.what}" for other in others if other.median_s and other.median_s <= one.median_s]
    if problems:
        return "MISSED: " + ", ".join(problems)
    absent = [other.what for other in others if other.median_s is None]
    if absent:
        return f"met, but not compared with {', '.join(absent)}"
    return "met" if has_bar or others else ""


@dataclass(slots=True)
class Gathered:
    """Times by name, filled round by round so that every name sees the same weather."""

    times: dict[str, list[float]] = field(default_factory=dict)

    def interleave(
        self, rounds: int, runs: Mapping[str, Callable[[], Times]], *, rarely: Sequence[str] = (), one_in: int = 1
    ) -> None:
        """Run everything once as warm-up, then `rounds` times in turns, each round starting with another name.

        Names in `rarely` are slow: they take part in one round out of `one_in` only.
        """
        names = list(runs)
        for name in names:
            runs[name]()
        for number in range(rounds):
            start = number % len(names)
            for name in (*names[start:], *names[:start]):
                if name not in rarely or number % one_in == 0:
                    self.times.setdefault(name, []).extend(runs[name]())
