"""`detent tui`: the dashboard, if this is a terminal for it; everything heavy is loaded only then."""

from __future__ import annotations

import os
import sys

from detent.errors import RefusedError, ToolError, UsageError
from detent.faces.cli.caller import refuse_inside_run
from detent.faces.cli.commands.watch import jobs_of
from detent.runner.drive.watch import DEFAULT_JOBS
from detent.runner.task.open import find_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments


def tui(arguments: Arguments) -> int:
    from detent.faces.tui import keys as words

    refuse_inside_run("the dashboard")
    if arguments.has("--json"):
        raise UsageError(words.NO_JSON, next_step=words.JSON_INSTEAD)
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise RefusedError(words.NO_TERMINAL, next_step=words.INSTEAD)
    if os.environ.get("TERM", "dumb") in ("", "dumb"):
        raise RefusedError(words.DUMB_TERMINAL, next_step=words.INSTEAD)
    if sys.stderr.encoding.lower() != "utf-8":  # where the framework draws
        raise RefusedError(words.NO_UTF8, next_step=words.WITH_UTF8)
    project, jobs = find_project(arguments.text("--repo")), jobs_of(arguments, DEFAULT_JOBS)
    try:
        from detent.faces.tui.app import Dashboard
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("textual", "rich"):
            raise
        raise ToolError(words.NO_TEXTUAL, next_step=words.INSTALL_TEXTUAL) from error
    import gc

    gc.enable()  # this command lives for hours
    return Dashboard(project, jobs).run_to_end()
