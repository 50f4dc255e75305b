"""Say which lines of a Markdown text a reader sees, and where its sections lie, without a Markdown library.

It is CommonMark's block algorithm in miniature: each line first continues the open containers (block quotes, list
items), then the open leaf (paragraph, fence, indented code, HTML block), then may open new ones. Inline syntax is read
only as far as it hides text: raw HTML such as comments, and code spans, which keep a comment from being one. A text in
which nothing can open but paragraphs, plain items and headings is read without all that (markdown_plain.py).

Two limits: containers nested deeper than `DEPTH_LIMIT` turn the rest of the text into code, so that a gate sees less
than a reader and stays closed; and links are not read, so that a link's title or label that spans lines is text here.
A link definition, which no reader sees, counts as comment. Everything runs in linear time and no input raises.
"""

from __future__ import annotations

import re
from functools import lru_cache

from detent.core.record import Record
from detent.store.text.markdown_blocks import read_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# These patterns stay strings: `re` compiles them on first use, so that a cold start does not pay for them.
_FILLER = (
    r"<(?![A-Za-z][A-Za-z0-9+.-]*:[^\s<>]+>|[^\s<>@]+@[^\s<>]+>)[^<>\n]*+>|\{[^{}\"\n]*+\}|\[[ xX]\]|&nbsp;|"
    r"(?<![^\W_])(?:(?:todo|tbd|fixme)(?:[ \t]*:[^\n]*|[ \t]+later)?|x{3,}|lorem ipsum[^\n]*|fill (?:me )?in|"
    r"to be (?:filled(?: in)?|decided|defined|determined|done)|t\.[ \t]?b\.[ \t]?d|to do|"
    r"see (?:above|below)|placeholder|replace me|your text here)"
    r"(?![^\W_])"
)


class Line(Record):
    """One line of the text; offsets count characters and `end` lies behind the line ending."""

    start: int
    end: int
    text: str  # without its line ending and without what lies in HTML comments
    kind: str  # "text", "heading", "code", "html", "comment" (nothing but comment) or "blank"
    depth: int  # how many list items and block quotes hold it
    content: str  # of a text line: what follows the container markers, stripped


class Section(Record):
    """A top-level heading and its body, which ends before the next heading that is not deeper."""

    level: int
    title: str
    start: int
    body_start: int
    end: int


@lru_cache(maxsize=16)
def scan(text: str) -> tuple[Line, ...]:
    """Every line of the text, in order; a leading byte order mark belongs to none."""
    return tuple(
        Line(row.start, row.end, row.text, row.kind, row.depth, row.content if row.kind == "text" else "")
        for row in read_blocks(text).rows
    )


def sections(text: str) -> tuple[Section, ...]:
    """The top-level headings, in order."""
    return tuple(reversed([Section(*found) for found in _from_the_end(text)]))


def _from_the_end(text: str) -> Iterator[tuple[int, str, int, int, int]]:
    """What makes a section, the last one first."""
    ends = [len(text)] * 7  # by level: where a body ends that nothing above this point has closed
    for level, title, start, body_start in reversed(read_blocks(text).headings):
        yield level, title, start, body_start, ends[level]
        ends[level:] = [start] * (7 - level)


def _named(text: str, name: str, level: int) -> Iterator[Section]:
    wanted = plain_title(name)
    return (Section(*found) for found in _from_the_end(text) if found[0] == level and plain_title(found[1]) == wanted)


def sections_named(text: str, name: str, level: int = 2) -> tuple[Section, ...]:
    """The sections of exactly this level whose title says `name`, whatever its case, emphasis or colon."""
    return tuple(reversed([*_named(text, name, level)]))


def find_section(text: str, name: str, level: int = 2) -> Section | None:
    """The last section of this name: it is the one that counts."""
    return next(_named(text, name, level), None)


@lru_cache(maxsize=16)  # every gate on a field asks this about the same few values
def visible_text(text: str) -> str:
    """What a reader would see of paragraphs, lists and code; headings, comments and HTML blocks are left out."""
    lines = (row.content for row in read_blocks(text).rows if row.kind in ("text", "code", "blank"))
    return "\n".join(lines).strip()


@lru_cache(maxsize=16)
def is_placeholder(value: str) -> bool:
    """Whether a reader would see nothing there, or only template filler such as TODO, "..." or <name>."""
    rest = re.sub(_FILLER, " ", visible_text(value), flags=re.IGNORECASE)
    return not any(character.isalnum() for character in rest)


NOTHING = (
    *("none", "no", "nothing", "n/a", "na", "nil", "none known", "none yet", "nothing yet", "none so far"),
    *("nothing so far", "no blockers"),
)


def says_nothing(text: str, words: Sequence[str] = NOTHING) -> bool:
    """Whether all that a reader sees there are words that mean nothing, such as `none`, `n/a` or `- [ ] none`."""
    rows = (row for row in read_blocks(text).rows if row.kind in ("text", "code"))
    lines = (re.sub(r"^\s*\[[ xX]?\]", "", row.content) for row in rows)
    said = [plain for line in lines if (plain := line.strip("-*+_`.!:()\u2013\u2014 \t").lower())]
    return all(line in words for line in said)


BESIDE_LINK = " and "  # between the engine's link and other words in the same field


def besides_link(value: str, link: str) -> str:
    """What a field says besides a link that the engine wrote into it."""
    before, _, after = value.partition(link) if link else (value, "", "")
    return before + after.removeprefix(BESIDE_LINK)


def plain_title(title: str) -> str:
    """A title as sections are distinguished: without emphasis, colon and case."""
    return " ".join(title.lstrip(" \t*_`").rstrip(" \t*_`:").casefold().split())
