"""What the manifests of a tree declare: the dependencies of each, by name, and the lock files that would hold them."""

from __future__ import annotations

import json
import re

from detent.core.record import Record
from detent.machines.reading import IN_TREE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from detent.gates.seen import Seen

# Folders of what somebody else made.
FOREIGN = frozenset(("node_modules", "vendor", ".venv", "venv", "site-packages", "third_party"))
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_PINNED = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?\s*==\s*[^\s;*]+")
_REQUIREMENTS = re.compile(r"requirements[\w.-]*\.(?:in|txt)")


class Manifest(Record):
    """One file in which a project says what it needs."""

    path: str
    names: tuple[str, ...] = ()
    locks: tuple[str, ...] = ()  # the names of files that would fix the versions
    problem: str = ""  # why it can't be read


def manifests(seen: Seen) -> tuple[Manifest, ...] | None:
    """Every manifest of the tree; None when nobody has looked at the tree."""
    files = seen.tree_files()
    if files is None:
        return None
    paths = [path for path in files if not FOREIGN & set(path.split("/")[:-1])]
    return tuple(found for path in paths if (found := _read(seen, path)) is not None)


def _read(seen: Seen, path: str) -> Manifest | None:
    name = path.rpartition("/")[2]
    known = KINDS.get(name) or ((_requirements, (_locked_name(name),)) if _REQUIREMENTS.fullmatch(name) else None)
    if known is None:
        return None
    read, locks = known
    try:
        names = tuple(dict.fromkeys(read(seen.files.text(IN_TREE + path) or "")))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        return Manifest(path, locks=locks, problem=f"{path} can't be read: {error}")
    return Manifest(path, names, locks)


def _locked_name(name: str) -> str:
    return re.sub(r"\.(?:in|txt)$", ".lock", name) if name.endswith(".txt") else name.removesuffix(".in") + ".txt"


def is_locked(seen: Seen, manifest: Manifest) -> bool:
    """Whether a file of the tree fixes the versions of what a manifest declares: beside it, or in a folder above."""
    files = seen.tree_files() or {}
    if manifest.path.endswith(".txt"):
        text = seen.files.text(IN_TREE + manifest.path) or ""
        if all(_PINNED.match(line) for line in _requirement_lines(text)):
            return True
    parts = manifest.path.split("/")[:-1]
    folders = ["/".join(parts[:count]) for count in range(len(parts) + 1)]
    return any(f"{folder}/{lock}".lstrip("/") in files for folder in folders for lock in manifest.locks)


def _pyproject(text: str) -> Iterator[str]:
    import tomllib

    content = tomllib.loads(text)
    project, poetry = content.get("project", {}), content.get("tool", {}).get("poetry", {})
    lists = [project.get("dependencies", []), *project.get("optional-dependencies", {}).values()]
    lists += content.get("dependency-groups", {}).values()
    for line in (line for some in lists for line in some if isinstance(line, str)):
        yield _named(line)
    tables = [poetry.get("dependencies", {}), poetry.get("dev-dependencies", {})]
    tables += [group.get("dependencies", {}) for group in poetry.get("group", {}).values()]
    yield from (name for table in tables for name in table if name != "python")


def _requirements(text: str) -> Iterator[str]:
    yield from map(_named, _requirement_lines(text))


def _requirement_lines(text: str) -> list[str]:
    lines = re.sub(r"\\\r?\n", " ", text).splitlines()
    lines = [re.sub(r"(?:^|\s)#.*", "", line).strip() for line in lines]
    return [line for line in lines if line and not line.startswith(("--", "-i ", "-c ", "-r "))]


def _named(line: str) -> str:
    match = _NAME.match(line.removeprefix("-e ").strip())
    return match[0] if match else line


def _tables(content: Mapping[str, Any], keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        yield from content.get(key, {})


def _package_json(text: str) -> Iterator[str]:
    keys = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
    yield from _tables(json.loads(text), keys)


def _cargo(text: str) -> Iterator[str]:
    import tomllib

    keys = ("dependencies", "dev-dependencies", "build-dependencies")
    content = tomllib.loads(text)
    for table in (content, content.get("workspace", {}), *content.get("target", {}).values()):
        yield from _tables(table, keys)


def _go_mod(text: str) -> Iterator[str]:
    for block in re.findall(r"(?m)^require\s*\((.*?)^\)|^require\s+([^\s(].*)$", text, re.DOTALL | re.MULTILINE):
        for line in "".join(block).splitlines():
            if line.strip() and "// indirect" not in line:
                yield line.split()[0]


def _gemfile(text: str) -> Iterator[str]:
    yield from re.findall(r"""(?m)^\s*gem\s+["']([\w.-]+)["']""", text)


KINDS: Mapping[str, tuple[Callable[[str], Iterator[str]], tuple[str, ...]]] = {
    "pyproject.toml": (
        _pyproject,
        ("poetry.lock", "uv.lock", "pdm.lock", "pylock.toml", "requirements.txt", "requirements.lock"),
    ),
    "package.json": (
        _package_json,
        ("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"),
    ),
    "Cargo.toml": (_cargo, ("Cargo.lock",)),
    "go.mod": (_go_mod, ("go.sum",)),
    "Gemfile": (_gemfile, ("Gemfile.lock",)),
}
