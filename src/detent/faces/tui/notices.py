"""Remembers which tasks needed a person, and says which begin to."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.faces.tui.gather import Row

NEEDS_PERSON = ("unreadable", "dead", "waits")
SETTLE_S = 2.0  # a run that has just ended is dead until it is judged; that is no news


class Notices:
    def __init__(self) -> None:
        # One notice for each state of a task: between two scans it may have moved on, and need a person again.
        self._since: dict[tuple[str, str], float] = {}  # when a task began to need a person
        self._shown: set[tuple[str, str]] | None = None  # notices given; None before the first scan

    def begun(self, rows: Sequence[Row], now_s: float) -> tuple[Row, ...]:
        """Tasks to notify about now, each once; those that needed a person at the first scan are in the list."""
        needing = [row for row in rows if row.kind in NEEDS_PERSON]
        self._since = {_key(row): self._since.get(_key(row), now_s) for row in needing}
        if self._shown is None:
            self._shown = set(self._since)
        self._shown &= self._since.keys()
        new = tuple(
            row
            for row in needing
            if _key(row) not in self._shown and (row.kind != "dead" or now_s - self._since[_key(row)] >= SETTLE_S)
        )
        self._shown |= {_key(row) for row in new}
        return new


def _key(row: Row) -> tuple[str, str]:
    return row.id, row.state
