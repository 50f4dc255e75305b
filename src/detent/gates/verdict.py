"""The one verdict grammar: tolerant of how a verdict is written, closed to everything ambiguous.

1. An explicit `Verdict: WORD` line, in any emphasis or heading, wins; two that differ are no verdict.
2. Else a line that is nothing but a word of the grammar; two that differ are no verdict.
3. Else the first visible line, if it starts with such a word.
4. Else the first line that holds a word, if no other line holds another one.
A deciding line that holds more than one of the words is no verdict.
"""

from __future__ import annotations

import re

from detent.store.markdown import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_DECORATION = "*_`~#> \t-+:.!"


def read_verdict(body: str, words: Sequence[str]) -> str | None:
    """The verdict a section gives, in the spelling of `words`; None when there is none or it is not clear."""
    lines = [
        line.text if line.kind == "heading" else line.content for line in scan(body) if line.kind in ("text", "heading")
    ]
    lines = [line.strip() for line in lines if line.strip(_DECORATION)]
    spelled = {word.lower(): word for word in words}
    any_word = re.compile(rf"\b({'|'.join(map(re.escape, words))})\b", re.IGNORECASE)

    def words_in(line: str) -> set[str]:
        return {spelled[match.lower()] for match in any_word.findall(line)}

    explicit = [line for line in lines if re.match(r"[*_`#> \t+-]*verdict[*_` \t]*[:=]", line, re.IGNORECASE)]
    bare = [line for line in lines if line.strip(_DECORATION).lower() in spelled]
    for group in (explicit, bare):
        if group:
            return _only([words_in(line) for line in group])
    if lines and any_word.match(lines[0].lstrip(_DECORATION)):
        return _only([words_in(lines[0])])
    return _only([found for line in lines if (found := words_in(line))])


def _only(found: list[set[str]]) -> str | None:
    """The single word that every deciding line agrees on."""
    if not found or any(len(words) != 1 for words in found):
        return None
    agreed = set.union(*found)
    return agreed.pop() if len(agreed) == 1 else None
