"""Bars of the design that nothing here measures, with the reason: an absent number must not look like a met bar."""

from __future__ import annotations

from bench.measure import Row, missing

PART = "9 not measured here"
_NOT_BUILT, _LATER = "not built", "it works, but no measurement is built"
BARS = (
    ("lies that reach done or land: 0", "by `make attack`, without reward hacks; a run of both is not built"),
    ("honest changes refused: 0", _NOT_BUILT),
    ("full proof, baseline cached: 3 x and 5 x one run of the test command", _NOT_BUILT),
    ("from `run` to done with an agent that takes no time: 1.5 s, ahead of every peer that checks", _LATER),
    ("set-up of a second task with the same lock files: 2 s; disk of ten tasks: 1.1 x", _LATER),
    ("web home with 10,000 tasks: 1 s cold", _NOT_BUILT),
    ("kill -9 at every system call, power cuts: 0 lost, 0 duplicated, 0 unreadable", "by `make crash`"),
    ("fleet, 200 runs on 4 hosts with kills: 200 ended once; +1 s for each run", _NOT_BUILT),
    ("`make test`: 8 minutes on two quiet cores", "by `make test`"),
)


def rows() -> list[Row]:
    return [missing(PART, what, why) for what, why in BARS]
