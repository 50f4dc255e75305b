"""A task of the small machine tests/data/machines/undone.toml, with a clone of its own: work, accept, take back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import Completed, Detent, MakeRepo

MACHINE = Path(__file__).parents[1] / "data/machines/undone.toml"


class Undone:
    def __init__(self, detent: Detent, repo: MakeRepo, *options: str) -> None:
        self.detent, self.repo, self.repository = detent, repo, repo()
        made = detent("new", MACHINE, "Add things", "--id", "t", "--json", *options, cwd=self.repository)
        assert made.code == 0, made
        self.folder, self.tree = Path(made.json()["dir"]), Path(made.json()["workspace"])

    def __call__(self, *words: str) -> Completed:
        return self.detent(*words, "t", cwd=self.repository)  # by name: one that is done is not open any more

    def say(self, line: str, code: int = 0) -> str:
        done = self("say", line)
        assert done.code == code, done
        return done.out + done.err

    @property
    def state(self) -> str:
        return str(self("status", "--json").json()["state"])

    @property
    def control(self) -> Path:
        return self.repository / ".git/detent/tasks/t"

    def journal(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.control / "journal.jsonl").read_text(encoding="utf-8").splitlines()]

    def git(self, *words: str) -> str:
        return self.repo.git(self.repository, *words)

    def work(self) -> None:
        """Something to take back: a change, a new file and one that goes."""
        (self.tree / "app.py").write_text("print('worked')\n", encoding="utf-8")
        (self.tree / "new").mkdir(exist_ok=True)
        (self.tree / "new/part.py").write_text("part = 1\n", encoding="utf-8")
        (self.tree / "test_app.py").unlink(missing_ok=True)

    def accepted(self) -> Undone:
        self.work()
        self.say("/next")
        self.say("/approve")
        assert self.state == "done"
        return self

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "revert/record.json").read_text(encoding="utf-8"))
        return found

    def files(self, revision: str) -> dict[str, str]:
        """Every file of a commit of the user's repository, by its content."""
        rows = (line.split(None, 3) for line in self.git("ls-tree", "-r", revision).splitlines())
        return {name: blob for _, _, blob, name in rows}
