"""Turns lines of words into text for the screen: wrapped with their indent, and underlined by a style."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from detent.faces.tui.words import Line

STYLES: Mapping[str, str] = {"head": "bold", "good": "green", "bad": "bold red", "dim": "dim", "": ""}
_NARROWEST = 20
_console = Console(width=80, color_system=None)  # only asked to wrap


def painted(lines: Iterable[Line], width: int) -> Text:
    """All lines; what is too long goes on below its own beginning."""
    return Text("\n").join(part for line in lines for part in _wrapped(line, max(width, _NARROWEST)))


def _wrapped(line: Line, width: int) -> list[Text]:
    room = max(width - line.indent, _NARROWEST)
    hang = min(len(line.text) - len(line.text.lstrip()), room // 2)
    parts = Text(line.text.lstrip()).wrap(_console, room - hang) if line.text.strip() else [Text("")]
    return [Text(" " * (line.indent + hang) + part.plain.rstrip(), style=STYLES[line.tone]) for part in parts]


def cut(text: str, width: int, style: str = "") -> Text:
    """One cell of a table."""
    cell = Text(text, style=style, no_wrap=True)
    cell.truncate(width, overflow="ellipsis")
    return cell
