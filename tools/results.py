"""Keeps how each test ended, together with a digest of the source it ran on.

`make test` leaves `.test-results.json`; `make requirements` counts a row only by what stands there. Runs of parts of
the tests on the same source add up. A result of another source counts for nothing, so it is dropped.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

RESULTS = ".test-results.json"
SOURCES = (
    "src",
    "tests",
    "tools",
    "docs",
    "examples",
    "pyproject.toml",
    "requirements",
    "README.md",
    "ARCHITECTURE.md",
)
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def source_digest(project: Path) -> str:
    """One hash over the path and the bytes of every source file below `project`."""
    whole = hashlib.sha256()
    for path in _source_files(project):
        whole.update(f"{path.relative_to(project).as_posix()}\0".encode())
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def _source_files(project: Path) -> Iterator[Path]:
    for name in SOURCES:
        top = project / name
        if top.is_file():
            yield top
        for folder, folders, files in os.walk(top):
            folders[:] = sorted(name for name in folders if name != "__pycache__" and not name.endswith(".egg-info"))
            yield from (path for name in sorted(files) if (path := Path(folder, name)).is_file())


def read_outcomes(project: Path, digest: str) -> dict[str, str]:
    """How each test ended on the source with this digest; empty if the tests did not run on it."""
    try:
        kept = json.loads((project / RESULTS).read_text(encoding="utf-8"))
        outcomes = kept["outcomes"] if kept["source"] == digest else {}
        return {str(test): str(outcome) for test, outcome in outcomes.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


class ResultKeeper:
    """A pytest plugin of the process that starts the tests; xdist's workers report to it."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._digest = source_digest(project)  # before any test runs: an edit during the run must not be vouched for
        self._outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test passed if its call passed and neither set-up nor tear-down failed."""
        known = self._outcomes.get(report.nodeid)
        if report.failed:
            self._outcomes[report.nodeid] = FAILED
        elif report.skipped and known != FAILED:
            self._outcomes[report.nodeid] = SKIPPED
        elif report.when == "call" and known is None:
            self._outcomes[report.nodeid] = PASSED

    def pytest_sessionfinish(self) -> None:
        if not self._outcomes:
            return
        kept = {"source": self._digest, "outcomes": read_outcomes(self._project, self._digest) | self._outcomes}
        unfinished = self._project / f"{RESULTS}.{os.getpid()}"
        unfinished.write_text(json.dumps(kept, indent=0, sort_keys=True), encoding="utf-8")
        unfinished.replace(self._project / RESULTS)
