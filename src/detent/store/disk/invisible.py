"""Characters that a reader does not see: they turn the direction of writing, take no room, or carry hidden text.

Every face shows them by their number. Marks that make up ordinary emoji (U+FE0F) stay.
"""

from __future__ import annotations

# First and last of each row.
INVISIBLE = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),  # grapheme joiner
    (0x061C, 0x061C),  # direction
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200B),  # zero width; its joiners (U+200C, U+200D) belong to some scripts and to emoji
    (0x200E, 0x200F),  # direction
    (0x202A, 0x202E),  # direction
    (0x2060, 0x206F),  # joiners, direction
    (0x3164, 0x3164),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE007F),  # tags: a whole text can hide in them
    (0xE0100, 0xE01EF),  # variation selectors without a use in source
)


def invisible_codes() -> tuple[int, ...]:
    return tuple(code for first, last in INVISIBLE for code in range(first, last + 1))


def invisible_class() -> str:
    """The same for the inside of a character class of a regular expression."""
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in INVISIBLE)
