"""Why a document can't be read or written: the sentences of the store's texts."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def head_too_long(most: int) -> str:
    return f"its head is longer than {most} characters"


@message
def head_not_closed() -> str:
    return 'its head is not closed by a second "---" line'


@message
def no_head() -> str:
    return 'it does not begin with a "---" line'


@message
def no_state_in_head(label: str, states: Iterable[str]) -> str:
    return f'its head has no "{label}:"; one of: {", ".join(states)}'


@message
def no_state_in_line(line: int, label: str, shown: str, states: Iterable[str]) -> str:
    return f'line {line}: "{label}: {shown}" names no state; one of: {", ".join(states)}'


@message
def no_plain_value(line: int, label: str) -> str:
    return f"line {line}: {label} must be a plain value, not a list, table, anchor, alias or tag"


@message
def linked_value(label: str) -> str:
    return f"{label} is written with an anchor, an alias or a tag"


@message
def head_unreadable(problem: str) -> str:
    return f"its head can't be read: {problem}"


@message
def no_json_value(name: str) -> str:
    return f"{name} is no JSON value"


@message
def no_json_object() -> str:
    return "it is no JSON object"


@message
def key_twice(key: str) -> str:
    return f"the key {key!r} stands there twice"


@message
def names_no_state(label: str, shown: str, states: Iterable[str]) -> str:
    return f"{label} is {shown}, which names no state; one of: {', '.join(states)}"


@message
def half_a_character() -> str:
    return "no valid JSON: a text holds half a character"


@message
def no_json_in_line(line: int, problem: str) -> str:
    return f"line {line}: no valid JSON: {problem}"


@message
def no_json(problem: Exception) -> str:
    return f"no valid JSON: {problem}"


@message
def json_not_written(problem: Exception) -> str:
    return f"the JSON document can't be written: {problem}"


@message
def too_deep(most: int) -> str:
    return f"brackets are nested deeper than {most}"


@message
def no_key_value_lines() -> str:
    return "not made of lines like `key: value`"


@message
def key_twice_in_line(line: int, key: str) -> str:
    return f"line {line}: the key {key!r} stands there twice"


@message
def no_yaml_in_line(line: int, problem: str) -> str:
    return f"line {line}: no valid YAML: {problem}"


@message
def no_yaml(problem: str) -> str:
    return f"no valid YAML: {problem}"
