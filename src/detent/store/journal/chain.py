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
            raise UnreadableError(f"journal can't be read: {reason_of(error)}", where=self.path) from error

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
            raise UnreadableError(
                "the task has no journal", where=where, next_step="put it back from a backup"
            ) from None
        except OSError as error:
            raise UnreadableError(f"journal can't be read: {reason_of(error)}", where=self.path) from error

    def append(self, entry: Mapping[str, Any], previous: str, expected_size: int) -> tuple[bytes, int]:
        """Add one line after the byte `expected_size`; returns the raw line and the new size."""
        raw = as_json({**entry, "prev": previous})
        if len(raw) > LARGEST_LINE_BYTES:
            raise UnreadableError(f"journal line would have {len(raw)} bytes", where=self.path)
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
            raise storage_error(error, self.path, "journal can't be written") from error
        return raw, expected_size + len(raw) + 1

    def _begin(self, data: bytes) -> None:
        if self.size() and b"\n" in self.read():
            raise self._changed("it has lines already")
        write_atomic(self.path, data, durable=True)

    def _cut_torn_tail(self, descriptor: int, expected_size: int) -> None:
        """The caller read under the same lock, so what lies beyond its last whole line was torn by a crash."""
        size = os.lseek(descriptor, 0, os.SEEK_END)
        if size < expected_size:
            raise self._changed(f"it has {size} bytes, not {expected_size}")  # cutting would fill it up with zeros
        if size == expected_size:
            return
        if b"\n" in os.pread(descriptor, size - expected_size, expected_size):
            raise self._changed("it has more lines")
        os.ftruncate(descriptor, expected_size)

    def _append(self, descriptor: int, data: bytes, expected_size: int) -> None:
        try:
            write_all(descriptor, data)
            _sync(descriptor)
        except OSError:
            os.ftruncate(descriptor, expected_size)
            raise

    def _changed(self, how: str) -> DamagedJournal:
        return DamagedJournal(
            f"journal was changed by somebody who does not hold the task's lock: {how}",
            where=self.path,
            next_step="find out who writes there, then run: detent audit",
        )


def split_lines(data: bytes) -> tuple[list[bytes], int]:
    """The whole lines of a piece of journal, and how many bytes they cover; a torn tail is left out."""
    end = data.rfind(b"\n") + 1
    return data[:end].split(b"\n")[:-1], end


def decode_lines(raws: Sequence[bytes], path: str, first_number: int = 1, previous: str = GENESIS) -> list[Line]:
    """Parse lines and prove their chain; `previous` is the hash of the line before the first."""
    from detent.store.journal.events import KINDS, from_line  # where the cache says all, no line is read

    entries: list[dict[str, Any]] = []
    for number, raw in enumerate(raws, first_number):
        try:
            entry = json.loads(raw)
        except (ValueError, RecursionError):
            raise _damaged(path, number, "it is not JSON") from None
        if not isinstance(entry, dict) or entry.get("seq") != number:
            raise _damaged(path, number, f"it should be line {number} of the chain")
        if entry.get("prev") != previous:
            raise _damaged(
                path, number, "it does not follow from the line before; a line was changed, added or removed"
            )
        if number == 1:
            check_format(entry, path)
        if not isinstance(entry.get("kind"), str):
            raise _damaged(path, number, "it has no kind")
        previous = sha256_of(raw)
        entries.append(entry)
    for entry in entries:  # once the chain is proven: a changed line is damage, whatever it says now
        if entry["kind"] not in KINDS:
            how = f"line {entry['seq']} is of the kind {entry['kind']!r:.40}, which this one does not know"
            raise _newer(how, path)
    return list(map(from_line, entries))


def check_format(head: Mapping[str, Any], path: str) -> None:
    """Refuse a journal that a newer Detent began: its lines may mean what this one does not know."""
    found = head.get("format", 1)
    if type(found) is not int or found < 1:
        raise _damaged(path, 1, f"its format is {found!r:.40}, which is no number")
    if found > FORMAT:
        raise _newer(f"the journal has format {found}, this one knows {FORMAT}", path)


def _newer(how: str, path: str) -> NewerJournal:
    return NewerJournal(
        f"written by a newer Detent: {how}",
        where=path,
        next_step="use the Detent that wrote it, or a newer one; nothing was changed",
    )


def _damaged(path: str, number: int, why: str) -> DamagedJournal:
    return DamagedJournal(
        f"journal is damaged in line {number}: {why}",
        where=path,
        next_step="put the file back from a backup, then run: detent audit",
    )
