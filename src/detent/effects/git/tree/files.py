"""Every file of one tree with its size and lines, as the private git has them; what is on the disk now is not asked.

The memory of it is for readers, which start no git; a decision asks git again.
"""

from __future__ import annotations

import json
import os

from detent.effects.git.git import Git, check_object_id
from detent.store.disk.atomic import LARGEST_TEXT_BYTES, as_json, read_cache, write_cache
from detent.store.journal.observed import TreeFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_LARGEST_MEMORY_BYTES = 64_000_000
_ONE_ANSWER_BYTES = 64_000_000  # so much is asked of git at once, and one file more


def tree_files(private_dir: str, tree: str) -> dict[str, TreeFile]:
    """The files by their path; a submodule is no file.

    Lines are counted in any file, whatever attributes or a zero byte say of it. One too large to be read has as many
    as it has bytes, so that nothing can hide there.
    """
    git = Git(os.path.abspath(private_dir))
    listed = git.run("ls-tree", "-r", "-z", "--long", "--full-tree", check_object_id(tree)).split(b"\0")[:-1]
    blobs: dict[bytes, tuple[bytes, int]] = {}
    for entry in listed:
        facts, _, name = entry.partition(b"\t")
        _, kind, blob, size = facts.split()
        if kind == b"blob":
            blobs[name] = (blob, int(size))
    lines = _lines_of(git, dict(blobs.values()))
    # Names are shown and kept, so they are made readable as everywhere in the journal.
    return {
        name.decode("utf-8", "backslashreplace"): TreeFile(size, lines.get(blob, size))
        for name, (blob, size) in blobs.items()
    }


def _lines_of(git: Git, sizes: Mapping[bytes, int]) -> dict[bytes, int]:
    """How many lines each blob has, by its name; those too large to be read are left out."""
    lines: dict[bytes, int] = {}
    batch: list[bytes] = []
    total = 0
    for blob, size in sizes.items():
        if size <= LARGEST_TEXT_BYTES:
            batch.append(blob)
            total += size
        if total > _ONE_ANSWER_BYTES:
            lines |= _lines_in(git, batch)
            batch, total = [], 0
    return lines | _lines_in(git, batch)


def _lines_in(git: Git, blobs: list[bytes]) -> dict[bytes, int]:
    answer = git.run("cat-file", "--batch", input_bytes=b"".join(blob + b"\n" for blob in blobs)) if blobs else b""
    found: dict[bytes, int] = {}
    at = 0
    for blob in blobs:
        start = answer.index(b"\n", at) + 1
        end = start + int(answer[at:start].split()[2])
        # The last line may lack its end.
        found[blob] = answer.count(b"\n", start, end) + (end > start and answer[end - 1 : end] != b"\n")
        at = end + 1
    return found


def remember_files(path: str, tree: str, files: Mapping[str, TreeFile]) -> None:
    content = {"tree": tree, "files": {name: [file.size_bytes, file.lines] for name, file in files.items()}}
    write_cache(path, as_json(content))


def recall_files(path: str, tree: str) -> dict[str, TreeFile] | None:
    """The remembered files of this tree; None when they are of another tree, or unreadable."""
    try:
        content = json.loads(read_cache(path, _LARGEST_MEMORY_BYTES) or b"{}")
        if content.get("tree") != tree:
            return None
        return {name: TreeFile(int(size), int(lines)) for name, (size, lines) in content["files"].items()}
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None
