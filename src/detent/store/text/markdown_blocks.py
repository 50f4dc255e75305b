"""CommonMark's block algorithm in miniature: one `Reader` is fed line by line and marks what each line is."""

from __future__ import annotations

import re
from functools import lru_cache

from detent.store.text.markdown_inline import TAG, drop_definitions, hide, hide_inline
from detent.store.text.markdown_plain import Plain, as_plain
from detent.store.text.markdown_rows import BLANK, STARTERS, SUSPECTS, Row, title_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.store.text.markdown_rows import Heading

# Deeper nesting than any person writes; the cap keeps "> > > >" and "- - - -" linear.
DEPTH_LIMIT = 32

_LINE = re.compile(r"[^\r\n]+(?:\r\n?|\n)?|\r\n?|\n")
_MARKER = re.compile(r"(?:[-+*]|([0-9]{1,9})[.)])(?= |$)")

# These patterns stay strings: `re` compiles them on first use, so that a cold start does not pay for them.
_TAG_NAME = r"</?([A-Za-z][A-Za-z0-9]*+)(?=[\s>]|/>|$)"
_VERBATIM_TAGS = ("script", "pre", "style", "textarea")
_VERBATIM_END = "</verbatim>"
_BLOCK_TAGS = (
    " address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead "
    "title tr track ul "
)


