"""Writes git objects as git lays them down one by one, without starting it; many are synced at the same time.

Only for a git folder of the engine's own. Whoever writes a few objects would else wait for a process that waits for the
disk once for each of them.
"""

from __future__ import annotations

import os

from detent.store.disk.atomic import forget, storage_error, write_all
from detent.store.disk.digest import sha1_of, sha256_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Sequence

_MOST_AT_ONCE = 8  # syncs that wait together; the file system makes one of them where it can
_QUICK = 1  # how hard an object is packed; git's own choice for loose ones


class LooseObjects:
    """New objects of one git folder: named at once, written together."""

    def __init__(self, git_dir: str, *, is_sha256: bool) -> None:
        self._objects = os.path.join(git_dir, "objects")
        self._sum = sha256_of if is_sha256 else sha1_of
        self._contents: dict[str, bytes] = {}

    def name(self, kind: str, data: bytes) -> str:
        """What git calls such an object; nothing is written."""
        return self._named(kind, data)[0]

    def add(self, kind: str, data: bytes) -> str:
        """The same, and it will be written."""
        name, content = self._named(kind, data)
        self._contents[name] = content
        return name

    def _named(self, kind: str, data: bytes) -> tuple[str, bytes]:
        content = f"{kind} {len(data)}\0".encode() + data
        return self._sum(content), content

    def write(self) -> None:
        """Put every object that is not there into its place; the bytes are on the disk before the name is."""
        opened: list[tuple[int, str, str]] = []
        try:
            for name, content in self._contents.items():
                if not self._is_there(name, content):
                    opened.append(self._begin(name, content))
            _sync([descriptor for descriptor, _temporary, _path in opened])
            for _descriptor, temporary, path in opened:
                os.rename(temporary, path)
        except OSError as error:
            raise storage_error(error, self._objects, "git objects can't be written") from error
        finally:
            for descriptor, temporary, _path in opened:
                os.close(descriptor)
                forget(temporary)  # usually it has got its name

    def _path(self, name: str) -> str:
        return os.path.join(self._objects, name[:2], name[2:])

    def _is_there(self, name: str, content: bytes) -> bool:
        """Whether the whole object is there; what a power cut left of one is written anew."""
        from zlib import decompress, error

        try:
            with open(self._path(name), "rb") as file:
                return decompress(file.read()) == content
        except (FileNotFoundError, error):
            return False

    def _begin(self, name: str, content: bytes) -> tuple[int, str, str]:
        from zlib import compress

        path = self._path(name)
        # What a death leaves has the name that git gives such files, and removes when it tidies up.
        temporary = os.path.join(os.path.dirname(path), f"tmp_obj_{os.urandom(6).hex()}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
        try:
            write_all(descriptor, compress(content, _QUICK))
        except BaseException:
            os.close(descriptor)
            forget(temporary)
            raise
        return descriptor, temporary, path


def _sync(descriptors: Sequence[int]) -> None:
    """Sync these files together: one after another would wait for the disk as often as there are files."""
    from _thread import allocate_lock, start_new_thread  # `threading` would wait for each thread to begin

    problems: list[OSError] = []
    ends = []

    def sync(some: Sequence[int], end: LockType) -> None:
        try:
            for descriptor in some:
                os.fsync(descriptor)
        except OSError as problem:
            problems.append(problem)
        finally:
            end.release()

    for number in reversed(range(min(_MOST_AT_ONCE, len(descriptors)))):
        end = allocate_lock()
        end.acquire()
        ends.append(end)
        some = descriptors[number::_MOST_AT_ONCE]
        try:
            if number:
                start_new_thread(sync, (some, end))
                continue
        except RuntimeError:
            pass  # no more threads for us
        sync(some, end)
    for end in ends:
        end.acquire()
    if problems:
        raise problems[0]
