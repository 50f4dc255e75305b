"""Reads and writes whole files so that a reader or a crash never meets half of one.

Every write in the project ends here. Operating-system errors become `StorageError` or `UnreadableError`, with the path.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from zlib import crc32

from detent.errors import StorageError, UnreadableError
from detent.store.disk.exchange import exchange_of_names
from detent.store.disk.json_text import compact_json, spaced_json
from detent.store.disk.real_path import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST_TEXT_BYTES = 4_000_000  # no file a gate reads may be larger; agents write documents, not dumps
_TEMPORARY = ".detent-tmp-"
_SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
_REFUSALS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, *_SHORTAGES)
_NOT_OURS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ELOOP, errno.EISDIR, errno.ENOTDIR)


def reason_of(error: OSError) -> str:
    from detent.words.store import disk as say

    return say.reason(error.errno or 0, error.strerror or str(error))


def is_refused_by_host(error: OSError) -> bool:
    """Whether a host that has nothing left to give, or whose disk fails, is at fault, wherever it happened."""
    return error.errno in _REFUSALS


def storage_error(error: OSError, path: str, what: str) -> StorageError:
    """What a failed write means to the person at the keyboard; nothing was acknowledged."""
    from detent.words.store import disk as say

    if error.errno in _SHORTAGES:
        remedy = say.end_other_programs()
    else:
        remedy = say.make_path_writable() if error.errno in _NOT_OURS else say.free_space()
    return StorageError(say.disk_refused(what, reason_of(error), remedy), where=path)


def write_all(descriptor: int, data: bytes) -> None:
    """`os.write` may write less than it was given; ignoring that corrupts silently."""
    written = os.write(descriptor, data)
    while written < len(data):
        more = os.write(descriptor, memoryview(data)[written:])
        if more <= 0:
            raise OSError(errno.EIO, "nothing was written")
        written += more


def read_at(descriptor: int, start: int, length: int) -> bytes:
    """Up to so many bytes from an offset; `os.pread` too may give less than it was asked for."""
    data = os.pread(descriptor, length, start)
    while len(data) < length and (part := os.pread(descriptor, length - len(data), start + len(data))):
        data += part
    return data


def sync_folder(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomic(
    path: str, data: bytes, *, durable: bool, mode: int | None = None, name: str = "", is_carried: bool = False
) -> None:
    """Replace a file by unique temporary and rename; `durable` where the journal could not rebuild it.

    A `mode` is kept exactly, whatever the umask says: it is that of the file which is replaced. With a `name` the
    temporary is called `NAME.<random>.tmp`, where a machine's document promises that. `is_carried` where a synced
    journal line holds these very bytes, so that a power cut may take them.
    """
    folder, slash, _ = path.rpartition("/")
    unique = os.urandom(4).hex()
    temporary = f"{folder}{slash}{f'{name}.{unique}.tmp' if name else f'{_TEMPORARY}{os.getpid()}-{unique}'}"
    exchange = exchange_of_names() if is_carried else None
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        try:
            try:
                if mode is not None:
                    os.fchmod(descriptor, mode)
                if is_carried and data and exchange is None:
                    _reserve(descriptor, len(data))
                write_all(descriptor, data)
                if durable:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if exchange is None or not exchange(temporary, path):
                os.rename(temporary, path)
            else:
                forget(temporary)  # it names what was replaced
        except BaseException:
            forget(temporary)
            raise
        if durable:
            sync_folder(os.path.dirname(path) or ".")
    except OSError as error:
        from detent.words.store import disk as say

        raise storage_error(error, path, say.file_not_written()) from error


def _reserve(descriptor: int, size_bytes: int) -> None:
    """Give a new file its place on the disk before its bytes come.

    Where a rename replaces a file, ext4 begins to write out its unplaced bytes, for programs that forget to sync. That
    costs nearly as much as a sync, and a text that a journal line carries needs none.
    """
    try:
        os.posix_fallocate(descriptor, 0, size_bytes)
    except (OSError, AttributeError):
        return  # a system that can't; if the disk is full, the write itself will say so


def write_cache(path: str, data: bytes) -> object:
    """Overwrite a file in place, with a checksum behind its content: several times cheaper than a rename.

    Only for what can be made again: a reader or a crash may meet half of it, and then finds nothing. Returns its stamp.
    """
    framed = b"%s\n%08x\n" % (data, crc32(data))
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            write_all(descriptor, framed)
            status = os.fstat(descriptor)
            if status.st_size != len(framed):  # it was longer before
                os.ftruncate(descriptor, len(framed))
                status = os.fstat(descriptor)
            return _stamp(status)
        finally:
            os.close(descriptor)
    except OSError as error:
        from detent.words.store import disk as say

        raise storage_error(error, path, say.file_not_written()) from error


def cache_stamp(path: str) -> object:
    """As long as this equals the result of `write_cache`, the file is unchanged since; None when there is no file."""
    try:
        return _stamp(os.stat(path, follow_symlinks=False))
    except OSError:
        return None


def _stamp(status: os.stat_result) -> object:
    return status.st_ino, status.st_size, status.st_mtime_ns


def read_cache(path: str, limit_bytes: int = LARGEST_TEXT_BYTES) -> bytes | None:
    """What `write_cache` wrote; None when there is nothing or its checksum does not hold."""
    for _ in range(2):  # a writer may have been in the middle of it
        try:
            data, _, checksum = (read_plain(path, limit_bytes) or b"").removesuffix(b"\n").rpartition(b"\n")
        except UnreadableError:
            return None
        if data and checksum == b"%08x" % crc32(data):
            return data
    return None


def forget(path: str) -> None:
    """Remove a temporary file, if it is still there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError:
        return  # the disk that refused the write may refuse this too; `sweep` tries again later


