"""What the manifests of a tree declare: the dependencies of each, by name, and the lock files that would hold them."""

from __future__ import annotations

import json
import posixpath
import re

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.machines.reading import IN_TREE, is_inner_path
from detent.packs.lights_out.requirement_lines import PINNED, requirement_lines
from detent.packs.lights_out.words import build as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from detent.gates.seen import Seen

# Folders of foreign code.
FOREIGN = frozenset(("node_modules", "vendor", ".venv", "venv", "site-packages", "third_party"))
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_REQUIREMENTS = re.compile(r"(?:.*/)?(?:requirements/[^/]*|[\w.-]*requirements[\w.-]*)\.(?:in|txt)")
_EDITABLE = re.compile(r"(?:-e|--editable)[\s=]*")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_INCLUDED = re.compile(r"(?:-r|--requirement)[\s=]*(?P<file>\S+)")


class Manifest(Record):
    """One file in which a project says what it needs."""

    path: str
    names: tuple[str, ...] = ()
    locks: tuple[str, ...] = ()  # the names of files that would fix the versions
    problem: str = ""  # why it can't be read


def manifests(seen: Seen) -> tuple[Manifest, ...] | None:
    """Every manifest of the tree; None without a scan of the tree."""
    files = seen.tree_files()
    if files is None:
        return None
    paths = [path for path in files if not _is_foreign(path)]
    return tuple(found for path in paths if (found := _read_manifest(seen, path)) is not None)


def _is_foreign(path: str) -> bool:
    return not FOREIGN.isdisjoint(path.split("/")[:-1])


