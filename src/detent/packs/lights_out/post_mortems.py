"""Finds the post-mortems in a log that people, agents and the engine wrote, in whatever order and dress.

A post-mortem answers three questions: what went wrong, what to try differently, what to avoid. Its parts may be
headings, bold lines, list items or plain labels. The next agent gets them as quotations; no decision ever rests on
them.
"""

from __future__ import annotations

import re

from detent.core.record import Record
from detent.store.text.markdown import scan

WRONG, DIFFERENTLY, AVOID = "What went wrong", "What to try differently", "What to avoid"
PARTS = (WRONG, DIFFERENTLY, AVOID)
_LABEL = re.compile(
    r"(?P<dress>[\s>#*_+\d.)-]*)(?P<label>what went wrong|what to try differently|what to avoid)"
    r"\s*(?:\([^)]*\))?\s*[*_]*\s*(?:[:\u2014\u2013-]|$)\s*[*_]*\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_COMMENT = re.compile(r"<!--.*?-->")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s")
_NAMED = re.compile(r"post.?mortem", re.IGNORECASE)


class PostMortem(Record):
    title: str  # the heading it stands under; empty when there is none
    wrong: str = ""
    differently: str = ""
    avoid: str = ""

    def parts(self) -> tuple[tuple[str, str], ...]:
        """Label and words of every part that says something."""
        rows = zip(PARTS, (self.wrong, self.differently, self.avoid), strict=True)
        return tuple((label, text) for label, text in rows if text)


class _Reader:
    """Goes through the lines once, and remembers which part of which post-mortem they belong to."""

    def __init__(self) -> None:
        self.found: list[PostMortem] = []
        self.title = ""  # the last heading
        self.part, self.level, self.indent = "", 0, -1  # the open part, and what it was opened by
        self.lines: list[str] = []

    def take(self, line: str, *, is_code: bool) -> None:
        label = None if is_code else _LABEL.fullmatch(line)
        heading = None if is_code else _HEADING.fullmatch(line)
        if label is not None:
            self.begin(label, heading)
        elif heading is not None:
            self.head(heading)
        elif self.part and not is_code and self.is_over(line):
            self.close()
        elif self.part:
            self.lines.append(line)

    def begin(self, label: re.Match[str], heading: re.Match[str] | None) -> None:
        self.close()
        self.part = next(part for part in PARTS if part.lower() == " ".join(label["label"].lower().split()))
        item = _ITEM.match(label["dress"])
        self.level, self.indent = len(heading[1]) if heading else 0, len(item[1]) if item else -1
        self.lines = [label["rest"].rstrip("*_ ")]
        if self.part == WRONG or not self.found or self.says(self.part):
            self.found.append(PostMortem(self.title))

    def says(self, part: str) -> bool:
        return part in dict(self.found[-1].parts())

    def head(self, heading: re.Match[str]) -> None:
        """A deeper heading belongs to the part it stands in; any other ends it."""
        if self.part and self.level and len(heading[1]) > self.level:
            self.lines.append(heading[0])
            return
        self.close()
        self.title = _COMMENT.sub("", heading[2]).strip(" *_")
        if _NAMED.search(self.title):
            self.found.append(PostMortem(self.title))
            self.part, self.level, self.indent, self.lines = WRONG, len(heading[1]), -1, []

    def is_over(self, line: str) -> bool:
        """Whether a part that is a list item, or a bold line, has ended before the next heading."""
        item = _ITEM.match(line)
        if self.indent >= 0:
            return bool(line.strip()) and (item is not None and len(item[1]) <= self.indent)
        return not self.level and line.lstrip().startswith(("**", "__"))

    def close(self) -> None:
        text = "\n".join(re.sub(r"^\s*>\s?", "", line) for line in self.lines).strip()
        if self.part and self.found:
            names = dict(zip(PARTS, ("wrong", "differently", "avoid"), strict=True))
            before = getattr(self.found[-1], names[self.part])
            self.found[-1] = self.found[-1].replace(**{names[self.part]: before or _shortest(text)})
        self.part, self.lines = "", []


def _shortest(text: str) -> str:
    """Without empty lines one after the other."""
    return re.sub(r"\n\s*\n+", "\n", text)


def find_post_mortems(text: str) -> tuple[PostMortem, ...]:
    """Every one of them, in the order of the text; what can't be made out is passed over."""
    reader = _Reader()
    for line in scan(text):
        reader.take(_COMMENT.sub("", text[line.start : line.end].rstrip("\r\n")).rstrip(), is_code=line.kind == "code")
    reader.close()
    return tuple(post_mortem for post_mortem in reader.found if post_mortem.parts())
