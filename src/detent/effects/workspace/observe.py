"""Reads the files of a task for gates, each once per step, and never outside task folder and tree."""

from __future__ import annotations

import os
import stat
from functools import cached_property

from detent.errors import UnreadableError
from detent.machines.reading import IN_TREE, is_inner_path
from detent.store.disk.atomic import read_text, reason_of
from detent.store.disk.digest import sha256_of
from detent.store.disk.folders import shown_path, walk
from detent.store.journal.observed import PathSeen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_FILES = 2000  # of a folder that is named as proof
_LONGEST_NAME = 1000  # characters of a path that is named as proof
_DEEPEST = _LONGEST_NAME // 2  # no file that lies deeper can be named
LARGEST_PROOF_BYTES = 64 << 20  # of a file that is named as proof; a larger one is not read
MOST_PROOF_BYTES = 256 << 20  # of all files of a folder together
TOO_LARGE = "too large"  # stands where the hash would
_PART_BYTES = 1 << 20


class TaskFiles:
    """The native folder and the tree of one task, as seen in one step."""

    def __init__(self, folder: str, tree: str, not_proof: Sequence[str] = ()) -> None:
        self.folder = folder
        self._tree = tree
        self._not_proof = not_proof
        self._texts: dict[str, str | None] = {}
        self._paths: dict[tuple[str, bool], PathSeen | None] = {}
        self._listing: dict[str, str] | None = None

    @cached_property  # many gates read documents only, and never ask where folder and tree really lie
    def roots(self) -> list[str]:
        return [os.path.realpath(root) for root in (self.folder, self._tree) if root]

    @cached_property
    def not_proof(self) -> frozenset[str]:
        """The engine's own files say what the engine says; naming them proves nothing."""
        return frozenset(os.path.join(self.roots[0], name) for name in self._not_proof)

    def text(self, name: str) -> str | None:
        if name not in self._texts:
            in_tree = name.removeprefix(IN_TREE)
            path = os.path.join(self.folder, name) if in_tree == name else self._path_in_tree(in_tree)
            self._texts[name] = read_text(path) if path else None
        return self._texts[name]

    def names(self, folder: str) -> tuple[str, ...]:
        """The plain files below a folder of the tree as they lie on disk, by path from the tree; links lead nowhere."""
        top = self._path_in_tree(folder.removeprefix(IN_TREE).rstrip("/"))
        if not top or os.path.islink(top):
            return ()
        root = os.path.realpath(self._tree)
        found = zip(range(_MOST_FILES), _plain_files(top), strict=False)
        return tuple(os.path.relpath(path, root) for _, path in found)

    def _path_in_tree(self, name: str) -> str:
        """Where a file of the tree lies; empty where there is no tree. A folder that leads out of it is refused."""
        if not self._tree:
            return ""
        root = os.path.realpath(self._tree)
        path = os.path.join(root, name)
        folder = os.path.realpath(os.path.dirname(path))
        is_inside = is_inner_path(name) and (folder == root or folder.startswith(root + os.sep))
        if not is_inside or ".git" in path.removeprefix(root).lower().split(os.sep):
            from detent.words.effects import workspace as say

            raise UnreadableError(say.not_in_tree(), where=path)
        return os.path.join(folder, os.path.basename(path))

    def path(self, value: str, *, as_proof: bool = True) -> PathSeen | None:
        if (value, as_proof) not in self._paths:
            self._paths[value, as_proof] = self._look(value, self.not_proof if as_proof else frozenset())
        return self._paths[value, as_proof]

    def _look(self, value: str, refused: frozenset[str]) -> PathSeen | None:
        if not value.strip() or "\0" in value or len(value) > _LONGEST_NAME:
            return None
        for root in self.roots:
            real = os.path.realpath(os.path.join(root, value))
            inside = any(real.startswith(allowed + os.sep) for allowed in self.roots)
            if not inside or real in refused or f"{os.sep}.git{os.sep}" in real + os.sep:
                continue
            try:
                status = os.stat(real)
                if stat.S_ISREG(status.st_mode):
                    digest = file_digest(real, LARGEST_PROOF_BYTES)
                    if not digest:
                        raise _too_large(real)
                    return PathSeen(value, status.st_size, digest, self._parts({real: digest}))
                if stat.S_ISDIR(status.st_mode):
                    return self._folder(value, real)
            except (OSError, ValueError):
                continue
        return None

    def _folder(self, value: str, real: str) -> PathSeen:
        """A folder counts by all its plain files; links in it are not followed."""
        sizes, digests = self._could_be_proof(real)
        for path, digest in digests.items():
            if digest == TOO_LARGE:
                raise _too_large(path)
        lines = [f"{os.path.relpath(path, real)}\0{digest}" for path, digest in digests.items()]
        total = sum(sizes.values())
        whole = sha256_of("\n".join(lines).encode("utf-8", "surrogateescape"))
        return PathSeen(value, total, whole, self._parts(digests))

    def listing(self) -> dict[str, str]:
        if self._listing is None:
            try:
                _, digests = self._could_be_proof(self.roots[0])
            except OSError as error:
                from detent.words.effects import workspace as say

                raise UnreadableError(say.task_file_unreadable(reason_of(error)), where=str(error.filename)) from error
            self._listing = self._parts(digests)
            if len(digests) >= _MOST_FILES:
                self._listing["*"] = "cut"  # a file that is not listed may still exist
        return self._listing

    def _could_be_proof(self, folder: str) -> tuple[dict[str, int], dict[str, str]]:
        """Sizes and hashes by path. Files may change meanwhile: a file that goes during the scan is missing.

        A file that is too large has a word where its hash would stand, and is no proof.
        """
        sizes: dict[str, int] = {}
        digests: dict[str, str] = {}
        left = MOST_PROOF_BYTES
        found = (path for path in _plain_files(folder) if path not in self.not_proof)
        for _, path in zip(range(_MOST_FILES), found, strict=False):
            try:
                sizes[path] = os.lstat(path).st_size
                digests[path] = file_digest(path, min(left, LARGEST_PROOF_BYTES)) or TOO_LARGE
            except FileNotFoundError:
                sizes.pop(path, None)
                continue
            if digests[path] != TOO_LARGE:
                left -= sizes[path]
        return sizes, digests

    def _parts(self, digests: dict[str, str]) -> dict[str, str]:
        """Those inside the task folder, by path from there; names that are no UTF-8 are shown as they can be."""
        root = self.roots[0] + os.sep
        return {
            os.fsencode(path.removeprefix(root)).decode("utf-8", "backslashreplace"): digest[:32]
            for path, digest in digests.items()
            if path.startswith(root)
        }


def _plain_files(folder: str) -> Iterator[str]:
    for base, _folders, names in walk(folder, _DEEPEST):
        for name in names:
            path = os.path.join(base, name)
            if _is_plain(path):
                yield path


def _is_plain(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def file_digest(path: str, most_bytes: int) -> str:
    """Of the whole content: file times can be set to anything. Empty when it has more bytes, of which few are read."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size > most_bytes:
            return ""
        part = file.read(_PART_BYTES)
        if len(part) < _PART_BYTES:  # all of it, as nearly always
            return sha256_of(part)
        from hashlib import sha256

        digest, left = sha256(), most_bytes
        while part:
            left -= len(part)
            if left < 0:  # it grew while we read
                return ""
            digest.update(part)
            part = file.read(_PART_BYTES)
    return digest.hexdigest()


def _too_large(path: str) -> UnreadableError:
    from detent.words.effects import workspace as say

    return UnreadableError(
        say.too_large_for_proof(LARGEST_PROOF_BYTES, MOST_PROOF_BYTES, shown_path(path)), where=shown_path(path)
    )
