"""One task's memory: loads its snapshot from cache and journal, and writes what was decided, journal first.

`snapshot.json` is only a cache. It is trusted when the journal still holds, at the same place, the very line it was
made from, known by length and checksum; it may lag behind (the rest is folded in), and a cache that is ahead of its
journal means lines were removed: an error.
"""

from __future__ import annotations

import json
import os
from zlib import crc32

from detent.errors import DamagedJournal, UnreadableError
from detent.store.disk.atomic import as_json, cache_stamp, read_cache, write_atomic, write_cache
from detent.store.disk.digest import sha256_of
from detent.store.journal.chain import GENESIS, Journal, check_format, decode_lines, split_lines
from detent.store.journal.head import head_of
from detent.store.journal.line import to_line
from detent.store.journal.memory import Memory, parts_of, plain_parts, snapshot_from_json, snapshot_to_json
from detent.view import content_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from detent.core.values import Snapshot
    from detent.store.journal.line import Line
    from detent.store.journal.places import TaskPlaces

CACHE_SCHEMA = 12  # one more whenever `Memory` or what a line makes of it changes: older caches are made again
_LARGEST_CACHE_BYTES = 8_000_000
_CACHE_STEP_BYTES = 256


def cache_content(memory: Memory) -> dict[str, Any]:
    """What the cache says; fields that say nothing are left out, because a list of tasks reads thousands of these."""
    kept = plain_parts(memory)
    seq, snapshot, last = memory.snapshot.seq, snapshot_to_json(memory.snapshot), mark_of(memory.last)
    head = content_of(memory.head)
    return {**kept, "head": head, "schema": CACHE_SCHEMA, "seq": seq, "snapshot": snapshot, "last": last}


def mark_of(raw: bytes) -> list[int]:
    """By which a line of the journal is known again."""
    return [len(raw), crc32(raw)]


def last_line(memory: Memory) -> Line:
    """The line that this memory ends with."""
    from detent.store.journal.events import from_line

    return from_line(json.loads(memory.last))


