"""Size and hash of the files that journal lines vouch for: logs of receipts, what an agent run left, a log found."""

from __future__ import annotations

import os
import stat

from detent.store.disk.atomic import storage_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from detent.store.journal.events import Deploy, Proved
    from detent.store.journal.line import Line
    from detent.store.journal.run_events import Print

LARGEST_VOUCHED_BYTES = 128_000_000  # twice what an output may have; bytes behind it are not vouched for
_PART_BYTES = 1 << 20


def print_of(path: str, size_bytes: int = LARGEST_VOUCHED_BYTES, *, sync: bool = False) -> Print | None:
    """Size and hash of the first bytes of a plain file; None where there is none, or it can't be read.

    `sync`: what a line vouches for must be on the disk before the line is.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        if sync:
            _sync(descriptor, path)
        return _size_and_hash(descriptor, size_bytes)
    finally:
        os.close(descriptor)


def _sync(descriptor: int, path: str) -> None:
    """A broken disk is an error: a line that left the file out would be proof without its log."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        from detent.words.store import disk as say

        raise storage_error(error, path, say.file_not_written()) from error


def _size_and_hash(descriptor: int, size_bytes: int) -> Print | None:
    from hashlib import sha256  # only commands that write proof or audit it come here

    digest, size = sha256(), 0
    try:
        while size < size_bytes and (part := os.read(descriptor, min(_PART_BYTES, size_bytes - size))):
            digest.update(part)
            size += len(part)
    except OSError:
        return None
    return {"size": size, "sha256": digest.hexdigest()}


def is_as_vouched(path: str, vouched: Mapping[str, Any], *, may_grow: bool = False) -> bool:
    """Whether a file is the one a line vouches for; `may_grow`: only its first bytes count."""
    found = print_of(path, vouched["size"]) if may_grow else print_of(path)
    return found is not None and vouched.items() <= found.items()


def vouched_logs(lines: Iterable[Line]) -> dict[str, tuple[Print, Proved | Deploy]]:
    """The logs of receipts by name, each with its print and the last line that vouches for it."""
    from detent.store.journal.events import Deploy, Proved  # making prints reads no line

    vouching = (line for line in lines if isinstance(line, (Proved, Deploy)))
    return {name: (fingerprint, line) for line in vouching for name, fingerprint in (line.logs or {}).items()}


def may_log_grow(line: Proved | Deploy) -> bool:
    """What a deployment started may go on writing to its log."""
    return line.kind == "deploy"


def prints_of(folder: str, names: Iterable[str], *, sync: bool = False) -> dict[str, Print]:
    """The same for several files of a folder, by name; those that are not there are left out."""
    found = {name: print_of(os.path.join(folder, name), sync=sync) for name in names}
    return {name: fingerprint for name, fingerprint in found.items() if fingerprint is not None}
