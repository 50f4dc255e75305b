"""Finds the folders in which tools keep what they can make again: they are no work, and no tree id counts them.

A folder is a tool's cache if all of this holds. Any other folder counts, whatever its name or its marks:

1. its name is on a closed list, which a task keeps from its first line on;
2. it carries a mark: a CACHEDIR.TAG with the signature of that standard, or a .gitignore whose only rule is `*`;
3. the baseline tracks nothing in it.

Python's `__pycache__` carries no mark: there compiled files (`*.pyc`) are left out and everything else counts.
A file that is left out is missing from every checkout in which commands run, from reviews and from what lands.
"""

from __future__ import annotations

import os
import stat

from detent.errors import UnreadableError
from detent.store.disk.atomic import read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

COMPILED = "__pycache__"
# Each of them was seen to carry a mark, but for cargo's `target`, whose CACHEDIR.TAG its documentation names.
CACHES = (COMPILED, ".hypothesis", ".import_linter_cache", ".mypy_cache", ".pytest_cache", ".ruff_cache", "htmlcov")
ENVIRONMENTS = (".nox", ".tox", ".venv", "target", "venv")  # they hold programs
MARKS = ("CACHEDIR.TAG", ".gitignore")
_SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55"
_COMPILED_FILE = b".pyc"
_LARGEST_MARK_BYTES = 16_384


def uncounted_names(*, in_place: bool) -> tuple[str, ...]:
    """The list for a new task. In a person's checkout programs count: deploy commands run there, out of the sandbox."""
    return CACHES if in_place else (*CACHES, *ENVIRONMENTS)


class Caches:
    """The tool caches of one work tree; `tracked` are folders with a name on the list that hold tracked files.

    All paths are bytes relative to the top. Each folder is read once.
    """

    def __init__(self, top: str, names: Collection[str], tracked: Collection[bytes]) -> None:
        self._top = os.fsencode(top)
        self._names = frozenset(map(os.fsencode, names))
        self._tracked = frozenset(tracked)
        self._known: dict[bytes, bool] = {}

    def folder_of(self, path: bytes) -> bytes:
        """The cache that a path lies in; empty when it lies in none."""
        for folder in folders_named(path, self._names):
            if folder in self._tracked:
                continue
            if os.path.basename(folder) == os.fsencode(COMPILED):
                if os.path.dirname(path) == folder and path.endswith(_COMPILED_FILE):
                    return folder
            elif self._is_marked(folder):
                return folder
        return b""

    def _is_marked(self, folder: bytes) -> bool:
        if folder not in self._known:
            self._known[folder] = is_marked(os.fsdecode(os.path.join(self._top, folder)))
        return self._known[folder]


def folders_named(path: bytes, names: Collection[bytes]) -> list[bytes]:
    """The folders above a path whose own name is one of these, the highest first."""
    parts = path.split(b"/")
    return [b"/".join(parts[: depth + 1]) for depth, name in enumerate(parts[:-1]) if name in names]


def named_folders(paths: Iterable[bytes], names: Collection[str]) -> frozenset[bytes]:
    """All folders above these paths whose own name is one of these."""
    wanted = frozenset(map(os.fsencode, names))
    return frozenset(folder for path in paths for folder in folders_named(path, wanted))


def is_marked(folder: str) -> bool:
    """Whether a folder says of itself that it is a cache; a link to one is none."""
    tag, rules = (_read_mark(folder, name) for name in MARKS)
    stripped = [line.strip() for line in rules.splitlines()]
    return tag.startswith(_SIGNATURE) or [line for line in stripped if line and not line.startswith(b"#")] == [b"*"]


def _read_mark(folder: str, name: str) -> bytes:
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            return b""
        return read_plain(os.path.join(folder, name), _LARGEST_MARK_BYTES) or b""
    except (OSError, UnreadableError):
        return b""


def is_cache_folder(folder: str) -> bool:
    """Whether a folder without a tracked file is a tool's cache, all of it."""
    name = os.path.basename(folder)
    if name == COMPILED and stat.S_ISDIR(os.lstat(folder).st_mode):
        return all(os.fsencode(entry).endswith(_COMPILED_FILE) for entry in os.listdir(folder))
    return name in uncounted_names(in_place=False) and is_marked(folder)


def without_caches(top: str, new: list[bytes], tracked: Iterable[bytes]) -> list[bytes]:
    """The new files of a checkout that lie in no tool's cache; `tracked` are all tracked ones."""
    caches = Caches(top, CACHES, named_folders(tracked, CACHES))
    return [path for path in new if not caches.folder_of(path)]
