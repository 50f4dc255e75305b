"""Tasks of the machines whose documents are shown here, worked on by hand or by scripted agents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.orange_task import Oranges


@pytest.fixture
def oranges(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Oranges]:
    """Makes `orange` tasks; no process of their agents outlives the test."""
    made = Oranges(detent, repo, tmp_path)
    yield made
    made.close()
