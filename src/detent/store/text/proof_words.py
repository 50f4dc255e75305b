"""The words for what a green test command proves, from the weakest to the strongest, and the kinds of change."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

REFUSED, ASK, EXIT_CODE_ONLY = "refused", "ask", "exit_code_only"
KEPT, BY_OWN_TEST, PROVEN = "kept", "proven_by_own_test", "proven"
WORDS = (REFUSED, ASK, EXIT_CODE_ONLY, KEPT, BY_OWN_TEST, PROVEN)
REQUIRED = WORDS[2:]  # what a project may require

FIX, FEATURE, REFACTOR, DOCS, CHORE = KINDS = ("fix", "feature", "refactor", "docs", "chore")


def word_of_all(words: Sequence[str]) -> str:
    """The word for several commands: refused if any is, else ask if any is, else the best of them."""
    found = [word for word in (REFUSED, ASK) if word in words]
    return found[0] if found else max(words, key=WORDS.index, default=EXIT_CODE_ONLY)


def weaker(word: str, other: str) -> str:
    return min(word, other, key=WORDS.index)


def is_enough(word: str, required: str) -> bool:
    return WORDS.index(word) >= WORDS.index(required)
