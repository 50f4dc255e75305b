"""Reads what an agent printed during a run: its usage, its session, its errors, and what its end is worth.

The file is read line by line and may still be growing: `EventReader.read` goes on where it stopped, and leaves a torn
last line for the next time. Lines that are no events are counted and passed over.
"""

from __future__ import annotations

import json

from detent.core.record import Record
from detent.effects.agents.formats import FORMATS, LONGEST_TEXT, Tally
from detent.effects.agents.quota import FURTHEST_S, is_quota, stamp, wake_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_LINE_BYTES = 16_000_000  # a longer line is passed over, whatever it holds
CHUNK_BYTES = 1 << 20
LAST_LINES = 50  # of plain output, kept as the run's last words
ERROR_LINES = 20  # of those, in which an error is looked for


class Usage(Record):
    """What one run used and said. Where the agent tells nothing, a field keeps its default.

    For a resumed session codex tells the tokens of the whole session, not of the run.
    """

    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    denials: int = 0
    errors: tuple[str, ...] = ()
    session: str = ""
    last_text: str = ""
    is_error: bool = False  # the run ended, or stands, in an error
    is_quota: bool = False  # and that error is a quota or a rate limit
    quota_until: str = ""
    has_ended: bool = False  # the agent itself said that its turn is over
    garbage_lines: int = 0


class EventReader:
    """Follows one output file; `now_s` is the time that an error's "in 20 s" is counted from."""

    def __init__(self, path: str, events: str) -> None:
        self._path = path
        self._position = 0
        self._torn = b""
        self._is_skipping = False  # inside a line that is too long
        self._tally = Tally()
        self._skipped = FORMATS[events].skipped
        self._take: Callable[[bytes], None] = self._take_event
        if reader := FORMATS[events].reader:
            self._event = reader()
        else:
            self._take = self._take_text
            self._lines: list[str] = []

    def read(self, now_s: float) -> Usage:
        """Everything up to the present end of the file; a file that is not there yet is empty."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._position)
                while chunk := file.read(CHUNK_BYTES):
                    self._position += len(chunk)
                    self._split(chunk)
        except FileNotFoundError:
            pass
        return self._usage(now_s)

    def finish(self, now_s: float) -> Usage:
        """The same when the run is over: a last line without an end is then a line like any other."""
        self.read(now_s)
        if self._torn and not self._is_skipping:
            self._take(self._torn)
        self._torn = b""
        return self._usage(now_s)

    def _split(self, chunk: bytes) -> None:
        *whole, rest = chunk.split(b"\n")
        if self._take == self._take_text and len(whole) > LAST_LINES:
            # Only the last lines of plain text count; a flood of short ones must not take minutes.
            self._is_skipping, self._torn = False, b""
            del whole[:-LAST_LINES]
        for line in whole:
            if self._is_skipping:
                self._is_skipping = False
            else:
                self._take(self._torn + line)
            self._torn = b""
        if not self._is_skipping:
            self._torn += rest
            if len(self._torn) > LONGEST_LINE_BYTES:
                self._tally.garbage_lines += 1
                self._is_skipping, self._torn = True, b""

    def _take_event(self, line: bytes) -> None:
        if not line.strip() or line.startswith(self._skipped):
            return
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        if isinstance(event, dict):
            self._event(event, self._tally)
        else:
            self._tally.garbage_lines += 1

    def _take_text(self, line: bytes) -> None:
        self._lines.append(line.decode("utf-8", "replace"))
        del self._lines[:-LAST_LINES]

    def _usage(self, now_s: float) -> Usage:
        tally = self._tally
        if self._take == self._take_text:
            return self._plain_usage(now_s)
        until = ""
        if tally.is_quota:
            times = (wake_time(error, now_s) for error in reversed(tally.errors))
            is_known = now_s < tally.resets_at_s <= now_s + FURTHEST_S
            until = stamp(tally.resets_at_s) if is_known else next(filter(None, times), "")
        return Usage(
            turns=tally.turns,
            input_tokens=tally.input_tokens,
            output_tokens=tally.output_tokens,
            cost_usd=tally.cost_usd,
            denials=tally.denials,
            errors=tuple(tally.errors),
            session=tally.session,
            last_text=tally.last_text,
            is_error=tally.is_error,
            is_quota=tally.is_quota,
            quota_until=until,
            has_ended=tally.has_ended,
            garbage_lines=tally.garbage_lines,
        )

    def _plain_usage(self, now_s: float) -> Usage:
        """Plain text tells neither an error nor an end; only the exit does. What could be a quota is noted for it."""
        errors = tuple(line.strip()[:LONGEST_TEXT] for line in self._lines[-ERROR_LINES:] if is_quota(line))
        return Usage(
            errors=errors,
            last_text="\n".join(self._lines).strip()[-LONGEST_TEXT:],
            is_quota=bool(errors),
            quota_until=next(filter(None, (wake_time(error, now_s) for error in reversed(errors))), ""),
            has_ended=True,
        )


def read_usage(path: str, events: str, now_s: float) -> Usage:
    """What a finished run used and said."""
    return EventReader(path, events).finish(now_s)


def classify(exit_class: str, usage: Usage) -> str:
    """The exit class of a run, from how its process ended and from what the agent said.

    `finished` needs the agent's own word that its turn is over, without an error. A quota explains a failure, and a
    timeout too if it was the last thing seen (agents wait and retry by themselves). A killed or lost run stays so,
    whatever it printed before.
    """
    match exit_class:
        case "failed" if usage.is_quota:
            return "quota"
        case "finished" | "timeout" if usage.is_error and usage.is_quota:
            return "quota"
        case "finished" if usage.is_error or not usage.has_ended:
            return "failed"
        case _:
            return exit_class
