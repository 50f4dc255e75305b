"""Turns a person's requests into commands: menus, the words that go with them, and the answer that comes back.

One request at a time for each task. A request is a command of the command line, so every rule of it applies here.
"""

from __future__ import annotations

import asyncio
import os
import time
from abc import abstractmethod

from textual import work
from textual.app import App

from detent.errors import DetentError
from detent.faces.tui import keys as words_tui_keys
from detent.faces.tui import menu
from detent.faces.tui import words as words_tui
from detent.faces.tui.asking import LONGEST_ANSWER_BYTES, Answer, ask
from detent.faces.tui.gather import explain_now
from detent.faces.tui.screens import LongText, Menu, Page, Question, Words
from detent.faces.words import loop as words_loop
from detent.faces.words.screen import error_words, printable
from detent.runner.task.bell import ring
from detent.store.disk.atomic import read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.tui.gather import Row
    from detent.runner.tell.explain import Explain
    from detent.store.journal.places import Project

MOST_WRAPPED_LINES = 200  # longer answers are shown as they are


class Desk(App[int]):
    def __init__(self, project: Project) -> None:
        super().__init__()
        self.project = project
        self.under_way: dict[str, str] = {}  # task -> what is under way for it

    @abstractmethod
    def look_soon(self) -> None:
        """Something may have changed."""

    @work
    async def take_verb(self, row: Row, verb: str) -> None:
        """Take the one move with this verb; where there are several, they are listed."""
        if (explained := await self._explained(row)) is None:
            return
        fitting = menu.with_verb(menu.build_menu(explained), verb)
        if not fitting:
            self.warn(words_tui_keys.nothing_waits(verb, row))
        elif len(fitting) == 1:
            await self._take(row, fitting[0])
        else:
            await self._choose(row, explained, fitting)

    @work
    async def choose_move(self, row: Row) -> None:
        if (explained := await self._explained(row)) is not None:
            await self._choose(row, explained, menu.build_menu(explained))

    @work
    async def show_file(self, row: Row) -> None:
        """The native file: what an agent asks of a person often stands there."""
        if (explained := await self._explained(row)) is not None:
            path = os.path.join(explained.task.native.folder, explained.task.native.file)
            try:
                data = await asyncio.to_thread(read_plain, path, LONGEST_ANSWER_BYTES)
            except DetentError as error:
                self.show_text(row.id, error_words(error))
            else:
                self.show_text(path, printable((data or b"").decode("utf-8", "replace")))

    @work
    async def ask_and_do(self, row: Row, question: str, verb: str) -> None:
        if await self.push_screen_wait(Question(question)):
            self.do(row, verb, [verb, "--", row.id])

    async def _explained(self, row: Row) -> Explain | None:
        """As the task stands now, not as it stood when the screen was drawn."""
        try:
            return await asyncio.to_thread(explain_now, self.project, row.id)
        except DetentError as error:
            self.show_text(row.id, error_words(error))
            return None

    async def _choose(self, row: Row, explained: Explain, choices: tuple[menu.Choice, ...]) -> None:
        chosen = await self.push_screen_wait(Menu(words_tui.menu_head(row, explained, time.time()), choices))
        if chosen is not None:
            await self._take(row, chosen)

    async def _take(self, row: Row, choice: menu.Choice) -> None:
        question = choice.confirm or (words_tui_keys.stop_question(row) if choice.verb == "stop" else "")
        if question and not await self.push_screen_wait(Question(question)):
            return
        said: str | None = ""
        if choice.asks != menu.NO_WORDS:
            said = await self.push_screen_wait(Words(words_tui_keys.reason_words(choice), choice.asks))
        if said is not None:
            label = words_loop.view_word(choice.view) if choice.view else choice.verb
            self.do(row, label, choice.words(row.id, said), is_read=bool(choice.view))

    def do(self, row: Row, label: str, command: list[str], *, is_read: bool = False) -> None:
        """Run one command for a task; with `is_read` its answer is there to be read."""
        if row.id in self.under_way:
            self.warn(words_tui_keys.under_way(self.under_way[row.id], row))
            return
        self.under_way[row.id] = label
        self.look_soon()
        self._wait_for(row, label, [command[0], "--repo", self.project.root, *command[1:]], is_read=is_read)

    @work(group="ask")
    async def _wait_for(self, row: Row, label: str, command: list[str], *, is_read: bool) -> None:
        answer = await ask(command)
        self.under_way.pop(row.id, None)
        ring(self.project)  # the process that drives the task need not wait for its next look
        self.look_soon()
        self._show_answer(f"{label} {row.id}", answer, is_read=is_read)

    def _show_answer(self, title: str, answer: Answer, *, is_read: bool) -> None:
        cut = f"\n{words_tui_keys.cut_words(LONGEST_ANSWER_BYTES)}" if answer.is_cut else ""
        if is_read or answer.code not in (0, 4, 6):  # a refusal or an error is to be read too
            self.show_text(title, answer.text + cut)
        else:
            self.notify(answer.text.partition("\n")[0], timeout=4, markup=False)

    def show_text(self, title: str, text: str) -> None:
        lines = text.splitlines()
        is_long = len(lines) > MOST_WRAPPED_LINES
        self.push_screen(LongText(title, text) if is_long else Page(title, [words_tui.Line(line) for line in lines]))

    def warn(self, text: str) -> None:
        self.notify(text, severity="warning", timeout=4, markup=False)
