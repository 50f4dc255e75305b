"""The one verdict grammar: tolerant of how a verdict is written, closed to everything ambiguous.

1. An explicit `Verdict: WORD` line, in any emphasis or heading, wins; two that differ are no verdict.
2. Else a line that is nothing but a word of the grammar; two that differ are no verdict.
3. Else the first visible line, if it starts with such a word.
4. Else the first line that holds a word, if no other line holds another one.
A deciding line that holds more than one of the words, or denies, doubts or conditions the one it holds, is no verdict.
Code, comments, quotes, struck text and unticked boxes are not the writer's own word and count for nothing.

A line about one of several things begins with its label (`- [x] C1: PASS`, `criterion 1: pass`); what follows the label
is read by the same rules.
"""

from __future__ import annotations

import re

from detent.store.text.markdown import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.store.text.markdown import Line
    from detent.store.text.markdown_rows import Row

_QUOTED = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*>")
_EMPHASIS = re.compile(r"[*`]+|(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)")
STRUCK = re.compile(r"~~.*?~~")
_EXPLICIT = (
    r"(?:(?:the|my|our|final|overall|current|review|reviewer)\s+){0,3}verdict"
    r"\s*(?:\([^()]*\)\s*)?(?:(?:is\s*)?[:=]|(?:is|[\u2013\u2014-])\s*(?=%(words)s\b))\s*(?P<said>.*)"
)
_DENIED = (
    r"(?:\b(?:not|no|non|never|neither|cannot|without|would|could|should|might)|n['\u2019]t)\b"
    r"[^.,;:!?()\u2013\u2014]{0,80}\b%(words)s\b"
    r"|\b%(words)s\b(?:\s*\?|(?:\s+\w+)?\s+(?:not|never|pending|withheld|denied|refused|if|once|unless|provided)\b)"
)


def read_verdict(body: str, words: Sequence[str]) -> str | None:
    """The verdict a section gives, in the spelling of `words`; None when there is none or it is not clear."""
    lines = [plain for line in scan(body) if (plain := _plain(line, body))]
    if not lines:  # most often nothing stands there yet, and to make the patterns costs more than to look
        return None
    spelled = {word.casefold(): word for word in words}
    one_of = f"(?:{'|'.join(map(re.escape, words))})"
    any_word = re.compile(rf"\b{one_of}\b", re.IGNORECASE)
    denied = re.compile(_DENIED % {"words": one_of}, re.IGNORECASE)
    explicit = re.compile(_EXPLICIT % {"words": one_of}, re.IGNORECASE)

    def words_in(line: str) -> set[str]:
        found = {spelled[match.casefold()] for match in any_word.findall(line)}
        return set(words) if found and denied.search(line) else found

    said = [match["said"] for line in lines if (match := explicit.match(line)) and match["said"].strip()]
    if said:
        return _only([words_in(value) if any_word.match(value) else set() for value in said])
    if bare := [line for line in lines if any_word.fullmatch(_without_end_marks(line))]:
        return _only([words_in(line) for line in bare])
    if any_word.match(lines[0]):
        return _only([words_in(lines[0])])
    return _only([found for line in lines if (found := words_in(line))])


def verdicts_on(body: str, label: str, words: Sequence[str]) -> tuple[tuple[str | None, str], ...]:
    """What each line that begins with a label says of it: its verdict, None where it is not clear, and its words."""
    number = re.fullmatch(r"[Cc](\d+)", label)
    names = re.escape(label) + (rf"|criterion\s*#?\s*{number[1]}" if number else "")
    start = re.compile(rf"(?:{names})(?![\w-])\s*(?P<mark>[:.)|=\u2013\u2014-]*)\s*(?P<said>.*)", re.IGNORECASE)
    found = []
    for line in scan(body):
        if line.kind == "text" and (match := start.match(_plain(line, body))):
            said = match["said"].strip()
            # Without a mark behind the label a word in small letters is more likely part of a sentence.
            is_clear = match["mark"] or said.startswith(tuple(words)) or " " not in said
            found.append((read_verdict(said, words) if is_clear else None, said))
    return tuple(found)


def is_quoted(line: Line | Row, body: str) -> bool:
    """Whether a line is marked as a quotation."""
    return _QUOTED.match(body, line.start, line.end) is not None


def _plain(line: Line, body: str) -> str:
    """A line without its marks; empty when it is not the writer's own word."""
    if line.kind not in ("text", "heading") or is_quoted(line, body):
        return ""
    text = STRUCK.sub("", line.text.strip("# \t") if line.kind == "heading" else line.content)
    if text.startswith("[ ]"):
        return ""
    text = _EMPHASIS.sub("", re.sub(r"^\[[xX]\]", "", text))
    first = re.search(r"[^\W_]", text)
    return text[first.start() :].strip() if first else ""


def _without_end_marks(line: str) -> str:
    last = re.search(r"[^\W_]", line[::-1])
    return line[: len(line) - last.start()] if last else ""


def _only(found: list[set[str]]) -> str | None:
    """The single word that every deciding line agrees on."""
    if not found or any(len(words) != 1 for words in found):
        return None
    agreed = set.union(*found)
    return agreed.pop() if len(agreed) == 1 else None
