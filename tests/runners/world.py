"""One run of a test command with the real runner: a small project, its command, and the census that came of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from detent.effects.tests.reporting import prepare
from detent.effects.tests.reports import Reported, read_reports

PACKAGES = Path(os.environ.get("DETENT_TEST_RUNNERS") or Path(sys.prefix) / "runners")
SEARCH_PATH = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
RUN_TIMEOUT_S = 600


class Ran:
    """How one run ended: exit code, what it printed, and what it reported."""

    def __init__(self, done: subprocess.CompletedProcess[str], reported: Reported) -> None:
        self.exit, self.out, self.err, self.reported = done.returncode, done.stdout, done.stderr, reported

    @property
    def ends(self) -> dict[str, str]:
        """`file name[parameters]` -> how it ended, with the stage of what is red."""
        found = {}
        for case in self.reported.census.cases:
            name = case.id.name + (f"[{case.id.parameters}]" if case.id.parameters else "")
            found[f"{case.id.file} {name}".strip()] = f"{case.outcome} {case.stage}".strip()
        return found

    @property
    def runners(self) -> list[str]:
        return [call.runner for call in self.reported.census.calls]


class Project:
    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        self._runs = folder
        self.environment = {
            "PATH": SEARCH_PATH,
            "HOME": os.environ.get("HOME", str(folder)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "CI": "1",
            **{name: os.environ[name] for name in ("CARGO_HOME", "RUSTUP_HOME", "GOCACHE") if name in os.environ},
        }

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def packages_of(self, runner: str) -> None:
        """Give the project the node_modules with this runner; skips the test where they are not installed."""
        needs(runner)
        (self.root / "node_modules").symlink_to(PACKAGES / runner / "node_modules")

    def run(self, command: str, **variables: str) -> Ran:
        number = len(list(self._runs.glob("run-*")))
        environment = {**self.environment, **variables}
        place = prepare(str(self._runs / f"run-{number}"), environment, str(self.root))
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.root,
            env={**environment, **place.variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=RUN_TIMEOUT_S,
            check=False,
        )
        return Ran(done, read_reports(place.reports, str(self.root)))


def needs(*programs: str) -> None:
    """Skip where a program is not on PATH, or not among the packages of `make runners`."""
    for program in programs:
        if shutil.which(program, path=SEARCH_PATH) is None and not (PACKAGES / "bin" / program).exists():
            pytest.skip(
                f"{program} is not here; make runners installs jest, vitest and ava, the system has node, go and cargo"
            )
