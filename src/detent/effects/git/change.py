"""The change between two trees of the private git folder as bytes: git's own patch, and the files as they are now.

Links and submodules have no content of their own that could be copied; they are named instead.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.git import Git, check_object_id
from detent.errors import ToolError
from detent.words.effects import git as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OPTIONS = ("-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
_LINKS = {"120000": say.symbolic_link(), "160000": say.submodule()}


class Changed(Record):
    """Every path that differs: its content now, that it is gone, or why its content was not taken."""

    contents: Mapping[str, bytes]
    removed: tuple[str, ...] = ()
    passed_over: Mapping[str, str] = {}


class _Entry(Record):
    path: str
    mode: str
    blob: str
    status: str


def patch_bytes(private_git: str, baseline: str, tree: str) -> bytes:
    """The patch that leads from the baseline to the tree, whole: it can be applied, binary files and all."""
    trees = (check_object_id(baseline), check_object_id(tree))
    return Git(private_git).run("diff-tree", "-p", "--binary", "--full-index", "--no-color", *_OPTIONS, *trees, "--")


def changed_contents(private_git: str, baseline: str, tree: str, most_bytes: int) -> Changed:
    """The changed files; one with more than `most_bytes`, or whose name is no text, is passed over."""
    entries = _entries(private_git, baseline, tree)
    passed_over = {entry.path: why for entry in entries if (why := _why_not(entry))}
    there = [entry for entry in entries if entry.path not in passed_over and entry.status != "D"]
    sizes = _sizes(private_git, [entry.blob for entry in there])
    for entry in there:
        if sizes[entry.blob] > most_bytes:
            passed_over[entry.path] = say.larger_than_copied(sizes[entry.blob], most_bytes)
    taken = [entry for entry in there if entry.path not in passed_over]
    blobs = _blobs(private_git, [entry.blob for entry in taken])
    removed = tuple(entry.path for entry in entries if entry.status == "D")
    return Changed({entry.path: blobs[entry.blob] for entry in taken}, removed, passed_over)


def _entries(private_git: str, baseline: str, tree: str) -> list[_Entry]:
    trees = (check_object_id(baseline), check_object_id(tree))
    output = Git(private_git).run("diff-tree", "--raw", "--no-abbrev", "-z", *_OPTIONS, *trees, "--")
    fields = [os.fsdecode(field) for field in output.split(b"\0")[:-1]]
    found = []
    for words, path in zip(fields[::2], fields[1::2], strict=True):
        _old_mode, mode, _old_blob, blob, status = words.removeprefix(":").split()
        found.append(_Entry(path, mode, blob, status))
    return found


def _why_not(entry: _Entry) -> str:
    try:
        entry.path.encode("utf-8")
    except UnicodeEncodeError:
        return say.name_not_utf8()
    return _LINKS.get(entry.mode, "")


def _sizes(private_git: str, blobs: Sequence[str]) -> dict[str, int]:
    queries = "".join(f"{blob}\n" for blob in blobs).encode()
    output = Git(private_git).run("cat-file", "--batch-check=%(objectname) %(objectsize)", input_bytes=queries)
    return {name: int(size) for name, size in (line.split() for line in output.decode().splitlines())}


def _blobs(private_git: str, blobs: Sequence[str]) -> dict[str, bytes]:
    wanted = list(dict.fromkeys(blobs))
    output = Git(private_git).run("cat-file", "--batch", input_bytes="".join(f"{blob}\n" for blob in wanted).encode())
    found, at = {}, 0
    for blob in wanted:
        head, _, _ = output[at : at + 200].partition(b"\n")
        words = head.decode("ascii", "replace").split()
        if len(words) != 3 or words[0] != blob:
            raise ToolError(say.object_lost(blob), where=private_git)
        start = at + len(head) + 1
        found[blob] = output[start : start + int(words[2])]
        at = start + int(words[2]) + 1
    return found
