"""The `markdown_fields` codec: `Label: value` lines of a Markdown document, read as a person reads it, edited by line.

A label may stand bare, in a list item or in bold, at the beginning of a line; inside code, comments, quotes or deeper
lists it is only text. The first occurrence counts. A value runs until the next known label or heading, fences included.
Editing replaces a value and nothing else: every other byte of the document stays as it is. An edit is read again
afterwards, because a changed value may hide or show the text behind it (half a comment, half a tag).
"""

from __future__ import annotations

import re
from functools import lru_cache

from detent.core.record import Record
from detent.store.text.markdown import find_section, scan
from detent.store.text.markdown_blocks import read_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from detent.store.text.markdown_rows import Row

_MOST_ROUNDS = 6  # each round of edits shows or hides at most a few labels; a person's document needs one


class Found(Record):
    """One field in a document; the offsets count characters."""

    label: str
    line_value: str  # what a reader sees on the label's own line
    value: str  # the whole value, comments removed, as text
    start: int  # span of what stands behind the label on its line, white space around it excluded
    end: int
    repeated: int = 0  # how often the label occurs again further down
    line_start: int = 0
    line_end: int = 0
    stop: int = 0  # behind the last line of the value that a reader sees
    reach: int = 0  # behind the last line of the value that is not blank
    style: tuple[str, str] = ("", ": ")  # what stands around the label


class Content(Record):
    """What a document says."""

    fields: Mapping[str, Found]
    state: str  # as the file names it; "" when it names none
    body_start: int = 0  # where the Markdown begins that gates look for sections in


@lru_cache(maxsize=8)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    # ASCII: a letter that only looks like another one makes another label.
    names = "|".join(map(re.escape, labels))
    return re.compile(
        rf"(?P<indent> {{0,3}})(?P<marker>[-*+][ \t]+)?"
        rf"(?:(?P<open>\*\*|__)(?P<bold>{names})(?:(?P<closed>(?P=open)[ \t]*:|[ \t]*:(?P=open))|[ \t]*:)"
        rf"|(?P<plain>{names})[ \t]*:)[ \t]*",
        re.IGNORECASE | re.ASCII,
    )


def read_fields(text: str, labels: Sequence[str]) -> Mapping[str, Found]:
    """Every known field that the document shows, by its label as the machine spells it."""
    return _read_fields(text, tuple(labels))


@lru_cache(maxsize=8)  # a document is asked for its fields several times in one step
def _read_fields(text: str, labels: tuple[str, ...]) -> Mapping[str, Found]:
    pattern = _pattern(labels)
    spelled = {label.lower(): label for label in labels}
    found: dict[str, Found] = {}
    parts: dict[str, list[str]] = {}
    ends: dict[str, tuple[int, int]] = {}
    current = ""
    for line in read_blocks(text).rows:  # the result of `scan` is worth its price only if it is kept
        match = _label_of(line, text, pattern)
        if match is not None:
            label = spelled[(match["bold"] or match["plain"]).lower()]
            if label in found:
                found[label] = found[label].replace(repeated=found[label].repeated + 1)
                current = ""
                continue
            current = label
            found[label] = _found(line, text, match, label)
            parts[label] = [found[label].line_value]
            ends[label] = (found[label].end, found[label].end)
        elif line.kind == "heading":
            current = ""
        elif current:
            parts[current].append(line.text)
            after = line.start + len(text[line.start : line.end].rstrip("\r\n"))
            if line.text.strip():
                ends[current] = (after, after)
            elif text[line.start : after].strip():
                ends[current] = (ends[current][0], after)
    return {
        label: field.replace(value="\n".join(parts[label]).strip(), stop=ends[label][0], reach=ends[label][1])
        for label, field in found.items()
    }


