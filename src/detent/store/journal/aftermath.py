"""Decides which text of a native file counts after the host stopped: the file's own, or that of its journal line.

A line that leads to a new text of the native file carries that text and is synced; the file itself is not. So after a
power cut the file may be older than the line, torn, zeros or empty. As long as the host runs none of this happens:
the projection's marks name the boot they were made in, and only another boot needs this check. Then

1. a file that equals the line's text is in order;
2. a torn one, and an older one that the journal knows, is replaced by the line's text: no text is lost by that;
3. one that was written after the line is newer work, and counts as ever;
4. any other is older than the line and replaced too, but kept by its hash, and a line says so.
"""

from __future__ import annotations

import os
import time

from detent.store.disk.atomic import read_plain
from detent.store.disk.boot import boot_id
from detent.store.disk.digest import sha256_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document, Native
    from detent.store.journal.tasks import TaskStore

LARGEST_CARRIED_CHARACTERS = 64_000  # of a larger file its disk is waited for instead


def carried(before: str, text: str) -> dict[str, str]:
    """What a journal line carries of the native file it leads to; nothing means that the file itself must be synced."""
    if not boot_id() or len(text) > LARGEST_CARRIED_CHARACTERS:
        return {}
    return {"was": sha256_of(before.encode("utf-8")), "text": text}


def text_after_stop(native: Native, store: TaskStore, memory: Memory) -> Document | None:
    """The document as the journal has it, if the computer stopped and the file shows less; None: the file counts."""
    if not memory.native or native.marked_boot() == boot_id():
        return None
    native.need_real_folder()
    data = read_plain(native.path())
    text = store.native_text(memory)
    if data is None or data == text.encode("utf-8"):
        return None
    lines = [line.native for line in store.history() if line.native]
    is_torn = any(_is_torn(data, line["text"].encode("utf-8")) for line in lines)
    if not is_torn and _written_after(native.path(), memory.native.time):
        return None
    is_known = is_torn or _is_known(sha256_of(data), lines)
    return native.parsed(text).replace(is_stale=True, found=b"" if is_known else data)


def _is_torn(data: bytes, text: bytes) -> bool:
    """Whether the data is a beginning of the text, or a part of it between zeros."""
    part = data.strip(b"\0")
    return part in text if part != data else text.startswith(data) and data != text


def _is_known(digest: str, lines: Sequence[Mapping[str, str]]) -> bool:
    """Whether some line led to this text or replaced it."""
    return any(digest in (line["was"], sha256_of(line["text"].encode("utf-8"))) for line in lines)


def _written_after(path: str, moment: str) -> bool:
    """By the file's own time. Lines name whole seconds, so within the same one nothing is later."""
    import calendar  # only ever needed after the computer stopped

    return os.stat(path).st_mtime >= calendar.timegm(time.strptime(moment, "%Y-%m-%dT%H:%M:%SZ")) + 1
