"""The reference page of the journal: kinds and fields with their types come from the types of the lines.

The first line of a type's docstring names the writer of the line, the comment of a field is its sentence. A field
without one stops the generation.
"""

from __future__ import annotations

import inspect
import re

from detent.store.journal.chain import FORMAT
from detent.store.journal.events import KINDS
from detent.store.journal.line import Line, required
from tools.docs_machines import table

_FIELD = re.compile(r"^    (\w+): (.+?)(?: = .+?)?(?:  # (.+))?$")
_TYPES = (
    (" | None", ""),
    ("Sequence[Mapping[str, str]]", "list of tables of text"),
    ("Mapping[str, Any]", "table"),
    ("Mapping[str, Mapping[str, str]]", "table of tables of text"),
    ("Mapping[str, Mapping[str, float]]", "table of tables of numbers"),
    ("Mapping[str, Sequence[str]]", "table of lists of text"),
    ("Mapping[str, FactSaid]", "table of tables"),
    ("Mapping[str, Print]", "table of tables"),
    ("Mapping[str, str]", "table of text"),
    ("Mapping[str, int]", "table of whole numbers"),
    ("Mapping[str, float]", "table of numbers"),
    ("Sequence[Sequence[str]]", "list of pairs of text"),
    ("Sequence[Lacking]", "list of tables"),
    ("Sequence[str]", "list of text"),
    ("Filed", "table"),
    ("Found", "table"),
    (" | ", " or "),
)
_PLAIN = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false"}
_ABOUT = f"""\
`journal.jsonl` is the truth about a task: one JSON object per line, each with the SHA-256 of the line before. Its
format is {FORMAT}; without `format` in its first line it is 1. A journal of a newer format, or with a line of an
unknown kind, is refused with exit 5 before anything is read or written."""
_ADDED = """\
A line that says what is remembered of the task has `us` and `after`. A line that leads to a new text of the native file
has `native`: that `text`, and in `was` the SHA-256 of the text it replaces; it is empty where the file was synced."""


def fields_of(kind: type[Line]) -> dict[str, tuple[str, str]]:
    """Each field of a type by its name in the line: its type in words, and its sentence."""
    found: dict[str, tuple[str, str]] = {}
    for one in reversed(kind.__mro__[:-1]):
        for row in inspect.getsource(one).splitlines() if one is not Line or kind is Line else ():
            match = _FIELD.match(row)
            if match is None or "ClassVar" in match[2]:
                continue
            name = match[1].removesuffix("_")
            if not match[3]:
                raise SystemExit(f"the field {name} of {one.__name__} has no sentence in a comment")
            found[name] = (_words(match[2]), match[3])
    return found


def _words(kind: str) -> str:
    for text, words in _TYPES:
        kind = kind.replace(text, words)
    return _PLAIN.get(kind, kind)


def journal_page() -> list[str]:
    general = fields_of(Line)
    lines = [
        "# Journal",
        "",
        " ".join(_ABOUT.split()),
        "",
        "## Every line",
        "",
        " ".join(_ADDED.split()),
        "",
        *table(("field", "type", "meaning"), ((f"`{name}`", kind, words) for name, (kind, words) in general.items())),
    ]
    for name, kind in KINDS.items():
        due = {*required(kind), *kind.since_2}
        lines += [f"## {name}", "", _says(kind), ""]
        rows = ((f"`{field}`", told[0], told[1] + _lacks(field, due, kind)) for field, told in fields_of(kind).items())
        lines += table(("field", "type", "meaning"), rows)
    return lines


def _says(kind: type[Line]) -> str:
    remembered = " It says what is remembered of the task after it." if kind.is_state else ""
    return " ".join((inspect.getdoc(kind) or "").split()) + remembered


def _lacks(field: str, due: set[str], kind: type[Line]) -> str:
    if field in kind.since_2:
        return " (since format 2)"
    return "" if field in due else " (may be missing)"
