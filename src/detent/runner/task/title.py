"""The words a task is called by: one line, and no longer than a line that people and other tools read."""

from __future__ import annotations

from detent.errors import UsageError

LONGEST_TITLE = 500


def one_line(words: str) -> str:
    """The words on one line; they go into headings and lists, where a second line would be read as something else."""
    title = " ".join(words.split())
    if len(title) > LONGEST_TITLE:
        from detent.words.runner import task as say

        raise UsageError(say.title_too_long(len(title), LONGEST_TITLE))
    return title
