"""The example pack in a user's folder, and a repository with a changelog; all by the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tests.conftest import Completed, Detent, MakeRepo, write_user_settings

EXAMPLE = Path(__file__).parents[2] / "examples" / "packs" / "changelog"
CHANGELOG = "# Changes\n\n## Unreleased\n"
SCRIBE = 'printf -- "- a new option\\n" >> CHANGELOG.md && detent move reading'


def copied(folder: Path) -> Path:
    """The example as a copy of it looks, whatever the umask of the checkout was."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


class PackUser:
    def __init__(self, folder: Path, detent: Detent, repo: MakeRepo) -> None:
        self.detent, self.home = detent, Path(detent.environment["HOME"])
        self.pack = copied(folder / "packs" / "changelog")
        self.path = repo("repo", {"CHANGELOG.md": CHANGELOG, "app.py": ""})
        self.names(self.pack)

    def names(self, *folders: Path | str, script: str = SCRIBE) -> None:
        """Write the user's settings anew: these packs, and an agent that does what the machine asks."""
        listed = json.dumps([str(folder) for folder in folders])
        agents = f'[agents]\ndefault = "scribe"\n[agents.scribe]\nargv = ["sh", "-c", {json.dumps(script)}]\n'
        write_user_settings(self.home, f"[packs]\nfolders = {listed}\n{agents}")

    def __call__(self, *words: str | Path) -> Completed:
        return self.detent(*words, cwd=self.path)

    def new(self, name: str = "t", machine: str = "changelog") -> Path:
        """A new task; its tree."""
        made = self("new", machine, "tell of the option", "--id", name)
        assert made.code == 0, made
        return Path(self("dir", "--tree", name).out.strip())

    def journal(self, name: str = "t") -> Path:
        return self.path / ".git" / "detent" / "tasks" / name / "journal.jsonl"

    def error(self, *words: str) -> dict[str, Any]:
        """What a command that exits with 5 says of it."""
        done = self(*words, "--json")
        assert done.code == 5, done
        error: dict[str, Any] = done.json()["error"]
        assert all(error[part] for part in ("what", "where", "next")), error
        return error

    def edit(self, name: str, old: str = "", new: str = "\n# edited\n") -> None:
        """Change a file of the pack; without an old text the new one is added at its end."""
        file = self.pack / name
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new) if old else text + new, encoding="utf-8")
