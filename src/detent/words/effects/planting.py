"""Why nothing could be planted for a test, or in a file; and what can't be compared."""

from __future__ import annotations

from detent.words.message import message


@message
def is_snapshot() -> str:
    return "it compares with a snapshot under its own name"


@message
def is_expected_to_fail() -> str:
    return "it is expected to fail"


@message
def no_expectation() -> str:
    return "it has no expectation that can be changed"


@message
def not_found() -> str:
    return "it is not written out in its file: generated, inherited, or named by what runs it"


@message
def no_kit(path: str) -> str:
    return f"nothing can be planted in {path}: no kit reads this language"


@message
def unparsable(path: str, reason: str) -> str:
    return f"{path} can't be parsed: {reason}"


@message
def no_text() -> str:
    return "it is no text in UTF-8, or too large"


@message
def no_place(path: str) -> str:
    return f"no test can be added to {path}: it has none that shows how"


@message
def no_function(path: str) -> str:
    return f"{path} changed outside its functions, or has none: nothing there can be made to raise"


@message
def outside(path: str) -> str:
    return f"{path} is no plain file inside the checkout; nothing was written"


@message
def not_laid(path: str) -> str:
    return f"{path} of the other tree is a link, or too large to be laid"


@message
def judge_not_removed() -> str:
    return "a file that judges was not removed"
