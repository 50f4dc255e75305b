"""The words a task is called by: one line, and no longer than a line that people and other tools read."""

from __future__ import annotations

from detent.errors import UsageError

LONGEST_TITLE = 500


def one_line(words: str) -> str:
    """The words on one line; they go into headings and lists, where a second line would be read as something else."""
    title = " ".join(words.split())
    if len(title) > LONGEST_TITLE:
        raise UsageError(
            f"the words are {len(title):,} characters long; a task is called by one line of at most {LONGEST_TITLE}",
            next_step="say in one line what is to be done; the rest goes into a file: detent new --from FILE, or the "
            "notes of the task",
        )
    return title
