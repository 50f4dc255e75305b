"""Threads of the ralf machine and the agents that work on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.ralf_threads import Threads
from tests.conftest import Detent, MakeRepo


@pytest.fixture
def threads(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Threads]:
    """Scripted agents and their threads; no process of them outlives the test."""
    made = Threads(detent, repo, tmp_path)
    yield made
    made.close()
