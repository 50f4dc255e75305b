"""Copies the control folder of the task named last, as often as asked, under new ids and with a chain of its own.

Native folders are not copied: `list` does not read them, and the tasks that are timed are not copies.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from detent.runner.task.open import find_project, load_task
from detent.store.disk.digest import sha256_of
from detent.store.journal.chain import GENESIS
from detent.store.journal.tasks import TaskStore


def main() -> None:
    task_id, count = sys.argv[1], int(sys.argv[2])
    project = find_project(os.getcwd())
    original = load_task(project, task_id)
    lines = [json.loads(raw) for raw in Path(original.places.journal()).read_bytes().splitlines()]
    for number in range(count):
        places = project.task(f"sibling-{number:06}")
        os.makedirs(places.receipts())
        os.mkdir(places.objects())
        lines[0] |= {"id": places.id, "dir": f"{original.native.folder}-{number:06}", "title": f"sibling {number}"}
        previous = GENESIS
        with open(places.journal(), "wb") as journal:
            for line in lines:
                raw = json.dumps({**line, "prev": previous}, ensure_ascii=False, separators=(",", ":")).encode()
                previous = sha256_of(raw)
                journal.write(raw + b"\n")
        shutil.copyfile(original.places.projected(), places.projected())
        store = TaskStore(places)
        store.save_cache(store.load())


if __name__ == "__main__":
    main()
