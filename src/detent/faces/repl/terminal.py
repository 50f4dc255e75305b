"""Reads lines at a terminal with prompt_toolkit: completion while typing, lines of earlier days by arrow keys."""

from __future__ import annotations

import sys

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.shortcuts import CompleteStyle

from detent.errors import DetentError
from detent.faces.repl.suggest import fitting, suggestions
from detent.faces.repl.typed import keep_typed, read_typed
from detent.faces.words.said import leads_words
from detent.faces.words.screen import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from detent.faces.repl.suggest import Suggestion
    from detent.runner.task.open import Task


class _Words(Completer):
    def __init__(self) -> None:
        self.lines: tuple[Suggestion, ...] = ()

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        typed = document.text_before_cursor
        for suggestion in fitting(self.lines, typed):
            yield Completion(suggestion.line, start_position=-len(typed), display_meta=leads_words(suggestion.leads))


class _Typed(History):
    """What was typed is kept as long as its file can be written; if not, that is said once."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.is_kept = True

    def load_history_strings(self) -> Iterable[str]:
        try:
            return reversed(read_typed(self.path))
        except DetentError as error:
            self._give_up(error)
            return ()

    def store_string(self, string: str) -> None:
        if self.is_kept:
            try:
                keep_typed(self.path, string)
            except DetentError as error:
                self._give_up(error)

    def _give_up(self, error: DetentError) -> None:
        self.is_kept = False
        sys.stderr.write(printable(f"note: what you type is not kept: {error.what} ({error.where})") + "\n")


def _no_mouse() -> KeyBindings:
    """A pasted colour sequence looks like a mouse event to prompt_toolkit, whose own answer to it is a traceback."""
    bindings = KeyBindings()
    bindings.add(Keys.Vt100MouseEvent)(lambda _event: None)
    return bindings


class Terminal:
    """Where a person types; `read` raises EOFError and KeyboardInterrupt as `input` does."""

    def __init__(self, path: str) -> None:
        self.words = _Words()
        self.session: PromptSession[str] = PromptSession(
            completer=self.words,
            complete_while_typing=True,
            complete_style=CompleteStyle.COLUMN,
            history=_Typed(path),
            enable_open_in_editor=False,
            reserve_space_for_menu=6,
            key_bindings=_no_mouse(),
        )

    def read(self, prompt: str, task: Task) -> str:
        self.words.lines = suggestions(task)
        return self.session.prompt(prompt)
