"""The `json_document` codec: a JSON object whose values are named by pointers such as `/phase/type`.

A label without a slash is a key at the top. Values are replaced, put in and taken out by their place in the text, so
that other keys, their order, numbers as they are written, indentation and the last line end stay. Only objects are
entered, lists are values. A value that a machine keeps for some states stands there in those only; in the others what
holds it is gone too.
"""

from __future__ import annotations

import json

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.store.text.codecs import Content
from detent.store.text.fields import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.core.machine import Machine

_MARK = "\ufeff"
_BLANK = " \t\r\n"


class Member(Record):
    """A key of an object with its value; the offsets count characters."""

    key: str
    key_start: int
    key_end: int
    start: int
    end: int


class JsonDocument:
    missing_is_default = True

    def __init__(self, machine: Machine, labels: tuple[str, ...], numbers: tuple[str, ...]) -> None:
        self.states = tuple(machine.states)
        self.state_label: str = machine.store["state"]
        self.only_in: Mapping[str, Sequence[str]] = machine.store.get("only_in", {})
        self.labels = labels
        self.numbers = numbers

    def read(self, text: str) -> Content:
        data = _parsed(text)
        fields: dict[str, Found] = {}
        for label in self.labels:
            found, value = _at(data, _tokens(label))
            if found:
                shown = self._text(label, value)
                fields[label] = Found(label, shown, shown, 0, 0)
        state = _at(data, _tokens(self.state_label))[1]
        if state not in self.states:
            shown = json.dumps(state, ensure_ascii=False)[:60]
            raise UnreadableError(
                f"{self.state_label} is {shown}, which names no state; one of: {', '.join(self.states)}"
            )
        return Content(fields, str(state), len(text))

    def write(self, text: str, values: Mapping[str, str]) -> str:
        if not text.strip(_MARK + _BLANK):
            text = text.rstrip(_BLANK) + "{\n}\n"
        data = _parsed(text)
        for label, value in values.items():
            found, held = _at(data, _tokens(label))
            if not found or self._text(label, held) != value:
                text = _put(text, _tokens(label), self._json(label, value))
        return self._without_others(text, values.get(self.state_label, ""))

    def _without_others(self, text: str, state: str) -> str:
        """What is kept for other states than this goes, with the object that holds nothing for this one."""
        due = [_tokens(label) for label in self.labels if state in self.only_in.get(label, (state,))]
        for label in self.only_in if state else ():
            tokens = _tokens(label)
            if tokens not in due:
                holder = tokens[:-1]
                is_needed = not holder or any(other[: len(holder)] == holder for other in due)
                text = _cut(text, tokens if is_needed else holder)
        return text

    def replace(self, text: str, label: str, value: str) -> str:
        return self.write(text, {label: value})

    def add_line(self, text: str, _section: str, _line: str, /) -> str:
        return text  # there are no sections; what a person says stands in the journal

    def mend(self, spoilt: str, good: str, values: Mapping[str, str], /) -> str:
        """The spoilt text with the engine's values, if that can be read; else the good one."""
        try:
            text = self.write(spoilt, values)
            self.read(text)
        except UnreadableError:
            return self.write(good, values)
        return text if spoilt.strip(_MARK + _BLANK) else self.write(good, values)

    def _text(self, label: str, value: Any) -> str:
        """A value as text; a number that is no number is told apart from one."""
        if value is None:
            return ""
        if isinstance(value, str) and label not in self.numbers:
            return value
        return json.dumps(value, ensure_ascii=False)

    def _json(self, label: str, value: str) -> str:
        if label in self.numbers and value.isdecimal():
            return value
        if value[:1] in ("{", "["):  # a list or an object that was read as text
            try:
                return json.dumps(json.loads(value), ensure_ascii=False)
            except (ValueError, RecursionError):
                pass
        return json.dumps(value, ensure_ascii=False) if value else "null"


def _tokens(label: str) -> tuple[str, ...]:
    if not label.startswith("/"):
        return (label,)
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in label[1:].split("/"))


