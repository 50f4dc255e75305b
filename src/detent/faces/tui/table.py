"""The list of tasks: a table whose columns fit the room there is, and whose cursor stays with its task."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.coordinate import Coordinate
from textual.events import Resize
from textual.widgets import DataTable

from detent.faces.tui import words
from detent.faces.tui.keys import OPEN, SHOWN_KEYS
from detent.faces.tui.paint import STYLES, cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.faces.tui.gather import Row

_FIXED = {"mark": 1, "round": 5, "crash": 5}
_FITTED = {"task": (10, 28), "state": (8, 22), "turn": (4, 10)}  # least and most of what the rows ask for
_SHORTEST_TITLE = 12
_SPACE = 2  # around each cell
_SCROLLBAR = 1


def columns_for(width: int, rows: Sequence[Row]) -> dict[str, int]:
    """Names and widths for the room there is: the id gives way first; a title is shown if enough of it can be."""
    texts = [words.cells(row) for row in rows]
    sizes = {
        name: min(most, max([least, *(len(cells[name]) for cells in texts)])) for name, (least, most) in _FITTED.items()
    }
    sizes |= _FIXED
    left = width - _SCROLLBAR - sum(size + _SPACE for size in sizes.values())
    sizes["task"] = max(_FITTED["task"][0], sizes["task"] + min(left, 0))
    if left - _SPACE >= _SHORTEST_TITLE:
        sizes["title"] = left - _SPACE
    return {name: sizes[name] for name in words.COLUMNS if name in sizes}


class TaskTable(DataTable[Text]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
        Binding("home,g", "scroll_top", show=False),
        Binding("end,G", "scroll_bottom", show=False),
        # The framework's own for Enter is not shown, and would hide the one below.
        Binding("enter", "select_cursor", OPEN, key_display=SHOWN_KEYS["enter"]),
    ]

    def __init__(self) -> None:
        super().__init__(id="tasks", cursor_type="row", zebra_stripes=False)
        self.rows_shown: Sequence[Row] = ()
        self._widths: dict[str, int] = {}

    def on_resize(self, event: Resize) -> None:
        if self._columns(event.size.width) != self._widths:
            self._rebuild(self.chosen)

    def _columns(self, width: int) -> dict[str, int]:
        return columns_for(width, self.rows_shown)

    @property
    def chosen(self) -> str:
        """The id of the task under the cursor; empty when there is none."""
        at = self.cursor_coordinate.row
        return self.rows_shown[at].id if 0 <= at < len(self.rows_shown) else ""

    def show_rows(self, rows: Sequence[Row], chosen: str) -> None:
        before, self.rows_shown = self.rows_shown, rows
        if [row.id for row in before] != [row.id for row in rows] or self._columns(self.size.width) != self._widths:
            self._rebuild(chosen)
            return
        for at, (old, new) in enumerate(zip(before, rows, strict=True)):
            if old != new:
                for column, cell in enumerate(self._cells(new)):
                    self.update_cell_at(Coordinate(at, column), cell)

    def _rebuild(self, chosen: str) -> None:
        self._widths = self._columns(self.size.width or self.app.size.width)
        with self.prevent(DataTable.RowHighlighted):
            self.clear(columns=True)
            for name, width in self._widths.items():
                self.add_column(words.COLUMNS[name], width=width, key=name)
            for row in self.rows_shown:
                self.add_row(*self._cells(row), key=row.id)
            ids = [row.id for row in self.rows_shown]
            if chosen in ids:
                self.move_cursor(row=ids.index(chosen))

    def _cells(self, row: Row) -> list[Text]:
        texts, style = words.cells(row), STYLES[words.TONES.get(row.kind, "")]
        return [
            cut(texts[name], width, style if name in ("mark", "state") else "") for name, width in self._widths.items()
        ]
