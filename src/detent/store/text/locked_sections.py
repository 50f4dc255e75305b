"""A locked section of a Markdown text: its content, whether it is still whole, and how it is restored.

The lock is on the heading with all below it, up to the next heading that is not deeper, without line ends and white
space at its end. The rest of the text is left alone.
"""

from __future__ import annotations

import re

from detent.store.text.markdown import scan, sections, sections_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# What ends a comment or another block that was left open and hides all that follows it; fences are looked for.
_CLOSERS = ("", "-->", "</script>", "?>", "]]>", ">")


def section_text(text: str, heading: str) -> str:
    """What a lock of this section holds, older ones of the same name too; empty when there is none."""
    return "\n\n".join(
        _with_plain_line_ends(text[section.start : section.end]).rstrip() for section in sections_named(text, heading)
    )


def is_whole(text: str, heading: str, locked: str) -> bool:
    """Whether the section says what is locked: nothing is gone from it, and nothing a reader sees was added to it."""
    pieces = _pieces(locked, heading)
    present = [_with_plain_line_ends(text[section.start : section.end]) for section in sections_named(text, heading)]
    if not present or len(present) != len(pieces):
        return len(present) == len(pieces)
    last, wanted = present[-1], pieces[-1]
    # A comment behind it is not part of it: an unclosed one runs to the end of the text, wherever it was begun.
    is_hidden = all(line.kind in ("blank", "comment") for line in scan(last) if line.start > len(wanted))
    is_last_whole = last.rstrip() == wanted or (last.startswith(f"{wanted}\n") and is_hidden)
    return is_last_whole and [piece.rstrip() for piece in present[:-1]] == pieces[:-1]


def _pieces(locked: str, heading: str) -> list[str]:
    """The sections a lock holds, one by one."""
    found = [locked[section.start : section.end].rstrip() for section in sections_named(locked, heading)]
    return found or ([locked] if locked else [])


def put_section(text: str, heading: str, locked: str) -> str:
    """The text with the locked section as it was; another one of the same name goes."""
    if is_whole(text, heading, locked):
        return text
    draft = text
    for draft in _drafts(text, heading, locked):
        if is_whole(draft, heading, locked):
            break
    return draft


def _drafts(text: str, heading: str, locked: str) -> Iterator[str]:
    newline = "\r\n" if "\r\n" in text else "\n"
    pieces = [piece.replace("\n", newline) for piece in _pieces(locked, heading)]
    lines, named = (newline * 2).join(pieces), sections_named(text, heading)
    for section in reversed(named[len(pieces) :]):
        text = text[: section.start] + text[section.end :]
    draft = text
    for at, section in reversed(list(enumerate(named[: len(pieces)]))):
        # What has no place of its own any more follows the last that has one.
        text_here = pieces[at] if at + 1 < len(named) else (newline * 2).join(pieces[at:])
        kept = section.start + len(text[section.start : section.end].rstrip())
        draft = draft[: section.start] + text_here + draft[kept:]
        text = text[: section.start] + text[section.end :]
    yield draft
    if not locked:
        return
    # It stood somewhere else: in front of the first section of its kind, else at the end, where it can be seen.
    for section in (section for section in sections(text) if section.level == 2):
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


def _with_plain_line_ends(raw: str) -> str:
    return raw.replace("\r\n", "\n")
