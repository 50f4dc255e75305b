"""One laboratory for all crash tests of a process; making it walks a task from start to review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from tests.crash import codec_kinds as codecs
from tests.crash.lab import Kind, Lab
from tests.crash.trace import why_not_here


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    made = Lab(tmp_path_factory.mktemp("crash"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def codec_kinds(lab: Lab) -> Mapping[str, Kind]:
    """One ticket from nothing to review, one thread from nothing to its first run."""
    return codecs.codec_kinds(lab)


@pytest.fixture
def kind(lab: Lab, request: pytest.FixtureRequest, name: str) -> Kind:
    """A kind of step by the name a test is given."""
    if name in lab.kinds:
        return lab.kinds[name]
    others: Mapping[str, Kind] = request.getfixturevalue("codec_kinds")
    return others[name]


@pytest.fixture(scope="session")
def strace() -> None:
    """Skips, with the reason, where processes can't be traced."""
    if why := why_not_here():
        pytest.skip(why)
