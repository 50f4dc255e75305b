"""What is wrong with `[proof]` of the settings, and with an assessment that was kept."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def too_few_minutes() -> str:
    return "proof: minutes must be a whole number from 1"


@message
def unknown_answer(answers: Iterable[str]) -> str:
    return f"proof: changed_tests must be one of {', '.join(answers)}"


@message
def unknown_requirement(word: str, words: Iterable[str]) -> str:
    return f"proof: require must be one of {', '.join(words)}, not {word!r}"


@message
def no_assessment(why: str) -> str:
    return f"this is no assessment of a proof: {why}"


@message
def none_of(word: str, words: Iterable[str]) -> str:
    return f"{word!r} is none of {', '.join(words)}"
