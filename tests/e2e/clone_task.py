"""A phase task with a home of its own: the files that are worked on lie in a clone, not in the user's checkout."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tests.conftest import Detent, MakeRepo
from tests.e2e.phase_task import FRAME, PhaseTask

ID = "t"
CHECK = "grep -q 'left + right' app.py"


class CloneTask(PhaseTask):
    def __init__(
        self, detent: Detent, repo: MakeRepo, path: Path, *options: str | Path, check: str = CHECK, task_id: str = ID
    ) -> None:
        made = detent("new", "count", "--id", task_id, "--check", check, *options, "--json", cwd=path)
        assert made.code == 0, made
        self.made = made.json()
        self.notes: list[str] = self.made["notes"]
        self.tree = Path(self.made["workspace"])
        self.home = self.tree.parent
        self._git = repo.git
        super().__init__(detent, path, Path(self.made["dir"]), task_id)

    def git(self, *words: str) -> str:
        """In the user's repository."""
        return self._git(self.repo, *words)

    def git_inside(self, *words: str) -> str:
        """In the clone."""
        return self._git(self.tree, *words)

    def to(self, stage: str) -> None:
        """Walk honestly to a state."""
        self.set(FRAME)
        for state in ("shape", "implement", "verify", "review", "done"):
            if state == "verify":
                self.candidate()
            elif state == "done":
                self.review()
            self.move(state)
            if state == stage:
                return


def marking_script(path: Path, mark: Path, then: str = "cat") -> Path:
    """A program that leaves a mark when it is run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\n{then}\n', encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def refs(task: CloneTask) -> dict[str, str]:
    lines = task.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split(" ") for line in lines)


def contents(folder: Path) -> dict[str, str]:
    """Every file of a tree but its git folder; links by where they lead."""
    found = {}
    for base, folders, names in os.walk(folder):
        if ".git" in folders:
            folders.remove(".git")
        for name in names:
            path = Path(base, name)
            text = f"-> {path.readlink()}" if path.is_symlink() else path.read_text(encoding="utf-8")
            found[str(path.relative_to(folder))] = text
    return found
