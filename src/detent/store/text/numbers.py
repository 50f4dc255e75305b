"""Reads whole numbers in texts: plain digits, and no more of them than any count or line has."""

from __future__ import annotations

_MOST_DIGITS = 18  # far beyond every count; Python itself refuses to read texts of thousands of digits


def whole_number(text: str) -> int | None:
    """The number a text is, None if it is none. `isdigit` alone would also take "²", which `int` does not."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if is_number else None
