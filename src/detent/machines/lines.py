"""What a person types, as text alone: which words a line begins with, and what is added to them.

`/word …` is a command, `//…` is the text `/…`, anything else is plain text, which a machine may give a meaning too. No
task is known here; runner/tell/said.py says what a line means where a task stands.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.errors import UsageError
from detent.words.later import Later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detent.core.machine import Edge, State
    from detent.words.machines import lines as say
else:
    say = Later("detent.words.machines.lines")

SLASH = "/"
PLACE = "{text}"
NEXT, REDO, HELP, STATUS, QUIT = "/next", "/redo", "/help", "/status", "/quit"
LEAVING = (QUIT, "/exit")
# The words every task understands; a machine's file gives these no other meaning, and lists the moves of `/next`.
BUILT_IN = (NEXT, REDO, HELP, STATUS, *LEAVING)
OVERRIDE, REASON, YES = "--override", "--reason", "--yes"
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»"}  # as they come from documents


class Line(Record):
    """A line as it was typed: a command with its slash, or plain text."""

    text: str
    is_command: bool


class Extra(Record):
    """What stands behind the words of a command."""

    text: str = ""
    override: str = ""
    is_yes: bool = False


def read_line(typed: str) -> Line:
    text = typed.strip()
    if text.startswith(SLASH * 2):
        return Line(text[1:], is_command=False)
    return Line(text, is_command=text.startswith(SLASH))


def normal(words: str) -> str:
    """One space between words, none around them."""
    return " ".join(words.split())


def after_words(line: str, words: str) -> str | None:
    """What a line says after these words, whatever their case; None if it does not begin with them."""
    rest = line
    for word in words.split():
        first, _, rest = rest.lstrip().partition(" ")
        if first.casefold() != word.casefold():
            return None
    return rest.strip()


def longest_match(line: str, candidates: Iterable[str]) -> tuple[str, str] | None:
    """The candidate with the most words that a line begins with, and what it says after them."""
    found = [(words, rest) for words in candidates if (rest := after_words(line, words)) is not None]
    return max(found, key=lambda pair: len(pair[0].split()), default=None)


def fill(pattern: str, line: str) -> str | None:
    """What a line puts in a pattern's place, "" for a pattern without one; None if it is not that pattern."""
    rest = after_words(line, pattern.removesuffix(PLACE))
    return rest if rest is not None and bool(rest) == pattern.endswith(PLACE) else None


def word_problems(states: Iterable[State], edges: Iterable[Edge]) -> Iterator[str]:
    """What is wrong with the words a machine's file gives to states and moves."""
    owners: dict[str, str] = {}
    for state in states:
        if not _is_plain_name(state.name):
            yield say.state_name(state.name)
        for word in state.words:
            if wrong := _wrong_word(word):
                yield say.word_wrong(state.name, word, wrong)
            if owners.setdefault(word.casefold(), state.name) != state.name:
                yield say.word_twice(state.name, word, owners[word.casefold()])
    for edge in edges:
        for pattern in edge.says:
            if wrong := _wrong_pattern(pattern):
                yield say.line_wrong(edge.source, edge.target, pattern, wrong)


def _is_plain_name(name: str) -> bool:
    """Whether a name comes back from every kind of file as it was written there."""
    is_plain = name.isprintable() and normal(name) == name and name[:1].isalnum()
    return is_plain and not name.endswith(tuple("*_~:")) and not set(name) & set("<`\"'\\|")


def _wrong_pattern(pattern: str) -> str:
    fixed = pattern.removesuffix(PLACE)
    if fixed != pattern and not fixed.endswith(" "):
        return say.words_before_place(PLACE)
    if fixed.startswith(SLASH):
        return "" if pattern == NEXT else _wrong_word(fixed.rstrip())
    if not fixed or normal(fixed) != fixed.rstrip() or "{" in fixed or "}" in fixed:
        return say.words_with_one_space(PLACE)
    return ""


def _wrong_word(word: str) -> str:
    first = word.casefold().partition(" ")[0]
    if normal(word) != word or not first.startswith(SLASH) or not first[1:].replace("-", "").isalnum():
        return say.slash_and_word()
    return say.word_of_engine(first) if first in BUILT_IN else ""


def read_extra(rest: str) -> Extra:
    """Options first, then what is said; the quotes around either are left out."""
    extra = Extra()
    while rest.startswith("--"):
        flag, _, behind = rest.partition(" ")
        if flag == YES:
            extra, rest = extra.replace(is_yes=True), behind.strip()
            continue
        if flag not in (OVERRIDE, REASON):
            raise UsageError(say.no_such_flag(flag, (OVERRIDE, REASON, YES)))
        value, rest = _value(behind.strip())
        if not value:
            raise UsageError(say.flag_needs_reason(flag))
        extra = extra.replace(override=value) if flag == OVERRIDE else extra.replace(text=value)
    said = unquoted(rest)
    return extra.replace(text=said) if said else extra


def _value(rest: str) -> tuple[str, str]:
    """A quoted text and what stands behind it; without quotes, all of it."""
    close = _QUOTES.get(rest[:1], "")
    # An apostrophe inside of single quotes ends nothing: a letter follows it.
    ends = [at for at, sign in enumerate(rest) if at and sign == close and (rest[at + 1 :] or " ")[0].isspace()]
    return (rest[1 : ends[0]].strip(), rest[ends[0] + 1 :].strip()) if ends else (rest, "")


def unquoted(text: str) -> str:
    """Without the quotes around all of it."""
    value, behind = _value(text.strip())
    return text.strip() if behind else value