class Reader:
    """The open containers and the open leaf; `feed` takes one line, `close` ends what is open."""

    __slots__ = (
        "containers",
        "fence",
        "headings",
        "hollow",
        "html_end",
        "is_bare",
        "leaf",
        "open_rows",
        "rows",
        "sunk",
    )

    def __init__(self, text: str) -> None:
        self.is_bare = "<" not in text and "[" not in text  # nothing in it can hide anything
        self.rows: list[Row] = []
        self.headings: list[Heading] = []
        self.containers: list[int] = []  # 0 is a block quote, n a list item whose content is indented by n
        self.leaf = ""  # "paragraph", "fence", "code", "html" or none
        self.open_rows: list[Row] = []  # of a paragraph or HTML block; of indented code, the blank ones at its end
        self.fence = ""
        self.html_end = ""
        self.hollow = False  # the innermost container is a list item that began with a blank line
        self.sunk = False

    def feed(self, row: Row) -> None:
        self.rows.append(row)
        if self.sunk:
            row.kind = "code"
            row.depth = DEPTH_LIMIT
            return
        if not self.containers and self.leaf in ("", "paragraph"):  # most lines are plain or blank and need no more
            if not row.text:
                if self.leaf:
                    self.close()
                return
            if row.text[0] not in SUSPECTS:
                self._add_text(row, 0, 0)
                return
        if "\t" in row.text:
            row.line = _expand_tabs(row.text)
        matched, position = self._match_containers(row.line) if self.containers else (0, 0)
        self.hollow = False
        row.depth = matched
        if matched < len(self.containers) or not self._continue_leaf(row, position):
            self._open_blocks(row, position, matched)

    def close(self, keep: int = 0) -> None:
        """End the open leaf and all containers but the outermost `keep`."""
        if self.leaf == "paragraph":
            if not self.is_bare:
                hide_inline(drop_definitions(self.open_rows))
        elif self.leaf == "html":
            _mark_html(self.open_rows)
        self.leaf = ""
        self.open_rows = []
        del self.containers[keep:]

    def _match_containers(self, line: str) -> tuple[int, int]:
        """How many containers the line continues, and the column behind their markers."""
        position = matched = 0
        for width in self.containers:
            first = _indent_end(line, position) if line.startswith(" ", position) else position
            if not width:
                if first - position > 3 or not line.startswith(">", first):
                    break
                position = first + (2 if line.startswith(" ", first + 1) else 1)
            elif first == len(line):
                if self.hollow and matched == len(self.containers) - 1:
                    break
                position = first
            elif first - position >= width:
                position += width
            else:
                break
            matched += 1
        return matched, position

    def _continue_leaf(self, row: Row, position: int) -> bool:
        """Take the line into the open fence, HTML block or indented code; False when it is open to other blocks."""
        leaf = self.leaf
        if leaf in ("", "paragraph"):
            return False
        line = row.line
        first = _indent_end(line, position)
        if leaf == "fence":
            row.kind = "code"
            run = line[first:].rstrip(BLANK)
            if first - position <= 3 and run.startswith(self.fence) and not run.strip(self.fence[0]):
                self.leaf = ""
            else:
                row.content = line[position:]
            return True
        if leaf == "html":
            return self._continue_html(row, first)
        if first == len(line):
            self.open_rows.append(row)
        elif first - position > 3:
            self._add_code(row, position)
        else:
            return False
        return True

    def _continue_html(self, row: Row, first: int) -> bool:
        if first == len(row.line) and not self.html_end:
            return False
        self._add_open(row, first)
        if self._ends_html(row.content):
            self.close(len(self.containers))
        return True

    def _ends_html(self, content: str) -> bool:
        if self.html_end == _VERBATIM_END:
            folded = content.lower()
            return any(f"</{name}>" in folded for name in _VERBATIM_TAGS)
        return bool(self.html_end) and self.html_end in content

    def _open_blocks(self, row: Row, position: int, matched: int) -> None:
        """Open the containers and the leaf that the rest of the line starts, or add it to a paragraph."""
        line = row.line
        while True:
            first = _indent_end(line, position) if line.startswith(" ", position) else position
            lazy = self.leaf == "paragraph"  # also when the paragraph lies in a container that the line left out
            direct = lazy and matched == len(self.containers)
            if first == len(line):
                self.close(matched)
                return
            if first - position > 3:
                if lazy:
                    break
                self.close(matched)
                self.leaf = "code"
                self._add_code(row, position)
                return
            if line[first] not in STARTERS:
                break
            if self._open_leaf(row, first, matched, direct=direct):
                return
            opened = self._open_container(line, position, first, matched, direct=direct)
            if not opened:
                break
            position = opened
            matched += 1
            row.depth = matched
            if matched > DEPTH_LIMIT:
                self.sunk = True
                row.kind = "code"
                return
        self._add_text(row, first, matched)

    def _open_container(self, line: str, position: int, first: int, matched: int, *, direct: bool) -> int:
        """Open a block quote or list item and say where its content starts; 0 when there is none."""
        if line[first] == ">":
            width = 0
            start = first + (2 if line.startswith(" ", first + 1) else 1)
        else:
            marker = _MARKER.match(line, first)
            if marker is None:
                return 0
            start = _indent_end(line, marker.end())
            blank = start == len(line)
            # Text that merely starts with a number or a dash must not break a paragraph.
            if direct and (blank or (marker[1] and int(marker[1]) != 1)):
                return 0
            if blank or start - marker.end() > 4:
                start = marker.end() + 1
            width = start - position
            self.hollow = blank
        self.close(matched)
        self.containers.append(width)
        return min(start, len(line))

    def _open_leaf(self, row: Row, first: int, matched: int, *, direct: bool) -> bool:
        """Open what is neither container nor paragraph nor indented code; True when the line did."""
        rest = row.line[first:]
        mark = rest[0]
        if mark == "#":
            return self._open_heading(row, first, rest, matched)
        if mark in "`~":
            return self._open_fence(row, rest, mark, matched)
        if mark == "<":
            html_end = _html_end(rest, interrupts=self.leaf == "paragraph")
            if html_end is None:
                return False
            self.close(matched)
            self.leaf = "html"
            self.html_end = html_end
            return self._continue_html(row, first)
        if mark in "=-" and direct and not rest.rstrip(BLANK).strip(mark) and self._underline(row, mark):
            return True
        if mark in "-*_" and not rest.strip(mark + BLANK) and rest.count(mark) >= 3:
            self.close(matched)
            row.kind = "text"
            return True
        return False

    def _open_heading(self, row: Row, first: int, rest: str, matched: int) -> bool:
        after = rest.lstrip("#")
        level = len(rest) - len(after)
        if level > 6 or (after and after[0] not in BLANK):
            return False
        self.close(matched)
        row.kind = "heading"
        row.content = title_of(after)
        row.at = first + level + len(after) - len(after.lstrip(BLANK))
        if not self.is_bare:
            hide_inline([row])
        if not matched:
            self.headings.append((level, row.content, row.start, row.end))
        return True

    def _open_fence(self, row: Row, rest: str, mark: str, matched: int) -> bool:
        info = rest.lstrip(mark)
        length = len(rest) - len(info)
        if length < 3 or (mark == "`" and "`" in info):
            return False
        self.close(matched)
        self.leaf = "fence"
        self.fence = mark * length
        row.kind = "code"
        return True

    def _underline(self, row: Row, mark: str) -> bool:
        """Make the open paragraph a setext heading, unless nothing of it but link definitions is there."""
        rows = drop_definitions(self.open_rows)
        self.open_rows = rows
        if not rows:
            self.leaf = ""
            return False
        hide_inline(rows)
        for heading in (*rows, row):
            heading.kind = "heading"
        if not self.containers:
            title = " ".join(heading.content for heading in rows if heading.content)
            self.headings.append((1 if mark == "=" else 2, title, rows[0].start, row.end))
        self.leaf = ""
        self.open_rows = []
        return True

    def _add_text(self, row: Row, first: int, matched: int) -> None:
        if self.leaf != "paragraph":
            self.close(matched)
            self.leaf = "paragraph"
        row.kind = "text"
        self._add_open(row, first)

    def _add_open(self, row: Row, first: int) -> None:
        row.depth = len(self.containers)
        row.at = first
        row.content = row.line[first:].rstrip(BLANK)
        self.open_rows.append(row)

    def _add_code(self, row: Row, position: int) -> None:
        row.content = row.line[position + 4 :]
        for code in (*self.open_rows, row):  # blank lines between two lines of code are code
            code.kind = "code"
        self.open_rows = []


