"""A machine loads only when it was explored without a finding: as it shipped before, otherwise now."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.core.explore import explore
from detent.core.lint import lint
from detent.errors import MachineError, UsageError
from detent.machines.findings import findings
from detent.machines.load import built_in_names, canonical, explored_digests, load, read_document
from detent.runner.make.checked import load_checked
from detent.runner.make.vocabulary import vocabulary
from detent.runner.step.registry import meanings
from detent.store.disk.digest import sha256_of
from detent.store.journal.settings import Settings
from detent.words.machines import explore as explore_words
from detent.words.runner import make as say

NEVER_TAKEN = explore_words.move_never_taken("agent-review-to-working")


@pytest.mark.parametrize("name", built_in_names())
def test_what_is_listed_has_no_finding(name: str) -> None:
    document, _ = read_document(name)
    assert sha256_of(canonical(document)) in explored_digests(), "next: python tools/generate_docs.py"
    machine, _ = load(name, vocabulary())
    assert (lint(machine), findings(machine, explore(machine), meanings())) == ((), ())


def test_nothing_else_is_listed() -> None:
    assert len(explored_digests()) == len(built_in_names())


def test_a_file_that_differs_from_what_shipped_is_explored(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = Path(read_document("orange")[1]).read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    assert load_checked(str(path), Settings())[0].name == "orange"
    changed = text.replace("max   = 2\ncap   = 9", "max   = 1\ncap   = 9")
    assert changed != text
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(MachineError) as caught:
        load_checked(str(path), Settings())
    assert NEVER_TAKEN in str(caught.value.problems)


def test_machine_that_shipped_is_explored_with_settings_of_a_project() -> None:
    assert load_checked("orange", Settings(limits={"orange": {"review_round": 3}}))[0].name == "orange"
    with pytest.raises(UsageError) as caught:
        load_checked("orange", Settings(limits={"orange": {"review_round": 1}}))
    refusal = say.settings_do_not_fit("orange", "detent.toml", (say.finding(NEVER_TAKEN, ()),))
    assert caught.value.what == refusal
