"""Finds the paths that a change of a tree changes through its symbolic links.

A file has, besides its own path, one for every link that leads to it or to a folder above it. A change of the file, of
the link or of another link on the way changes what is found at such a path. Links that lead out of the tree, nowhere or
in a circle have a content that git can't tell.
"""

from __future__ import annotations

import os
from bisect import bisect_left

from detent.core.record import Record
from detent.effects.git.git import Git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

LINK = "120000"
_MOST_STEPS = 40  # through links on the way to one file, as in the kernel
_MOST_ROUNDS = 8  # through links to folders that hold links
_MOST_PATHS = 50_000
EVERYWHERE = "."  # stands where the paths would, if there are too many of them


class Change(Record):
    """One path in which two trees differ; no mode and hash on the side that lacks it."""

    name: str
    mode_before: str
    mode_after: str
    before: str
    after: str


class Seen(Record):
    """A path at which something else is found now; `is_open`: of what lies below it nothing is known."""

    name: str
    is_open: bool = False
    blob: str = ""  # the hash of what is found there; empty where nothing is


def changes_between(private_dir: str, base: str, tree: str) -> list[Change]:
    options = ("-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none")
    fields = Git(private_dir).run("diff-tree", *options, base, tree, "--").split(b"\0")[:-1]
    found = []
    for facts, name in zip(fields[::2], fields[1::2], strict=True):
        mode_before, mode_after, before, after, _status = facts.decode().removeprefix(":").split(" ")
        found.append(Change(os.fsdecode(name), *(_there(word) for word in (mode_before, mode_after, before, after))))
    return found


def _there(word: str) -> str:
    return "" if not word.strip("0") else word


class _Side:
    """One of the two trees: its files, and where its links lead."""

    def __init__(self, files: Mapping[str, tuple[str, str]], targets: Mapping[str, str]) -> None:
        self._files, self.names = files, sorted(files)
        self._targets = {name: targets[blob] for name, (mode, blob) in files.items() if mode == LINK}
        self.links = {name: self._resolved(name) for name in self._targets}

    def _resolved(self, path: str) -> str | None:
        """The real path of one that may lead through links, "" for the top; None where that is not in the tree."""
        waiting, at, steps = path.split("/")[::-1], "", 0
        while waiting:
            part = waiting.pop()
            if part in ("", "."):
                continue
            if part == "..":
                if not at:
                    return None
                at = at.rpartition("/")[0]
                continue
            here = f"{at}/{part}" if at else part
            target = self._targets.get(here)
            if target is None:
                at = here
                continue
            steps += 1
            if target.startswith("/") or steps > _MOST_STEPS:
                return None
            waiting += target.split("/")[::-1]
        return at if not at or self._is_there(at) else None

    def _is_there(self, path: str) -> bool:
        return path in self._files or next(self.below(path), None) is not None

    def blob(self, path: str) -> str:
        """The hash of what is found at a path, of the link itself where it leads to no file; empty where nothing is."""
        real = self._resolved(path)
        _mode, blob = self._files.get(path if real is None or real not in self._files else real, ("", ""))
        return blob

    def below(self, folder: str) -> Iterator[str]:
        """The files below a folder; "" is the top."""
        start = f"{folder}/" if folder else ""
        for at in range(bisect_left(self.names, start), len(self.names)):
            if not self.names[at].startswith(start):
                return
            yield self.names[at]

    def through(self, link: str) -> Iterator[Seen]:
        """Every path that begins with a link, links below it followed."""
        waiting, count = [(link, link, 0)], 0
        while waiting:
            name, real, depth = waiting.pop()
            target = self.links.get(real)
            count += 1
            if target is None or depth > _MOST_ROUNDS or count > _MOST_PATHS:
                yield Seen(name, is_open=True)
                continue
            yield Seen(name)
            for file in self.below(target):
                shown = f"{name}/{file[len(target) :].lstrip('/')}"
                if file in self.links:
                    waiting.append((shown, file, depth + 1))
                else:
                    count += 1
                    yield Seen(shown)


def links_of(private_dir: str, tree: str, changes: Sequence[Change]) -> Links | None:
    """The links of a tree and of what it was before these changes; None where there are none."""
    after = files_of(private_dir, tree)
    before = dict(after)
    for change in changes:
        before.pop(change.name, None)
        if change.mode_before:
            before[change.name] = (change.mode_before, change.before)
    blobs = {blob for files in (before, after) for mode, blob in files.values() if mode == LINK}
    if not blobs:
        return None
    targets = _read_blobs(private_dir, sorted(blobs))
    return Links(_Side(before, targets), _Side(after, targets), {change.name for change in changes})


class Links:
    """The links of two trees, and what they show that has changed."""

    def __init__(self, before: _Side, after: _Side, changed: set[str]) -> None:
        self._sides, self._after, self._changed = (before, after), after, changed

    def changed_links(self) -> dict[str, list[Seen]]:
        """Every link that was made, removed or leads elsewhere now, with the paths that begin with it."""
        before, after = self._sides
        found: dict[str, list[Seen]] = {}
        for name in {*before.links, *after.links}:
            if name in self._changed or before.links.get(name) != after.links.get(name):
                found[name] = [seen for side in self._sides if name in side.links for seen in side.through(name)]
        return found

    def changed_paths(self) -> list[Seen]:
        """Every path through links at which something else is found now."""
        found = {seen.name: seen for paths in self.changed_links().values() for seen in paths}
        waiting = [*(Seen(name) for name in self._changed), *found.values()]
        leads = self._leads()
        for _round in range(_MOST_ROUNDS):
            fresh = [seen for seen in _links_once(waiting, leads) if seen.name not in found]
            found.update((seen.name, seen) for seen in fresh)
            waiting = list({seen.name: seen for seen in fresh}.values())
            if len(found) > _MOST_PATHS:
                return [Seen(EVERYWHERE, is_open=True)]
        return [found[name].replace(blob=self._after.blob(name)) for name in sorted(found)]

    def _leads(self) -> dict[str, set[str]]:
        """The links that lead to each path."""
        leads: dict[str, set[str]] = {}
        for side in self._sides:
            for link, target in side.links.items():
                if target is not None:
                    leads.setdefault(target, set()).add(link)
        return leads


def _links_once(paths: Iterable[Seen], leads: Mapping[str, set[str]]) -> Iterator[Seen]:
    for seen in paths:
        parts = seen.name.split("/")
        for count in range(len(parts) + 1):
            for link in leads.get("/".join(parts[:count]), ()):
                yield seen.replace(name="/".join((link, *parts[count:])))


def files_of(private_dir: str, tree: str) -> dict[str, tuple[str, str]]:
    """Mode and hash of every file of a tree."""
    found = {}
    for line in Git(private_dir).run("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")[:-1]:
        entry, _, name = line.partition(b"\t")
        mode, _kind, blob = entry.decode().split(" ")
        found[os.fsdecode(name)] = (mode, blob)
    return found


def _read_blobs(private_dir: str, blobs: list[str]) -> dict[str, str]:
    """The text of each blob."""
    data = Git(private_dir).run("cat-file", "--batch", input_bytes="".join(f"{blob}\n" for blob in blobs).encode())
    found, at = {}, 0
    for blob in blobs:
        end = data.index(b"\n", at)
        size = int(data[at:end].split(b" ")[2])
        found[blob] = os.fsdecode(data[end + 1 : end + 1 + size])
        at = end + size + 2
    return found