def strict_json(text: str) -> Any:
    """The value of a JSON text; what other readers may understand otherwise is refused."""
    try:
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        if "\\u" in text:  # escapes may stand for half a character, which no file can hold
            json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise UnreadableError("no valid JSON: a text holds half a character") from error
    except json.JSONDecodeError as error:
        raise UnreadableError(f"line {error.lineno}: no valid JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"no valid JSON: {error}") from error
    return data


def _parsed(text: str) -> dict[str, Any]:
    data = strict_json(text.removeprefix(_MARK))
    if not isinstance(data, dict):
        raise UnreadableError("it is no JSON object")
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in names if names.count(key) > 1)!r} stands there twice")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _at(data: Any, tokens: Sequence[str]) -> tuple[bool, Any]:
    """Whether a pointer leads anywhere, and the value there."""
    for token in tokens:
        if not isinstance(data, dict) or token not in data:
            return False, None
        data = data[token]
    return True, data


# --- edits; the text was parsed before, so that everything is where it must be ---


def _after_blank(text: str, at: int) -> int:
    while text[at] in _BLANK:
        at += 1
    return at


def _members(text: str, at: int) -> list[Member]:
    """The members of the object that begins here."""
    decoder = json.JSONDecoder()
    found: list[Member] = []
    at = _after_blank(text, at + 1)
    while text[at] != "}":
        if text[at] == ",":
            at = _after_blank(text, at + 1)
        key, key_end = decoder.raw_decode(text, at)
        start = _after_blank(text, _after_blank(text, key_end) + 1)
        _, end = decoder.raw_decode(text, start)
        found.append(Member(key, at, key_end, start, end))
        at = _after_blank(text, end)
    return found


def _top(text: str) -> int:
    return _after_blank(text, 1 if text.startswith(_MARK) else 0)


def _put(text: str, tokens: Sequence[str], raw: str) -> str:
    """The text with a value at a pointer; objects on the way are made where there are none."""
    at = _top(text)
    for depth, token in enumerate(tokens):
        members = _members(text, at)
        member = next((one for one in members if one.key == token), None)
        inner = raw
        for name in reversed(tokens[depth + 1 :]):
            inner = f"{{{json.dumps(name, ensure_ascii=False)}: {inner}}}"
        if member is None:
            return _insert(text, at, members, token, inner)
        if depth == len(tokens) - 1 or text[member.start] != "{":
            return text[: member.start] + inner + text[member.end :]
        at = member.start
    return text


def _insert(text: str, at: int, members: Sequence[Member], key: str, raw: str) -> str:
    """One more member, written as its neighbour is."""
    name = json.dumps(key, ensure_ascii=False)
    if not members:
        is_open = "\n" in text[at : text.index("}", at)]
        return (
            f"{text[: at + 1]}\n  {name}: {raw}{text[at + 1 :]}"
            if is_open
            else f"{text[: at + 1]}{name}: {raw}{text[at + 1 :]}"
        )
    last = members[-1]
    before = text.rindex(",", members[-2].end, last.key_start) if len(members) > 1 else at
    colon = text[last.key_end : last.start]
    gap = text[before + 1 : last.key_start] or (" " if colon.endswith(" ") else "")
    return f"{text[: last.end]},{gap}{name}{colon}{raw}{text[last.end :]}"


def _cut(text: str, tokens: Sequence[str]) -> str:
    """The text without the member at a pointer, and without the comma it no longer needs."""
    at = _top(text)
    for depth, token in enumerate(tokens):
        members = _members(text, at)
        place = next((number for number, one in enumerate(members) if one.key == token), None)
        if place is None:
            return text
        member = members[place]
        if depth < len(tokens) - 1:
            if text[member.start] != "{":
                return text
            at = member.start
        elif place:
            return text[: members[place - 1].end] + text[member.end :]
        elif len(members) > 1:
            return text[: member.key_start] + text[members[1].key_start :]
        else:
            return text[: at + 1] + text[_after_blank(text, member.end) :]
    return text
