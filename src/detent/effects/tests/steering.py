"""Of files that say many things, only what steers the tests: a new version or dependency of the project does not.

What can't be read is compared as a whole.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from configparser import Error, RawConfigParser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_NODE_RUNNERS = ("ava", "jest", "vitest", "mocha", "jasmine", "tap", "c8", "nyc", "babel", "vite")
_PLAIN_VERSION = re.compile(r"[\^~<>=]*\s*v?\d[\w.+-]*$")
_TOOLS = ("pytest", "coverage", "tox", "nox", "poe", "pdm", "hatch", "rye", "uv", "unittest", "setuptools")
_STEERING_SECTIONS = re.compile(r"pytest|coverage|testenv|tox|unittest|aliases|entry_points|options\.packages")
_TOX_SECTIONS = re.compile(r"(tox:)?(testenv|tox)(:|$)")


def is_shared(path: str) -> bool:
    """Whether only a part of such a file steers tests."""
    return os.path.basename(path) in _READERS


def steers_alike(
    path: str, before: str | None, other: str | None, *, through_tox: bool = False, without_tox: bool = False
) -> bool:
    """Whether two texts of a file steer alike; None where there is none. Other files steer by being there.

    Where tox surely has no part in the command (`without_tox`), what only tox reads steers nothing.
    """
    if not is_shared(path):
        return before == other
    nothing = _READERS[os.path.basename(path)][1]
    texts = (nothing if text is None else text for text in (before, other))
    found = {_steering(path, text, through_tox=through_tox, without_tox=without_tox) for text in texts}
    return len(found) == 1


def _steering(path: str, text: str, *, through_tox: bool, without_tox: bool) -> str:
    name = os.path.basename(path)
    if name == "tox.ini" and through_tox:
        return text
    try:
        content = _READERS[name][0](text)
        if without_tox and name in ("tox.ini", "setup.cfg"):
            content = {title: section for title, section in content.items() if not _TOX_SECTIONS.match(title)}
        return json.dumps(content, sort_keys=True, default=str)
    except (ValueError, AttributeError, TypeError, RecursionError, Error):
        return text


def _pyproject(text: str) -> Mapping[str, Any]:
    content = tomllib.loads(text)
    tool = content.get("tool", {})
    points = content.get("project", {}).get("entry-points", {})
    pdm, hatch, uv = (dict(tool.get(name, {})) for name in ("pdm", "hatch", "uv"))
    kept = {
        name: table
        for name, table in tool.items()
        if name in _TOOLS and name not in ("pdm", "hatch", "uv", "setuptools")
    }
    return {
        "tool": {**kept, "pdm": pdm.get("scripts"), "hatch": hatch.get("envs"), "uv": uv.get("sources")},
        "entry-points": {name: table for name, table in points.items() if "pytest" in name or "coverage" in name},
        "build": content.get("build-system", {}).get("backend-path"),
    }


def _package(text: str) -> Mapping[str, Any]:
    content = json.loads(text)
    needs = {**content.get("dependencies", {}), **content.get("devDependencies", {})}
    replaced = {name: version for name, version in needs.items() if not _PLAIN_VERSION.match(str(version))}
    keys = (
        "scripts",
        "type",
        "imports",
        "exports",
        "overrides",
        "resolutions",
        "workspaces",
        "config",
        "packageManager",
    )
    return {**{key: content.get(key) for key in (*keys, *_NODE_RUNNERS)}, "replaced": replaced}


def _cargo(text: str) -> Mapping[str, Any]:
    content = tomllib.loads(text)
    package = content.get("package", {})
    keys = ("lib", "bin", "test", "example", "profile", "patch", "replace", "target", "workspace", "lints")
    about = ("build", "autotests", "autobins", "edition", "links", "workspace", "name")
    needs = {**content.get("dependencies", {}), **content.get("dev-dependencies", {})}
    replaced = {name: need for name, need in needs.items() if isinstance(need, dict) and {"path", "git"} & need.keys()}
    return {
        **{key: content.get(key) for key in keys},
        "package": {key: package.get(key) for key in about},
        "replaced": replaced,
    }


def _sections(text: str) -> Mapping[str, Any]:
    parser = RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections() if _STEERING_SECTIONS.search(name)}


def _go_mod(text: str) -> Mapping[str, Any]:
    """Everything but the list of what is required."""
    rest = re.sub(r"^require\s*\([^)]*\)|^require\s+.*$", "", text, flags=re.MULTILINE)
    return {"rest": rest.split()}


_READERS: Mapping[str, tuple[Callable[[str], Mapping[str, Any]], str]] = {
    "pyproject.toml": (_pyproject, ""),
    "package.json": (_package, "{}"),
    "Cargo.toml": (_cargo, ""),
    "setup.cfg": (_sections, ""),
    "tox.ini": (_sections, ""),
    "go.mod": (_go_mod, ""),
}
