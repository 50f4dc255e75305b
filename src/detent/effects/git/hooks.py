"""The hooks that a person's git would run in a checkout: where they lie, whatever setting says so, and what they are.

A hook runs with the person's rights, outside every sandbox. What it calls in turn is not known here.
"""

from __future__ import annotations

import os
import stat

from detent.core.record import Record
from detent.effects.git.merge import person_git
from detent.store.disk.atomic import read_plain
from detent.store.disk.digest import sha256_of
from detent.store.disk.folders import walk
from detent.store.journal.places import lies_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SETTINGS = "core.hooksPath"  # stands where a file would, if the folder is another one
_MOST_FILES, _LARGEST_BYTES = 500, 1_000_000
_HUSKY = "_"  # a folder whose scripts run those of the folder above


class Hooks(Record):
    """The folder of the hooks, and what of the work tree decides about them: folders and git settings."""

    folder: str  # empty where git can't read its settings
    inside: tuple[str, ...]


def hooks_of(top: str) -> Hooks:
    """What git itself says, with all settings of the person and the repository, included files too."""
    answer = person_git(top, "rev-parse", "--git-path", "hooks")
    if answer.exit != 0:  # it would run none, until its settings can be read again
        return Hooks("", ())
    said = os.fsdecode(answer.stdout).removesuffix("\n")
    folder = os.path.normpath(os.path.join(top, said))
    run = os.path.dirname(folder) if os.path.basename(folder) == _HUSKY else folder
    listed = person_git(top, "config", "--null", "--show-origin", "--name-only", "--list").stdout.split(b"\0")
    files = {os.path.normpath(os.path.join(top, os.fsdecode(key[5:]))) for key in listed if key.startswith(b"file:")}
    return Hooks(folder, tuple(path for path in (run, *sorted(files)) if _is_in_work_tree(path, top)))


def _is_in_work_tree(path: str, top: str) -> bool:
    real, root = os.path.realpath(path), os.path.realpath(top)
    return real != root and lies_in(real, root) and not lies_in(real, os.path.join(root, ".git"))


def hook_prints(top: str) -> dict[str, str]:
    """A hash of each hook and of git settings in the work tree, by path, and the folder: a change is reported."""
    hooks = hooks_of(top)
    found = {SETTINGS: hooks.folder}
    for place in dict.fromkeys((hooks.folder, *hooks.inside) if hooks.folder else ()):
        for path in _files(place):
            found[os.path.relpath(path, top)] = _print(path)
    return found


def changed_hooks(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def _files(place: str) -> list[str]:
    if not os.path.isdir(place):
        return [place] if os.path.lexists(place) else []
    found: list[str] = []
    for folder, _folders, names in walk(place):
        found += [os.path.join(folder, name) for name in names if not name.endswith(".sample")]
        if len(found) > _MOST_FILES:
            break
    return sorted(found)[:_MOST_FILES]


def _print(path: str) -> str:
    """Content and mode; of what is no plain file, or very large, where it leads and when it was changed."""
    seen = os.lstat(path)
    is_small = stat.S_ISREG(seen.st_mode) and seen.st_size <= _LARGEST_BYTES
    data = read_plain(path, _LARGEST_BYTES) if is_small else None
    if data is None:
        target = os.readlink(path) if os.path.islink(path) else ""
        return f"{target} {seen.st_size} {seen.st_ctime_ns}"
    return f"{sha256_of(data)} {seen.st_mode & 0o111:o}"
