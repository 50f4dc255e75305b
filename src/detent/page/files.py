"""Reads the files an evidence page shows: bounded, never through a link, whatever an agent put there."""

from __future__ import annotations

import os
import stat

from detent.errors import UnreadableError
from detent.page.text import file_address, is_inert, size
from detent.page.values import Artifact, Excerpt
from detent.store.disk.atomic import read_plain
from detent.store.disk.digest import sha256_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_FILES = 500
MOST_ENTRIES = 20_000  # read in a folder; more entries are there on purpose
DEEPEST = 16
LARGEST_READ_BYTES = 64_000_000
HEAD_BYTES, TAIL_BYTES = 40_000, 8_000  # of a text that is too long to show
MOST_TEXT_BYTES = 2_000_000  # in all
LARGEST_IMAGE_BYTES = 1_500_000
MOST_IMAGE_BYTES = 6_000_000  # in all
_UNFINISHED = ".detent-tmp-"  # what a writer of ours left when it was killed
_IMAGES = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))


class FileReader:
    """Reads files for one page and keeps count of what the page can still hold."""

    def __init__(self, page_folder: str) -> None:
        self.page_folder = page_folder
        self.text_left = MOST_TEXT_BYTES
        self.image_left = MOST_IMAGE_BYTES

    def folder(self, folder: str, not_shown: tuple[str, ...]) -> tuple[tuple[Artifact, ...], str]:
        """Every file below a folder in the order of names, and a note when there are too many."""
        found: list[Artifact] = []
        if os.path.islink(folder) or not os.path.isdir(folder):
            there = os.path.lexists(folder)
            return (), "It is not a plain folder, so nothing in it was looked at." if there else ""
        for number, path in enumerate(walk(folder)):
            if number >= MOST_ENTRIES or len(found) >= MOST_FILES:
                return tuple(found), f"Only the first {len(found)} files are listed."
            if path not in not_shown:
                found.append(self.file(path, os.path.relpath(path, folder)))
        return tuple(found), ""

    def file(self, path: str, name: str) -> Artifact:
        try:
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode):
                return Artifact(name, "other", note=_other_words(path, status.st_mode))
            plain = self._linked(Artifact(name, "file", status.st_size), path)
            if status.st_size > LARGEST_READ_BYTES:
                return _noted(plain, f"Larger than {size(LARGEST_READ_BYTES)}: neither shown nor hashed.")
            data = read_plain(path, LARGEST_READ_BYTES)
        except (OSError, UnreadableError) as error:
            return Artifact(name, "other", note=f"It can't be read: {getattr(error, 'what', error)}")
        if data is None:
            return Artifact(name, "other", note="It disappeared while this page was made.")
        return self._shown(plain.replace(size_bytes=len(data), digest=sha256_of(data)), data)

    def _linked(self, plain: Artifact, path: str) -> Artifact:
        if not is_inert(path):
            return plain.replace(note="Not linked, because a browser might run it.")
        return plain.replace(link=file_address(os.path.relpath(path, self.page_folder)))

    def _shown(self, plain: Artifact, data: bytes) -> Artifact:
        kind = image_kind(plain.path, data)
        if kind:
            if len(data) > min(LARGEST_IMAGE_BYTES, self.image_left):
                return _noted(plain, f"An image too large for this page (at most {size(LARGEST_IMAGE_BYTES)}).")
            from base64 import b64encode

            self.image_left -= len(data)
            shown = f"data:image/{kind};base64,{b64encode(data).decode()}"
            return plain.replace(kind="image", data=shown, link="", note="")
        if not is_text(data):
            return _noted(plain, "Binary file: its content is not shown.")
        used = min(len(data), HEAD_BYTES + TAIL_BYTES)
        if used > self.text_left:
            return _noted(plain, "Not shown: the page has reached its size.")
        self.text_left -= used
        text = as_excerpt(data)
        if not text.left_out_bytes:  # all of it is here, so a link is not needed
            plain = plain.replace(link="", note="")
        excerpt = plain if _decodes(data) else _noted(plain, "Not UTF-8: some letters are replaced.")
        return excerpt.replace(kind="text", text=text)


def _noted(file: Artifact, note: str) -> Artifact:
    return file.replace(note=f"{note} {file.note}".strip())


def walk(folder: str) -> Iterator[str]:
    """Every entry that is no folder, sorted; links are named, never followed."""
    todo = [(folder, 0)]
    while todo:
        base, depth = todo.pop()
        try:
            entries = sorted(os.scandir(base), key=lambda entry: entry.name)
        except OSError:
            yield base
            continue
        folders = []
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and depth < DEEPEST:
                folders.append((entry.path, depth + 1))
            elif not entry.name.startswith(_UNFINISHED):
                yield entry.path
        todo += reversed(folders)


def _other_words(path: str, mode: int) -> str:
    if stat.S_ISLNK(mode):
        return f"A link to {os.readlink(path)!r}, not followed."
    if stat.S_ISDIR(mode):
        return "A folder that can't be read, or lies too deep."
    return "Not a plain file; not read."


def image_kind(name: str, data: bytes) -> str:
    """The kind of an image by its first bytes, whatever its name says; `svg+xml` also needs the name."""
    for magic, kind in _IMAGES:
        if data.startswith(magic):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    if name.lower().endswith(".svg") and b"<svg" in data[:4000] and b"\0" not in data:
        return "svg+xml"
    return ""


def is_text(data: bytes) -> bool:
    """Whether a person could read it: no zero bytes, and nearly everything decodes."""
    sample = data[: HEAD_BYTES + TAIL_BYTES]
    if b"\0" in sample:
        return False
    return sample.decode("utf-8", "replace").count("\ufffd") <= len(sample) // 10 + 1


def _decodes(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def as_excerpt(data: bytes, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> Excerpt:
    """The whole text if it is short, else its head and tail."""
    if len(data) <= head + tail:
        return Excerpt(data.decode("utf-8", "replace"))
    return cut_excerpt(data[:head], data[-tail:], len(data))


def cut_excerpt(head: bytes, tail: bytes, whole: int) -> Excerpt:
    """A letter that was cut in two at either edge is left out."""
    left_out = whole - len(head) - len(tail)
    first, last = head.decode("utf-8", "replace"), tail.decode("utf-8", "replace")
    return Excerpt(first.rstrip("\ufffd"), last.lstrip("\ufffd"), left_out)


def log_excerpt(path: str, head: int, tail: int) -> Excerpt | None:
    """The two ends of a log of ours, however long it is; None when there is none."""
    try:
        with open(path, "rb") as file:
            whole = os.fstat(file.fileno()).st_size
            if whole <= head + tail:
                return as_excerpt(file.read(head + tail))
            first = file.read(head)
            file.seek(whole - tail)
            return cut_excerpt(first, file.read(tail), whole)
    except OSError:
        return None


def vouched_excerpt(path: str, digest: str) -> Excerpt | None:
    """A text of ours whose hash is known; None where it is gone, or is not that text any more."""
    try:
        data = read_plain(path, LARGEST_READ_BYTES)
    except UnreadableError:
        return None
    return as_excerpt(data) if data is not None and sha256_of(data) == digest else None
