"""A line of Markdown while it is being read, what it may begin with, and what a heading is called."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Heading = tuple[int, str, int, int]  # level, title, start, start of the body

BLANK = " \t"
STARTERS = frozenset("#`~<>=-*_+0123456789")  # what may begin more than text
SUSPECTS = STARTERS | {" ", "\t"}


class Row:
    """A line while it is being read; `content` starts at `at` in `line`, which is the text with its tabs expanded."""

    __slots__ = ("at", "content", "depth", "end", "kind", "line", "start", "text")

    def __init__(
        self, start: int, end: int, text: str, kind: str = "blank", depth: int = 0, at: int = 0, content: str = ""
    ) -> None:
        self.start = start
        self.end = end
        self.text = self.line = text
        self.kind = kind
        self.depth = depth
        self.at = at
        self.content = content

    def moved(self, by: int) -> Row:
        """The same line where it stands in another text."""
        row = Row(self.start + by, self.end + by, self.text, self.kind, self.depth, self.at, self.content)
        row.line = self.line
        return row

    def keep(self, kept: str) -> None:
        """Replace the content by the part of it that is visible."""
        self.text = self.line[: self.at] + kept + self.line[self.at + len(self.content) :]
        self.content = kept.strip(BLANK)


def title_of(rest: str) -> str:
    """What stands behind the marks of a heading, without those it may end with."""
    title = rest.strip(BLANK)
    without = title.rstrip("#")
    return without.rstrip(BLANK) if not without or without[-1] in BLANK else title
