"""The kind of a change, guessed from the words of its request."""

from __future__ import annotations

import pytest

from detent.runner.make.kind import guess_kind
from detent.store.text.proof_words import CHORE, DOCS, FEATURE, FIX, REFACTOR


@pytest.mark.parametrize(
    ("request_text", "kind"),
    [
        ("count the words of an empty text", FEATURE),
        ("Fix the crash when the file is empty", FIX),
        ("the parser returns wrong line numbers", FIX),
        ("Rename `Wanted` to `Request`", REFACTOR),
        ("document the new option", DOCS),
        ("add a docs page about bugs in the parser", DOCS),
        ("bump ruff to 0.14", CHORE),
        ("", FEATURE),
    ],
)
def test_kind_is_guessed_from_first_words_then_all(request_text: str, kind: str) -> None:
    assert guess_kind(request_text) == kind