def _label_of(line: Row, text: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """The label a line begins with. A paragraph that `---` makes a heading still holds the labels it held before."""
    if line.kind not in ("text", "heading"):
        return None
    match = pattern.match(text[line.start : line.end])
    if match is None:
        return None
    # Not indented, a line can't belong to a list item or a quote but by laziness, which is invisible in the source.
    is_outermost = line.depth == 0 or len(match["indent"]) < 2
    is_ours = line.depth == 1 if match["marker"] else is_outermost
    return match if is_ours and _visible_value(line, match) is not None else None


def _visible_value(line: Row, match: re.Match[str]) -> str | None:
    """What a reader sees behind the label; None when the label itself lies in a comment."""
    if line.kind == "heading":
        visible, prefix = line.text, match[0]
    else:
        visible, prefix = line.content, match[0][match.end("marker") if match["marker"] else match.end("indent") :]
    if not visible.startswith(prefix.rstrip()):
        return None
    value = visible[len(prefix) :].strip()
    return value.removesuffix(match["open"]).rstrip() if _is_open(match) else value


def _is_open(match: re.Match[str]) -> bool:
    """Whether the label stands in bold that ends behind the value."""
    return bool(match["open"]) and not match["closed"]


def _found(line: Row, text: str, match: re.Match[str], label: str) -> Found:
    raw = text[line.start : line.end]
    end = len(raw.rstrip())
    if _is_open(match) and raw[:end].endswith(match["open"]):
        end = len(raw[: end - 2].rstrip())
    start = match.end()
    name = "plain" if match["plain"] else "bold"
    style = (raw[: match.start(name)], raw[match.end(name) : start])
    if _is_open(match):
        style = (raw[: match.start("open")], ": ")
    return Found(
        label,
        _visible_value(line, match) or "",
        "",
        line.start + start,
        line.start + max(start, end),
        line_start=line.start,
        line_end=line.end,
        style=style,
    )


def write_fields(text: str, labels: Sequence[str], values: Mapping[str, str]) -> str:
    """The document with these values; a lost first label is restored at the top, other lost ones below it."""
    if "\n" not in "".join(values.values()):
        return _write_lines(text, labels, values)
    stripped = {label: value.strip("\n") for label, value in values.items()}
    text = _write_lines(text, labels, {label: value for label, value in stripped.items() if "\n" not in value})
    for label, value in stripped.items():
        if "\n" in value:
            text = replace_value(text, labels, label, value)
    return text


def _write_lines(text: str, labels: Sequence[str], values: Mapping[str, str]) -> str:
    has_inserted = False
    for _ in range(_MOST_ROUNDS):
        found = read_fields(text, labels)
        edits = [
            (found[label].start, found[label].end, value)
            for label, value in values.items()
            if label in found and found[label].line_value != value
        ]
        missing = {label: value for label, value in values.items() if label not in found}
        for start, end, value in sorted(edits, reverse=True):
            gap = " " if value and text[start - 1] == ":" else ""
            text = text[:start] + gap + value + text[end:]
        if not edits and missing:
            text = _insert(text, labels, found, missing, at_top=has_inserted)
            has_inserted = True
        # Without these two characters nothing can hide a line, so that there is nothing to look at again.
        if not missing and (not edits or not ("<" in text or "[" in text)):
            break
    return text


def _insert(
    text: str, labels: Sequence[str], found: Mapping[str, Found], missing: Mapping[str, str], *, at_top: bool
) -> str:
    newline = _newline_of(text)
    anchor = None if at_top or labels[0] in missing else found.get(labels[0])
    before, after = anchor.style if anchor else ("", ": ")
    after = after if after[-1:] in (" ", "\t", "*", "_") else f"{after} "
    order = [label for label in labels if label in missing]
    block = newline.join(f"{before}{label}{after}{missing[label]}" for label in order)
    if anchor:
        return _add_line(text, anchor.line_end, block, newline)
    at = _top_of(text)
    is_next_to_label = any(field.line_start == at for field in found.values())
    if not is_next_to_label and text[at : at + 1] not in ("\r", "\n", ""):
        block += newline  # what follows must stay the block that it is
    return _add_line(text, at, block, newline)


def _add_line(text: str, at: int, line: str, newline: str) -> str:
    if at and at == len(text) and text[-1] not in "\r\n\ufeff":
        return f"{text}{newline}{line}"  # a document without a last line end keeps being one
    return f"{text[:at]}{line}{newline}{text[at:]}"


def _top_of(text: str) -> int:
    """Behind a byte-order mark and a title, if there are any."""
    at = 1 if text.startswith("\ufeff") else 0
    for line in scan(text):
        if line.kind == "heading":
            at = line.end
            underline = text[line.start : line.end].strip()
            if underline.startswith("#") or not underline.strip("=") or not underline.strip("-"):
                break
        elif line.kind != "blank":
            break
    return at


def _newline_of(text: str) -> str:
    return next((newline for newline in ("\r\n", "\n", "\r") if newline in text), "\n")


def replace_value(text: str, labels: Sequence[str], label: str, value: str) -> str:
    """Put a whole, possibly many-lined value back in the place of the one that stands there.

    How it was laid out is not remembered: the first layout that reads back as this value and changes no other is taken.
    """
    value = value.replace("\r\n", "\n").strip()
    found = read_fields(text, labels)
    if label in found and found[label].value == value:
        return text
    others = {name: field.value for name, field in found.items() if name != label}
    best, best_score = text, -1
    for draft in _drafts(text, labels, label, value, found):
        read = read_fields(draft, labels)
        score = 2 * (label in read and read[label].value == value)
        score += all(name in read and read[name].value == other for name, other in others.items())
        if score > best_score:
            best, best_score = draft, score
        if score == 3:
            break
    return best


def _drafts(text: str, labels: Sequence[str], label: str, value: str, found: Mapping[str, Found]) -> Iterator[str]:
    newline = _newline_of(text)
    first, _, rest = value.partition("\n")
    body = value.replace("\n", newline)
    indent = rest[: len(rest) - len(rest.lstrip(" \t"))]
    forms = [f" {body}" if body else "", f"{newline}{body}", f"{newline}{indent}{body}"]
    if rest and re.match(r"[-*+>|#`~]|\d+[.)]", first):
        forms = [*forms[1:], forms[0]]  # a list or a fence begins on a line of its own
    if label in found:
        field = found[label]
        head = text[: field.start].rstrip(" \t")
        for stop in dict.fromkeys((field.stop, field.reach)):
            yield from (head + form + text[stop:] for form in forms)
        return
    others = sorted(field.line_start for name, field in found.items() if name != labels[0])
    state = [found[labels[0]].line_start] if labels[0] in found else []
    for at in dict.fromkeys((*others[:1], *state, len(text), _top_of(text))):
        yield from (_add_line(text, at, f"{label}:{form}", newline) for form in forms)


def append_to_section(text: str, heading: str, line: str) -> str:
    """Add a line to the end of a `## heading` section, which is made when missing; never at an invisible place."""
    newline = _newline_of(text)
    section = find_section(text, heading)
    if section is None:
        at = _visible_end(text)
        before, new = text[:at], f"## {heading}{newline}{newline}{line}{newline}"
        gap = "" if not before or before.endswith(newline * 2) else newline if before.endswith(newline) else newline * 2
        return f"{before}{gap}{new}{newline if at < len(text) else ''}{text[at:]}"
    start = text[: section.body_start]
    if start[-1] not in "\r\n":
        start += newline
    body = text[section.body_start : section.end]
    kept = body.rstrip("\r\n")
    rest = body[len(kept) :] or newline
    if section.end < len(text) and rest.count("\n") < 2:  # what follows is a heading, and stands apart
        rest = newline * 2
    added = f"{start}{kept}{newline}{line}{rest}{text[section.end :]}"
    at = len(start) + len(kept) + len(newline)
    if any(other.start == at and other.kind == "text" for other in scan(added)):
        return added
    return f"{start}{newline}{line}{newline}{body}{text[section.end :]}"


def _visible_end(text: str) -> int:
    """The end, or where the code or comment begins that the document ends with and that may never be closed."""
    at = len(text)
    for line in reversed(scan(text)):
        if line.kind in ("text", "heading"):
            break
        if line.kind != "blank":
            at = line.start
    return at
