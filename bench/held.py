"""What a sandbox costs: one process started, and one command of a gate, at every level this host offers."""

from __future__ import annotations

from pathlib import Path

from bench.measure import Gathered, Row, missing, row
from bench.process import Worker

PART = "7 held processes"
_WORDS = {"start": "started, held by", "gate": "as a command of a gate, held by"}


def measure(ground: Path, detent: Path, *, quick: bool) -> list[Row]:
    with Worker(detent / "python", "detent_held.py", ground / "disk" / "held") as worker:
        names, refused = worker.about["names"], worker.about["refused"]
        gathered = Gathered()
        gathered.interleave(5 if quick else 40, {name: worker.turn(2, name) for name in names})
    base = gathered.times["bare"]
    rows = [row(PART, "sh -c true", base, base=base)]
    for name in names[1:]:
        kind, _, level = name.partition(" ")
        rows.append(row(PART, f"sh -c true, {_WORDS[kind]} {level}", gathered.times[name], base=base))
    return rows + [missing(PART, f"held by {level}", f"not on this host: {why}") for level, why in refused.items()]
