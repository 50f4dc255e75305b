"""What a message of the product is filled with, for tests that can't name all of its values."""

from __future__ import annotations

from detent.words.message import Message


def message_of(text: object) -> Message:
    """The message that this text is; a text that was worded on the spot has no code and no values."""
    assert isinstance(text, Message), text
    return text


def codes_in(text: object) -> tuple[str, ...]:
    """The code of a message, then those of the messages among its values."""
    outer = message_of(text)
    return (
        outer.code,
        *(code for value in outer.values.values() if isinstance(value, Message) for code in codes_in(value)),
    )
