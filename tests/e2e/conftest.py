"""A task in any state, real and cheap: `task = at("verify")`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.phase_task import PhaseTask, Stages


@pytest.fixture(scope="session")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Stages:
    return Stages(tmp_path_factory.mktemp("stages"))


@pytest.fixture
def at(stages: Stages) -> Callable[[str], PhaseTask]:
    """Puts the session's task into a state; what an earlier test did to it is gone."""
    return stages.at
