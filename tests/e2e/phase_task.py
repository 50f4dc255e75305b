"""One real phase task, worked on as a person or an agent does: edit its files, then call the command line.

`Stages` walks a task honestly through every state once, keeps a copy of each, and puts a wanted one back in a moment.
It comes back to the very same place, because tasks know their paths.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo, Options

ID = "words"
CHECK = "grep -q 'left + right' app.py"
RESULT = "artifacts/result.txt"
QUESTIONS = (
    "objective matched",
    "no fake backend or placeholder shown as real",
    "no half-working feature visible",
    "docs and artifacts consistent",
    "change minimal and sensible",
    "proof can be inspected from files",
)
ANSWERS = "\n".join(f"- {question}: yes, by reviewer, {RESULT}" for question in QUESTIONS)
FRAME = {
    "Done gate": "the check passes",
    "Not doing": "anything else",
    "Reality constraints": "standard library only",
    "User facing": "no",
}
CANDIDATE = {
    "Candidate done": "yes",
    "Evidence location": RESULT,
    "Evidence link": f"[result]({RESULT})",
}
BLOCKED = {"Blockers": "the key is missing", "Next step": "A) get a key, B) drop the feature"}


class PhaseTask:
    """A task in `folder` on the repository `repo`; commands run in the task folder unless told otherwise."""

    def __init__(self, detent: Detent, repo: Path, folder: Path, task_id: str = ID) -> None:
        self.detent = detent
        self.repo = repo
        self.folder = folder
        self.id = task_id

    # --- the command line ---

    def __call__(self, *words: str | Path, **more: Unpack[Options]) -> Completed:
        options: Options = {"cwd": self.folder, **more}
        return self.detent(*words, **options)

    def json(self, *words: str | Path, **more: Unpack[Options]) -> Any:
        return self(*words, "--json", **more).json()

    def move(self, *words: str, expect: int | None = 0) -> Completed:
        done = self("move", *words)
        assert expect is None or done.code == expect, done
        return done

    def state(self) -> str:
        """As the journal knows it, read from its last line with a state; STATE.md may say something else."""
        lines = (self.control / "journal.jsonl").read_bytes().splitlines()
        return next(str(entry["after"]["state"]) for line in reversed(lines) if "after" in (entry := json.loads(line)))

    def history(self) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = self.json("history", self.id, cwd=self.repo)["lines"]
        return lines

    def refused(self, *words: str) -> str:
        """Ask for a move that must be refused; everything that was said about it."""
        before = self.state()
        done = self.move(*words, expect=1)
        assert self.state() == before, done
        assert "refused" in done.out, done
        return done.out

    def missing(self, target: str) -> dict[str, str]:
        """What `next` finds missing for a move: why, by gate."""
        edges = {edge["to"]: edge for edge in self.json("next", self.id, cwd=self.repo)["edges"]}
        return {need["gate"]: need["why"] for need in edges[target]["missing"]}

    # --- places ---

    @property
    def state_file(self) -> Path:
        return self.folder / "STATE.md"

    @property
    def evidence_file(self) -> Path:
        return self.folder / "EVIDENCE.md"

    @property
    def control(self) -> Path:
        return self.repo / ".git" / "detent" / "tasks" / self.id

    # --- edits ---

    def field(self, label: str) -> str:
        found = re.search(
            rf"^{re.escape(label)}:[ \t]*(.*)$", self.state_file.read_text(encoding="utf-8"), re.MULTILINE
        )
        assert found, f"no {label} in STATE.md"
        return found[1]

    def set(self, values: Mapping[str, str]) -> None:
        """Change the lines of these labels in STATE.md."""
        text = self.state_file.read_text(encoding="utf-8")
        for label, value in values.items():
            line = f"{label}: {value}".replace("\\", r"\\")
            text, count = re.subn(rf"^{re.escape(label)}:.*$", line, text, flags=re.MULTILINE)
            assert count == 1, f"{count} lines of {label}"
        self.state_file.write_text(text, encoding="utf-8")

    def section(self, name: str, body: str) -> None:
        """Replace what stands under a heading of EVIDENCE.md."""
        text = self.evidence_file.read_text(encoding="utf-8")
        text, count = re.subn(
            rf"(^## {re.escape(name)}\n).*?(?=^## |\Z)",
            lambda found: f"{found[1]}\n{body}\n\n",
            text,
            flags=re.MULTILINE | re.DOTALL,
        )
        assert count == 1, f"{count} sections {name}"
        self.evidence_file.write_text(text, encoding="utf-8")

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def candidate(self, words: str = "it works\n") -> None:
        self.write(RESULT, words)
        self.set(CANDIDATE)

    def review(self, verdict: str = "PASS", words: str = "Read the diff.") -> None:
        self.section("Gate answers", f"{ANSWERS}\n\n{words}")
        self.section("Review", f"Verdict: {verdict}\n{words}")


def environment_in(home: Path) -> dict[str, str]:
    """An environment built from nothing, like the fixture `clean_environment`, with its home in this folder."""
    home.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
        "HOME": str(home),
        "USER": "tester",
        "LANG": "C.UTF-8",
        "XDG_STATE_HOME": str(home / "state"),
        "GIT_AUTHOR_EMAIL": "tester@example.invalid",
        "GIT_AUTHOR_NAME": "Tester",
        "GIT_COMMITTER_EMAIL": "tester@example.invalid",
        "GIT_COMMITTER_NAME": "Tester",
        "GIT_CONFIG_NOSYSTEM": "1",
    }


class Stages:
    """One task, kept as it was in each state; `at` puts a copy back for a test to spoil."""

    _BEFORE: Mapping[str, str] = {
        "shape": "intake",
        "implement": "shape",
        "verify": "implement",
        "review": "verify",
        "done": "review",
        "repair": "verify",
        "verify again": "repair",
        "review again": "verify again",
        "blocked": "implement",
        "needs_user_decision": "implement",
    }

    def __init__(self, top: Path) -> None:
        self.live = top / "live"
        self.kept = top / "kept"
        home = self.live / "home"
        self.environment = environment_in(home)
        self.task = PhaseTask(Detent(self.live, self.environment), self.live / "repo", self.live / "task")

    def at(self, stage: str) -> PhaseTask:
        saved = self.kept / stage
        if not saved.exists():
            self._make(stage)
            assert self.task.state() == stage.partition(" ")[0]
            shutil.copytree(self.live, saved, symlinks=True)
        else:
            shutil.rmtree(self.live)
            shutil.copytree(saved, self.live, symlinks=True)
        return self.task

    def _make(self, stage: str) -> None:
        if stage == "intake":
            shutil.rmtree(self.live)
            environment_in(self.live / "home")
            MakeRepo(self.live, self.environment)("repo", {**SAMPLE_FILES, ".gitignore": "*.log\n"})
            done = self.task(
                "new",
                "count",
                "--in-place",
                "--id",
                ID,
                "--check",
                CHECK,
                "--dir",
                self.live / "task",
                cwd=self.task.repo,
            )
            assert done.code == 0, done
            return
        task = self.at(self._BEFORE[stage])
        match stage:
            case "shape":
                task.set(FRAME)
            case "verify":
                task.candidate()
            case "repair":
                task.section("Failed checks", "the check: not clear enough")
            case "verify again":
                task.section("Repairs", "the check: made clear")
            case "done":
                task.review()
            case "blocked" | "needs_user_decision":
                task.set(BLOCKED)
            case _:  # nothing has to be written for the others
                pass
        task.move(stage.partition(" ")[0])
