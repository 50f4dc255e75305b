"""What a command runs that names no runner itself: make, scripts of package.json and pyproject.toml, tox, nox.

Each answers with command lines and with the files they were read from, which steer the tests. Nothing is run; a file is
read up to a bound, and what can't be read answers with nothing.
"""

from __future__ import annotations

import json
import os
import re

from detent.core.record import Record
from detent.effects.tests.shell_words import join
from detent.errors import UnreadableError
from detent.store.disk.atomic import read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from detent.effects.tests.shell_words import Call

LARGEST_BYTES = 1 << 20
_MOST_TARGETS = 200
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_PACKAGE_RUNNERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_VARIABLE = re.compile(r"\$[({]([^(){}$]+)[)}]")


class Indirect(Record):
    """Command lines with the folder they run in; `files` are the files that say so. `way` names the step."""

    way: str
    lines: tuple[str | tuple[str, ...], ...]
    folder: str = ""
    files: tuple[str, ...] = ()


class Tree:
    """Reads text files of a folder, by their path from its top."""

    def __init__(self, root: str) -> None:
        self.root = root

    def read(self, path: str) -> str | None:
        """The text of a plain file; None for what is none, a link, or larger than is ever read."""
        try:
            content = read_plain(os.path.join(self.root, path), LARGEST_BYTES)
        except (UnreadableError, ValueError):  # also a path with a null character
            return None
        return None if content is None else content.decode("utf-8", "replace")

    def first(self, folder: str, names: Sequence[str]) -> tuple[str, str]:
        """Path and text of the first of these files in a folder; two empty texts if none is there."""
        for name in names:
            text = self.read(path := join(folder, name))
            if text is not None:
                return path, text
        return "", ""


def indirect_of(call: Call, tree: Tree) -> tuple[Indirect, ...]:
    """What the call runs in turn; nothing where it is no program of this kind, or says nothing that can be read."""
    program = os.path.basename(call.words[0])
    if program == "python" and call.words[1:2] == ("-m",) and len(call.words) > 2:
        program = call.words[2]
        call = call.replace(words=call.words[2:])
    if program in ("make", "gmake"):
        return _of_make(call, tree)
    if program in _PACKAGE_RUNNERS:
        return _of_package(call, tree)
    if program == "tox":
        return _of_tox(call, tree)
    if program == "nox":
        return _of_nox(call, tree)
    return _of_project(call, tree)


def _value_of(words: Sequence[str], *options: str) -> str:
    for at, word in enumerate(words):
        for option in options:
            if word == option and at + 1 < len(words):
                return words[at + 1]
            if word.startswith(option) and len(word) > len(option) and (word[len(option)] == "=" or len(option) == 2):
                return word[len(option) :].removeprefix("=")
    return ""


def _named(words: Sequence[str], takes_value: Sequence[str] = ()) -> list[str]:
    found, skip = [], False
    for word in words[1:]:
        if skip:
            skip = False
        elif word == "--":
            break
        elif word in takes_value:
            skip = True
        elif not word.startswith("-"):
            found.append(word)
    return found


# ---- make ------------------------------------------------------------------------------------------------------------


def _of_make(call: Call, tree: Tree) -> tuple[Indirect, ...]:
    folder = join(call.folder, _value_of(call.words, "-C", "--directory") or ".")
    named = _value_of(call.words, "-f", "--file", "--makefile")
    path, text = tree.first(folder, (named,) if named else _MAKEFILES)
    if not path:
        return ()
    names = _named(call.words, ("-C", "--directory", "-f", "--file", "--makefile", "-j", "-l", "-o", "-W", "-I"))
    assigned = dict(name.split("=", 1) for name in names if "=" in name)
    files = [path]
    for included in re.findall(r"^[-s]?include\s+(.+)$", text, re.MULTILINE):
        for name in included.split():
            more = tree.read(join(folder, name)) if "$" not in name else None
            if more is not None:
                files.append(join(folder, name))
                text += "\n" + more
    rules, variables = _read_makefile(text)
    variables.update({"MAKE": "make", "CURDIR": ".", **assigned})
    targets = [name for name in names if "=" not in name] or [next((name for name in rules if name[0] != "."), "")]
    lines: list[str] = []
    seen: set[str] = set()
    while targets and len(seen) < _MOST_TARGETS:
        target = targets.pop(0)
        if target in seen or target not in rules:
            continue
        seen.add(target)
        needed, recipe = rules[target]
        targets += _expand(" ".join(needed), variables).split()
        lines += [_expand(line, {**variables, "@": target}) for line in recipe]
    return (Indirect("make", tuple(lines), folder, tuple(files)),)


