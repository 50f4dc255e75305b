"""Files of lines that are not the journal: the native log and the projection's marks. Appended to, not synced."""

from __future__ import annotations

import json
import os
import stat

from detent.errors import UnreadableError
from detent.store.disk.atomic import as_json, read_at, read_plain, storage_error, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_LOG_BYTES = 64_000_000
_TAIL_BYTES = 1 << 14
_MARKS_BYTES = 1 << 10  # holds several of our own marks


def size_of(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0
    except OSError as error:
        from detent.words.store import disk as say

        raise storage_error(error, path, say.file_not_read()) from error


def count_lines(path: str, start: int) -> dict[bytes, int]:
    """How often each whole line stands behind the first bytes of a file."""
    counts: dict[bytes, int] = {}
    for raw in (read_plain(path, LARGEST_LOG_BYTES) or b"")[start:].split(b"\n")[:-1]:
        counts[raw] = counts.get(raw, 0) + 1
    return counts


def _parsed(raw: bytes) -> dict[str, object]:
    """The table a line holds; {} when it holds none."""
    try:
        entry = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def parsed_lines(path: str) -> list[dict[str, object]]:
    """Every whole line that holds a table; others may have written lines of their own."""
    return [_parsed(raw) for raw in (read_plain(path, LARGEST_LOG_BYTES) or b"").split(b"\n")[:-1]]


def last_entry(path: str) -> dict[str, object]:
    """The last whole line of a JSON-lines file, read from its tail; {} when there is none or it is not ours."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            size = os.fstat(descriptor).st_size
            length = min(size, _MARKS_BYTES)
            lines = read_at(descriptor, size - length, length).split(b"\n")[:-1]
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return {}
    except OSError as error:
        from detent.words.store import disk as say

        raise storage_error(error, path, say.file_not_read()) from error
    return _parsed(lines[-1]) if lines else {}


def append_line(path: str, content: Mapping[str, object], *, whole: int = -1) -> int:
    """Append one JSON line; the beginning of this very line, torn by a crash, is completed instead of repeated.

    Returns the size of the file then. As long as the file has that size, its end need not be read: `whole`.
    """
    return append_raw(path, as_json(content, compact=False) + b"\n", whole=whole)


def append_raw(path: str, raw: bytes, *, goes_on: bool = False, whole: int = -1) -> int:
    """The same for bytes that begin a line of their own, unless they go on with what stands there last."""
    try:
        descriptor = os.open(
            path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644
        )
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
                from detent.words.store import disk as say

                raise UnreadableError(say.not_a_file_of_its_own(), where=path)
            size = status.st_size
            is_unknown = size and size != whole and not goes_on
            if is_unknown and os.pread(descriptor, 1, size - 1) != b"\n":  # one byte tells what is nearly always so
                torn = os.pread(descriptor, _TAIL_BYTES, max(0, size - _TAIL_BYTES)).rpartition(b"\n")[2]
                raw = raw[len(torn) :] if raw.startswith(torn) else b"\n" + raw
            write_all(descriptor, raw)
            return size + len(raw)
        finally:
            os.close(descriptor)
    except OSError as error:
        from detent.words.store import disk as say

        raise storage_error(error, path, say.file_not_written()) from error
