"""Finds and loads machine files: built-in ones by name, a user's own by path, a task's pinned one by digest."""

from __future__ import annotations

import json
import os

from detent.errors import UnreadableError, UsageError
from detent.machines.brought import BROUGHT, BUILT_IN, MACHINE, built_in_folder
from detent.machines.parse import parse
from detent.words.machines import load as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.core.machine import Machine, Vocabulary

_EXPLORED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "explored.txt")
LARGEST_FILE_BYTES = 1_000_000
SCAFFOLD = "scaffold/"


def built_in_names() -> tuple[str, ...]:
    """Every machine that ships with the package, by the name in its folder."""
    found = [entry.name for entry in os.scandir(BUILT_IN) if os.path.isfile(os.path.join(entry.path, MACHINE))]
    return tuple(sorted(name.rstrip("_").replace("_", "-") for name in found))


def read_document(name_or_path: str) -> tuple[dict[str, Any], str]:
    """The document of a built-in machine, of a pack from outside the package or of a file, and its path."""
    path = name_or_path
    if pack := BROUGHT.get(name_or_path):
        path = os.path.join(pack.folder, MACHINE)
        document = _toml_of(pack.files.get(MACHINE, b""), path)
        if document.get("name") != pack.name:
            raise UnreadableError(say.other_name(pack.name, document.get("name")), where=path)
        return document, path
    if os.sep not in name_or_path and not name_or_path.endswith(".toml"):
        if name_or_path not in built_in_names():
            raise UsageError(say.no_machine(name_or_path, built_in_names()))
        path = os.path.join(built_in_folder(name_or_path), MACHINE)
    return _read_toml(path), path


def _read_toml(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise UnreadableError(say.file_unreadable(error.strerror), where=path) from error
    if len(data) > LARGEST_FILE_BYTES:
        raise UnreadableError(say.file_too_large(LARGEST_FILE_BYTES), where=path)
    return _toml_of(data, path)


def _toml_of(data: bytes, path: str) -> dict[str, Any]:
    import tomllib  # slow to import, and only needed when a machine is first loaded

    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(say.file_no_toml(str(error), path), where=path) from error


def explored_digests() -> frozenset[str]:
    """The files that ship with the engine and were explored by it without a finding, by the hash they are pinned by."""
    try:
        with open(_EXPLORED, encoding="ascii") as file:
            return frozenset(line.split()[0] for line in file)
    except OSError:
        return frozenset()  # then every machine is explored when it is loaded


def canonical(document: Mapping[str, Any]) -> bytes:
    """The bytes a machine is pinned and recognised by; the order of a file is kept, because it means something."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def load(
    name_or_path: str,
    vocabulary: Vocabulary | None,
    *,
    limits: Mapping[str, int] | None = None,
    options: Sequence[str] = (),
) -> tuple[Machine, bytes]:
    """A machine with the project's settings applied, and the canonical bytes to pin it by."""
    document, where = read_document(name_or_path)
    return parse(document, vocabulary, limits=limits, options=options, where=where), canonical(document)


def questions_of(name: str) -> tuple[str, ...]:
    """The questions that the gates of a machine want answered in words; for simulated answers."""
    machine, _ = load(name, None)
    return tuple(question for gate in machine.gates.values() for question in gate.params.get("questions", ()))


def scaffold(machine: str, name: str) -> str:
    """The first text of a file in a new task folder; a machine from elsewhere has none, so the file starts empty."""
    if pack := BROUGHT.get(machine):
        return pack.text(SCAFFOLD + name)
    path = os.path.join(built_in_folder(machine), "scaffold", name)
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""
