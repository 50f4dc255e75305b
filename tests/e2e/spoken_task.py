"""A task of the small machine tests/data/machines/spoken.toml, which is led by typed lines."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Completed, Detent

MACHINE = Path(__file__).parents[1] / "data/machines/spoken.toml"


class Spoken:
    """One task `t` of the small machine; `fields` are written into its file by hand."""

    def __init__(self, detent: Detent, repository: Path, folder: Path) -> None:
        self.detent, self.repository, self.file = detent, repository, folder / "NOTE.md"
        made = self.detent(
            "new", str(MACHINE), "A note", "--id", "t", "--dir", str(folder), "--in-place", cwd=repository
        )
        assert made.code == 0, made.err

    def __call__(self, *words: str, stdin: str = "") -> Completed:
        return self.detent(*words, "t", cwd=self.repository, stdin=stdin)

    def say(self, line: str, code: int = 0) -> str:
        done = self("say", line)
        assert done.code == code, done
        return done.out + done.err

    def write(self, **fields: str) -> None:
        lines = self.file.read_text(encoding="utf-8").splitlines()
        for label, value in fields.items():
            lines = [line for line in lines if not line.startswith(f"{label}:")] + [f"{label}: {value}"]
        self.file.write_text("\n".join(lines) + "\n", encoding="utf-8")

    @property
    def state(self) -> str:
        return str(self("status", "--json").json()["state"])

    def journal(self) -> list[dict[str, object]]:
        path = self.repository / ".git/detent/tasks/t/journal.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def at_read(self) -> Spoken:
        for line, fields in (("/next", {"Plan": "a"}), ("/next", {}), ("/next", {"Text": "b"})):
            self.write(**fields)
            self.say(line)
        self.write(Verdict="good")
        self.say("/next")
        assert self.state == "read"
        return self
