"""Reads texts that need no parser: nothing but paragraphs, `- ` items and `# ` headings, each begun at the left edge.

Most of what agents write is so, and gates ask for one section of it in every step. What is anything more is not read
here at all; `tests/properties/test_markdown_agrees.py` holds both ways of reading against each other.
"""

from __future__ import annotations

from detent.store.text.markdown_rows import BLANK, SUSPECTS, Row, title_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.store.text.markdown_rows import Heading

_NOT_PLAIN = SUSPECTS | {"[", "\ufeff"}  # a link definition is not seen; a byte-order mark belongs to no line


class Plain:
    """A plain text: its headings, and its rows on demand; usually only those of one section."""

    __slots__ = ("_rows", "_text", "headings")

    def __init__(self, text: str, headings: list[Heading]) -> None:
        self._text = text
        self._rows: list[Row] | None = None
        self.headings = headings

    @property
    def rows(self) -> list[Row]:
        if self._rows is None:
            self._rows = _rows_of(self._text)
        return self._rows


def as_plain(text: str) -> Plain | None:
    """None when a line of it might be more than it seems, or its tabs would have to be counted."""
    if "<" in text or "\t" in text or "\r" in text or "\0" in text:
        return None
    headings: list[Heading] = []
    start = 0
    for line in text.split("\n"):
        end = start + len(line) + 1
        if line and line[0] in _NOT_PLAIN:
            marker, _, rest = line.partition(" ")
            if not rest or rest[0] in _NOT_PLAIN:
                return None
            if marker != "-":
                level = len(marker)
                if not 1 <= level <= 6 or marker.strip("#"):
                    return None
                headings.append((level, title_of(rest), start, min(end, len(text))))
        start = end
    return Plain(text, headings)


def _rows_of(text: str) -> list[Row]:
    rows: list[Row] = []
    start = depth = 0
    is_open = False  # a paragraph, which the next line goes on with
    for line in text.split("\n"):
        end = start + len(line) + 1
        if not line:
            rows.append(Row(start, end, line, "blank", depth))
            is_open = False
        elif line[0] == "#":
            marker, _, rest = line.partition(" ")
            depth, is_open = 0, False
            rows.append(Row(start, end, line, "heading", 0, len(marker) + 1, title_of(rest)))
        elif line[0] == "-":
            depth, is_open = 1, True
            rows.append(Row(start, end, line, "text", 1, 2, line[2:].rstrip(BLANK)))
        else:
            depth, is_open = depth if is_open else 0, True
            rows.append(Row(start, end, line, "text", depth, 0, line.rstrip(BLANK)))
        start = end
    if not line:
        rows.pop()  # behind the last line end there is no line
    else:
        rows[-1].end -= 1
    return rows
