"""What is wrong with the words of a machine, and with a line that a person typed."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def state_name(state: str) -> str:
    return (
        f"state {state!r}: a state's name begins with a letter or digit and is plain words on one line; "
        "in a task's file it would be read as something else"
    )


@message
def word_wrong(state: str, word: str, wrong: str) -> str:
    return f"state {state}: the word {word!r} {wrong}"


@message
def word_twice(state: str, word: str, other: str) -> str:
    return f"state {state}: the word {word!r} means {other} already"


@message
def line_wrong(source: str, target: str, pattern: str, wrong: str) -> str:
    return f"{source} -> {target}: says {pattern!r} {wrong}"


@message
def words_before_place(place: str) -> str:
    return f"must have words and a space before {place}"


@message
def words_with_one_space(place: str) -> str:
    return f"must be words with one space between them, and may hold {place} only at the end"


@message
def slash_and_word() -> str:
    return "must be a slash and a word, as in /plan"


@message
def word_of_engine(word: str) -> str:
    return f"must not begin with {word}, which every task understands"


@message
def no_such_flag(flag: str, known: Iterable[str]) -> tuple[str, str]:
    return f"a line knows no option {flag}", f"it knows: {', '.join(known)}"


@message
def flag_needs_reason(flag: str) -> tuple[str, str]:
    return f"{flag} needs a reason", f'{flag} "why"'
