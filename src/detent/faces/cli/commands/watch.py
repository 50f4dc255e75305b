"""Commands that drive many tasks at once: `watch`, and `run` with several tasks."""

from __future__ import annotations

import gc
import sys

from detent.errors import UsageError
from detent.faces.cli.caller import refuse_inside_run
from detent.faces.cli.output import move_json, print_json, show
from detent.faces.cli.rests import EXIT_CODES, rest_json, tell_person
from detent.faces.words.run import rest_words
from detent.faces.words.screen import printable
from detent.runner.drive.watch import DEFAULT_JOBS, Supervisor
from detent.runner.task.open import find_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.faces.cli.arguments import Arguments
    from detent.runner.drive.watch import Notice
    from detent.runner.task.open import Task


def watch(arguments: Arguments) -> int:
    """Drive everything that was started, until interrupted; with --once until everything rests."""
    refuse_inside_run("watching")
    gc.enable()  # this command lives for hours
    project = find_project(arguments.text("--repo"))
    tell = _tell_json if arguments.has("--json") else _tell
    supervisor = Supervisor(project, tell, move_json, jobs=jobs_of(arguments, DEFAULT_JOBS))
    supervisor.run(until_rest=arguments.has("--once"))
    return 0


def run_many(arguments: Arguments, tasks: Sequence[Task]) -> int:
    project = tasks[0].project if tasks else find_project(arguments.text("--repo"))
    if any(task.project.control != project.control for task in tasks):
        raise UsageError("these tasks belong to several projects", next_step="run them one project at a time")
    gc.enable()  # and so may this one
    quiet = arguments.has("--json")
    supervisor = Supervisor(
        project,
        _tell_nothing if quiet else _tell,
        move_json,
        jobs=jobs_of(arguments, 1),
        wanted=[task.id for task in tasks],
        once=arguments.has("--once"),
    )
    rests = supervisor.run(until_rest=True)
    rows = [rest_json(rest) for rest in rests.values()]
    show(arguments, {"tasks": rows}, f"{len(rows)} task(s) rest")
    return max((EXIT_CODES[rest.why] for rest in rests.values()), default=0)


def jobs_of(arguments: Arguments, default: int) -> int:
    return arguments.number("--jobs", "detent run --all --jobs 2", "a number from 1", least=1) or default


def _tell_nothing(_notice: Notice) -> None:
    pass


def _tell_json(notice: Notice) -> None:
    """One line for each thing that happens."""
    print_json({"id": notice.id, "text": notice.text, **(rest_json(notice.rest) if notice.rest is not None else {})})
    _pass_on(notice)


def _tell(notice: Notice) -> None:
    text = rest_words(notice.rest) if notice.rest is not None else f"{notice.id}: {notice.text}"
    sys.stdout.write(printable(text) + "\n")
    _pass_on(notice)


def _pass_on(notice: Notice) -> None:
    sys.stdout.flush()  # a person may be watching
    if notice.rest is not None:
        tell_person(notice.rest)
