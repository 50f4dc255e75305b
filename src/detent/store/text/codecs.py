"""How a machine's main file is read and edited: one protocol, one dictionary with a maker per kind of file.

A codec belongs to one machine and remembers nothing. What it does not own it leaves as it is, byte for byte. It knows
text only: `native.py` reads and writes the files.
"""

from __future__ import annotations

from detent.store.text.fields import Content, append_to_section, read_fields, replace_value, write_fields
from detent.store.text.labels import NUMBERS, labels_from, state_labels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from detent.core.machine import Machine

    class Codec(Protocol):
        # Whether a field that is not there stands for its first value, and so is nothing to complain about.
        missing_is_default: bool

        def read(self, text: str) -> Content:
            """What the text says; an UnreadableError without a place when it can't be understood."""

        def write(self, text: str, values: Mapping[str, str]) -> str:
            """The text with these values; what is missing is put in. An empty text is a document to begin."""

        def replace(self, text: str, label: str, value: str) -> str:
            """The text with a whole, possibly many-lined value in the place of the one that stands there."""

        def add_line(self, text: str, section: str, line: str, /) -> str:
            """The text with one more line under a heading: where a person's answer goes."""

        def repair(self, damaged: str, good: str, values: Mapping[str, str], /) -> str:
            """A readable text made of one that can't be read and the last good one; it keeps what can be kept."""


class MarkdownFields:
    """`Label: value` lines of a Markdown document, see fields.py; no text is unreadable to it."""

    missing_is_default = False

    def __init__(self, machine: Machine) -> None:
        self.state_label: str = machine.store.state
        self.labels = labels_of(machine)

    def read(self, text: str) -> Content:
        fields = read_fields(text, self.labels)
        state = fields[self.state_label].line_value.strip("*_` ") if self.state_label in fields else ""
        return Content(fields, state)

    def write(self, text: str, values: Mapping[str, str]) -> str:
        return write_fields(text, self.labels, values)

    def replace(self, text: str, label: str, value: str) -> str:
        return replace_value(text, self.labels, label, value)

    def add_line(self, text: str, section: str, line: str) -> str:
        return append_to_section(text, section, line)

    def repair(self, _damaged: str, good: str, _values: Mapping[str, str], /) -> str:
        return good  # only a binary or empty file is ever damaged here


def labels_of(machine: Machine) -> tuple[str, ...]:
    """Every label of the main file; the state's comes first: codecs put a lost first label back at the top."""
    updated = (machine.store.updated,) if machine.store.updated else ()
    owned = [register.field for register in machine.registers.values() if register.field]
    shown = (*owned, *machine.store.shows, *state_labels(machine, machine.store.status), *updated)
    return tuple(dict.fromkeys((machine.store.state, *machine.fields, *numbers_of(machine), *shown)))


def numbers_of(machine: Machine) -> tuple[str, ...]:
    """The labels whose values are whole numbers: counters, and the version of the file's own format."""
    version = (machine.store.version.field,) if machine.store.version else ()
    shown = labels_from(machine, NUMBERS) if machine.store.shows else ()
    rounds = state_labels(machine, machine.store.rounds) if machine.store.rounds else ()
    return (*(limit.field for limit in machine.limits.values() if limit.field), *version, *shown, *rounds)


# A task loads the codec of its own machine only.


def _frontmatter(machine: Machine) -> Codec:
    from detent.store.text.frontmatter import Frontmatter

    return Frontmatter(machine, labels_of(machine), numbers_of(machine))


def _json_document(machine: Machine) -> Codec:
    from detent.store.text.json_document import JsonDocument

    return JsonDocument(machine, labels_of(machine), numbers_of(machine))


CODECS: Mapping[str, Callable[[Machine], Codec]] = {
    "markdown_fields": MarkdownFields,
    "frontmatter": _frontmatter,
    "json_document": _json_document,
}
