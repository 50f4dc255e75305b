"""Say which lines of a Markdown text a reader sees, and where its sections lie, without a Markdown library.

It is CommonMark's block algorithm in miniature: each line first continues the open containers (block quotes, list
items), then the open leaf (paragraph, fence, indented code, HTML block), then may open new ones. Inline syntax is read
only as far as it hides text: raw HTML such as comments, and code spans, which keep a comment from being one.

Two limits: containers nested deeper than `DEPTH_LIMIT` turn the rest of the text into code, so that a gate sees less
than a reader and stays closed; and links are not read, so that a link's title or label that spans lines is text here.
A link definition, which no reader sees, counts as comment. Everything runs in linear time and no input raises.
"""

from __future__ import annotations

import re

from detent.core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Deeper nesting than any person writes; the cap keeps "> > > >" and "- - - -" linear.
DEPTH_LIMIT = 32

_BLANK = " \t"
_STARTERS = frozenset("#`~<>=-*_+0123456789")
_SUSPECTS = _STARTERS | {" ", "\t", ""}
_LINE = re.compile(r"[^\r\n]+(?:\r\n?|\n)?|\r\n?|\n")
_MARKER = re.compile(r"(?:[-+*]|([0-9]{1,9})[.)])(?= |$)")

# The rare patterns stay strings: `re` compiles them on first use, so that a cold start does not pay for them.
_TAG = (
    r"<(?:[A-Za-z][A-Za-z0-9-]*+(?:\s++[A-Za-z_:][A-Za-z0-9:._-]*+"
    r"""(?:\s*+=\s*+(?:[^"'=<>`\x00-\x20]++|'[^']*+'|"[^"]*+"))?+)*+\s*+/?|/[A-Za-z][A-Za-z0-9-]*+\s*+)>"""
)
_TAG_NAME = r"</?([A-Za-z][A-Za-z0-9]*+)(?=[\s>]|/>|$)"
_AUTOLINK = r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+|[\w.!#$%&'*+/=?^`{|}~-]++@[A-Za-z0-9.-]++)>"
_INLINE = r"\\[!-/:-@\[-`{-~]|`+|<"
_DEFINITION = (
    r"\[(?!\s*\])(?:[^\[\]\\]|\\.){1,999}+\]:[ \t]*+\n?[ \t]*+"
    r"(?:<(?:[^<>\n\\]|\\[^\n])*+>|([^<\x00-\x20][^\x00-\x20]*+))"
    r"""(?:(?:[ \t]++\n?|\n)[ \t]*+(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))[ \t]*+(?=\n|\Z)"""
    r"|[ \t]*+(?=\n|\Z))\n?"
)
_VERBATIM_TAGS = ("script", "pre", "style", "textarea")
_VERBATIM_END = "</verbatim>"
_BLOCK_TAGS = (
    " address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead "
    "title tr track ul "
)
_FILLER = (
    r"<(?![A-Za-z][A-Za-z0-9+.-]*:[^\s<>]+>|[^\s<>@]+@[^\s<>]+>)[^<>\n]*+>|\{[^{}\"\n]*+\}|\[[ xX]\]|&nbsp;|"
    r"(?<![^\W_])(?:todo|tbd|fixme|x{3,}|lorem ipsum[^\n]*|fill in|to be filled(?: in)?|replace me|your text here)"
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


def scan(text: str) -> tuple[Line, ...]:
    """Every line of the text, in order; a leading byte order mark belongs to none."""
    return tuple(
        Line(row.start, row.end, row.text, row.kind, row.depth, row.content if row.kind == "text" else "")
        for row in _read(text).rows
    )


def sections(text: str) -> tuple[Section, ...]:
    """The top-level headings, in order."""
    found: list[Section] = []
    ends = [len(text)] * 7  # by level: where a body ends that nothing above this point has closed
    for level, title, start, body_start in reversed(_read(text).headings):
        found.append(Section(level, title, start, body_start, ends[level]))
        ends[level:] = [start] * (7 - level)
    return tuple(reversed(found))


def find_section(text: str, name: str, level: int = 2) -> Section | None:
    """The last section of exactly this level whose title says `name`, whatever its case, emphasis or colon."""
    wanted = _plain_title(name)
    for section in reversed(sections(text)):
        if section.level == level and _plain_title(section.title) == wanted:
            return section
    return None


def visible_text(text: str) -> str:
    """What a reader would see of paragraphs, lists and code; headings, comments and HTML blocks are left out."""
    lines = (row.content for row in _read(text).rows if row.kind in ("text", "code", "blank"))
    return "\n".join(lines).strip()


def is_placeholder(value: str) -> bool:
    """Whether a reader would see nothing there, or only template filler such as TODO, "..." or <name>."""
    rest = re.sub(_FILLER, " ", visible_text(value), flags=re.IGNORECASE)
    return not any(character.isalnum() for character in rest)


def _plain_title(title: str) -> str:
    return " ".join(title.lstrip(" \t*_`").rstrip(" \t*_`:").casefold().split())


class _Row:
    """A line while it is being read; `content` starts at `at` in `line`, which is the text with its tabs expanded."""

    __slots__ = ("at", "content", "depth", "end", "kind", "line", "start", "text")

    def __init__(self, start: int, end: int, text: str) -> None:
        self.start = start
        self.end = end
        self.text = self.line = text
        self.kind = "blank"
        self.depth = self.at = 0
        self.content = ""

    def keep(self, kept: str) -> None:
        """Replace the content by the part of it that is visible."""
        self.text = self.line[: self.at] + kept + self.line[self.at + len(self.content) :]
        self.content = kept.strip(_BLANK)


class _Reader:
    """The open containers and the open leaf; `feed` takes one line, `close` ends what is open."""

    __slots__ = ("containers", "fence", "headings", "hollow", "html_end", "leaf", "open_rows", "rows", "sunk")

    def __init__(self) -> None:
        self.rows: list[_Row] = []
        self.headings: list[tuple[int, str, int, int]] = []  # level, title, start, start of the body
        self.containers: list[int] = []  # 0 is a block quote, n a list item whose content is indented by n
        self.leaf = ""  # "paragraph", "fence", "code", "html" or none
        self.open_rows: list[_Row] = []  # of a paragraph or HTML block; of indented code, the blank ones at its end
        self.fence = ""
        self.html_end = ""
        self.hollow = False  # the innermost container is a list item that began with a blank line
        self.sunk = False

    def feed(self, row: _Row) -> None:
        self.rows.append(row)
        if self.sunk:
            row.kind = "code"
            row.depth = DEPTH_LIMIT
            return
        if not self.containers and self.leaf in ("", "paragraph") and row.text[:1] not in _SUSPECTS:
            self._add_text(row, 0, 0)  # most lines are plain text and need no more than this
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
            _hide_inline(_drop_definitions(self.open_rows))
        elif self.leaf == "html":
            _mark_html(self.open_rows)
        self.leaf = ""
        self.open_rows = []
        del self.containers[keep:]

    def _match_containers(self, line: str) -> tuple[int, int]:
        """How many containers the line continues, and the column behind their markers."""
        position = matched = 0
        for width in self.containers:
            first = _indent_end(line, position)
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

    def _continue_leaf(self, row: _Row, position: int) -> bool:
        """Take the line into the open fence, HTML block or indented code; False when it is open to other blocks."""
        leaf = self.leaf
        if leaf in ("", "paragraph"):
            return False
        line = row.line
        first = _indent_end(line, position)
        if leaf == "fence":
            row.kind = "code"
            run = line[first:].rstrip(_BLANK)
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

    def _continue_html(self, row: _Row, first: int) -> bool:
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

    def _open_blocks(self, row: _Row, position: int, matched: int) -> None:
        """Open the containers and the leaf that the rest of the line starts, or add it to a paragraph."""
        line = row.line
        while True:
            first = _indent_end(line, position)
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
            if line[first] not in _STARTERS:
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

    def _open_leaf(self, row: _Row, first: int, matched: int, *, direct: bool) -> bool:
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
        if mark in "=-" and direct and not rest.rstrip(_BLANK).strip(mark) and self._underline(row, mark):
            return True
        if mark in "-*_" and not rest.strip(mark + _BLANK) and rest.count(mark) >= 3:
            self.close(matched)
            row.kind = "text"
            return True
        return False

    def _open_heading(self, row: _Row, first: int, rest: str, matched: int) -> bool:
        after = rest.lstrip("#")
        level = len(rest) - len(after)
        if level > 6 or (after and after[0] not in _BLANK):
            return False
        self.close(matched)
        title = after.strip(_BLANK)
        without = title.rstrip("#")
        if not without or without[-1] in _BLANK:
            title = without.rstrip(_BLANK)
        row.kind = "heading"
        row.content = title
        row.at = first + level + len(after) - len(after.lstrip(_BLANK))
        _hide_inline([row])
        if not matched:
            self.headings.append((level, row.content, row.start, row.end))
        return True

    def _open_fence(self, row: _Row, rest: str, mark: str, matched: int) -> bool:
        info = rest.lstrip(mark)
        length = len(rest) - len(info)
        if length < 3 or (mark == "`" and "`" in info):
            return False
        self.close(matched)
        self.leaf = "fence"
        self.fence = mark * length
        row.kind = "code"
        return True

    def _underline(self, row: _Row, mark: str) -> bool:
        """Make the open paragraph a setext heading, unless nothing of it but link definitions is there."""
        rows = _drop_definitions(self.open_rows)
        self.open_rows = rows
        if not rows:
            self.leaf = ""
            return False
        _hide_inline(rows)
        for heading in (*rows, row):
            heading.kind = "heading"
        if not self.containers:
            title = " ".join(heading.content for heading in rows if heading.content)
            self.headings.append((1 if mark == "=" else 2, title, rows[0].start, row.end))
        self.leaf = ""
        self.open_rows = []
        return True

    def _add_text(self, row: _Row, first: int, matched: int) -> None:
        if self.leaf != "paragraph":
            self.close(matched)
            self.leaf = "paragraph"
        row.kind = "text"
        self._add_open(row, first)

    def _add_open(self, row: _Row, first: int) -> None:
        row.depth = len(self.containers)
        row.at = first
        row.content = row.line[first:].rstrip(_BLANK)
        self.open_rows.append(row)

    def _add_code(self, row: _Row, position: int) -> None:
        row.content = row.line[position + 4 :]
        for code in (*self.open_rows, row):  # blank lines between two lines of code are code
            code.kind = "code"
        self.open_rows = []


def _read(text: str) -> _Reader:
    reader = _Reader()
    start = 1 if text.startswith("\ufeff") else 0
    for line in _LINE.findall(text.replace("\0", "\ufffd"), start):  # as CommonMark reads a NUL
        end = start + len(line)
        reader.feed(_Row(start, end, line.rstrip("\r\n")))
        start = end
    reader.close()
    return reader


def _expand_tabs(line: str) -> str:
    """Tabs as spaces wherever they can decide about structure; behind that they stay as written."""
    rest = line.lstrip(" \t>*+-.)0123456789")
    return line[: len(line) - len(rest)].expandtabs(4) + rest


def _indent_end(line: str, position: int) -> int:
    if not line.startswith(" ", position):
        return position
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
    return "" if not interrupts and re.fullmatch(_TAG + r"\s*", rest) else None


def _mark_html(rows: list[_Row]) -> None:
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
    _hide(rows, spans)


def _drop_definitions(rows: list[_Row]) -> list[_Row]:
    """The rows of a paragraph behind the link definitions it starts with; those are marked as unseen."""
    if not rows or not rows[0].content.startswith("["):
        return rows
    text = "\n".join(row.content for row in rows)
    position = 0
    if "]:" in text:
        definition = re.compile(_DEFINITION, re.DOTALL)
        while (match := definition.match(text, position)) and _is_balanced(match[1] or ""):
            position = match.end()
    count = text.count("\n", 0, position) + (position == len(text))
    for row in rows[:count]:
        row.kind = "comment"
        row.content = ""
    return rows[count:]


def _is_balanced(target: str) -> bool:
    """Whether every parenthesis of a link target that is not escaped has its partner."""
    depth = 0
    for character in re.sub(r"\\.", "", target) if "(" in target or ")" in target else "":
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def _hide_inline(rows: list[_Row]) -> None:
    """Hide the comments of a paragraph or heading, and any other raw HTML that runs over a line ending."""
    text = rows[0].content if len(rows) == 1 else "\n".join([row.content for row in rows])
    if "<!" in text or "<?" in text or ("<" in text and len(rows) > 1):
        _hide(rows, list(_inline_spans(text)))


def _inline_spans(text: str) -> Iterator[tuple[int, int]]:
    token = re.compile(_INLINE)
    runs: dict[int, list[int]] = {}  # length of a backtick run -> ends of such runs, the last one first
    for run in reversed(list(re.finditer("`+", text))):
        runs.setdefault(len(run[0]), []).append(run.end())
    missing: set[str] = set()  # endings that do not occur any more; without it, many "<!--" would be quadratic
    position = 0
    while match := token.search(text, position):
        position = match.end()
        if match[0][0] == "`":
            ends = runs.get(len(match[0]), [])
            while ends and ends[-1] <= position:
                ends.pop()
            position = ends[-1] if ends else position
        elif match[0] == "<":
            end = _raw_html_end(text, match.start(), missing)
            if end:
                position = end
                if text.startswith(("!", "?"), match.end()) or "\n" in text[match.start() : end]:
                    yield match.start(), end


def _raw_html_end(text: str, start: int, missing: set[str]) -> int:
    """Where the inline HTML or autolink at `start` ends; 0 when it is plain text."""
    declared = text[start + 2 : start + 3]
    for opening, closing, skip in (("<!--", "-->", 2), ("<?", "?>", 2), ("<![CDATA[", "]]>", 9), ("<!", ">", 3)):
        if text.startswith(opening, start):
            if closing in missing or (opening == "<!" and not (declared.isascii() and declared.isalpha())):
                return 0
            end = text.find(closing, start + skip)
            if end < 0:
                missing.add(closing)
                return 0
            return end + len(closing)
    match = re.compile(_TAG).match(text, start) or re.compile(_AUTOLINK).match(text, start)
    return match.end() if match else 0


def _hide(rows: list[_Row], spans: list[tuple[int, int]]) -> None:
    """Cut the spans, which count in the rows' contents joined by line feeds, out of the rows."""
    offset = index = 0
    for row in rows:
        end = offset + len(row.content)
        kept: list[str] = []
        position = offset
        touched = False
        while index < len(spans) and spans[index][0] <= end:
            start, stop = spans[index]
            kept.append(row.content[position - offset : max(start - offset, 0)])
            position = min(stop, end)
            touched = True
            if stop > end:
                break
            index += 1
        if touched:
            kept.append(row.content[position - offset :])
            row.keep("".join(kept))
            if not row.content and row.kind != "heading":
                row.kind = "comment"
        offset = end + 1