class TaskStore:
    def __init__(self, places: TaskPlaces) -> None:
        self.places = places
        self.journal = Journal(places.journal())
        self._saved: tuple[object, Memory] | None = None  # what was written here last: no need to read and parse it
        self._head: tuple[object, bytes] = (None, b"")  # the first line never changes: it is encoded once

    def load(self) -> Memory:
        """Without a lock, without writing: what is true now."""
        if self._saved and self._saved[0] == cache_stamp(self.places.snapshot()):
            cached: Memory | None = self._saved[1]
            mark = mark_of(self._saved[1].last)
        else:
            cached, mark = self._cached()
        if cached is None:
            return self._fold_all(None, split_lines(self.journal.read())[0])
        check_format(cached.head.format, self.journal.path)
        length = mark[0]
        data = self.journal.read(cached.size - length - 1)
        last = data[:length]
        if data[length : length + 1] != b"\n" or mark_of(last) != mark:
            raise self._shorter(cached)
        raws, _ = split_lines(data[length + 1 :])
        cached = cached if cached.last else cached.replace(last=last)
        return self._fold_all(cached, raws) if raws else cached

    def _shorter(self, cached: Memory) -> DamagedJournal:
        from detent.words.store import journal as say

        return DamagedJournal(say.cut_short(cached.snapshot.seq), where=self.journal.path)

    def _fold_all(self, memory: Memory | None, raws: list[bytes]) -> Memory:
        from detent.store.journal.fold import fold  # where the cache says all, no line is read

        number = 1 if memory is None else memory.snapshot.seq + 1
        previous = GENESIS if memory is None else sha256_of(memory.last)
        size = 0 if memory is None else memory.size
        for raw, line in zip(raws, decode_lines(raws, self.journal.path, number, previous), strict=True):
            size += len(raw) + 1
            try:
                memory = fold(memory, line, raw, size)
            except (KeyError, TypeError) as error:
                from detent.words.store import journal as say

                problem = say.line_lacks if isinstance(error, KeyError) else say.line_does_not_fit
                raise DamagedJournal(problem(line.seq, error), where=self.journal.path) from error
        if memory is None:
            from detent.words.store import journal as say

            raise UnreadableError(say.empty(), where=self.journal.path)
        return memory

    def _cached(self) -> tuple[Memory | None, list[int]]:
        """The cache but for its last line, and that line's mark; None when it is missing, torn or of another schema."""
        try:
            data = read_cache(self.places.snapshot(), _LARGEST_CACHE_BYTES)
            content = json.loads(data.decode()) if data else None  # given bytes, it would first guess their encoding
            if not content or content.pop("schema") != CACHE_SCHEMA:
                return None, []
            seq, (length, check) = content.pop("seq"), content.pop("last")
            head, snapshot = head_of(content.pop("head")), snapshot_from_json(content.pop("snapshot"), seq)
            cached = Memory(head=head, snapshot=snapshot, last=b"", **parts_of(content))
            if not (seq > 0 and cached.size > length > 0):
                return None, []
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None, []
        return cached, [length, check]

    def commit(self, memory: Memory | None, line: Line, after: Snapshot | None = None) -> Memory:
        """Add one line; when this returns it has happened, whatever dies next. The caller holds the task's lock."""
        from detent.store.journal.fold import compose

        return self.append(memory, compose(memory, line, after))

    def append(self, memory: Memory | None, line: Line, foretold: Memory | None = None) -> Memory:
        """The same for a line that was composed before, and may carry the native file's text."""
        from detent.store.journal.fold import memory_after, placed

        foretold = foretold or memory_after(memory, line)  # before the wait for the disk, after which all goes slower
        previous = GENESIS if memory is None else sha256_of(memory.last)
        raw, size = self.journal.append(to_line(line), previous, 0 if memory is None else memory.size)
        return placed(foretold, line, raw, size)

    def save_cache(self, memory: Memory) -> None:
        """Write the cache; losing it costs time, never truth, so it is not synced."""
        if self._head[0] is not memory.head:
            self._head = (memory.head, as_json({"head": content_of(memory.head)})[1:])
        content = cache_content(memory)
        del content["head"]
        data = as_json(content)[:-1] + b"," + self._head[1]
        # Always the same size but for a rare time: then there is nothing to cut off behind it.
        stamp = write_cache(self.places.snapshot(), data.ljust(-(-len(data) // _CACHE_STEP_BYTES) * _CACHE_STEP_BYTES))
        self._saved = (stamp, memory)

    def native_text(self, memory: Memory) -> str:
        """The native file's text as the last line that carries it has it; empty when no line does."""
        if not memory.native:
            return ""
        raw = self.journal.read(memory.native.start, memory.native.length)
        text: str = json.loads(raw)["native"]["text"]
        return text

    def history(self) -> list[Line]:
        """Every line, with its chain proven."""
        raws, _ = split_lines(self.journal.read())
        return decode_lines(raws, self.journal.path)

    def lines_after(self, size: int) -> tuple[list[Line], int]:
        """The whole lines behind the first `size` bytes, and how many bytes there are with them.

        For readers: `load` reports a broken line, as left by a rewrite of the journal meanwhile.
        """
        from detent.store.journal.events import KINDS, from_line

        raws, _ = split_lines(self.journal.read(size))
        found = []
        for raw in raws:
            try:
                entry = json.loads(raw)
            except ValueError:
                continue
            if isinstance(entry, dict) and str(entry.get("kind")) in KINDS:
                found.append(from_line(entry))
        return found, size + sum(len(raw) + 1 for raw in raws)

    def keep(self, data: bytes) -> str:
        """Store bytes by their hash, durable; what is replaced in a native file is never lost."""
        name = sha256_of(data)
        path = os.path.join(self.places.objects(), name)
        if not os.path.exists(path):
            write_atomic(path, data, durable=True)
        return name
