"""What opens above the dashboard: a menu, a line to write, a question, a page of text, a log that grows."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Input, Log, OptionList, Static
from textual.widgets.option_list import Option

from detent.effects.host.keeper.look import look
from detent.faces.cli.commands.logs import GrowingText
from detent.faces.tui import keys as words
from detent.faces.tui.menu import MUST_SAY, Choice
from detent.faces.tui.paint import painted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.faces.tui.words import Line

LOG_TICK_S = 0.5
LOG_LAST_BYTES = 256 * 1024  # how much of what was printed before is shown
MOST_LOG_LINES = 5000
_MENU_FRAME = 9  # the lines of a menu that are not its choices, and some room around it


class Menu(ModalScreen[Choice | None]):
    """Takes a letter, or Enter on a line."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]

    def __init__(self, title: Sequence[Line], choices: Sequence[Choice]) -> None:
        super().__init__()
        self._head, self._choices = title, choices

    def compose(self) -> ComposeResult:
        width = min(int(self.app.size.width * 0.9), 100) - 6
        with Vertical(classes="box"):
            yield Static(painted(self._head, width))
            yield OptionList(*(Option(painted(words.choice_lines(choice), width)) for choice in self._choices))
            yield Static(words.MENU_HINT, classes="hint")

    def on_mount(self) -> None:
        lines = self.query_one(OptionList)
        lines.styles.max_height = max(3, self.app.size.height - self.query_one(Static).size.height - _MENU_FRAME)
        lines.focus()

    def on_key(self, event: Key) -> None:
        pressed = (event.character or "").lower()
        chosen = [choice for choice in self._choices if pressed and choice.key.lower() == pressed]
        if chosen:
            event.stop()
            self.dismiss(chosen[0])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index])

    def action_close(self) -> None:
        self.dismiss(None)


class Words(ModalScreen[str | None]):
    """Asks for a line of words; None when the person gives up."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]

    def __init__(self, question: str, asks: str) -> None:
        super().__init__()
        self._question, self._asks = question, asks

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(self._question, markup=False)
            yield Input()
            yield Static(words.WORDS_HINT, classes="hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        said = event.value.strip()
        if said or self._asks != MUST_SAY:
            self.dismiss(said)

    def action_close(self) -> None:
        self.dismiss(None)


class Question(ModalScreen[bool]):
    """Yes or no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape", "answer(False)", show=False),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(self._question, markup=False)
            yield Static(words.YES_NO, classes="hint")

    def action_answer(self, answer: bool) -> None:  # the binding above gives it by place
        self.dismiss(answer)


class Page(ModalScreen[None]):
    """Text over the whole screen: help, a refusal, the answer of a command."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
    ]

    def __init__(self, title: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self._head, self._lines = title, lines

    def compose(self) -> ComposeResult:
        with Vertical(classes="page"):
            yield Static(self._head, classes="title", markup=False)
            with VerticalScroll(classes="text"):
                yield Static(painted(self._lines, self.app.size.width - 4))
            yield Static(words.CLOSE, classes="hint")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_scroll(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)

    def action_close(self) -> None:
        self.dismiss(None)


class LongText(ModalScreen[None]):
    """Text that may be very long and is not wrapped: a diff."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", show=False)]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._head, self._text = title, text

    def compose(self) -> ComposeResult:
        with Vertical(classes="page"):
            yield Static(self._head, classes="title", markup=False)
            yield Log(classes="text", auto_scroll=False)
            yield Static(words.CLOSE, classes="hint")

    def on_mount(self) -> None:
        self.query_one(Log).write(self._text).focus()

    def action_close(self) -> None:
        self.dismiss(None)


class Logs(ModalScreen[None]):
    """What an agent run prints, followed until it has ended."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,l", "close", show=False)]

    def __init__(self, task_id: str, number: int, run_dir: str, path: str) -> None:
        super().__init__()
        self._task_id, self._number, self._run_dir = task_id, number, run_dir
        self._text = GrowingText(path, LOG_LAST_BYTES)

    def compose(self) -> ComposeResult:
        with Vertical(classes="page"):
            yield Static(classes="title", markup=False)
            yield Log(classes="text", max_lines=MOST_LOG_LINES)
            yield Static(words.CLOSE, classes="hint")

    def on_mount(self) -> None:
        self.query_one(Log).focus()
        self._follow()
        self.set_interval(LOG_TICK_S, self._follow)

    def _follow(self) -> None:
        lives = look(self._run_dir).phase == "alive"
        self.query_one(".title", Static).update(words.log_title(self._task_id, self._number, lives=lives))
        log = self.query_one(Log)
        for part in self._text.new_parts():
            log.write(part)

    def action_close(self) -> None:
        self.dismiss(None)
