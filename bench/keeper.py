"""Many live agent runs: what each keeper costs, and how soon the engine knows that an agent has ended.

Stand-alone: `python bench/keeper.py [--runs N] [--folder DIR]`. Every program is a `sleep` that is killed by this one,
so the time measured is: kernel ends the program → keeper ends the rest, writes `exit.json` durably and leaves → engine
has read it.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src"), str(Path(__file__).resolve().parents[1])]

from bench.host import describe  # noqa: E402 - a script on its own has to say first where its packages are
from detent.effects.host.keeper.look import Identity, look  # noqa: E402
from detent.effects.host.keeper.start import RunSpec, spawn, stop  # noqa: E402
from detent.effects.host.keeper.watch import Watch, wait_for_end  # noqa: E402

IDLE_S = 10.0
WAIT_S = 60.0
MEMORY_BAR_MB = 12.0
LATENCY_BAR_MS = 50.0
ENGINE_BAR_MB = 150.0


def rank(values: Sequence[float], percent: int) -> float:
    """The nearest rank, so that it is a value that was really measured."""
    ordered = sorted(values)
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]


def show(what: str, values: Sequence[float], unit: str, bar: float | None = None) -> None:
    held = "" if bar is None else f"   bar {bar:g} {unit}: {'met' if rank(values, 99) <= bar else 'MISSED'}"
    numbers = "  ".join(f"{name} {value:8.2f}" for name, value in _numbers(values))
    print(f"{what:<44} {numbers} {unit}{held}")


def _numbers(values: Sequence[float]) -> list[tuple[str, float]]:
    return [("p50", statistics.median(values)), ("p99", rank(values, 99)), ("max", max(values))]


def memory_mb(pid: int, field: str) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


def cpu_s(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9


def begin(place: Path, count: int) -> tuple[dict[str, Identity], list[float]]:
    runs, times = {}, []
    for number in range(count):
        run_dir = str(place / str(number))
        began = time.perf_counter()
        runs[run_dir] = spawn(RunSpec(run_dir, ("sleep", "100000"), {"PATH": os.defpath}, "/", None, 3600.0))
        times.append(1000 * (time.perf_counter() - began))
    return runs, times


def kill_one(runs: dict[str, Identity], wait: Callable[[], str | None]) -> float:
    """Milliseconds from the end of one program to its exit in the engine's hands."""
    run_dir, identity = next(iter(runs.items()))
    began = time.perf_counter()
    os.kill(identity.child_pid, signal.SIGKILL)
    found = wait()
    seen = look(found or "")
    took = 1000 * (time.perf_counter() - began)
    if found != run_dir or seen.exit is None or seen.exit.signal != signal.SIGKILL:
        raise AssertionError(f"{run_dir} was killed, but seen was {found}: {seen}")
    del runs[run_dir]
    return took


def write_durably(place: Path) -> float:
    """The yardstick: the two syncs that any durable small file costs on this disk now."""
    began = time.perf_counter()
    with (place / "new").open("wb") as file:
        file.write(b"x" * 300)
        file.flush()
        os.fsync(file.fileno())
    (place / "new").rename(place / "file")
    folder = os.open(place, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
    return 1000 * (time.perf_counter() - began)


def measure(place: Path, count: int) -> None:
    runs, spawned = begin(place, count)
    try:
        show("yardstick: one durable small file", [write_durably(place) for _ in range(50)], "ms")
        show(f"spawn, {count} one after another", spawned, "ms")
        keepers = [identity.keeper_pid for identity in runs.values()]
        show("keeper, RSS", [memory_mb(pid, "Rss") for pid in keepers], "MB", MEMORY_BAR_MB)
        show("keeper, PSS", [memory_mb(pid, "Pss") for pid in keepers], "MB", MEMORY_BAR_MB)
        before = sum(map(cpu_s, keepers))
        time.sleep(IDLE_S)
        print(f"all {count} keepers idle: {100 * (sum(map(cpu_s, keepers)) - before) / IDLE_S:.1f} % of one core")
        with Watch(runs) as watch:
            kept = [kill_one(runs, lambda: watch.wait(WAIT_S)) for _ in range(count // 2)]
        show("exit → seen, one Watch kept open", kept, "ms", LATENCY_BAR_MS)
        opened = [kill_one(runs, lambda: wait_for_end(runs, WAIT_S)) for _ in range(count // 4)]
        show("exit → seen, wait_for_end opened each time", opened, "ms", LATENCY_BAR_MS)
        own_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        show("engine side of all this, peak RSS", [own_mb], "MB", ENGINE_BAR_MB)
    finally:
        for run_dir in runs:
            stop(run_dir)
        with Watch(runs) as watch:
            left = len(runs) - sum(watch.wait(WAIT_S) is not None for _ in range(len(runs)))
        print(f"stopped the other {len(runs)} at once; not ended: {left}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=200)
    options.add_argument("--folder", type=Path, default=None, help="where the runs are kept (default: temporary)")
    given = options.parse_args()
    place = Path(tempfile.mkdtemp(prefix="keepers-", dir=given.folder))
    try:
        print("  ".join(f"{name}: {value}" for name, value in describe(place).items()))
        measure(place, given.runs)
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
