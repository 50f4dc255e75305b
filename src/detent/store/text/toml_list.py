"""Sets one list of texts in a TOML file and keeps every other byte of it: comments, order, line ends.

The file must parse, and what is written is parsed again: unless exactly this list differs, nothing comes of it.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_QUOTES = ('"""', "'''", '"', "'")
_INDENT = "    "


def with_list(text: str, table: str, key: str, values: Sequence[str]) -> str:
    """The file with `key` of `[table]` set to these; raises ValueError where that can't be said without other changes.

    A list that is there is replaced. Else the key is added below the table's head, and a table that is not there at
    the end of the file.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    written = f"{key} = {_listed(values, end)}"
    head = 0
    inside = ""
    for start, stop, name, is_head in _statements(text):
        if is_head:
            inside = name
            head = stop if name == table else head
        elif inside == table and name == key:
            value = text.index("=", start) + 1
            value += len(text[value:stop]) - len(text[value:stop].lstrip())
            return _checked(text, f"{text[:value]}{_listed(values, end)}{text[stop:]}", table, key, values)
    if head:
        after = text.find("\n", head) + 1 or len(text)
        between = "" if text[:after].endswith("\n") else end
        made = f"{text[:after]}{between}{written}{end}{text[after:]}"
    else:
        between = end if text.endswith("\n") or not text else end + end
        made = f"{text}{between}[{table}]{end}{written}{end}"
    return _checked(text, made, table, key, values)


def _listed(values: Sequence[str], end: str) -> str:
    quoted = [json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f") for value in values]
    if len(quoted) < 2:
        return f"[{''.join(quoted)}]"
    return "".join((f"[{end}", *(f"{_INDENT}{value},{end}" for value in quoted), "]"))


def _checked(before: str, after: str, table: str, key: str, values: Sequence[str]) -> str:
    wanted = {**_parsed(before)}
    wanted[table] = {**wanted.get(table, {}), key: list(values)}
    if _parsed(after) != wanted:
        raise ValueError(key)
    return after


def _parsed(text: str) -> Mapping[str, dict[str, object]]:
    import tomllib  # slow to import, and few commands write settings

    return tomllib.loads(text.replace("\r\n", "\n"))


def _statements(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Where each head of a table and each `key = value` begins and ends, its name, and whether it is a head."""
    at = 0
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
        elif text[at] == "#":
            at = _line_end(text, at)
        elif text[at] == "[":
            stop = _line_end(text, at)
            match = re.match(r"\[\s*([\w-]+)\s*\]", text[at:stop])
            yield at, at + (match.end() if match else stop - at), match[1] if match else "", True
            at = stop
        else:
            start, at = at, _end_of_value(text, at)
            yield start, at, text[start:at].partition("=")[0].strip(), False
            at = _line_end(text, at)


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _end_of_value(text: str, at: int) -> int:
    """Where the statement that begins here ends: before a comment or the end of its line, outside of any bracket."""
    depth, last = 0, at
    while at < len(text):
        char = text[at]
        if char == "#":
            if not depth:
                break
            at = _line_end(text, at)
            continue
        if char == "\n" and not depth:
            break
        quote = next((mark for mark in _QUOTES if text.startswith(mark, at)), "")
        if quote:
            at = last = _end_of_text(text, at + len(quote), quote)
            continue
        depth += (char in "[{") - (char in "]}")
        at += 1
        last = last if char in " \t\r\n" else at
    return last


def _end_of_text(text: str, at: int, quote: str) -> int:
    while at < len(text):
        if text[at] == "\\" and quote.startswith('"'):
            at += 2
        elif text.startswith(quote, at):
            at += len(quote)
            while len(quote) == 3 and text.startswith(quote[0], at):
                at += 1  # up to two more may end the text itself
            return at
        else:
            at += 1
    return at
