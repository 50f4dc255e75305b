"""A task of the small machine tests/data/thread.toml in a real repository, asked as a person asks it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Unpack

from tests.conftest import Completed, Detent, MakeRepo, Options, let_out

MACHINE = Path(__file__).resolve().parents[1] / "data" / "thread.toml"


class ThreadTask:
    """One task called `t`; `repo` makes and asks the repository it works in."""

    def __init__(self, detent: Detent, repo: MakeRepo, repository: Path, task_id: str = "t") -> None:
        self.detent, self.repo, self.repository, self.id = detent, repo, repository, task_id

    def __call__(self, *words: str, **more: Unpack[Options]) -> Completed:
        options: Options = {"cwd": self.repository, **more}
        return self.detent(*words, self.id, **options)

    def new(self, *options: str) -> ThreadTask:
        made = self.detent(
            "new", str(MACHINE), "Count the words", "--id", self.id, *options, "--json", cwd=self.repository
        )
        assert made.code == 0, made
        return self

    def begun(self) -> ThreadTask:
        """A new task whose spec is finalized."""
        return self.new().moved("move", "Finalized")

    def moved(self, *words: str) -> ThreadTask:
        done = self(*words)
        assert done.code == 0, done
        return self

    @property
    def state(self) -> str:
        return str(self("status", "--json").json()["state"])

    @property
    def control(self) -> Path:
        folder = self.repository / ".git"
        return (folder / "detent" if folder.exists() else self.repository / ".detent") / "tasks" / self.id

    def journal(self) -> list[dict[str, Any]]:
        """Every whole line; a power cut may leave a part of one behind them."""
        lines = (self.control / "journal.jsonl").read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def kinds(self) -> list[str]:
        return [str(entry["kind"]) for entry in self.journal()]

    def git(self, *words: str) -> str:
        return self.repo.git(self.repository, *words)

    @property
    def branch(self) -> str:
        return self.git("rev-parse", "--abbrev-ref", "HEAD")

    def write(self, name: str, text: str) -> None:
        path = self.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.repository / name).read_text(encoding="utf-8")

    def is_sound(self) -> bool:
        audited = self("audit", "--json").json()
        assert audited["ok"], audited
        return True


def thread_task(detent: Detent, repo: MakeRepo, task_id: str = "t") -> ThreadTask:
    """A new task in a new repository, in Finalized."""
    repository = repo()
    let_out(repository)
    return ThreadTask(detent, repo, repository, task_id).begun()