def _read_makefile(text: str) -> tuple[dict[str, tuple[list[str], list[str]]], dict[str, str]]:
    """Targets with what they need and their recipes, and the variables."""
    rules: dict[str, tuple[list[str], list[str]]] = {}
    variables: dict[str, str] = {}
    current: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            recipe = line.strip().lstrip("@-+").strip()
            for target in current:
                if recipe and not recipe.startswith("#"):
                    rules[target][1].append(recipe)
            continue
        if found := re.match(r"\s*(?:export\s+|override\s+)*([\w.-]+)\s*(?:[:?+]{0,2})=\s*(.*)$", line):
            variables.setdefault(found[1], re.sub(r"\s#.*", "", found[2]).strip())
        elif found := re.match(r"([^\s#:=][^:=#]*)::?(?!=)([^;#]*)(?:;(.*))?", line):
            if "=" in found[2]:
                continue  # a variable of one target
            current = found[1].split()
            for target in current:
                needed, recipes = rules.setdefault(target, ([], []))
                needed += found[2].replace("|", " ").split()
                recipes += [found[3].strip()] if found[3] else []
        elif line.strip() and not line.startswith("#"):
            current = []
    return rules, variables


def _expand(text: str, variables: Mapping[str, str]) -> str:
    for _depth in range(5):
        replaced = _VARIABLE.sub(lambda found: variables.get(found[1].strip(), ""), text)
        if replaced == text:
            break
        text = replaced
    return text.replace("$@", variables.get("@", "")).replace("$$", "$")


# ---- package.json ----------------------------------------------------------------------------------------------------


def _of_package(call: Call, tree: Tree) -> tuple[Indirect, ...]:
    program = os.path.basename(call.words[0])
    folder = join(call.folder, _value_of(call.words, "--prefix", "--cwd", "--dir", "-C") or ".")
    names = _named(call.words, ("--prefix", "--cwd", "--dir", "-C", "--filter", "-w", "--workspace", "-F"))
    if names[:1] and names[0] in ("run", "run-script"):
        names = names[1:]
    elif program in ("npm", "bun") and names[:1] not in (["test"], ["t"], ["tst"], ["start"]):
        return ()
    if not names:
        return ()
    script = {"t": "test", "tst": "test"}.get(names[0], names[0])
    path, text = tree.first(folder, ("package.json",))
    try:
        scripts = json.loads(text).get("scripts", {}) if path else {}
    except (ValueError, AttributeError, RecursionError):
        return ()
    if not isinstance(scripts, dict):
        return ()
    after = call.words[call.words.index("--") + 1 :] if "--" in call.words else ()
    lines = [str(scripts[name]) for name in (f"pre{script}", script, f"post{script}") if name in scripts]
    if after and script in scripts:
        lines = [*(line for line in lines if line != scripts[script]), f"{scripts[script]} {' '.join(after)}"]
    return (Indirect(f"{program} {script}", tuple(lines), folder, (path,)),) if lines else ()


# ---- tox, nox, scripts of pyproject.toml -----------------------------------------------------------------------------


