"""Guesses from the files of a repository how it is tested, linted, built and made ready; nothing is run or changed.

A guess says which file it comes from, and what this host lacks for it. The first of a name is the one to take: a
Makefile is the project's own word, then come the scripts of package.json, then what a language usually does.
"""

from __future__ import annotations

import json
import os
import re

from detent.core.record import Record
from detent.effects.tests.imports import may_steer_path, needs_current_folder
from detent.effects.tests.tree_files import files_of
from detent.errors import DetentError
from detent.store.disk.atomic import read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Has = Callable[[str], bool]  # whether a program, "python3 -m MODULE" or SAFE_PATH, is there

SAFE_PATH = "python3 >= 3.11"  # the first that knows -P
NAMES = ("build", "lint", "check", "test")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt")
_PYTEST_FILES = ("pytest.ini", "conftest.py", "tests/conftest.py")

# lock file -> (program, its set-up command)
_NODE_LOCKS = {
    "package-lock.json": ("npm", "npm ci"),
    "npm-shrinkwrap.json": ("npm", "npm ci"),
    "pnpm-lock.yaml": ("pnpm", "pnpm install --frozen-lockfile"),
    "yarn.lock": ("yarn", "yarn install --frozen-lockfile"),
    "bun.lock": ("bun", "bun install --frozen-lockfile"),
    "bun.lockb": ("bun", "bun install --frozen-lockfile"),
}
_OTHER_LOCKS = {
    "uv.lock": ("uv", "uv sync --frozen"),
    "poetry.lock": ("poetry", "poetry install --no-interaction"),
    "Gemfile.lock": ("bundle", "bundle install"),
    "composer.lock": ("composer", "composer install --no-interaction"),
}
# marker, name, command, program; languages whose tool needs no settings of ours
_BY_MARKER = (
    ("Cargo.toml", "test", "cargo test --quiet", "cargo"),
    ("Cargo.toml", "lint", "cargo clippy --quiet -- -D warnings", "cargo-clippy"),
    ("go.mod", "test", "go test ./...", "go"),
    ("go.mod", "lint", "go vet ./...", "go"),
    ("pom.xml", "test", "mvn --quiet test", "mvn"),
    ("gradlew", "test", "./gradlew --quiet test", "java"),
    ("mix.exs", "test", "mix test", "mix"),
    ("deno.json", "test", "deno test", "deno"),
    ("Package.swift", "test", "swift test", "swift"),
    ("spec/spec_helper.rb", "test", "bundle exec rspec", "bundle"),
    ("phpunit.xml", "test", "vendor/bin/phpunit", "php"),
    ("phpunit.xml.dist", "test", "vendor/bin/phpunit", "php"),
)


class Guess(Record):
    """One command; `lacks` names what it needs and this host does not have."""

    name: str
    command: str
    seen: str
    lacks: str


class SetUp(Record):
    """The set-up of a fresh checkout, and the key files whose change repeats it."""

    commands: tuple[str, ...]
    key: tuple[str, ...]
    lacks: str


def guess_commands(root: str, has: Has) -> tuple[Guess, ...]:
    """Every guess, the one to take first among those of its name."""
    found = [
        Guess(name, _without_folder(root, command, has), seen, "" if has(needs) else needs)
        for name, command, seen, needs in (
            *_from_make(root),
            *_from_package(root),
            *_from_python(root),
            *((name, line, marker, program) for marker, name, line, program in _BY_MARKER if _is(root, marker)),
        )
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda guess: NAMES.index(guess.name)))


def _without_folder(root: str, command: str, has: Has) -> str:
    """The command with `-P`, so that no file of the tree is imported in place of the runner, where the tests allow it.

    Where they import their project by the current folder alone, `-P` would break them or find another copy of it.
    """
    match = re.match(r"(\S*python3?) -m (pytest|unittest)\b", command)
    if match is None or not has(SAFE_PATH) or needs_current_folder(files_of(root, may_steer_path)):
        return command
    return f"{match[1]} -P{command[len(match[1]) :]}"


def guess_setup(root: str, has: Has) -> tuple[SetUp, ...]:
    """By lock file; of several package managers for one language the first, they would undo each other's work."""
    locks = [lock for lock in (_node_lock(root), *_OTHER_LOCKS) if lock and _is(root, lock)]
    found = []
    for lock in locks:
        program, command = {**_NODE_LOCKS, **_OTHER_LOCKS}[lock]
        found.append(SetUp((command,), (lock,), "" if has(program) else program))
    python = _requirements(root)
    if python and not {"uv.lock", "poetry.lock"} & set(locks):
        wanted = " ".join(f"-r {name}" for name in python)
        commands = ("python3 -m venv .venv", f".venv/bin/python -m pip install --quiet {wanted}")
        found.append(SetUp(commands, python, "" if has("python3 -m venv") else "python3 -m venv"))
    return tuple(found)


