"""How far a proof has come, for whoever shows it."""

from __future__ import annotations

from detent.core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Tells = Callable[["Progress"], None]


class Progress(Record):
    """How far a proof has come: it sets up, has made a set-up for itself, waits, or a command begins or has ended."""

    stage: str  # SET_UP, COPIED, WAITS, BEGINS or ENDED
    line: str = ""
    number: int = 0
    total: int = 0
    is_ok: bool = False
    seconds: float = 0.0
    size: int = 0  # of the set-up, in bytes


SET_UP, COPIED, WAITS, BEGINS, ENDED = "set-up", "copied", "waits", "begins", "ended"


def quiet(_progress: Progress) -> None:
    """For callers without anybody to tell."""
