"""Size: `list` over very many tasks, and whether one move costs the same however long the past and large the crowd."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from bench.measure import Gathered, Row, Times, row
from bench.process import WORKERS, Worker
from bench.sample import FRAME, TASK, Sample

PART = "4 scale"
LIST_BAR_S = 1.0
INDEPENDENT = 1.2  # "independent of length and count": within the noise of one run
MACHINE = WORKERS.parent / "machine.toml"
_STATE = "".join(f"{label}: {FRAME[label]}\n" for label in ("Objective", "Done gate", "Current result", "Next step"))
_EVIDENCE = "# Evidence\n\n## Handoff\n\n- parser changed in one place\n- Round: {round}\n"


class Bouncer(Sample):
    """A task that can be moved for ever through the command line; the proof is renewed outside the timing."""

    def __init__(self, detent: Path, place: Path) -> None:
        super().__init__(detent, place, str(MACHINE))
        path = self.folder / "STATE.md"
        state = [line for line in path.read_text(encoding="utf-8").splitlines(True) if not line.startswith("Objective")]
        path.write_text("".join(state) + _STATE, encoding="utf-8")
        self.round = 0

    def bounce(self) -> Times:
        self.round += 1
        (self.folder / "EVIDENCE.md").write_text(_EVIDENCE.format(round=self.round), encoding="utf-8")
        return [self.run("move", "reviewing" if self.round % 2 else "working", TASK)]

    def surround(self, python: Path, count: int) -> None:
        subprocess.run(
            [python, WORKERS / "detent_crowd.py", TASK, str(count)],
            cwd=self.repository,
            env=self.environment,
            check=True,
        )


def measure_crowd(ground: Path, detent: Path, *, quick: bool) -> list[Row]:
    count = 1_000 if quick else 10_000
    place = ground / "disk" / "crowd"
    alone, crowded = Bouncer(detent / "detent", place / "alone"), Bouncer(detent / "detent", place / "crowded")
    crowded.surround(detent / "python", count - 1)
    listed = f"detent list, {count:,} tasks"
    runs: dict[str, Callable[[], Times]] = {listed: lambda: [crowded.run("list")]}
    pairs: list[tuple[str, str]] = []
    for name in ("status", "next", "move"):
        first, second = f"detent {name} ID, alone", f"detent {name} ID among {count:,} tasks"
        pairs.append((first, second))
        for title, sample in ((first, alone), (second, crowded)):
            runs[title] = sample.bounce if name == "move" else _look(sample, name)
    gathered = Gathered()
    gathered.interleave(5 if quick else 15, runs, rarely=(listed,), one_in=1 if quick else 2)
    times = gathered.times
    # The bars are about ten thousand tasks; fewer say nothing about them.
    list_bar, crowd_bar = (None, None) if quick else (LIST_BAR_S, INDEPENDENT)
    rows = [row(PART, listed, times[listed], bar=list_bar, held="median")]
    for first, second in pairs:
        rows.append(row(PART, first, times[first], base=times[first]))
        rows.append(row(PART, second, times[second], base=times[first], bar=crowd_bar))
    return rows


def _look(sample: Sample, name: str) -> Callable[[], Times]:
    return lambda: [sample.run(name, TASK)]


def measure_length(ground: Path, detent: Path, *, quick: bool) -> list[Row]:
    lengths = (10, 1_000, 10_000) if quick else (10, 1_000, 100_000)
    rows: list[Row] = []
    with Worker(detent / "python", "detent_long.py", ground / "disk" / "long", [str(n) for n in lengths]) as worker:
        gathered = Gathered()
        kinds = ("load", "replay")
        loads = {f"{kind} {length}": worker.turn(1, f"{kind} {length}") for length in lengths for kind in kinds}
        gathered.interleave(5, loads)
        # Last, because every timed step makes its journal one line longer.
        steps = {f"step {length}": worker.turn(2, f"step {length}") for length in lengths}
        gathered.interleave(10 if quick else 60, steps)
    for kind, title in (("step", "step"), ("load", "load with cache"), ("replay", "first load without cache")):
        base = gathered.times[f"{kind} {lengths[0]}"]
        for length in lengths:
            bar = INDEPENDENT if kind != "replay" and length != lengths[0] else None
            name = f"{title}, journal of {length:,} lines"
            rows.append(row(PART, name, gathered.times[f"{kind} {length}"], base=base, bar=bar))
    return rows
