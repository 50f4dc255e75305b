"""What a gate may look at, for the tests of checks that only one machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.gates.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
