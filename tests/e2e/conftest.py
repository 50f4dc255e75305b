"""A task in any state, real and cheap: `task = at("verify")`; and tasks that a scripted agent works on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.agent_runs import Agents
from tests.e2e.phase_task import PhaseTask, Stages


@pytest.fixture(scope="session")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Stages:
    return Stages(tmp_path_factory.mktemp("stages"))


@pytest.fixture
def at(stages: Stages) -> Callable[[str], PhaseTask]:
    """Puts the session's task into a state; what an earlier test did to it is gone."""
    return stages.at


@pytest.fixture
def agents(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Agents]:
    """The scripted agent and its tasks; no process of it outlives the test."""
    made = Agents(detent, repo, tmp_path)
    yield made
    made.close()
