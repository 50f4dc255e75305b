"""Looks at the files of a task on behalf of gates, each once per step, and never outside task folder and tree."""

from __future__ import annotations

import os
import stat

from detent.core.values import PathSeen
from detent.store.atomic import read_text
from detent.store.digest import sha256_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_FILES = 2000  # of a folder that is named as proof
_LARGEST_HASHED_BYTES = 64_000_000


class TaskFiles:
    """The native folder and the tree of one task, as seen in one step."""

    def __init__(self, folder: str, tree: str, not_proof: Sequence[str] = ()) -> None:
        self.roots = [os.path.realpath(root) for root in (folder, tree) if root]
        self.folder = folder
        # The engine's own files say what the engine says; naming them proves nothing.
        self.not_proof = {os.path.join(self.roots[0], name) for name in not_proof}
        self._texts: dict[str, str | None] = {}
        self._paths: dict[str, PathSeen | None] = {}

    def text(self, name: str) -> str | None:
        if name not in self._texts:
            self._texts[name] = read_text(os.path.join(self.folder, name))
        return self._texts[name]

    def path(self, value: str) -> PathSeen | None:
        if value not in self._paths:
            self._paths[value] = self._look(value)
        return self._paths[value]

    def _look(self, value: str) -> PathSeen | None:
        if not value.strip() or "\0" in value or len(value) > 1000:
            return None
        for root in self.roots:
            real = os.path.realpath(os.path.join(root, value))
            inside = any(real.startswith(allowed + os.sep) for allowed in self.roots)
            if not inside or real in self.not_proof or f"{os.sep}.git{os.sep}" in real + os.sep:
                continue
            try:
                status = os.stat(real)
                if stat.S_ISREG(status.st_mode):
                    return PathSeen(value, status.st_size, _file_digest(real, status.st_size))
                if stat.S_ISDIR(status.st_mode):
                    return self._folder(value, real)
            except (OSError, ValueError):
                continue
        return None

    def _folder(self, value: str, real: str) -> PathSeen:
        """A folder counts by all its plain files; links in it are not followed."""
        total, parts = 0, []
        for number, path in enumerate(_plain_files(real)):
            if number >= _MOST_FILES:
                break
            size = os.lstat(path).st_size
            total += size
            parts.append(f"{os.path.relpath(path, real)}\0{_file_digest(path, size)}")
        return PathSeen(value, total, sha256_of("\n".join(parts).encode("utf-8", "surrogateescape")))


def _plain_files(folder: str) -> Iterator[str]:
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(base, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                yield path


def _file_digest(path: str, size: int) -> str:
    if size > _LARGEST_HASHED_BYTES:
        # Too large to read on every look; its identity still changes whenever it is written.
        status = os.stat(path)
        return sha256_of(f"{size}:{status.st_mtime_ns}:{status.st_ctime_ns}".encode())
    with open(path, "rb") as file:
        return sha256_of(file.read())
