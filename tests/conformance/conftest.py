"""Tasks of the machines whose documents are shown here, worked on by hand or by scripted agents."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.lightsout_pipeline import Lights
from tests.conformance.ralf_threads import Threads
from tests.conftest import Detent, MakeRepo, environment_in
from tests.e2e.orange_task import Oranges


@pytest.fixture
def oranges(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Oranges]:
    """Makes `orange` tasks; no process of their agents outlives the test."""
    made = Oranges(detent, repo, tmp_path)
    yield made
    made.close()


@pytest.fixture
def threads(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Threads]:
    """Scripted agents and their threads; no process of them outlives the test."""
    made = Threads(detent, repo, tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="session")
def lights_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lights")


@pytest.fixture
def lights(lights_folder: Path) -> Iterator[Lights]:
    """Scripted agents and their pipeline; no process of them outlives the test.

    All are in the same place, which is empty when a test begins: pipelines that are put back know their paths.
    """
    live = lights_folder / "live"
    if live.exists():
        shutil.rmtree(live)
    live.mkdir()
    environment = environment_in(live)
    made = Lights(Detent(live, environment), MakeRepo(live / "repositories", environment), live, lights_folder / "kept")
    yield made
    made.close()
