"""A `lights-out` pipeline in a real repository, asked as a person asks it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import Completed, Detent, MakeRepo, let_out


class Pipeline:
    """The one pipeline of a checkout; its task is called `p`."""

    def __init__(self, detent: Detent, repo: MakeRepo, repository: Path) -> None:
        self.detent, self.repo, self.repository = detent, repo, repository

    def __call__(self, *words: str, **options: Any) -> Completed:
        return self.detent(*words, "p", cwd=self.repository, **options)

    def new(self, *options: str) -> Pipeline:
        made = self.detent("new", "lights-out", "Count words", "--id", "p", *options, cwd=self.repository)
        assert made.code == 0, made
        return self

    def moved(self, *names: str) -> Pipeline:
        for name in names:
            done = self("move", "--edge", name)
            assert done.code == 0, done
        return self

    @property
    def folder(self) -> Path:
        return self.repository / "scaffolding"

    @property
    def status(self) -> dict[str, Any]:
        return dict(self("status", "--json").json())

    @property
    def state(self) -> str:
        return str(self.status["state"])

    def shown(self) -> dict[str, Any]:
        """What scaffolding/state.json says."""
        return dict(json.loads((self.folder / "state.json").read_text(encoding="utf-8")))

    def journal(self) -> list[dict[str, Any]]:
        lines = (self.repository / ".git/detent/tasks/p/journal.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def write(self, name: str, text: str) -> None:
        path = self.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def git(self, *words: str) -> str:
        return self.repo.git(self.repository, *words)


def pipeline(detent: Detent, repo: MakeRepo, files: dict[str, str] | None = None) -> Pipeline:
    """A repository that is ready for a pipeline."""
    repository = repo(files=files) if files else repo()
    let_out(repository)
    return Pipeline(detent, repo, repository)
