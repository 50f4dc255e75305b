"""A project on the disk for a real runner: programs are started from it, and node resolves links to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runners.world import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
