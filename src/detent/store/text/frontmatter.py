"""The `frontmatter` codec: YAML between two `---` lines, then a Markdown body.

The engine rewrites the values of its own keys and nothing else: body, unknown keys, comments, order, quotes, line ends
and byte-order mark stay as they are. A head that can't be read, or that names no state of the machine, is a reported
error; `repair` then makes a readable document that keeps the body.
"""

from __future__ import annotations

import re

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.store.text.fields import Content, Found, append_to_section
from detent.store.text.yaml_entries import LINK, LIST, TABLE, TEXT, is_plain_text, line_of, read_entries
from detent.words.store import text as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.core.machine import Machine
    from detent.store.text.yaml_entries import Entry

LARGEST_HEAD_CHARACTERS = 16_000  # reading YAML is slow, and a head is a few lines
_FENCE = r"---[ \t]*(?:\r\n|\n|\r|\Z)"
_MARK = "\ufeff"


class Block(Record):
    """Where a head stands; what lies between `start` and `end` is YAML."""

    start: int
    end: int
    body_start: int
    newline: str


class Frontmatter:
    missing_is_default = True

    def __init__(self, machine: Machine, labels: tuple[str, ...], numbers: tuple[str, ...]) -> None:
        self.states = tuple(machine.states)
        self.state_label: str = machine.store.state
        self.labels = labels
        self.numbers = numbers

    def read(self, text: str) -> Content:
        block = _need_block(text)
        entries = _entries(text, block)
        fields: dict[str, Found] = {}
        for label in self.labels:
            if (entry := entries.get(label)) is None:
                continue
            if entry.kind in (LIST, TABLE, LINK):
                raise UnreadableError(say.no_plain_value(line_of(text, entry.start), label))
            value = entry.value.strip("\n")  # a block of text ends with one that is not part of it
            fields[label] = Found(label, value, value, entry.start, entry.end)
        return Content(fields, self._state(text, entries.get(self.state_label)), block.body_start)

    def _state(self, text: str, entry: Entry | None) -> str:
        if entry is None:
            raise UnreadableError(say.no_state_in_head(self.state_label, self.states))
        if entry.kind != TEXT or entry.value not in self.states:
            shown = " ".join(text[entry.start : entry.end].split())[:60]
            line = line_of(text, entry.start)
            raise UnreadableError(say.no_state_in_line(line, self.state_label, shown, self.states))
        return entry.value

    def write(self, text: str, values: Mapping[str, str]) -> str:
        block = find_block(text)
        if block is None:
            return self._begin(text, values)
        entries = _entries(text, block)
        indent = _indent(text, block) if entries else ""
        newline = block.newline + indent
        wanted = {label: value.strip("\n") for label, value in values.items()}
        added = "".join(
            f"{indent}{label}: {self._shown(label, value, newline)}{block.newline}"
            for label, value in wanted.items()
            if label not in entries
        )
        edits = [(entries[label], label) for label in wanted if label in entries]
        text = f"{text[: block.end]}{added}{text[block.end :]}"
        for entry, label in sorted(edits, key=lambda edit: edit[0].start, reverse=True):
            if _says(entry, wanted[label]):
                continue
            if entry.kind == LINK:  # what is linked to from elsewhere is not ours to take away
                raise UnreadableError(say.linked_value(label))
            gap = "" if text[entry.start - 1] in " \t\r\n" else " "
            # A block of lines would swallow what follows on the line, such as a comment.
            lines = newline if text[entry.end] in "\r\n" else ""
            text = f"{text[: entry.start]}{gap}{self._shown(label, wanted[label], lines)}{text[entry.end :]}"
        return text

    def replace(self, text: str, label: str, value: str) -> str:
        return self.write(text, {label: value})

    def add_line(self, text: str, section: str, line: str) -> str:
        at = _need_block(text).body_start
        return text[:at] + append_to_section(text[at:], section, line)

    def repair(self, damaged: str, good: str, values: Mapping[str, str]) -> str:
        """The damaged text with the engine's values, if that can be read; else its body under the good head."""
        block = find_block(damaged)
        if block is not None:
            try:
                text = self.write(damaged, values)
                self.read(text)
            except UnreadableError:
                pass
            else:
                return text
        good = self.write(good, values)
        if not damaged.strip(f"{_MARK} \t\r\n"):
            return good
        return good[: _need_block(good).body_start] + _body_of(damaged, block)

    def _begin(self, text: str, values: Mapping[str, str]) -> str:
        """A head for a text that has none."""
        mark = _MARK if text.startswith(_MARK) else ""
        body = text.removeprefix(_MARK)
        gap = "\n" if body and body[0] not in "\r\n" else ""
        lines = "".join(
            f"{label}: {self._shown(label, values[label].strip(chr(10)), chr(10))}\n"
            for label in self.labels
            if label in values
        )
        return f"{mark}---\n{lines}---\n{gap}{body}"

    def _shown(self, label: str, value: str, newline: str) -> str:
        """A value as YAML: plain where that is safe, as lines where it has some and may, else in quotes."""
        if is_plain_text(value) or (label in self.numbers and value.isdecimal()):
            return value
        if newline and re.fullmatch(r"[\w!-~][ \w!-~]*(?:\n+ *[\w!-~][ \w!-~]*)+(?<! )", value):
            return "|-" + "".join(f"{newline}  {line}" if line else newline for line in value.split("\n"))
        return '"' + re.sub(r'[\\"]|[^ \w!-~]', lambda match: _escaped(match[0]), value) + '"'


