"""Durable transitions in process: the commit point alone, and the whole step beside the same step of peers."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from bench.measure import Gathered, Row, missing, row
from bench.process import Worker, WorkerFailed

COMMIT, STEP = "2 commit point", "3 whole step"
STEP_NAME = "detent step, native file and log"
PEER_WORKERS = {
    "burr": ("Burr + SQLite", "burr_steps.py"),
    "langgraph": ("LangGraph + SQLite", "langgraph_steps.py"),
    "dbos": ("DBOS + SQLite", "dbos_steps.py"),
}
AT_A_TIME = 5  # transitions per turn: short turns let everybody see the same disk
COUNTED = 40  # transitions whose syncs are counted


def measure_commit(ground: Path, detent: Path, *, quick: bool) -> tuple[list[Row], int]:
    """The rows, and the size of a typical line."""
    with Worker(detent / "python", "detent_commit.py", ground / "disk" / "commit") as worker:
        size = int(worker.about["size_bytes"])
        gathered = Gathered()
        names = ("append", "append 200", "commit")
        runs = {name: worker.turn(AT_A_TIME, name) for name in names}
        gathered.interleave(30 if quick else 200, runs)
    base = gathered.times["append"]
    return [
        row(COMMIT, f"append {size} bytes + fdatasync", base, base=base),
        row(COMMIT, "append 200 bytes + fdatasync", gathered.times["append 200"], base=base),
        row(COMMIT, "TaskStore.commit of a moved line", gathered.times["commit"], base=base),
    ], size


def measure_step(
    ground: Path, detent: Path, peers: Mapping[str, Path | str], line_bytes: int, *, quick: bool
) -> list[Row]:
    disk = ground / "disk"
    base_name = f"append {line_bytes} bytes + fdatasync"
    size = [str(line_bytes)]
    starts = {
        base_name: (detent / "python", "append.py", size),
        STEP_NAME: (detent / "python", "detent_steps.py", []),
    }
    absent: list[Row] = []
    for name, folder in peers.items():
        title, script = PEER_WORKERS[name]
        if isinstance(folder, str):
            absent.append(missing(STEP, title, folder))
        else:
            starts[title] = (folder / "python", script, [])
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for title, (python, script, arguments) in starts.items():
            try:
                worker = Worker(python, script, disk / "steps" / script.removesuffix(".py"), arguments)
                workers[title] = stack.enter_context(worker)
            except WorkerFailed as error:
                absent.append(missing(STEP, title, str(error)))
        runs = {title: worker.turn(AT_A_TIME) for title, worker in workers.items()}
        gathered = Gathered()
        gathered.interleave(12 if quick else 100, runs)
        versions = {title: worker.about.get("version", "") for title, worker in workers.items()}
    base = gathered.times[base_name]
    beaten = [title for title, _ in PEER_WORKERS.values()]
    rows = []
    for title in workers:
        note = "; ".join(filter(None, (versions[title], _syncs(disk, starts[title]))))
        must_beat = beaten if title == STEP_NAME else ()
        rows.append(row(STEP, title, gathered.times[title], base=base, must_beat=must_beat, note=note))
    return [*rows, *absent]


def _syncs(disk: Path, start: tuple[Path, str, list[str]]) -> str:
    """How many times per transition the disk is waited for, counted by strace where there is one."""
    strace = shutil.which("strace")
    if strace is None:
        return "syncs not counted: no strace"
    python, script, arguments = start
    folder = disk / "counted" / script.removesuffix(".py")
    folder.mkdir(parents=True)
    trace = folder / "trace"
    calls = "trace=fsync,fdatasync,msync,sync_file_range,syncfs"
    try:
        with Worker(python, script, folder, arguments, (strace, "-f", "-qq", "-e", calls, "-o", str(trace))) as worker:
            worker.times(AT_A_TIME)
            before = _lines(trace)
            worker.times(COUNTED)
            return f"{(_lines(trace) - before) / COUNTED:.1f} syncs"
    except WorkerFailed as error:
        return f"syncs not counted: {error}"


def _lines(trace: Path) -> int:
    """Calls in the trace; a call cut in two by another thread is counted by its beginning."""
    return sum("resumed>" not in line and "sync" in line for line in trace.read_text(encoding="utf-8").splitlines())
