"""Tests of the hooks that a person's git would run: read whatever an agent made of their folder."""

from __future__ import annotations

from detent.effects.git.hooks import changed_hooks, hook_prints
from detent.store.disk.folders import remove_folder
from tests.conftest import MakeRepo
from tests.unit.store.disk.test_folders import nest


def test_deep_folders_beside_the_hooks_hide_no_changed_hook(repo: MakeRepo) -> None:
    made = repo()
    with open(made / ".git/config", "a", encoding="utf-8") as file:
        file.write("[core]\n\thooksPath = .husky\n")
    hooks = made / ".husky"
    hooks.mkdir()
    before = hook_prints(str(made))
    nest(hooks, 1500)
    (hooks / "pre-commit").write_text("#!/bin/sh\n", encoding="utf-8")
    try:
        assert ".husky/pre-commit" in changed_hooks(before, hook_prints(str(made)))
    finally:
        remove_folder(str(hooks))  # the cleaning of pytest calls itself for each level
