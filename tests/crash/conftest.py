"""One laboratory for all crash tests of a process; making it walks a task from start to review."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crash.lab import Lab
from tests.crash.trace import why_not_here


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    made = Lab(tmp_path_factory.mktemp("crash"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def strace() -> None:
    """Skips, with the reason, where processes can't be traced."""
    if why := why_not_here():
        pytest.skip(why)