def _of_tox(call: Call, tree: Tree) -> tuple[Indirect, ...]:
    named = _value_of(call.words, "-c", "--conf")
    found = []
    for name in (named,) if named else ("tox.ini", "setup.cfg", "pyproject.toml", "tox.toml"):
        text = tree.read(path := join(call.folder, name))
        if text is None:
            continue
        lines = tox_commands(name, text)
        if lines:
            found.append(Indirect("tox", lines, call.folder, (path,)))
            break
    return tuple(found)


def tox_commands(name: str, text: str) -> tuple[str | tuple[str, ...], ...]:
    """The commands of every environment."""
    if not name.endswith(".toml"):
        sections = _sections(text)
        listed = [
            value
            for title, keys in sections.items()
            if title.startswith(("testenv", "tox:testenv"))
            for key, value in keys.items()
            if key in ("commands", "commands_pre", "commands_post")
        ]
        return tuple(
            _without_braces(line.strip().lstrip("-!").strip())
            for value in listed
            for line in value.replace("\\\n", " ").splitlines()
            if line.strip()
        )
    table = _toml(text)
    if name == "pyproject.toml":
        table = _inner(table, "tool", "tox")
        if isinstance(legacy := table.get("legacy_tox_ini"), str):
            return tox_commands("tox.ini", legacy)
    places = [table.get("env_run_base"), *_inner(table, "env").values()]
    rows = [row for place in places if isinstance(place, dict) for row in place.get("commands", ()) or ()]
    return tuple(
        tuple(_without_braces(word) for word in row if isinstance(word, str)) for row in rows if isinstance(row, list)
    )


def _without_braces(text: str) -> str:
    text = re.sub(r"\{(?:env_?python|envbindir\}/python)[^}]*\}?", "python", text)
    text = re.sub(r"\{posargs:?([^{}]*)\}|\[\]", lambda found: found[1] or "", text)
    return re.sub(r"\{[^{}]*\}", "", text)


def _sections(text: str) -> Mapping[str, Mapping[str, str]]:
    from configparser import Error, RawConfigParser

    parser = RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except Error:
        return {}
    return {name: {key: value or "" for key, value in parser[name].items()} for name in parser.sections()}


def _toml(text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _inner(table: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        inner = table.get(key)
        table = inner if isinstance(inner, dict) else {}
    return dict(table)


def _of_nox(call: Call, tree: Tree) -> tuple[Indirect, ...]:
    import ast

    name = _value_of(call.words, "-f", "--noxfile") or "noxfile.py"
    text = tree.read(path := join(call.folder, name))
    if text is None:
        return ()
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    lines = []
    for node in ast.walk(module):
        match node:
            case ast.Call(func=ast.Attribute(attr="run" | "run_always"), args=args):
                words = tuple(str(word.value) for word in args if isinstance(word, ast.Constant))
                lines += [words] if words else []
            case _:
                pass
    return (Indirect("nox", tuple(lines), call.folder, (path,)),)


def _of_project(call: Call, tree: Tree) -> tuple[Indirect, ...]:
    """A name that pyproject.toml gives to a command, as `pdm run`, `hatch run` and `poe` do."""
    name = call.words[0]
    words = call.words[1:] if name in ("poe", "hatch") else call.words
    if not words or "/" in words[0]:
        return ()
    text = tree.read(path := join(call.folder, "pyproject.toml"))
    tool = _inner(_toml(text), "tool") if text is not None else {}
    tables = [_inner(tool, "pdm", "scripts"), _inner(tool, "poe", "tasks"), _inner(tool, "rye", "scripts")]
    tables += [_inner(env, "scripts") for env in _inner(tool, "hatch", "envs").values() if isinstance(env, dict)]
    key = words[0].rpartition(":")[2]
    lines = [line for table in tables for line in _lines_of(table.get(key))]
    return (Indirect(f"pyproject.toml {key}", tuple(lines), call.folder, (path,)),) if lines else ()


def _lines_of(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [line for line in value if isinstance(line, str)]
    if isinstance(value, dict):
        inner: Callable[[str], object] = value.get
        return [line for key in ("cmd", "shell", "chain") for line in _lines_of(inner(key))]
    return []