class Part(str):
    """The lines behind a top-level heading, up to another one. Where they begin nothing is open, where they end all is
    closed: they are what they were in the whole text, and are not read a second time.
    """

    __slots__ = ("start", "whole")
    start: int
    whole: str

    def __new__(cls, text: str, start: int, end: int) -> Part:
        part = super().__new__(cls, text[start:end])
        part.whole, part.start = text, start
        return part

    def read(self) -> Reader | Plain:
        whole, start, end = read_blocks(self.whole), self.start, self.start + len(self)
        headings = [
            (level, title, first - start, behind - start)
            for level, title, first, behind in whole.headings
            if start <= first < end
        ]
        if isinstance(whole, Plain):
            return Plain(self, headings)
        reader = Reader(self)
        reader.rows = [row.moved(-start) for row in whole.rows if start <= row.start < end]
        reader.headings = headings
        return reader


@lru_cache(maxsize=16)  # one step asks many questions about the same few documents; the result is never changed
def read_blocks(text: str) -> Reader | Plain:
    """A text read to its end: its rows with what they are, and its headings."""
    return text.read() if isinstance(text, Part) else as_plain(text) or read_all(text)


def read_all(text: str) -> Reader:
    """The same for any text, plain or not."""
    reader = Reader(text)
    start = 1 if text.startswith("\ufeff") else 0
    for line in _LINE.findall(text.replace("\0", "\ufffd"), start):  # as CommonMark reads a NUL
        end = start + len(line)
        reader.feed(Row(start, end, line.rstrip("\r\n")))
        start = end
    reader.close()
    return reader


def _expand_tabs(line: str) -> str:
    """Tabs as spaces wherever they can decide about structure; behind that they stay as written."""
    rest = line.lstrip(" \t>*+-.)0123456789")
    return line[: len(line) - len(rest)].expandtabs(4) + rest


def _indent_end(line: str, position: int) -> int:
    return len(line) - len(line[position:].lstrip(" "))


def _html_end(rest: str, *, interrupts: bool) -> str | None:
    """What ends the HTML block that `rest` starts: a string, or "" for a blank line; None when it starts none."""
    for opening, closing in (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")):
        if rest.startswith(opening):
            return closing
    if re.match("<![A-Za-z]", rest):
        return ">"
    tag = re.match(_TAG_NAME, rest)
    if tag:
        name = tag[1].lower()
        if name in _VERBATIM_TAGS and rest[1] != "/" and not rest.startswith("/>", tag.end()):
            return _VERBATIM_END
        if f" {name} " in _BLOCK_TAGS:
            return ""
    return "" if not interrupts and re.fullmatch(TAG + r"\s*", rest) else None


def _mark_html(rows: list[Row]) -> None:
    """Tell the comments of an HTML block from the rest of it."""
    text = "\n".join(row.content for row in rows)
    for row in rows:
        row.kind = "html"
    spans: list[tuple[int, int]] = []
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 2)  # "<!-->" is a whole comment
        spans.append((start, end + 3 if end >= 0 else len(text) + 1))
        start = text.find("<!--", spans[-1][1])
    hide(rows, spans)
