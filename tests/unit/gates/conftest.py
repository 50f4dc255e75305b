"""What a gate may look at, for the tests of this room."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.gates.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