def guess_carry(root: str) -> tuple[str, ...]:
    """Packages that no lock file could bring back are carried along as they are."""
    is_there = os.path.isdir(os.path.join(root, "node_modules"))
    return ("node_modules",) if is_there and not _node_lock(root) else ()


def _from_make(root: str) -> Iterator[tuple[str, str, str, str]]:
    name = next((name for name in _MAKEFILES if _is(root, name)), "")
    targets = set(re.findall(r"^([a-z]+)[ \t]*:(?!:*=)", _text_of_file(root, name), re.MULTILINE)) if name else set()
    for target in NAMES:
        if target in targets:
            yield target, f"make {target}", name, "make"


def _from_package(root: str) -> Iterator[tuple[str, str, str, str]]:
    try:
        package = json.loads(_text_of_file(root, "package.json") or "{}")
    except (ValueError, RecursionError):
        return
    scripts = package.get("scripts") if isinstance(package, dict) else None
    program = _NODE_LOCKS.get(_node_lock(root), ("npm", ""))[0]
    for name in NAMES:
        line = scripts.get(name) if isinstance(scripts, dict) else None
        if isinstance(line, str) and line.strip() and "no test specified" not in line:
            yield name, f"{program} run {'--silent ' if program == 'npm' else ''}{name}", "package.json", program


def _from_python(root: str) -> Iterator[tuple[str, str, str, str]]:
    project = _text_of_file(root, "pyproject.toml")
    wanted = project + "".join(_text_of_file(root, name) for name in _requirements(root))
    pytest = next((name for name in _PYTEST_FILES if _is(root, name)), "")
    if not pytest and "pytest" in wanted:
        pytest = "pyproject.toml" if "pytest" in project else _requirements(root)[0]
    pytest = pytest or _pytest_file(root)
    if pytest:
        yield _python_tool(root, "test", "pytest", "-q", pytest)
    for marker, program in (("tox.ini", "tox"), ("noxfile.py", "nox")):
        if _is(root, marker):
            yield "test", program, marker, program
    if not pytest and (unittest := _unittest(root)):
        yield "test", *unittest
    for marker, tool, words in (
        ("ruff.toml", "ruff", "check ."),
        (".ruff.toml", "ruff", "check ."),
        (".flake8", "flake8", ""),
    ):
        if _is(root, marker):
            yield _python_tool(root, "lint", tool, words, marker)
    if "[tool.ruff" in project:
        yield _python_tool(root, "lint", "ruff", "check .", "pyproject.toml")


def _python_tool(root: str, name: str, tool: str, words: str, seen: str) -> tuple[str, str, str, str]:
    """A Python tool as the project's own environment has it."""
    for lock, prefix in (("uv.lock", "uv"), ("poetry.lock", "poetry")):
        if _is(root, lock):
            return name, f"{prefix} run {tool} {words}".rstrip(), seen, prefix
    if _requirements(root):
        return name, f".venv/bin/python -m {tool} {words}".rstrip(), seen, "python3"
    return name, f"python3 -m {tool} {words}".rstrip(), seen, f"python3 -m {tool}"


def _unittest(root: str) -> tuple[str, str, str] | None:
    commands = {"": "python3 -m unittest -q", "tests": "python3 -m unittest discover -q -s tests"}
    for path in _test_files(root, *commands):
        folder = os.path.dirname(path)
        if "unittest" in _text_of_file(root, path):
            top = " -t ." if folder and _is(root, f"{folder}/__init__.py") else ""
            return commands[folder] + top, path, "python3"
    return None


def _pytest_file(root: str) -> str:
    """A file of tests that only pytest runs; empty if there is none."""
    is_of_pytest = re.compile(r"^\s*(import pytest\b|from pytest import|(async )?def test_\w+\((?!self))", re.MULTILINE)
    files = _test_files(root, "", "tests", "test", "testing")
    return next((path for path in files if is_of_pytest.search(_text_of_file(root, path))), "")


def _test_files(root: str, *folders: str) -> Iterator[str]:
    for folder in folders:
        try:
            names = sorted(os.listdir(os.path.join(root, folder)))
        except OSError:
            continue
        yield from (os.path.join(folder, name) for name in names if re.fullmatch(r"test\w*\.py", name))


def _requirements(root: str) -> tuple[str, ...]:
    return tuple(name for name in _REQUIREMENTS if _is(root, name))


def _node_lock(root: str) -> str:
    return next((name for name in _NODE_LOCKS if _is(root, name)), "")


def _is(root: str, name: str) -> bool:
    return os.path.isfile(os.path.join(root, name))


def _text_of_file(root: str, name: str) -> str:
    """A file to guess from; one that can't be read says nothing."""
    try:
        return (read_plain(os.path.join(root, name)) or b"").decode("utf-8", "replace")
    except DetentError:
        return ""
