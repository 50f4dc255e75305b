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
def wrong_test(key: str, problem: str) -> str:
    return f"proof: {key}: {problem}"


@message
def no_test_name(name: str) -> str:
    return f'{name!r} names no test; write "tests/test_app.py::test_name", or a file alone'


@message
def test_outside(name: str) -> str:
    return f"{name!r} is no path inside the repository; write it from the top, with /"


@message
def test_named_twice(name: str) -> str:
    return f"{name!r} stands there twice"


@message
def flaky_and_red(names: Iterable[str]) -> str:
    return f"proof: {', '.join(names)}: a test can't be both flaky and red; take it out of one list"


@message
def no_assessment(why: str) -> str:
    return f"this is no assessment of a proof: {why}"


@message
def none_of(word: str, words: Iterable[str]) -> str:
    return f"{word!r} is none of {', '.join(words)}"