def _read_manifest(seen: Seen, path: str) -> Manifest | None:
    name = path.rpartition("/")[2]
    known = KINDS.get(name)
    if known is None and _REQUIREMENTS.fullmatch(path):
        known = (lambda text: map(_named, _requirement_lines(text, path)), (_locked_name(name),))
    if known is None:
        return None
    read, locks = known
    try:
        names = tuple(dict.fromkeys(read(seen.files.text(IN_TREE + path) or "")))
    except (UnreadableError, ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        return Manifest(path, locks=locks, problem=say.manifest_unreadable(path, error))
    return Manifest(path, names, locks)


def _locked_name(name: str) -> str:
    return re.sub(r"\.(?:in|txt)$", ".lock", name) if name.endswith(".txt") else name.removesuffix(".in") + ".txt"


def not_locked(seen: Seen, manifest: Manifest) -> tuple[str, ...]:
    """What a manifest declares and no lock file of the tree holds, beside it or in a folder above."""
    files = seen.tree_files() or {}
    if manifest.path.endswith(".txt") and _is_pinned(_text_of_file(seen, manifest.path), manifest.path):
        return ()
    parts = manifest.path.split("/")[:-1]
    folders = ["/".join(parts[:count]) for count in range(len(parts) + 1)]
    places = [f"{folder}/{lock}".lstrip("/") for folder in folders for lock in manifest.locks]
    held = [_text_of_file(seen, place) for place in places if place in files]
    texts = [re.sub(r"(?m)(?:^|\s)#.*", "", text) for text in held]
    return tuple(name for name in manifest.names if not any(is_named(name, text) for text in texts))


def _is_pinned(text: str, path: str) -> bool:
    return all(PINNED.match(line) for line in _requirement_lines(text, path))


def _text_of_file(seen: Seen, path: str) -> str:
    try:
        return seen.files.text(IN_TREE + path) or ""
    except UnreadableError:
        return ""  # an unreadable file holds nothing


def is_named(name: str, text: str) -> bool:
    """Whether a text names a dependency; `-`, `_` and `.` are the same in many of their names."""
    loose = "[-_.]?".join(map(re.escape, re.split(r"[-_.]+", name)))
    return re.search(rf"(?<![\w-]){loose}(?![\w-])", text, re.IGNORECASE) is not None


def _pyproject(text: str) -> Iterator[str]:
    import tomllib

    content = tomllib.loads(text)
    project, poetry = content.get("project", {}), content.get("tool", {}).get("poetry", {})
    lists = [project.get("dependencies", []), *project.get("optional-dependencies", {}).values()]
    lists += content.get("dependency-groups", {}).values()
    names = [_named(line) for some in lists for line in some if isinstance(line, str)]
    yield from (name for name in names if name != project.get("name"))  # one extra may ask for another
    tables = [poetry.get("dependencies", {}), poetry.get("dev-dependencies", {})]
    tables += [group.get("dependencies", {}) for group in poetry.get("group", {}).values()]
    yield from (name for table in tables for name in table if name != "python")


def _requirement_lines(text: str, path: str) -> list[str]:
    """The lines of a requirements file that ask for something; most options ask for nothing."""
    return [line for line in requirement_lines(text) if not line.startswith("-") or _asks(line, path)]


def _asks(option: str, path: str) -> bool:
    """Whether an option brings in more: from a folder, an address, or a file that is no known manifest."""
    included = _INCLUDED.match(option)
    if included is None:
        return _EDITABLE.match(option) is not None
    folder, _, name = path.rpartition("/")
    other = posixpath.normpath(posixpath.join(folder, included["file"]))
    if not is_inner_path(other) or _is_foreign(other):
        return True
    return not _REQUIREMENTS.fullmatch(other) and other.rpartition("/")[2] != _locked_name(name)


def _named(line: str) -> str:
    editable = _EDITABLE.match(line)
    start = editable.end() if editable else 0
    if address := _ADDRESS.match(line, start):
        return _named_by_address(address[0])
    match = _NAME.match(line, start)
    return match[0] if match else line


def _named_by_address(address: str) -> str:
    """The name that an address gives itself, else the last part of its path."""
    plain, _, more = address.partition("#")
    if egg := re.search(r"(?:^|&)egg=([\w.-]+)", more):
        return egg[1]
    path = plain.partition("?")[0].partition("://")[2].partition("/")[2]
    return path.partition("@")[0].rstrip("/").rpartition("/")[2].removesuffix(".git") or address


def _tables(content: Mapping[str, Any], keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        yield from content.get(key, {})


def _package_json(text: str) -> Iterator[str]:
    keys = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
    yield from _tables(json.loads(text), keys)


def _pipfile(text: str) -> Iterator[str]:
    import tomllib

    yield from _tables(tomllib.loads(text), ("packages", "dev-packages"))


def _set_up(text: str) -> Iterator[str]:
    """setup.py and setup.cfg: what they ask for stands in code, or in a form of their own."""
    if "_require" in text:
        raise ValueError(say.dependencies_in_code())
    yield from ()


def _cargo(text: str) -> Iterator[str]:
    import tomllib

    keys = ("dependencies", "dev-dependencies", "build-dependencies")
    content = tomllib.loads(text)
    for table in (content, content.get("workspace", {}), *content.get("target", {}).values()):
        yield from _tables(table, keys)


def _go_mod(text: str) -> Iterator[str]:
    for block in re.findall(r"(?ms)^require\s*\((.*?)^\)|^require[ \t]+([^\s(][^\n]*)", text):
        for line in "".join(block).splitlines():
            if line.strip() and "// indirect" not in line:
                yield line.split()[0]


def _gemfile(text: str) -> Iterator[str]:
    yield from re.findall(r"""(?m)^\s*gem\s+["']([\w.-]+)["']""", text)


KINDS: Mapping[str, tuple[Callable[[str], Iterable[str]], tuple[str, ...]]] = {
    "pyproject.toml": (
        _pyproject,
        ("poetry.lock", "uv.lock", "pdm.lock", "pylock.toml", "requirements.txt", "requirements.lock"),
    ),
    "package.json": (
        _package_json,
        ("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"),
    ),
    "Pipfile": (_pipfile, ("Pipfile.lock",)),
    **dict.fromkeys(("setup.py", "setup.cfg"), (_set_up, ())),
    "Cargo.toml": (_cargo, ("Cargo.lock",)),
    "go.mod": (_go_mod, ("go.sum",)),
    "Gemfile": (_gemfile, ("Gemfile.lock",)),
}
