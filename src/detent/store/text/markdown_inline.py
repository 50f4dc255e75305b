"""Hides what a reader of Markdown does not see inside paragraphs: comments, raw HTML and link definitions."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.store.text.markdown_rows import Row

# These patterns stay strings: `re` compiles them on first use, so that a cold start does not pay for them.
TAG = (
    r"<(?:[A-Za-z][A-Za-z0-9-]*+(?:\s++[A-Za-z_:][A-Za-z0-9:._-]*+"
    r"""(?:\s*+=\s*+(?:[^"'=<>`\x00-\x20]++|'[^']*+'|"[^"]*+"))?+)*+\s*+/?|/[A-Za-z][A-Za-z0-9-]*+\s*+)>"""
)
_AUTOLINK = r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+|[\w.!#$%&'*+/=?^`{|}~-]++@[A-Za-z0-9.-]++)>"
_INLINE = r"\\[!-/:-@\[-`{-~]|`+|<"
_DEFINITION = (
    r"\[(?!\s*\])(?:[^\[\]\\]|\\.){1,999}+\]:[ \t]*+\n?[ \t]*+"
    r"(?:<(?:[^<>\n\\]|\\[^\n])*+>|([^<\x00-\x20][^\x00-\x20]*+))"
    r"""(?:(?:[ \t]++\n?|\n)[ \t]*+(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))[ \t]*+(?=\n|\Z)"""
    r"|[ \t]*+(?=\n|\Z))\n?"
)


def drop_definitions(rows: list[Row]) -> list[Row]:
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


def hide_inline(rows: list[Row]) -> None:
    """Hide the comments of a paragraph or heading, and any other raw HTML that runs over a line ending."""
    text = rows[0].content if len(rows) == 1 else "\n".join([row.content for row in rows])
    if "<!" in text or "<?" in text or ("<" in text and len(rows) > 1):
        hide(rows, list(_inline_spans(text)))


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
    match = re.compile(TAG).match(text, start) or re.compile(_AUTOLINK).match(text, start)
    return match.end() if match else 0


def hide(rows: list[Row], spans: list[tuple[int, int]]) -> None:
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
