"""A message: a sentence for people that knows its code, its values and the next step.

A message is a `str`, so it is written, joined and compared like any text. To tell one problem from another, ask for its
`code` and `values`, never for its words.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec

    P = ParamSpec("P")


class Message(str):
    """`next_step` says how to go on, where the sentence knows that."""

    __slots__ = ("_named", "_sentence", "_values", "next_step")

    _sentence: Callable[..., object]
    _values: tuple[object, ...]
    _named: dict[str, object]
    next_step: str

    @property
    def code(self) -> str:
        """The room or pack and the name of the function that made it, as `gates.section_missing`."""
        module = self._sentence.__module__.removesuffix(".words")
        return f"{module.rpartition('.')[2]}.{self._sentence.__name__}"

    @property
    def values(self) -> dict[str, object]:
        """What the sentence was filled with, by the names of the function's parameters."""
        return {**dict(zip(self._sentence.__code__.co_varnames, self._values, strict=False)), **self._named}


def message(sentence: Callable[P, str | tuple[str, str]]) -> Callable[P, Message]:
    """Make a function that returns a sentence, or a sentence and the next step, return a `Message`."""

    def tell(*values: P.args, **named: P.kwargs) -> Message:
        made = sentence(*values, **named)
        text, next_step = (made, "") if isinstance(made, str) else made
        message = Message(text)
        # The explorer asks for a million of these: what only some readers want is worked out when it is asked for.
        message._sentence, message._values, message._named, message.next_step = sentence, values, named, next_step
        return message

    return tell


def code_of(text: str) -> str:
    """The code of a message; empty for any other text, such as one that was read back from a journal."""
    return text.code if isinstance(text, Message) else ""
