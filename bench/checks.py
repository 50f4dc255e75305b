"""What thinking costs: exploring the built-in machines, and reading a document for its sections."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.measure import Gathered, Row, missing, row
from bench.process import Worker, WorkerFailed, clean_environment, run_command

CHECK, GATE = "5 machine check", "6 gate cost"
CHECK_BAR_S = 1.0


def measure_check(ground: Path, detent: Path, *, quick: bool) -> list[Row]:
    place = ground / "disk" / "check"
    place.mkdir(parents=True)
    environment = {**clean_environment(), "HOME": str(place)}
    argv = [str(detent / "detent"), "machine", "check"]
    gathered = Gathered()
    name = "detent machine check, all built-in machines"
    gathered.interleave(5 if quick else 10, {name: lambda: [run_command(argv, cwd=place, environment=environment)]})
    return [row(CHECK, name, gathered.times[name], bar=CHECK_BAR_S, held="median")]


def measure_gates(ground: Path) -> list[Row]:
    """In the project's own environment, the only one that holds both readers."""
    try:
        with Worker(Path(sys.executable), "splitter.py", ground / "disk" / "splitter") as worker:
            gathered = Gathered()
            names = ("detent: find one section", "detent: every line classified", "markdown-it-py: parse")
            gathered.interleave(10, {name: worker.turn(10, name) for name in names})
            size = worker.about["size_bytes"]
    except WorkerFailed as error:
        return [missing(GATE, "splitter", str(error))]
    base = gathered.times[names[-1]]
    beaten = names[-1:]
    return [
        row(
            GATE,
            name,
            gathered.times[name],
            base=base,
            must_beat=beaten if name not in beaten else (),
            note=f"{size} bytes",
        )
        for name in names
    ]
