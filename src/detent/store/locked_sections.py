"""A locked section of a Markdown text: what it holds, whether it is still whole, and how it is put back.

What is locked is the heading with all below it, up to the next heading that is not deeper; line ends and white space at
its end are nobody's. What stands elsewhere in the text is left alone.
"""

from __future__ import annotations

import re

from detent.store.markdown import find_section, scan, sections, sections_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# What ends a comment or another block that was left open and hides all that follows it; fences are looked for.
_CLOSERS = ("", "-->", "</script>", "?>", "]]>", ">")


def section_text(text: str, heading: str) -> str:
    """What a lock of this section holds; empty when there is none."""
    section = find_section(text, heading)
    return "" if section is None else _plain(text[section.start : section.end]).rstrip()


def is_whole(text: str, heading: str, locked: str) -> bool:
    """Whether the section says what is locked: nothing is gone from it, and nothing a reader sees was added to it."""
    named = sections_named(text, heading)
    if len(named) != (1 if locked else 0):
        return False
    if not named:
        return True
    own = _plain(text[named[0].start : named[0].end])
    # A comment behind it is nobody's: one that is never closed runs to the end of the text, wherever it was begun.
    is_hidden = all(line.kind in ("blank", "comment") for line in scan(own) if line.start > len(locked))
    return own.rstrip() == locked or (own.startswith(f"{locked}\n") and is_hidden)


def put_section(text: str, heading: str, locked: str) -> str:
    """The text with the locked section as it was; a second one of the same name goes."""
    if is_whole(text, heading, locked):
        return text
    draft = text
    for draft in _drafts(text, heading, locked):
        if is_whole(draft, heading, locked):
            break
    return draft


def _drafts(text: str, heading: str, locked: str) -> Iterator[str]:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = locked.replace("\n", newline)
    named = sections_named(text, heading)
    for section in reversed(named[1:]):
        text = text[: section.start] + text[section.end :]
    for first in named[:1]:
        if locked:
            kept = first.start + len(text[first.start : first.end].rstrip())
            yield f"{text[: first.start]}{lines}{text[kept:]}"
        text = text[: first.start] + text[first.end :]
    if not locked:
        yield text
        return
    # It stood somewhere else: in front of the first section of its kind, else at the end, where it can be seen.
    for section in (one for one in sections(text) if one.level == 2):
        before = text[: section.start]
        yield f"{before}{_gap(before, newline)}{lines}{newline * 2}{text[section.start :]}"
        break
    fences = [max(re.findall(rf"{mark}{{3,}}", text), key=len, default="") for mark in "`~"]
    for closer in (*_CLOSERS, *filter(None, fences)):
        before = f"{text.rstrip()}{newline}{closer}{newline}" if closer else text
        yield f"{before}{_gap(before, newline)}{lines}{newline}"


def _gap(before: str, newline: str) -> str:
    """What makes an empty line of what follows this text."""
    if not before or before.endswith(newline * 2):
        return ""
    return newline if before[-1] in "\r\n" else newline * 2


def _plain(raw: str) -> str:
    return raw.replace("\r\n", "\n")
