"""The files of a tree as they are compared: paths with what says whether two are the same, and bytes on demand."""

from __future__ import annotations

import os

from detent.errors import RefusedError, UnreadableError
from detent.store.disk.atomic import read_plain
from detent.store.disk.digest import sha256_of
from detent.words.effects import planting as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LARGEST_BYTES = 4 << 20
MOST_FILES = 200_000
LINK = "link "  # begins the mark of a link, before where it leads
_LEFT_OUT = frozenset(
    {
        *(".git", ".hg", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"),
        *(".venv", ".tox", ".nox", "node_modules", "target"),
    }
)


class TreeFiles:
    """`marks`: path -> blob id, hash, or where a link leads. Of a git tree both come from git."""

    def __init__(self, marks: Mapping[str, str], read: Callable[[str], bytes | None]) -> None:
        self.marks = marks
        self._read = read

    def read(self, path: str) -> bytes | None:
        """The bytes of a plain file; None where there is none, or a link."""
        mark = self.marks.get(path)
        return None if mark is None or mark.startswith(LINK) else self._read(path)

    def text(self, path: str) -> str | None:
        """Its text; None where there is no file, or no text in it."""
        content = self.read(path)
        try:
            return None if content is None else content.decode("utf-8")
        except UnicodeDecodeError:
            return None


def every(_name: str) -> bool:
    return True


def files_of(root: str, wanted: Callable[[str], bool] = every) -> TreeFiles:
    """The files of a folder, without what git and tools keep there; a file that can't be read has a mark of its own.

    `wanted`: which of them, by their name alone.
    """
    marks: dict[str, str] = {}
    for folder, folders, names in os.walk(root):
        inside = os.path.relpath(folder, root)
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT and name not in links)
        for name in sorted(filter(wanted, [*names, *links])):
            path = name if inside == "." else f"{inside}/{name}".replace(os.sep, "/")
            if len(marks) >= MOST_FILES:
                return TreeFiles(marks, _reader(root))
            if not name.endswith(".pyc"):
                marks[path] = _mark(os.path.join(folder, name))
    return TreeFiles(marks, _reader(root))


def _mark(path: str) -> str:
    if os.path.islink(path):
        return LINK + os.readlink(path)
    try:
        content = read_plain(path, LARGEST_BYTES)
    except UnreadableError as error:
        return f"unreadable: {error.what} {os.stat(path, follow_symlinks=False).st_mtime_ns}"
    return sha256_of(content) if content is not None else ""


def _reader(root: str) -> Callable[[str], bytes | None]:
    def read(path: str) -> bytes | None:
        try:
            return read_plain(os.path.join(root, path), LARGEST_BYTES)
        except UnreadableError:
            return None

    return read


def path_in(root: str, path: str) -> str:
    """The whole path of a file in a checkout; refused if it leads out of it, also by a link on the way."""
    top = os.path.realpath(root)
    whole = os.path.normpath(os.path.join(top, path))
    folder = os.path.dirname(whole)
    if not whole.startswith(top + os.sep) or os.path.realpath(folder) != folder:
        raise RefusedError(say.outside(path), where=root)
    return whole
