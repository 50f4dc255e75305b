"""Agent runs: how soon the supervisor has journaled that an agent ended while many others live, and what they weigh.

Agents sleep at named pipes and are let go one by one; each time the supervisor has brought that task to rest before the
next one goes. Timed is: word to the agent → it exits → keeper ends the rest, writes `exit.json` durably and leaves →
supervisor wakes, looks, and its line is synced. The agent's own way out is part of it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from bench.measure import Row, row
from bench.notice import Notice
from bench.process import Worker, WorkerFailed, clean_environment

PART = "8 agent runs"
LIVE, ENDED, BURST = 200, 200, 20
QUICK_LIVE, QUICK_ENDED, QUICK_BURST = 10, 10, 5
EXIT_BAR_S = 0.100
KEEPER_BAR_MB, ENGINE_BAR_MB = 12.0, 150.0
WAIT_S = 60.0

Run = Mapping[str, Any]


class Watcher:
    """`detent watch` on the tasks of a worker; what it says tells how far it is."""

    def __init__(self, detent: Path, repository: str, home: Path, jobs: int) -> None:
        where = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
        self.process = subprocess.Popen(
            [str(detent / "detent"), "watch", "--json", "--jobs", str(jobs), "--repo", repository],
            cwd=repository,
            env={**clean_environment(), **where},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        self.said: IO[str] = self.process.stdout

    def hear(self, count: int, *, rests: bool) -> None:
        """Wait until it has said so many things of one kind: that it watches a run, or that a task rests."""
        while count:
            line = self.said.readline()
            if not line:
                raise WorkerFailed("the supervisor ended")
            count -= ("rest" in json.loads(line)) == rests

    def close(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=WAIT_S)


def memory_mb(pid: int, field: str) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


def measure(ground: Path, detent: Path, *, quick: bool) -> list[Row]:
    live, ended, burst = (QUICK_LIVE, QUICK_ENDED, QUICK_BURST) if quick else (LIVE, ENDED, BURST)
    place = ground / "disk" / "runs"
    with Worker(detent / "python", "detent_runs.py", place, [str(live + ended + burst)]) as worker:
        runs: Sequence[Run] = worker.about["runs"]
        watcher = Watcher(detent, worker.about["repository"], place, jobs=2 * len(runs))
        try:
            watcher.hear(len(runs), rests=False)
            keepers = [memory_mb(run["keeper"], "Rss") for run in runs[:live]]
            shared = [memory_mb(run["keeper"], "Pss") for run in runs[:live]]
            with Notice([run["journal"] for run in runs]) as notice:
                alone = [_end(notice, watcher, [run])[0] for run in runs[:ended]]
                at_once = _end(notice, watcher, runs[ended : ended + burst])
            engine = memory_mb(watcher.process.pid, "Rss")
        finally:
            watcher.close()
    note = f"{runs[0]['state']}, sandbox {runs[0]['sandbox']}"
    what = f"agent exit → run_ended journaled, {live} others live"
    return [
        row(PART, what, alone, bar=None if quick else EXIT_BAR_S, held="p99", note=note),
        row(PART, f"the same, {burst} agents at once", at_once, note="the last one waits for the others"),
        _megabytes(f"keeper of a sleeping run, RSS, {live} of them", keepers, KEEPER_BAR_MB),
        _megabytes("the same, PSS", shared, KEEPER_BAR_MB),
        _megabytes(f"detent watch, RSS after {len(runs)} runs", [engine], None if quick else ENGINE_BAR_MB),
    ]


def _megabytes(what: str, values: Sequence[float], bar: float | None) -> Row:
    return dataclasses.replace(row(PART, what, values, bar=bar, held="most"), unit="MB")


def _end(notice: Notice, watcher: Watcher, runs: Sequence[Run]) -> list[float]:
    """Let these agents go at once; seconds until each end is journaled. Returns when their tasks rest."""
    # Opened before the clock runs: an agent that is not at its pipe would be an error, not a slow one.
    gates = [os.open(run["gate"], os.O_WRONLY | os.O_NONBLOCK) for run in runs]
    notice.drain()
    began = time.perf_counter()
    for gate in gates:
        os.write(gate, b"go\n")
        os.close(gate)
    found = notice.wait_for([run["journal"] for run in runs], WAIT_S)
    watcher.hear(len(runs), rests=True)
    for run in runs:
        kinds = [json.loads(line)["kind"] for line in Path(run["journal"]).read_text(encoding="utf-8").splitlines()]
        if kinds.count("run_ended") != 1 or run["journal"] not in found:
            raise WorkerFailed(f"the end of {run['id']} was not journaled once: {kinds}")
    return [found[run["journal"]] - began for run in runs]
