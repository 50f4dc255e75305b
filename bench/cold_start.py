"""Cold start: what a person or an agent waits for, a whole process from start to end, beside the CLIs of peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.measure import Gathered, Row, Times, missing, row
from bench.process import clean_environment, run_command
from bench.sample import FRAME, Sample

PART = "1 cold start"
LOOK_BAR, MOVE_BAR = 4.0, 8.0
BARE = "python -c pass"
# The smallest thing each peer's command line does.
PEER_COMMANDS = {
    "burr": (("burr", "--help"),),
    "langgraph": (("langgraph", "--version"),),
    "dbos": (("dbos", "version"),),
}
# What each row is, its command's words, and its bar.
_LOOKS = {"detent status": LOOK_BAR, "detent next": LOOK_BAR, "detent list": None}
_MOVES = ("detent move, refused", "detent move, accepted", "detent move, accepted with checkpoint")


def measure(ground: Path, detent: Path, peers: Mapping[str, Path | str], *, quick: bool) -> list[Row]:
    place = ground / "disk" / "cold"
    ready = Sample(detent / "detent", place / "ready")
    ready.bring_to_implement()
    ready.keep()
    framed = Sample(detent / "detent", place / "framed")
    framed.fill(FRAME)
    framed.keep()
    python = str(detent / "python")

    def accepted(sample: Sample, target: str) -> Times:
        times = [sample.run("move", target)]
        sample.put_back()
        return times

    runs: dict[str, Callable[[], Times]] = {
        BARE: lambda: _timed([python, "-c", "pass"], ready.repository, ready.environment),
        "detent status": lambda: [ready.run("status")],
        "detent next": lambda: [ready.run("next")],
        "detent list": lambda: [ready.run("list")],
        _MOVES[0]: lambda: [ready.run("move", "blocked", expect=(1,))],
        _MOVES[1]: lambda: accepted(framed, "shape"),
        _MOVES[2]: lambda: accepted(ready, "verify"),
    }
    peer_runs, absent = _peer_runs(peers, place)
    gathered = Gathered()
    gathered.interleave(10 if quick else 40, runs | peer_runs, rarely=tuple(peer_runs), one_in=5 if quick else 4)
    times, base = gathered.times, gathered.times[BARE]
    beaten = (*peer_runs, *(one.what for one in absent))
    rows = [row(PART, BARE, base, base=base)]
    for name, bar in (*_LOOKS.items(), *((name, MOVE_BAR) for name in _MOVES)):
        rows.append(row(PART, name, times[name], base=base, bar=bar, must_beat=beaten if bar else ()))
    rows += [row(PART, name, times[name], base=base) for name in peer_runs]
    return [*rows, *absent]


def _peer_runs(peers: Mapping[str, Path | str], place: Path) -> tuple[dict[str, Callable[[], Times]], list[Row]]:
    """What can be run, and a row with the reason for each peer that can't."""
    home = place / "peers"
    home.mkdir(parents=True)
    environment = {**clean_environment(), "HOME": str(home)}
    runs: dict[str, Callable[[], Times]] = {}
    absent: list[Row] = []
    for name, folder in peers.items():
        for words in PEER_COMMANDS[name]:
            if isinstance(folder, str):
                absent.append(missing(PART, " ".join(words), folder))
                continue
            argv = [str(folder / words[0]), *words[1:]]
            runs[" ".join(words)] = partial(_timed, argv, home, environment)
    return runs, absent


def _timed(argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> Times:
    return [run_command(argv, cwd=cwd, environment=environment)]