def sweep(folder: str, name: str = "") -> None:
    """Remove temporaries that a killed writer left; only ever called with the task's lock held."""
    try:
        found = [
            entry
            for entry in os.listdir(folder)
            if entry.startswith(_TEMPORARY) or (name and _is_temporary(entry, name))
        ]
    except OSError:
        return
    for entry in found:
        forget(os.path.join(folder, entry))


def _is_temporary(found: str, name: str) -> bool:
    unique = found.removeprefix(f"{name}.").removesuffix(".tmp")
    return found == f"{name}.{unique}.tmp" and len(unique) == 8 and not unique.strip("0123456789abcdef")


def make_folders(path: str, mode: int = 0o755) -> None:
    """Create a folder and its parents, each durable in its own parent."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and parent != path:
        make_folders(parent, mode)
    try:
        os.mkdir(path, mode)
        sync_folder(parent or ".")
    except FileExistsError:
        if not os.path.isdir(path):
            from detent.words.store import disk as say

            raise UnreadableError(say.file_where_folder_is_needed(), where=path) from None
    except OSError as error:
        from detent.words.store import disk as say

        raise storage_error(error, path, say.folder_not_made()) from error


def read_plain(
    path: str, limit_bytes: int = LARGEST_TEXT_BYTES, elsewhere: Callable[[], None] | None = None
) -> bytes | None:
    """The bytes of a regular file, None when there is none; links, devices and giants are refused, not followed.

    `elsewhere` is called before a byte is read, unless the kernel says that the file lies where its path says: no
    folder on the way was a link.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        from detent.words.store import disk as say

        raise UnreadableError(say.unreadable(reason_of(error)), where=path) from error
    try:
        if elsewhere is not None and real_path(descriptor) != path:
            elsewhere()
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            from detent.words.store import disk as say

            raise UnreadableError(say.no_plain_file(), where=path)
        if status.st_size > limit_bytes:
            from detent.words.store import disk as say

            raise UnreadableError(say.too_large(status.st_size, limit_bytes), where=path)
        # One byte more than there is: a shorter answer is the end of the file, and spares asking for it.
        data = os.read(descriptor, status.st_size + 1)
        if len(data) == status.st_size:
            return data
        return _read_rest(descriptor, data, limit_bytes, path)
    except OSError as error:
        from detent.words.store import disk as say

        raise UnreadableError(say.unreadable(reason_of(error)), where=path) from error
    finally:
        os.close(descriptor)


def _read_rest(descriptor: int, data: bytes, limit_bytes: int, path: str) -> bytes:
    parts = [data]
    total = len(data)
    while part := os.read(descriptor, 1 << 20):
        total += len(part)
        if total > limit_bytes:  # it grew while we read
            from detent.words.store import disk as say

            raise UnreadableError(say.more_than(limit_bytes), where=path)
        parts.append(part)
    return b"".join(parts)


def read_text(
    path: str, limit_bytes: int = LARGEST_TEXT_BYTES, elsewhere: Callable[[], None] | None = None
) -> str | None:
    """A UTF-8 text exactly as it stands (line endings and byte-order mark kept), None when there is none."""
    data = read_plain(path, limit_bytes, elsewhere)
    if data is None:
        return None
    return as_text(data, path)


def as_text(data: bytes, path: str) -> str:
    """The text that these bytes of a file are, or why they are none."""
    if b"\0" in data:
        from detent.words.store import disk as say

        raise UnreadableError(say.binary_data(data.index(0)), where=path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        from detent.words.store import disk as say

        raise UnreadableError(say.not_utf8(error.start), where=path) from error


def as_json(content: object, *, compact: bool = True) -> bytes:
    """JSON on one line, readable where it can be; bytes of a file name that are no text become escapes."""
    try:
        return (compact_json if compact else spaced_json)(content).encode()
    except UnicodeEncodeError:
        return json.dumps(content, separators=(",", ":") if compact else (", ", ": ")).encode()
