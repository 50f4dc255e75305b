"""The dashboard without a terminal: press keys, read the screen, wait for what is to appear on it."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.message import Message
from textual.pilot import Pilot

from detent.faces.tui.app import Dashboard
from detent.runner.task.open import find_project

LONGEST_S = 120.0
LOOK_S = 0.05  # to read the screen costs as much as all that happens meanwhile
_TEXT = re.compile(r'<text class="[^"]*" x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>')
_CELL = 12.2  # width of one letter in the framework's pictures


class Screen:
    def __init__(self, app: Dashboard, pilot: Pilot[int], changed: asyncio.Event) -> None:
        self.app = app
        self.pilot = pilot
        self._changed = changed

    def lines(self) -> list[str]:
        """The screen as a person sees it, from the picture the framework makes of it."""
        picture = self.app.export_screenshot()
        body = picture[picture.rindex('matrix">') :]
        rows: dict[float, list[tuple[int, str]]] = {}
        for x, y, text in _TEXT.findall(body):
            cells = html.unescape(text).replace("\xa0", " ")
            rows.setdefault(float(y), []).append((round(float(x) / _CELL), cells))
        return [_placed(sorted(parts)) for _, parts in sorted(rows.items())]

    def picture(self) -> str:
        """For the documentation: as small as it gets, and without fonts from elsewhere."""
        drawn = self.app.export_screenshot(title="detent tui", simplify=True)
        return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)

    def text(self) -> str:
        return "\n".join(self.lines())

    def row(self, task_id: str) -> list[str]:
        """The cells of a task's row that are not empty."""
        found = [line for line in self.lines() if re.match(rf"\s*\S\s+{re.escape(task_id)}\s", f"{line} ")]
        return re.split(r"\s{2,}", found[0].strip()) if found else []

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        await self.press(*(_KEY_NAMES.get(letter, letter) for letter in text))

    async def until(self, is_there: Callable[[], object], what: str = "") -> None:
        """Wait for a condition; it is looked at when something has happened in the app."""
        try:
            async with asyncio.timeout(LONGEST_S):
                while not is_there():
                    self._changed.clear()
                    await self._changed.wait()
                    await self.pilot.pause(LOOK_S)
        except TimeoutError:
            raise AssertionError(f"never came: {what}; the screen:\n{self.text()}") from None

    async def shows(self, words: str) -> None:
        await self.until(lambda: words in self.text(), words)

    async def gone(self, words: str) -> None:
        await self.until(lambda: words not in self.text(), f"no more {words}")

    async def choose(self, task_id: str) -> None:
        """Move the cursor to a task, and wait until it is shown in full."""
        ids = [row.id for row in self.app.view.rows]
        await self.press("home", *("j" for _ in range(ids.index(task_id))))
        await self.until(lambda: self.app.view.detail and self.app.view.detail.id == task_id, f"details of {task_id}")
        await self.pilot.pause()


_KEY_NAMES = {" ": "space", "-": "minus", "?": "question_mark", "/": "slash"}


def _placed(parts: list[tuple[int, str]]) -> str:
    line = ""
    for at, text in parts:
        line = line.ljust(at) + text
    return line.rstrip()


@asynccontextmanager
async def opened(repo: Path, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Screen]:
    changed = asyncio.Event()
    app = Dashboard(find_project(str(repo)), jobs=2)

    def heard(_message: Message) -> None:
        changed.set()

    async with app.run_test(size=size, notifications=True, message_hook=heard) as pilot:
        screen = Screen(app, pilot, changed)
        await screen.until(lambda: app.stand is not None and app.view.rows, "the first look")
        await screen.shows("q quit")  # the last line is drawn last
        yield screen
