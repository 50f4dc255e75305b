"""Detent with a long past: the same step on tasks whose journals have as many lines as the arguments say."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from detent_task import Bouncing, make_repository
from serve import serve

from detent.store.disk.digest import sha256_of
from detent.store.journal.native_log import log_line
from detent.store.journal.tasks import TaskStore


def lengthen(task: Bouncing, lines: int) -> None:
    """Repeat the last two moves, which lead back to where they began, until the journal has that many lines."""
    places, memory = task.task.places, task.task.memory
    pair = [json.loads(raw) for raw in Path(places.journal()).read_bytes().splitlines()[-2:]]
    seq, previous = memory.snapshot.seq, sha256_of(memory.last)
    visits = dict(memory.snapshot.visits)
    shown = json.loads(Path(places.projected()).read_bytes().splitlines()[-1])
    with (
        open(places.journal(), "ab") as journal,
        open(places.projected(), "ab") as projected,
        open(task.task.native.log_path(), "ab") as log,
    ):
        for number in range((lines - seq) // 2 * 2):
            seq += 1
            entry = pair[number % 2]
            visits[entry["to"]] += 1
            entry |= {"seq": seq, "prev": previous, "after": {**entry["after"], "visits": dict(visits)}}
            raw = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode()
            previous = sha256_of(raw)
            journal.write(raw + b"\n")
            projected.write(json.dumps({**shown, "seq": seq}).encode() + b"\n")
            log.write(json.dumps(log_line(entry), ensure_ascii=False).encode() + b"\n")
    memory = task.task.store.load()
    task.task.store.save_cache(memory)
    task.task = task.task.replace(memory=memory)


def _loader(task: Bouncing) -> Callable[[], object]:
    """A load by somebody who has not written here: a store that has would know its own cache again."""
    return lambda: TaskStore(task.task.places).load()


def main() -> None:
    repository = make_repository(Path("repository").resolve())
    tasks: dict[str, Bouncing] = {}
    work: dict[str, Callable[[], object]] = {}
    for lines in map(int, sys.argv[1:]):
        task = Bouncing(repository, f"long-{lines}")
        for _ in range(4):
            task.move()
            task.renew()
        lengthen(task, lines)
        tasks[f"step {lines}"] = task
        work[f"step {lines}"] = task.move
        work[f"load {lines}"] = work[f"replay {lines}"] = _loader(task)

    def before(name: str) -> None:
        kind, _, lines = name.partition(" ")
        task = tasks[f"step {lines}"]
        if kind == "step":
            task.renew()
        elif kind == "replay":
            Path(task.task.places.snapshot()).unlink(missing_ok=True)
        else:
            task.task.store.save_cache(task.task.memory)

    serve(work, before=before, about={"lines": {name: task.task.memory.snapshot.seq for name, task in tasks.items()}})


if __name__ == "__main__":
    main()
