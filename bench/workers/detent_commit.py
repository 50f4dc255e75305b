"""Detent's commit point: `TaskStore.commit` of a typical moved line, in turns with a bare append of as many bytes."""

from __future__ import annotations

import json
from pathlib import Path

from append import appender
from detent_task import Bouncing, make_repository
from serve import serve

from detent.store.journal.events import Moved
from detent.view import view_of


def main() -> None:
    task = Bouncing(make_repository(Path("repository").resolve()))
    task.move()
    store, memory = task.task.store, task.task.memory
    line = json.loads(memory.last)
    content = {key: value for key, value in line.items() if key not in ("seq", "time", "kind", "prev", "after")}

    def commit() -> None:
        nonlocal memory
        memory = store.commit(memory, view_of(Moved, {**content}), memory.snapshot)

    size = len(memory.last) + 1
    work = {"commit": commit, "append": appender("appended", size), "append 200": appender("appended-200", 200)}
    serve(work, about={"size_bytes": size})


if __name__ == "__main__":
    main()
