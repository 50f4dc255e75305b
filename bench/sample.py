"""Real phase tasks in real git repositories, made through the installed command line and put back after each use."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.process import clean_environment, run_command

TASK = "bench"
FRAME = {
    "Objective": "make the parser accept trailing commas",
    "Done gate": "the parser's tests pass and the guide shows one example",
    "Not doing": "no new syntax besides the comma",
    "Reality constraints": "Python 3.11, no new packages",
    "Validation plan": "cmd: python3 -m unittest",
    "User facing": "no",
    "Current result": "the grammar is changed; the guide is not",
    "Next step": "write the example",
}
CANDIDATE = {
    "Candidate done": "yes",
    "Evidence location": "artifacts/result.txt",
    "Evidence link": "[result](artifacts/result.txt)",
}
FILES = {
    "README.md": "# Sample\n\nA project to measure on.\n",
    "app.py": "def add(left, right):\n    return left + right\n",
    "test_app.py": "import unittest\n\nfrom app import add\n\n\nclass AddTest(unittest.TestCase):\n"
    "    def test_adds(self):\n        self.assertEqual(add(2, 3), 5)\n",
}


class Sample:
    """One repository with one task. `keep` remembers how it stands now, `put_back` brings that back."""

    def __init__(
        self,
        detent: Path,
        place: Path,
        machine: str = "phase",
        files: Mapping[str, str] = FILES,
        checks: Sequence[str] = (),
    ) -> None:
        self.detent = str(detent)
        self.live = place / "live"
        self.kept = place / "kept"
        self.repository = self.live / "repository"
        self.environment: Mapping[str, str] = {
            **clean_environment(),
            "HOME": str(self.live),
            "XDG_STATE_HOME": str(self.live / "state"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.repository.mkdir(parents=True)
        for name, text in files.items():
            (self.repository / name).parent.mkdir(exist_ok=True)
            (self.repository / name).write_text(text, encoding="utf-8")
        identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.invalid")
        self._git("init", "--quiet", "--template=")
        self._git("add", "--all")
        self._git(*identity, "commit", "--quiet", "--message=Start")
        more = [word for check in checks for word in ("--check", check)]
        self.run("new", machine, FRAME["Objective"], "--in-place", "--id", TASK, *more)
        folder = subprocess.run(
            [self.detent, "dir", TASK],
            cwd=self.repository,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        self.folder = Path(folder.stdout.strip())

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.repository, env=self.environment, check=True)

    def run(self, *arguments: str, expect: Sequence[int] = (0,)) -> float:
        """Seconds of one `detent ARGUMENTS`."""
        return run_command([self.detent, *arguments], cwd=self.repository, environment=self.environment, expect=expect)

    def fill(self, values: Mapping[str, str]) -> None:
        path = self.folder / "STATE.md"
        text = path.read_text(encoding="utf-8")
        for label, value in values.items():
            text = re.sub(rf"^{re.escape(label)}:.*$", f"{label}: {value}", text, flags=re.MULTILINE)
        path.write_text(text, encoding="utf-8")

    def bring_to_implement(self) -> None:
        """A candidate is ready, so that the move to verify, which makes a checkpoint, is open."""
        self.fill(FRAME)
        self.run("move", "shape")
        self.run("move", "implement")
        (self.folder / "artifacts" / "result.txt").write_text("12 tests passed\n", encoding="utf-8")
        self.fill(CANDIDATE)

    def keep(self) -> None:
        shutil.copytree(self.live, self.kept, symlinks=True)

    def put_back(self) -> None:
        shutil.rmtree(self.live)
        shutil.copytree(self.kept, self.live, symlinks=True)
