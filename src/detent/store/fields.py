"""The `markdown_fields` codec: `Label: value` lines in a Markdown document, read as a person reads it, edited line-wise.

A label may stand bare, in a list item or in bold; inside code, comments, quotes or deeper lists it is only text. The
first occurrence counts. A value runs until the next known label or heading, fences included. Editing replaces the value
on the label's own line and nothing else: every other byte of the document stays as it is.
"""

from __future__ import annotations

import re

from detent.core.record import Record
from detent.store.markdown import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.store.markdown import Line


class Found(Record):
    """One field in a document."""

    label: str
    line_value: str  # what stands on the label's own line
    value: str  # the whole value, comments removed, as text
    start: int  # span of the line value in the document, white space around it excluded
    end: int
    repeated: int = 0  # how often the label occurs again further down


def _pattern(labels: Sequence[str]) -> re.Pattern[str]:
    # Longest first: "Validation plan" must win over a label that is its beginning.
    names = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    return re.compile(rf"(?:[-*+]\s+)?(?:\*\*|__)?({names})(?:\*\*|__)?\s*:[ \t]*(?:\*\*|__)?[ \t]*", re.IGNORECASE)


def read_fields(text: str, labels: Sequence[str]) -> dict[str, Found]:
    """Every known field that the document shows, by its label as the machine spells it."""
    pattern = _pattern(labels)
    spelled = {label.lower(): label for label in labels}
    found: dict[str, Found] = {}
    current = ""
    parts: dict[str, list[str]] = {}
    for line in scan(text):
        if line.kind == "heading":
            current = ""
            continue
        match = _label_of(line, text, pattern)
        if match is None:
            if current:
                parts[current].append(line.text)
            continue
        label = spelled[match[1].lower()]
        if label in found:
            found[label] = found[label].replace(repeated=found[label].repeated + 1)
            current = ""
            continue
        current = label
        start, end = _value_span(text, line, match)
        parts[label] = [_without_comment(line, text, match)]
        found[label] = Found(label, text[start:end], "", start, end)
    return {label: field.replace(value="\n".join(parts[label]).strip()) for label, field in found.items()}


def _label_of(line: Line, text: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    if line.kind != "text" or line.depth > 1:
        return None
    raw = text[line.start : line.end]
    match = pattern.match(raw.lstrip("\ufeff \t"))
    # A quoted label is somebody's words, not the document's.
    return None if match is None or raw.lstrip().startswith(">") else match


def _value_span(text: str, line: Line, match: re.Match[str]) -> tuple[int, int]:
    raw = text[line.start : line.end]
    start = line.start + len(raw) - len(raw.lstrip("\ufeff \t")) + match.end()
    end = line.start + len(raw.rstrip())
    return start, max(start, end)


def _without_comment(line: Line, text: str, match: re.Match[str]) -> str:
    raw = text[line.start : line.end].lstrip("\ufeff \t")
    visible = line.text.lstrip("\ufeff \t")
    prefix = raw[: match.end()]
    return visible[len(prefix) :].strip() if visible.startswith(prefix) else ""


def write_fields(text: str, labels: Sequence[str], values: Mapping[str, str]) -> str:
    """The document with these values; a label it lacks is added after the last one it has."""
    found = read_fields(text, labels)
    edits = [
        (found[label].start, found[label].end, value)
        for label, value in values.items()
        if label in found and found[label].line_value != value
    ]
    for start, end, value in sorted(edits, reverse=True):
        gap = " " if value and not value.startswith("\n") and start and text[start - 1] == ":" else ""
        text = text[:start] + gap + value + text[end:]
    missing = {label: value for label, value in values.items() if label not in found}
    return _insert(text, labels, missing) if missing else text


def _insert(text: str, labels: Sequence[str], missing: Mapping[str, str]) -> str:
    """A lost state line goes to the top, other lost labels below the last label's line."""
    newline = "\r\n" if "\r\n" in text else "\n"
    for label, value in missing.items():
        new = f"{label}: {value}"
        found = read_fields(text, labels)
        if label == labels[0] or not found:
            at = _top_of(text)
            text = text[:at] + new + newline + text[at:]
            continue
        last = max(field.end for field in found.values())
        stop = text.find("\n", last)
        if stop < 0:
            text += newline + new + newline
        else:
            text = text[: stop + 1] + new + newline + text[stop + 1 :]
    return text


def _top_of(text: str) -> int:
    """Behind a byte-order mark and a title, if there are any."""
    lines = scan(text)
    for line in lines:
        if line.kind == "heading":
            return line.end if text[line.start : line.end].endswith(("\n", "\r")) else 0
        if line.kind != "blank":
            break
    return 1 if text.startswith("\ufeff") else 0


def append_to_section(text: str, heading: str, line: str) -> str:
    """Add a line to the end of a `## heading` section, which is made when it is missing."""
    from detent.store.markdown import find_section

    newline = "\r\n" if "\r\n" in text else "\n"
    section = find_section(text, heading)
    if section is None:
        gap = "" if not text or text.endswith(("\n\n", "\r\n\r\n")) else newline if text.endswith("\n") else newline * 2
        return f"{text}{gap}## {heading}{newline}{newline}{line}{newline}"
    body = text[section.body_start : section.end]
    kept = body.rstrip("\r\n")
    rest = body[len(kept) :] or newline
    return f"{text[: section.body_start]}{kept}{newline}{line}{rest}{text[section.end :]}"
