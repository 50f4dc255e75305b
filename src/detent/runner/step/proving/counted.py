"""Runs one command in a checkout so that its test runners report every test, and reads what they reported."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.bring import wipe
from detent.effects.tests.reporting import prepare
from detent.effects.tests.reports import read_junit, read_reports, remove_junit
from detent.effects.tests.runners import load_runners
from detent.effects.workspace.checkout import run_command
from detent.runner.access.access import command_running
from detent.runner.step.proving.progress import quiet
from detent.runner.step.proving.turn import turn
from detent.store.disk.atomic import storage_error
from detent.words import assessed as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.effects.host.access import Laid
    from detent.effects.host.process import Finished
    from detent.effects.tests.recognise import Recognised
    from detent.effects.tests.reports import Reported
    from detent.effects.tests.runners import Runner, Runners
    from detent.runner.step.proving.progress import Tells
    from detent.runner.task.open import Task
    from detent.store.text.census import Census

NO_CORES = "ulimit -c 0\n"  # the host may keep the image of a process, with all that it had read, for any reader
REPORTS = "reports"  # below a task's home: the plugins of one run, and what they write


class RunPlace(Record):
    """Where a command runs, where its output goes, and how long it may take."""

    folder: str
    laid: Laid
    log: str
    timeout_s: float
    is_sealed: bool = False  # no network, and no image of a process that dies


class Counted(Record):
    """How a command ended, and the tests it ran."""

    finished: Finished
    reported: Reported
    waited_s: float = 0.0  # for its turn

    @property
    def believable(self) -> Census | None:
        """The tests, where something reported, all of it could be read, and every process came to its own end."""
        return self.reported.census if self.reported.is_believable else None


def runners_of(task: Task) -> Runners:
    """The runners that are known, with what the project declares of its own."""
    return load_runners(task.memory.head.proof.get("runners", {}))


def junit_of(recognised: Recognised, runners: Runners) -> Runner | None:
    """The runner of a command that writes its report itself, where the project says where."""
    return next((runners.by_name[name] for name in recognised.runners if runners.by_name[name].junit), None)


def run_counted(task: Task, line: str, place: RunPlace, junit: Runner | None, progress: Tells = quiet) -> Counted:
    """Run a command; each run of a task has the same folder for reports and the same variables."""
    folder = os.path.join(task.home, REPORTS)
    wipe(folder)
    try:
        reports = prepare(folder, command_running(task).env, place.folder)
    except OSError as problem:
        raise storage_error(problem, folder, say.no_place_for_reports()) from problem
    if junit is not None:
        remove_junit(place.folder, junit.junit)
    running = command_running(task, reports, offline=place.is_sealed)
    line = f"{NO_CORES}{line}" if place.is_sealed else line
    with turn(task, progress) as waited_s:
        finished = run_command(
            line, place.folder, place.timeout_s, place.log, running, place.laid, variables=reports.variables
        )
    if junit is not None:
        reported = read_junit(place.folder, junit.junit, junit.name)
    else:
        reported = read_reports(reports.reports, place.laid.seat or place.folder)
    return Counted(finished, reported, waited_s)
