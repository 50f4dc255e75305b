"""How the native log is written: JSON lines, or Markdown that people read and write in too (`[store] log_form`).

Whatever the form, a piece of the log tells one event of one journal line, is only ever appended, and stands there once:
one that a crash tore is completed, one that a crash kept from being marked is found again. Words of others are never
touched. A Markdown piece begins with a heading that holds its time and, where no reader sees it, its journal line.
"""

from __future__ import annotations

import os

from detent.store.disk.atomic import as_json, read_plain
from detent.store.disk.json_lines import LARGEST_LOG_BYTES, append_raw, count_lines
from detent.store.journal.native_log import log_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from detent.core.machine import Machine
    from detent.store.journal.line import Line

JSON_LINES, MARKDOWN = "json_lines", "markdown"
_TITLE = b"# Log\n"
_MARK = "<!-- detent:"  # begins what only a program sees: the task and the journal line
_NOT_SHOWN = ("seq", "time", "kind", "type")


def form_of(machine: Machine) -> str:
    return str(machine.store.log_form)


def pieces(machine: Machine, task_id: str, line: Line) -> Iterator[bytes]:
    """What one journal line adds to the log, piece by piece."""
    rows = log_lines(machine, line)
    if form_of(machine) == JSON_LINES:
        yield from (as_json(row, compact=False) + b"\n" for row in rows)
        return
    for number, row in enumerate(rows, 1):
        place = f"{line.seq}" if number == 1 else f"{line.seq}.{number}"
        yield _markdown(row, str(line.time), f"{task_id}:{place}")


def _markdown(line: Mapping[str, object], time: str, place: str) -> bytes:
    words = _one_line(line.get("type") or line.get("kind"))
    rows = [f"\n## {time} {words} {_MARK}{place} -->\n"]
    shown = [(name, _unmarked(str(value)).strip()) for name, value in line.items() if name not in _NOT_SHOWN]
    for name, text in shown:
        if "\n" in text:  # text of a person or an agent: quoted, so that no line of it is read as part of the log
            rows += [f"- {name}:", *(f"  > {part}".rstrip() for part in text.splitlines())]
        elif text:
            rows.append(f"- {name}: {text}")
    return ("\n".join(rows) + "\n").encode("utf-8", "replace")


def mark_of_task(task_id: str) -> bytes:
    """By which a heading says that it is the engine's own, about this task."""
    return f"{_MARK}{task_id}:".encode()


def _one_line(value: object) -> str:
    return _unmarked(" ".join(str(value).split()))


def _unmarked(text: str) -> str:
    """Words of others, in which nothing passes for a mark of ours."""
    return text.replace("<!--", "<! --")


class Present:
    """What the log holds already, of what was perhaps written before a crash."""

    def __init__(self, machine: Machine, path: str, start: int) -> None:
        self.is_markdown = form_of(machine) == MARKDOWN
        # People and agents move the text of a Markdown log around: it is read as a whole.
        self.lines = count_lines(path, 0 if self.is_markdown else start)
        self.data = (read_plain(path, LARGEST_LOG_BYTES) or b"") if self.is_markdown else b""

    def takes(self, piece: bytes) -> bool:
        """Whether this piece is there; each is taken once, as lines without a number may be equal."""
        line = _heading(piece) if self.is_markdown else piece.rstrip(b"\n")
        is_cut = self.is_markdown and torn_length(self.data, piece) > len(line)
        if not self.lines.get(line) or is_cut:
            return False
        self.lines[line] -= 1
        return True


def _heading(piece: bytes) -> bytes:
    return piece.lstrip(b"\n").partition(b"\n")[0]


def torn_length(data: bytes, piece: bytes) -> int:
    """How much of a Markdown piece stands at the very end of a log, cut off by a crash; an empty line tells nothing."""
    return next((length for length in range(len(piece) - 1, 1, -1) if data.endswith(piece[:length])), 0)


def append_piece(machine: Machine, path: str, piece: bytes) -> int:
    """Add one piece; the size of the log then."""
    if form_of(machine) == JSON_LINES:
        return append_raw(path, piece)
    tail = _tail(path, len(piece))
    if not tail:
        return append_raw(path, _TITLE + piece)
    torn = torn_length(tail, piece)
    return append_raw(path, piece[torn:], goes_on=bool(torn))


def _tail(path: str, length: int) -> bytes:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - length))
            return file.read(length)
    except OSError:
        return b""  # it is made again, or its writer reports the error
