"""The journal: one JSON line per event, each holding the hash of the line before; the only truth about a task.

Writing (lock held):  1. cut a torn last line  2. append the whole line  3. fdatasync. Only then it happened.
                      The first line is a whole new file instead: half a first line never exists.
Reading (no lock):    a last line without its line end is being written or was torn: it is ignored, never cut.

A line is cut back when appending or syncing fails, so that an error means: this did not happen. Damage anywhere but in
the tail is an error that names the line; nothing is guessed, and no whole line is ever cut.
"""

from __future__ import annotations

import json
import os

from detent.errors import DamagedJournal, NewerJournal, UnreadableError
from detent.store.disk.atomic import as_json, read_at, reason_of, storage_error, write_all, write_atomic
from detent.store.disk.digest import sha256_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.store.journal.line import Line

GENESIS = "0" * 64
FORMAT = 2  # in the first line of a journal; a journal without it is of format 1
LARGEST_LINE_BYTES = 1_000_000
_sync = getattr(os, "fdatasync", os.fsync)  # not every system has the cheaper one


class Journal:
    """One journal file. It remembers nothing between calls but its path."""

    def __init__(self, path: str) -> None:
        self.path = path

    def size(self) -> int | None:
        try:
            return os.stat(self.path).st_size
        except FileNotFoundError:
            return None
        except OSError as error:
            from detent.words.store import journal as say

            raise UnreadableError(say.unreadable(reason_of(error)), where=self.path) from error

    def read(self, start: int = 0, length: int | None = None) -> bytes:
        """Bytes from an offset; with a length, at most that many."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                rest = os.lseek(descriptor, 0, os.SEEK_END) - start if length is None else length
                return read_at(descriptor, start, max(0, rest))
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            where = os.path.dirname(self.path)
            from detent.words.store import journal as say

            raise UnreadableError(say.no_journal(), where=where) from None
        except OSError as error:
            from detent.words.store import journal as say

            raise UnreadableError(say.unreadable(reason_of(error)), where=self.path) from error

    def append(self, entry: Mapping[str, Any], previous: str, expected_size: int) -> tuple[bytes, int]:
        """Add one line after the byte `expected_size`; returns the raw line and the new size."""
        raw = as_json({**entry, "prev": previous})
        if len(raw) > LARGEST_LINE_BYTES:
            from detent.words.store import journal as say

            raise UnreadableError(say.line_too_long(len(raw)), where=self.path)
        if not expected_size:
            self._begin(raw + b"\n")
            return raw, len(raw) + 1
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
            try:
                self._cut_torn_tail(descriptor, expected_size)
                self._append(descriptor, raw + b"\n", expected_size)
            finally:
                os.close(descriptor)
        except OSError as error:
            from detent.words.store import journal as say

            raise storage_error(error, self.path, say.not_written()) from error
        return raw, expected_size + len(raw) + 1

    def _begin(self, data: bytes) -> None:
        if self.size() and b"\n" in self.read():
            from detent.words.store import journal as say

            raise self._changed(say.has_lines_already())
        write_atomic(self.path, data, durable=True)

    def _cut_torn_tail(self, descriptor: int, expected_size: int) -> None:
        """The caller read under the same lock, so what lies beyond its last whole line was torn by a crash."""
        size = os.lseek(descriptor, 0, os.SEEK_END)
        if size < expected_size:
            from detent.words.store import journal as say

            raise self._changed(say.other_size(size, expected_size))  # cutting would fill it up with zeros
        if size == expected_size:
            return
        if b"\n" in os.pread(descriptor, size - expected_size, expected_size):
            from detent.words.store import journal as say

            raise self._changed(say.more_lines())
        os.ftruncate(descriptor, expected_size)

    def _append(self, descriptor: int, data: bytes, expected_size: int) -> None:
        try:
            write_all(descriptor, data)
            _sync(descriptor)
        except OSError:
            os.ftruncate(descriptor, expected_size)
            raise

    def _changed(self, how: str) -> DamagedJournal:
        from detent.words.store import journal as say

        return DamagedJournal(say.changed_without_lock(how), where=self.path)


def split_lines(data: bytes) -> tuple[list[bytes], int]:
    """The whole lines of a piece of journal, and how many bytes they cover; a torn tail is left out."""
    end = data.rfind(b"\n") + 1
    return data[:end].split(b"\n")[:-1], end


def decode_lines(raws: Sequence[bytes], path: str, first_number: int = 1, previous: str = GENESIS) -> list[Line]:
    """Parse lines and prove their chain; `previous` is the hash of the line before the first."""
    # Where the cache says all, no line is read.
    from detent.store.journal.events import KINDS, from_line
    from detent.words.store import journal as say

    entries: list[dict[str, Any]] = []
    for number, raw in enumerate(raws, first_number):
        try:
            entry = json.loads(raw)
        except (ValueError, RecursionError):
            raise _damaged(path, number, say.not_json()) from None
        if not isinstance(entry, dict) or entry.get("seq") != number:
            raise _damaged(path, number, say.not_that_line(number))
        if entry.get("prev") != previous:
            raise _damaged(path, number, say.chain_broken())
        if number == 1:
            check_format(entry.get("format", 1), path)
        if not isinstance(entry.get("kind"), str):
            raise _damaged(path, number, say.no_kind())
        previous = sha256_of(raw)
        entries.append(entry)
    for entry in entries:  # once the chain is proven: a changed line is damage, whatever it says now
        if entry["kind"] not in KINDS:
            raise _newer(say.unknown_kind(entry["seq"], entry["kind"]), path)
    return list(map(from_line, entries))


def check_format(found: object, path: str) -> None:
    """Refuse a journal that a newer Detent began: its lines may mean what this one does not know."""
    if type(found) is not int or found < 1:
        from detent.words.store import journal as say

        raise _damaged(path, 1, say.format_no_number(found))
    if found > FORMAT:
        from detent.words.store import journal as say

        raise _newer(say.newer_format(found, FORMAT), path)


def _newer(how: str, path: str) -> NewerJournal:
    from detent.words.store import journal as say

    return NewerJournal(say.newer(how), where=path)


def _damaged(path: str, number: int, why: str) -> DamagedJournal:
    from detent.words.store import journal as say

    return DamagedJournal(say.damaged(number, why), where=path)