def find_block(text: str) -> Block | None:
    """Where the head stands; None when the text does not begin with one, or it does not end."""
    start = 1 if text.startswith(_MARK) else 0
    opening = re.compile(_FENCE).match(text, start)
    if opening is None:
        return None
    closing = re.compile(rf"(?<=[\r\n]){_FENCE}").search(text, opening.end())
    if closing is None:
        return None
    newline = opening[0].lstrip("- \t") or "\n"
    return Block(opening.end(), closing.start(), closing.end(), newline)


def _need_block(text: str) -> Block:
    block = find_block(text)
    if block is None:
        has_begun = re.compile(_FENCE).match(text.removeprefix(_MARK))
        raise UnreadableError(say.head_not_closed() if has_begun else say.no_head())
    return block


def _entries(text: str, block: Block) -> dict[str, Entry]:
    """The keys of a head, with their places in the whole text."""
    if block.end - block.start > LARGEST_HEAD_CHARACTERS:
        raise UnreadableError(say.head_too_long(LARGEST_HEAD_CHARACTERS))
    head = text[block.start : block.end]
    try:
        found = read_entries(head, line_of(text, block.start))
    except UnreadableError as error:
        error.what = say.head_unreadable(error.what)
        raise
    at = block.start
    return {key: entry.replace(start=entry.start + at, end=entry.end + at) for key, entry in found.items()}


def _says(entry: Entry, value: str) -> bool:
    return entry.kind not in (LIST, TABLE, LINK) and entry.value.strip("\n") == value


def _indent(text: str, block: Block) -> str:
    """What stands before the keys of a head: all of them begin in the same column."""
    lines = text[block.start : block.end].splitlines()
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    return first[: len(first) - len(first.lstrip(" "))]


def _body_of(damaged: str, block: Block | None) -> str:
    """The Markdown of a text whose head can't be read; too much of it rather than too little."""
    if block is not None:
        return damaged[block.body_start :]
    text = damaged.removeprefix(_MARK)
    if re.match(_FENCE, text) is None:
        return text
    # A head that is not closed ends where a reader sees something else begin: at a blank line or a heading.
    end = re.search(r"(?m)^(?:[ \t]*\r?$|#{1,6}[ \t])", text)
    return text[end.start() :] if end else ""


def _escaped(character: str) -> str:
    if character in '\\"':
        return f"\\{character}"
    known = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(character)
    number = ord(character)
    return known or (character if _is_printable(number) else f"\\U{number:08x}")


def _is_printable(number: int) -> bool:
    """To YAML, which also takes two of these for line ends."""
    if number in (0x2028, 0x2029, 0xFEFF):
        return False
    return 0xA0 <= number <= 0xD7FF or 0xE000 <= number <= 0xFFFD or number > 0xFFFF
