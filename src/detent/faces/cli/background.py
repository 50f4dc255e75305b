"""`run --detach`: the same command again, in a session of its own."""

from __future__ import annotations

import os

from detent.effects.host.children import start_detent
from detent.faces.cli.output import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.faces.cli.arguments import Arguments
    from detent.runner.task.open import Task

LOG = "detached.log"


def detach(arguments: Arguments, tasks: Sequence[Task]) -> int:
    if not tasks:
        show(arguments, {"tasks": []}, "no open task here")
        return 0
    words = ["run", *(task.id for task in tasks), "--repo", tasks[0].project.root]
    words += ["--once"] if arguments.has("--once") else []
    words += ["--jobs", arguments.text("--jobs")] if arguments.has("--jobs") else []
    log = os.path.join(tasks[0].places.folder, LOG)
    pid = start_detent(words, log)
    names = ", ".join(task.id for task in tasks)
    text = f"driving {names} in the background (process {pid})\n  look: detent logs -f {tasks[0].id}\n  log:  {log}"
    show(arguments, {"tasks": [task.id for task in tasks], "pid": pid, "log": log}, text)
    return 0
