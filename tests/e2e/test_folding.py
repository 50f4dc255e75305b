"""A home on a file system that folds case: what the sandbox hides there is hidden under every spelling."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.effects.host.access import BUBBLEWRAP, LANDLOCK
from detent.effects.host.sandbox import try_level
from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.folding import folding_place, undisturbed


def test_commands_read_no_key_under_another_spelling(detent: Detent, repo: MakeRepo, disk_path: Path) -> None:
    for level in (BUBBLEWRAP, LANDLOCK):
        if problem := try_level(level, os.environ):
            pytest.skip(f"{level}: {problem}")
    with folding_place(disk_path) as home:
        (home / ".netrc").write_text("password x", encoding="utf-8")
        person = Detent(detent.directory, {**detent.environment, "HOME": str(home)})
        test = "! grep -q password ~/.netrc ~/.NETRC"
        path = repo(files={**SAMPLE_FILES, "detent.toml": f'[commands]\ntest = "{test}"\n'})
        said = undisturbed(lambda: person("doctor", cwd=path).out)
        assert "sandbox level landlock (bubblewrap: what was hidden could be read" in said
        assert "ok   test" in said
