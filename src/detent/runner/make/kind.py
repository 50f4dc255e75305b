"""Guesses the kind of a change from the words of its request; a person's own word is better, and an agent has none."""

from __future__ import annotations

import re

from detent.errors import UsageError
from detent.store.text.proof_words import CHORE, DOCS, FEATURE, FIX, KINDS, REFACTOR
from detent.words.runner import make as say

# What matches among the first words decides; where nothing does, all words are searched, in this order.
_SIGNS = (
    (
        FIX,
        r"fix(es|ed|ing)?|bugs?|regressions?|crash(es|ed|ing)?|broken|fails?|failing|wrong(ly)?|incorrect(ly)?|hotfix",
    ),
    (
        REFACTOR,
        r"refactor(s|ed|ing)?|renames?|renaming|restructure|simplif(y|ies|ied)|extract|deduplicate|clean[ -]?up|tidy",
    ),
    (DOCS, r"docs?|documentation|document(s|ed)?|readme|changelog|typos?|docstrings?|comments?"),
    (CHORE, r"chore|bump|upgrade|pin|release|ci|lint(ing)?|format(ting)?|dependenc(y|ies)|build"),
)
_FIRST_WORDS = 3


def kind_of(kind: str, request: str) -> dict[str, str]:
    """The kind of a change and its source: a person, or the engine's guess from the request."""
    if kind and kind not in KINDS:
        raise UsageError(say.unknown_kind(kind, KINDS))
    return {"kind": kind or guess_kind(request), "by": "person" if kind else "engine"}


def guess_kind(request: str) -> str:
    """The kind that the request's first words name, else the first that any word names, else a feature."""
    words = re.findall(r"[a-z][a-z-]*", request.lower())
    for some in (words[:_FIRST_WORDS], words):
        for kind, pattern in _SIGNS:
            if any(re.fullmatch(pattern, word) for word in some):
                return kind
    return FEATURE
