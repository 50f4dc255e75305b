"""The top level of a YAML mapping: what each key says, and where its value stands in the text.

Lines that are a plain `key: value` are read by hand, because loading a YAML library costs more than the rest of a cold
start; as soon as one line is anything else, the library reads all of them. Both must agree: a property test holds them
together, and what is doubtful here is left to the library.
"""

from __future__ import annotations

import re
from functools import lru_cache

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.words.store import text as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

# What a value is; "link" is an anchor, an alias or a tag, "other" any scalar that is neither text, number nor nothing.
TEXT, NUMBER, NOTHING, OTHER, LIST, TABLE, LINK = "text", "number", "nothing", "other", "list", "table", "link"

# Strings, so that nothing is compiled before a document of this kind is met. Only characters that YAML never treats
# apart; `:` and `#` only where they mean nothing.
_WORD = r"[\w!\"$%&'()*+,./;<=>?@\[\]\\^`{|}~-]"
PLAIN = rf"(?:[^\W\d]|/)(?:{_WORD}|(?<! )#|:(?={_WORD})| +(?=[^\s#:]))*+"
_QUOTED = r"\"[\w !#-\[\]-~]*+\"|'[\w !-&(-~]*+'"
_NUMBER = r"0|-?[1-9][0-9]{0,17}"
_COMMENT = r"#[\w !-~]*+"
_LINE = (
    rf"(?P<key>[A-Za-z_][A-Za-z0-9_-]{{0,60}}):"
    rf"(?: +(?:(?P<plain>{PLAIN})|(?P<quoted>{_QUOTED})|(?P<number>{_NUMBER})))?(?: *| +{_COMMENT})"
)
# Plain words that are no text; upper and lower case are left to the library.
_NO_TEXT = frozenset(("yes", "no", "on", "off", "true", "false", "null", "y", "n"))


_DEEPEST = 50


class Entry(Record):
    """One key's value; the offsets count characters, and what stands between them may be replaced."""

    value: str
    kind: str
    start: int
    end: int


def read_entries(text: str, first_line: int = 1) -> Mapping[str, Entry]:
    """Every key of a YAML mapping in block style; an UnreadableError says what is wrong, by line."""
    found = _read_lines(text)
    return found if found is not None else _read_by_library(text, first_line)


def is_plain_text(value: str) -> bool:
    """Whether a text may be written without quotes."""
    return bool(re.fullmatch(PLAIN, value)) and value.lower() not in _NO_TEXT


def line_of(text: str, offset: int) -> int:
    return len(re.findall(r"\r\n|\r|\n", text[:offset])) + 1


def _read_lines(text: str) -> dict[str, Entry] | None:
    """By hand; None when a line is not simple, or says something twice."""
    found: dict[str, Entry] = {}
    at = 0
    for line in re.split(r"(?<=\n)", text):
        content = line.removesuffix("\n").removesuffix("\r")
        start, at = at, at + len(line)
        match = re.fullmatch(_LINE, content)
        if match is None:
            if re.fullmatch(rf" *(?:{_COMMENT})?", content):
                continue
            return None
        entry = _entry(match, start)
        if entry is None or match["key"] in found:
            return None
        found[match["key"]] = entry
    return found


def _entry(match: re.Match[str], start: int) -> Entry | None:
    group = match.lastgroup if match.lastgroup != "key" else ""
    if not group:
        behind = start + match.end("key") + 1
        return Entry("", NOTHING, behind, behind)
    value, kind = match[group], NUMBER if group == "number" else TEXT
    if group == "plain" and value.lower() in _NO_TEXT:
        return None
    return Entry(
        value[1:-1] if group == "quoted" else value, kind, start + match.start(group), start + match.end(group)
    )


@lru_cache(maxsize=8)  # a document is asked for its fields several times in one step
def _read_by_library(text: str, first_line: int) -> Mapping[str, Entry]:
    import yaml  # see above

    if _is_deep(text):  # the library takes very long to find out
        raise UnreadableError(say.too_deep(_DEEPEST))
    try:
        top = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        message = say.no_yaml_in_line(mark.line + first_line, problem) if mark else say.no_yaml(problem)
        raise UnreadableError(message) from error
    except (RecursionError, ValueError) as error:
        raise UnreadableError(say.no_yaml(type(error).__name__)) from error
    if top is None:
        return {}
    has_end = re.search(r"(?:^|[\r\n])\.\.\.", text)  # nothing could be added behind it
    if not isinstance(top, yaml.MappingNode) or top.flow_style or has_end:
        raise UnreadableError(say.no_key_value_lines())
    for key in _repeated(top):
        raise UnreadableError(say.key_twice_in_line(key.start_mark.line + first_line, key.value))
    return {key.value: _entry_of(key, value, text) for key, value in top.value if isinstance(key, yaml.ScalarNode)}


def _is_deep(text: str) -> bool:
    depth = 0
    for bracket in re.findall(r"[\[{\]}]", text):
        depth += 1 if bracket in "[{" else -1
        if depth > _DEEPEST:
            return True
    return False


def _repeated(top: Any) -> Iterator[Any]:
    """Keys that a mapping holds a second time, at any depth; a node that is linked to is read once."""
    todo, seen = [top], set()
    while todo:
        node = todo.pop()
        if id(node) in seen or isinstance(node.value, str):
            continue
        seen.add(id(node))
        names = set()
        for part in node.value:
            if not isinstance(part, tuple):
                todo.append(part)
                continue
            key, value = part
            todo += (key, value)
            if isinstance(key.value, str):
                if key.value in names:
                    yield key
                names.add(key.value)


def _entry_of(key: Any, node: Any, text: str) -> Entry:
    start, end = node.start_mark.index, node.end_mark.index
    # The end of a block lies behind the blank lines that follow it; those belong to no entry.
    end = start + len(text[start:end].rstrip())
    if start < key.end_mark.index or text[start : start + 1] in ("&", "!", "*"):
        return Entry("", LINK, key.end_mark.index, end)
    if not isinstance(node.value, str):
        kind = TABLE if any(isinstance(part, tuple) for part in node.value) else LIST
        return Entry("", kind, start, end)
    kind = {"str": TEXT, "null": NOTHING, "int": NUMBER}.get(node.tag.rpartition(":")[2], OTHER)
    if kind == NUMBER and not re.fullmatch(_NUMBER, node.value):
        kind = OTHER  # octal, sexagesimal and the like: YAML's versions disagree on what they mean
    return Entry("" if kind == NOTHING else node.value, kind, start, end)
