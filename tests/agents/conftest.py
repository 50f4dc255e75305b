"""Folders for real agents lie on the disk: they have sandboxes of their own, to which `/dev` is another world."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def tmp_path(disk_path: Path) -> Path:
    return disk_path
