"""Runs the supervisor of `detent watch` in a thread, as long as the dashboard is open and no other process does it."""

from __future__ import annotations

from threading import Event, Thread

from detent.core.record import Record
from detent.errors import DetentError, RefusedError
from detent.faces.cli.output import move_json
from detent.runner.drive.notify import notify
from detent.runner.drive.watch import Notice, Supervisor
from detent.store.disk.lock import holder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from detent.store.journal.places import Project

TRY_AGAIN_S = 5.0  # between two checks whether the other supervisor has exited
LONGEST_END_S = 5.0  # the supervisor ends between two of its steps; what it is at can be cut off without harm


class Stand(Record):
    """The supervisor of the project's tasks."""

    where: str  # here | elsewhere | nowhere
    pid: int = 0  # of the process that does it elsewhere; 0 when that is unknown
    why: str = ""  # no process does


class Supervising:
    """The thread calls `stands` with the supervisor, `tell` with each event, `fail` with an error of our own."""

    def __init__(
        self,
        project: Project,
        jobs: int,
        stands: Callable[[Stand], object],
        tell: Callable[[Notice], object],
        fail: Callable[[Exception], str],
    ) -> None:
        self._project, self._jobs = project, jobs
        self._stands, self._tell, self._fail = stands, tell, fail
        self._ended = Event()
        self._supervisor: Supervisor | None = None
        self._thread = Thread(target=self._go_on, name="supervisor", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Agent runs go on; the next supervisor sees to their ends."""
        self._ended.set()
        if self._supervisor is not None:
            self._supervisor.stop()
        self._thread.join(LONGEST_END_S)

    def _go_on(self) -> None:
        while not self._ended.is_set():
            self._supervisor = Supervisor(self._project, self._notify, move_json, jobs=self._jobs)
            if self._ended.is_set():
                return
            self._try(self._supervisor)
            self._ended.wait(TRY_AGAIN_S)

    def _try(self, supervisor: Supervisor) -> None:
        try:
            if pid := holder(self._project.watch_lock()):
                self._stands(Stand("elsewhere", pid))
                return
            self._stands(Stand("here"))
            supervisor.run(until_rest=False)
        except RefusedError:
            self._stands(Stand("elsewhere", holder(self._project.watch_lock())))
        except DetentError as error:
            self._stands(Stand("nowhere", why=f"{error.kind}: {error.what}"))
        except Exception as error:  # noqa: BLE001  # a face: the bug is written down and shown, the rest stays usable
            self._stands(Stand("nowhere", why=self._fail(error)))

    def _notify(self, notice: Notice) -> None:
        problem = notify(notice.rest, with_bell=False) if notice.rest is not None else ""
        self._tell(notice)
        if problem:
            self._tell(Notice(notice.id, problem))
