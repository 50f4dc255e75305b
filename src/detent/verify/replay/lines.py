"""What a replay says of a journal line that does not hold."""

from __future__ import annotations

from detent.core.record import Record


class Finding(Record):
    """Something that does not agree; a warning is what a crash or a clock may leave behind without any tampering."""

    line: int
    kind: str
    what: str
    is_warning: bool = False
