"""Finds parts of a set-up that are the project's own code: commands would run them instead of the work.

A package that is installed as a copy, and a library that was built beside its source, stay as the first commit had
them. One that is installed as a link (an editable install, a workspace of npm) leads to the work, and is none.
"""

from __future__ import annotations

import json
import os
import re
from glob import escape, glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_SITES = ("lib/python*/site-packages", "Lib/site-packages")
_BUILT = (".so", ".pyd", ".dylib", ".dll", ".node")
_PACKAGE = re.compile(r"(?:src/)?([A-Za-z_]\w*)/__init__\.py")
_MODULE = re.compile(r"src/([A-Za-z_]\w*)\.py")
_LARGEST_MANIFEST_BYTES = 1_000_000


def frozen_parts(root: str, created: Sequence[str], checkout: str, tracked: Collection[str]) -> tuple[str, ...]:
    """What of the paths that set-up created below `root` is a copy of the project's own code."""
    found = [name for name in created if name.endswith(_BUILT) and os.path.isfile(os.path.join(root, name))]
    for folder in created:
        found += _python_copies(root, folder, set(_python_names(tracked)))
        if os.path.basename(folder) == "node_modules":
            manifests = [path for path in tracked if os.path.basename(path) == "package.json"]
            names = {name for path in manifests for name in _name(checkout, path)}
            found += [f"{folder}/{name}" for name in sorted(names) if _is_copy(os.path.join(root, folder, name))]
    return tuple(found)


def _python_names(tracked: Collection[str]) -> Iterator[str]:
    for path in tracked:
        if match := _PACKAGE.fullmatch(path) or _MODULE.fullmatch(path):
            yield match.group(1)


def _python_copies(root: str, folder: str, names: set[str]) -> list[str]:
    found = []
    for pattern in _SITES:
        for site in sorted(glob(os.path.join(escape(os.path.join(root, folder)), pattern))):
            inside = [os.path.join(site, file) for name in sorted(names) for file in (name, f"{name}.py")]
            found += [os.path.relpath(path, root) for path in inside if _is_copy(path)]
    return found


def _is_copy(path: str) -> bool:
    return os.path.lexists(path) and not os.path.islink(path)


def _name(checkout: str, path: str) -> list[str]:
    """The name a manifest gives its package; one that can't be read gives none."""
    try:
        with open(os.path.join(checkout, path), "rb") as file:
            name = json.loads(file.read(_LARGEST_MANIFEST_BYTES)).get("name")
    except (OSError, ValueError, AttributeError, RecursionError):
        return []
    is_plain = isinstance(name, str) and bool(name) and ".." not in name.split("/") and not name.startswith("/")
    return [name] if is_plain else []
