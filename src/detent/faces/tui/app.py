"""The dashboard: shows what was gathered and turns keys into commands; it decides and writes nothing itself."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, VerticalScroll
from textual.events import Resize
from textual.message import Message
from textual.widgets import DataTable, Footer, Input, Static

from detent.effects.host.keeper.process import EVENTS
from detent.faces.cli.reports import write_bug
from detent.faces.tui import keys as words_tui_keys
from detent.faces.tui import words as words_tui
from detent.faces.tui.bindings import all_bindings
from detent.faces.tui.desk import Desk
from detent.faces.tui.gather import Gatherer, Row, View
from detent.faces.tui.notices import Notices
from detent.faces.tui.paint import painted
from detent.faces.tui.screens import Logs, Page, Question
from detent.faces.tui.supervise import Stand, Supervising
from detent.faces.tui.table import TaskTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.store.journal.places import Project

LOOK_S = 1.0  # between two scans of all tasks
MOST_BUSY = 5  # and never more than a fifth of the time is spent looking, however many there are
MOST_ROWS = 500
NOTICE_S = 10.0


class Dashboard(Desk):
    TITLE = "detent"
    CSS_PATH = os.path.join(os.path.dirname(__file__), "dashboard.tcss")
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012  # the framework's own, which is no class variable to the type checker
        (0, "-narrow"),
        (120, "-wide"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = list(all_bindings())

    class Stood(Message):
        """The supervisor of the project now; comes from the supervisor's thread."""

        def __init__(self, stand: Stand) -> None:
            super().__init__()
            self.stand = stand

    class Heard(Message):
        """The supervisor has something to tell of a task; likewise."""

    def __init__(self, project: Project, jobs: int) -> None:
        super().__init__(project)
        self.view = View((), None)
        self.stand: Stand | None = None
        self._jobs = jobs
        self._gatherer = Gatherer(project)
        self._notices = Notices()
        self._wake = asyncio.Event()
        self._is_other_chosen = self._has_looked = False
        self._filter = ""
        self._supervising: Supervising | None = None
        self._head, self._shown_detail = Static(id="head", markup=False), Static(id="told", markup=False)
        self._table, self._detail = TaskTable(), VerticalScroll(self._shown_detail, id="detail")
        self._painted: dict[Static, Text] = {}
        self._find = Input(id="filter", placeholder=words_tui_keys.FILTER_HINT)

    def run_to_end(self) -> int:
        """Until the person closes it; an error of ours is raised, not drawn."""
        code = self.run()
        if self._exception is not None:
            raise self._exception
        return code or 0

    def _fatal_error(self) -> None:
        # The framework would print a traceback with all values in it; ours goes where those of all commands go.
        self._close_messages_no_wait()

    def compose(self) -> ComposeResult:
        yield self._head
        yield Container(self._table, self._detail, id="body")
        yield self._find
        yield Footer(compact=True)

    def on_mount(self) -> None:
        if not self.is_headless:
            for number in (signal.SIGTERM, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(number, self.exit, 128 + number)
        self._supervising = Supervising(
            self.project,
            self._jobs,
            stands=lambda stand: self.post_message(self.Stood(stand)),
            tell=lambda _notice: self.post_message(self.Heard()),
            fail=_written_down,
        )
        self._supervising.start()
        self._table.focus()
        self._keep_looking()

    def on_unmount(self) -> None:
        if self._supervising is not None:
            self._supervising.stop()

    @work(exclusive=True, group="look")
    async def _keep_looking(self) -> None:
        while True:
            began = time.monotonic()
            self._show(await asyncio.to_thread(self._gatherer.look, self._table.chosen))
            pause = max(LOOK_S, MOST_BUSY * (time.monotonic() - began))
            while await self._is_woken(pause) and self._is_other_chosen:
                # Among thousands of tasks only the chosen one is read at once.
                self._is_other_chosen = False
                found = await asyncio.to_thread(self._gatherer.look_at, self._table.chosen)
                self._show(self.view.replace(detail=found))

    async def _is_woken(self, pause: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), pause)
        is_woken = self._wake.is_set()
        self._wake.clear()
        return is_woken

    def look_soon(self) -> None:
        self._wake.set()
        self._show_head()

    def on_dashboard_stood(self, message: Stood) -> None:
        self.stand = message.stand
        self._show_head()

    def on_dashboard_heard(self, _message: Heard) -> None:
        self._wake.set()

    def _show(self, view: View) -> None:
        self.view, self._has_looked = view, True
        if not self._table.is_attached:
            return  # the dashboard is being closed
        self._table.show_rows(self._filtered(), self._table.chosen or (view.detail.id if view.detail else ""))
        self._show_head()
        self._show_detail()
        if begun := self._notices.begun(view.rows, time.monotonic()):
            title, text = words_tui_keys.notices_words(begun)
            self.notify(text, title=title, severity="warning", timeout=NOTICE_S, markup=False)
            if any(row.rings for row in begun):
                self.bell()

    def _filtered(self) -> list[Row]:
        wanted = self._filter.lower().split()
        found = [row for row in self.view.rows if all(word in words_tui.searched(row) for word in wanted)]
        return found[:MOST_ROWS]

    def _show_head(self) -> None:
        name = os.path.basename(self.project.root) or self.project.root
        counted, shown = words_tui.counted_words(self.view.rows), len(self._table.rows_shown)
        parts = [name, counted, words_tui_keys.under_way_words(self.under_way) or words_tui.stand_words(self.stand)]
        if shown == MOST_ROWS < len(self.view.rows):
            parts.append(words_tui_keys.more_words(shown, len(self.view.rows)))
        self._paint(self._head, Text("   ".join(part for part in parts if part)))

    def _show_detail(self) -> None:
        row = self.row
        if row is None:
            empty = words_tui.NO_TASKS if self._has_looked else words_tui.LOOKING
            self._paint(self._shown_detail, Text(words_tui.NOTHING_FOUND if self.view.rows else empty))
            return
        lines = words_tui.detail_lines(row, self.view.detail, time.time())
        self._paint(self._shown_detail, painted(lines, self._detail.content_size.width - 1))

    def _paint(self, widget: Static, text: Text) -> None:
        """Only what changed is drawn again: the terminal may be far away."""
        if self._painted.get(widget) != text:
            self._painted[widget] = text
            widget.update(text)

    @property
    def row(self) -> Row | None:
        """The chosen task."""
        chosen = self._table.chosen
        return next((row for row in self.view.rows if row.id == chosen), None)

    def on_resize(self, _event: Resize) -> None:
        self.call_after_refresh(self._show_detail)

    def on_data_table_row_highlighted(self, _event: DataTable.RowHighlighted) -> None:
        self._detail.scroll_home(animate=False)
        self._show_detail()
        if self._table.chosen:
            self._is_other_chosen = True
            self._wake.set()

    def on_data_table_row_selected(self, _event: DataTable.RowSelected) -> None:
        self.action_choose()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "filter":
            self._filter = event.value
            self._show(self.view)
            self._wake.set()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "filter":
            self.screen.remove_class("-filtering")
            self._table.focus()

    def action_choose(self) -> None:
        """Another run for a dead task; else it is opened, and once it is open its menu."""
        if (row := self.row) is None:
            return
        if row.kind == "dead":
            self.do(row, "respawn", ["respawn", "--no-wait", "--", row.id])
        elif self.screen.has_class("-opened"):
            self.choose_move(row)
        else:
            self.action_open()

    def action_open(self) -> None:
        if self.row is not None:
            self.screen.add_class("-opened")
            self._detail.focus()
            self.call_after_refresh(self._show_detail)

    def action_close(self) -> None:
        self._find.value = ""
        self.screen.remove_class("-opened", "-filtering")
        self._table.focus()
        self.call_after_refresh(self._show_detail)

    def action_take_verb(self, verb: str) -> None:
        if (row := self.row) is not None:
            self.take_verb(row, verb)

    def action_moves(self) -> None:
        if (row := self.row) is not None:
            self.choose_move(row)

    def action_start(self) -> None:
        if (row := self.row) is not None:
            self.do(row, "start", ["start", "--", row.id])

    def action_stop(self) -> None:
        if (row := self.row) is not None:
            self.ask_and_do(row, words_tui_keys.stop_question(row), "stop")

    def action_read(self, command: str) -> None:
        if (row := self.row) is not None:
            self.do(row, command, [command, "--", row.id], is_read=True)

    def action_logs(self) -> None:
        if (row := self.row) is None:
            return
        if not row.runs:
            self.warn(words_tui_keys.no_run(row))
            return
        folder = self.project.task(row.id).run(row.runs)
        self.push_screen(Logs(row.id, row.runs, folder, os.path.join(folder, EVENTS)))

    def action_file(self) -> None:
        if (row := self.row) is not None:
            self.show_file(row)

    def action_filter(self) -> None:
        self.screen.add_class("-filtering")
        self._find.focus()

    def action_help(self) -> None:
        self.push_screen(Page(words_tui_keys.HELP_TITLE, words_tui_keys.help_lines()))

    @work
    async def action_quit(self) -> None:  # type: ignore[override]  # it may have to ask first
        runs = sum(1 for row in self.view.rows if row.kind == "works")
        under_way = [f"{label} {task_id}" for task_id, label in self.under_way.items()]
        question = words_tui_keys.quit_question(runs, under_way)
        if not (runs or under_way) or await self.push_screen_wait(Question(question)):
            self.exit(0)


def _written_down(error: Exception) -> str:
    return words_tui_keys.failed_words(error, write_bug(error))
