"""Runs every part in order, prints one table, and says of each bar of the design whether it is met."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import checks, cold_start, elsewhere, held, host, proof, runs, scale, transitions
from bench.environments import Unavailable, detent_environment, make_ground, peer_environment
from bench.measure import Row, missing, verdict
from bench.process import WorkerFailed
from bench.report import table

ROOT = Path(__file__).resolve().parent.parent
PEERS = ("burr", "langgraph", "dbos")


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench/run.py", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and only peers that are installed already")
    parser.add_argument("--only", metavar="N", nargs="+", default=[], help="parts by their numbers, e.g. --only 4 7")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write everything here")
    given = parser.parse_args(words)
    started = time.monotonic()
    ground = make_ground(ROOT)
    disk = ground / "disk"
    shutil.rmtree(disk, ignore_errors=True)
    disk.mkdir()
    about = host.describe(disk)
    if host.is_busy():
        about["warning"] = "other work was running on this host when the run began"
    try:
        rows = _measure(ground, quick=given.quick, only=given.only)
    finally:
        shutil.rmtree(disk, ignore_errors=True)
    about |= {"run": "quick" if given.quick else "full", "took": f"{time.monotonic() - started:.0f} s"}
    print(table(about, rows))
    if given.json:
        told = [{**dataclasses.asdict(one), "verdict": verdict(one, rows)} for one in rows]
        given.json.write_text(json.dumps({"about": about, "rows": told}, indent=2) + "\n", encoding="utf-8")
    return 0


def _measure(ground: Path, *, quick: bool, only: Sequence[str] = ()) -> list[Row]:
    _say("environments")
    detent = detent_environment(ROOT, ground)
    peers: dict[str, Path | str] = {}
    for name in PEERS:
        try:
            peers[name] = peer_environment(ROOT, ground, name, may_install=not quick)
        except Unavailable as why:
            peers[name] = f"not measured: {why}"
    line_bytes = 800  # until the commit point says how long a typical line is

    def commit() -> list[Row]:
        nonlocal line_bytes
        rows, line_bytes = transitions.measure_commit(ground, detent, quick=quick)
        return rows

    parts: dict[str, Callable[[], list[Row]]] = {
        cold_start.PART: lambda: cold_start.measure(ground, detent, peers, quick=quick),
        transitions.COMMIT: commit,
        transitions.STEP: lambda: transitions.measure_step(ground, detent, peers, line_bytes, quick=quick),
        f"{scale.PART}: many tasks": lambda: scale.measure_crowd(ground, detent, quick=quick),
        f"{scale.PART}: long journals": lambda: scale.measure_length(ground, detent, quick=quick),
        checks.CHECK: lambda: checks.measure_check(ground, detent, quick=quick),
        checks.GATE: lambda: checks.measure_gates(ground),
        runs.PART: lambda: runs.measure(ground, detent, quick=quick),
        held.PART: lambda: held.measure(ground, detent, quick=quick),
        elsewhere.PART: elsewhere.rows,
        proof.PART: lambda: proof.measure(ground, detent, quick=quick),
    }
    rows: list[Row] = []
    for name, part in parts.items():
        if only and name.partition(" ")[0] not in only:
            continue
        _say(name)
        try:
            rows += part()
        except WorkerFailed as error:
            # One part that can't be measured must not cost the others; the table shows the hole.
            rows.append(missing(name, "this part could not be measured", str(error)))
    return rows


def _say(what: str) -> None:
    print(f"bench: {what} ...", file=sys.stderr, flush=True)
