"""The `json_document` codec: a JSON object whose values are named by pointers such as `/phase/type`.

A label without a slash is a key at the top. Where a value changes, the document is written again, indented as its
first line; other keys, their order and the last line end stay. Only objects are entered, lists are values. A value
that a machine keeps for some states stands there in those only; in the others what holds it is gone too.
"""

from __future__ import annotations

import json
import re

from detent.errors import UnreadableError
from detent.store.text.fields import Content, Found
from detent.words.store import text as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.core.machine import Machine

_MARK = "\ufeff"
_BLANK = " \t\r\n"
_INDENT = "  "  # where the text does not show one
_FIRST_LINE = re.compile(r'\{[ \t]*\r?\n([ \t]*)"')


class JsonDocument:
    missing_is_default = True

    def __init__(self, machine: Machine, labels: tuple[str, ...], numbers: tuple[str, ...]) -> None:
        self.states = tuple(machine.states)
        self.state_label: str = machine.store.state
        self.only_in: Mapping[str, Sequence[str]] = machine.store.only_in
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
            raise UnreadableError(say.names_no_state(self.state_label, shown, self.states))
        return Content(fields, str(state), len(text))

    def write(self, text: str, values: Mapping[str, str]) -> str:
        if not text.strip(_MARK + _BLANK):
            text = text.rstrip(_BLANK) + "{\n}\n"
        data, is_changed = _parsed(text), False
        for label, value in values.items():
            found, held = _at(data, _tokens(label))
            if not found or self._text(label, held) != value:
                _put(data, _tokens(label), self._value(label, value))
                is_changed = True
        is_changed |= self._remove_others(data, values.get(self.state_label, ""))
        return _written(data, text) if is_changed else text

    def _remove_others(self, data: dict[str, Any], state: str) -> bool:
        """What is kept for other states than this goes, with the object that holds nothing for this one."""
        is_changed = False
        due = [_tokens(label) for label in self.labels if state in self.only_in.get(label, (state,))]
        for label in self.only_in if state else ():
            tokens = _tokens(label)
            if tokens not in due:
                holder = tokens[:-1]
                is_needed = not holder or any(other[: len(holder)] == holder for other in due)
                is_changed |= _remove(data, tokens if is_needed else holder)
        return is_changed

    def replace(self, text: str, label: str, value: str) -> str:
        return self.write(text, {label: value})

    def add_line(self, text: str, _section: str, _line: str, /) -> str:
        return text  # there are no sections; what a person says stands in the journal

    def repair(self, damaged: str, good: str, values: Mapping[str, str], /) -> str:
        """The damaged text with the engine's values, if that can be read; else the good one."""
        try:
            text = self.write(damaged, values)
            self.read(text)
        except UnreadableError:
            return self.write(good, values)
        return text if damaged.strip(_MARK + _BLANK) else self.write(good, values)

    def _text(self, label: str, value: Any) -> str:
        """A value as text; a number that is no number gets another text."""
        if value is None:
            return ""
        if isinstance(value, str) and label not in self.numbers:
            return value
        return json.dumps(value, ensure_ascii=False)

    def _value(self, label: str, value: str) -> Any:
        if label in self.numbers and value.isdecimal():
            return int(value)
        if value[:1] in ("{", "["):  # a list or an object that was read as text
            try:
                return json.loads(value)
            except (ValueError, RecursionError):
                pass
        return value or None


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
        raise UnreadableError(say.half_a_character()) from error
    except json.JSONDecodeError as error:
        raise UnreadableError(say.no_json_in_line(error.lineno, error.msg)) from error
    except (ValueError, RecursionError) as error:
        raise UnreadableError(say.no_json(error)) from error
    return data


def _parsed(text: str) -> dict[str, Any]:
    data = strict_json(text.removeprefix(_MARK))
    if not isinstance(data, dict):
        raise UnreadableError(say.no_json_object())
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        raise ValueError(say.key_twice(next(key for key in names if names.count(key) > 1)))
    return found


def _no_constant(name: str) -> None:
    raise ValueError(say.no_json_value(name))


def _at(data: Any, tokens: Sequence[str]) -> tuple[bool, Any]:
    """Whether a pointer leads anywhere, and the value there."""
    for token in tokens:
        if not isinstance(data, dict) or token not in data:
            return False, None
        data = data[token]
    return True, data


def _put(data: dict[str, Any], tokens: Sequence[str], value: Any) -> None:
    """Set the value at a pointer; objects on the way are made where there are none."""
    *way, last = tokens
    for token in way:
        if not isinstance(data.get(token), dict):
            data[token] = {}
        data = data[token]
    data[last] = value


def _remove(data: dict[str, Any], tokens: Sequence[str]) -> bool:
    """Remove the key at a pointer; whether there was one."""
    *way, last = tokens
    found, holder = _at(data, way)
    if not found or not isinstance(holder, dict) or last not in holder:
        return False
    del holder[last]
    return True


def _written(data: dict[str, Any], text: str) -> str:
    """The data as a text that looks like this one: mark, indentation, line ends and what follows the last brace."""
    top, end = text.index("{"), text.rindex("}") + 1
    shown, is_open = _FIRST_LINE.match(text, top), "\n" in text[top:end]
    indent = shown[1] if shown else _INDENT if is_open else None
    try:
        body = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(say.json_not_written(error)) from error
    if "\r\n" in text[top:end]:
        body = body.replace("\n", "\r\n")
    return text[:top] + body + text[end:]
