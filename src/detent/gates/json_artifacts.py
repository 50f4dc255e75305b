"""Reads JSON that agents and people leave as proof: strictly, by a published schema, with a pointer to what is wrong.

Missing, empty, with a byte order mark, not UTF-8, too large, a link, a key that stands there twice, NaN: none is read.
The schemas ship with the package, beside the machine that names them (`packs/<name>/schemas`). They are asked by a
library (fastjsonschema, docs/adr/0019), which is loaded only when there is a file to ask about.
"""

from __future__ import annotations

import json

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.gates.seen import Finding
from detent.store.disk.digest import hash_text
from detent.store.text.json_document import strict_json
from detent.words import artifacts as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from detent.core.machine import Gate
    from detent.gates.seen import Seen

_MARK = "\ufeff"
_MOST_SHOWN = 120  # characters of a quoted text


class Artifact(Record):
    """A file as it was read: its value, or why there is none."""

    file: str
    data: Any = None
    problem: str = ""
    evidence: Mapping[str, str] = {}

    def closed(self, why: str, pointer: str = "") -> Finding:
        """The answer that this file does not give what is asked for, with the place."""
        return Finding(ok=False, why=say.at(self.file, pointer, why), evidence=self.evidence)


def hash_data(data: Any) -> str:
    """The evidence hash of a JSON text: another order or indentation is not another answer."""
    return hash_text(json.dumps(data, sort_keys=True))


def read_artifact(seen: Seen, file: str, schema: str) -> Artifact:
    """A JSON file of the task folder that fits its schema; anything else has a problem, in words with a pointer."""
    try:
        text = seen.files.text(file)
    except UnreadableError as error:
        raise UnreadableError(error.what, where=file, next_step=say.put_json(file)) from error
    key = f"file:{file}"
    evidence = {key: hash_text(text or "")}
    if text is None or not text.strip():
        return Artifact(file, None, say.json_missing(file) if text is None else say.json_empty(file), evidence)
    if text.startswith(_MARK):
        return Artifact(file, None, say.at(file, "", say.byte_order_mark()), evidence)
    try:
        data = strict_json(text)
    except UnreadableError as error:
        return Artifact(file, None, say.at(file, "", error.what), evidence)
    evidence = {key: hash_data(data)}
    return Artifact(file, data, misfit(file, schema, data), evidence)


_VALIDATORS: dict[str, Callable[[Any], Any]] = {}  # compiled once in a process


def misfit(file: str, schema: str, data: Any) -> str:
    """The first place where a value does not fit a schema, in words; empty when it fits."""
    from fastjsonschema import JsonSchemaValueException, compile  # noqa: A004  # asks for more than a start can pay

    if schema not in _VALIDATORS:
        from detent.machines.schemas import schema_text

        # Only the first problem is reported, so no formats and no defaults are needed: nothing is filled in.
        _VALIDATORS[schema] = compile(strict_json(schema_text(schema)), use_default=False, use_formats=False)
    try:
        _VALIDATORS[schema](data)
    except JsonSchemaValueException as error:
        tokens = [str(part).replace("~", "~0").replace("/", "~1") for part in error.path[1:]]
        said = str(error.message).removeprefix(str(error.name)).strip()
        return say.at(file, "/" + "/".join(tokens) if tokens else "/", said)[: 4 * _MOST_SHOWN]
    except RecursionError:
        return say.at(file, "", say.json_too_deep())
    return ""


def shown(value: object) -> str:
    """A value from a file, cut to fit into a sentence."""
    return json.dumps(value, ensure_ascii=False)[:_MOST_SHOWN]


def json_valid(gate: Gate, seen: Seen) -> Finding:
    """A JSON file of the task folder fits one of the published schemas."""
    found = read_artifact(seen, gate.params["file"], gate.params["schema"])
    return Finding(ok=not found.problem, why=found.problem, evidence=found.evidence)
