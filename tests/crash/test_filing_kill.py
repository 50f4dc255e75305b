"""Kills the engine while it files what a run left, and while it records a decision: each is there once, and whole.

By default at a few of the system calls by which it changes files; DETENT_CRASH=full kills at every one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo, let_out
from tests.crash.points import FULL
from tests.crash.trace import Call, disturb, record

NAMES = ("fdatasync", "rename")
AGENT = """cat > /dev/null
[ "$DETENT_STATE" = codegen ] || exit 0
echo '# worked on' >> app.py; mkdir -p lib; echo new > lib/new.py
mkdir -p "$DETENT_TASK_DIR/code/files"; echo lie > "$DETENT_TASK_DIR/code/diff.patch"
echo lie > "$DETENT_TASK_DIR/code/files/lie.py"
echo '{"status": "completed", "reason": "all of it"}' > "$DETENT_OUT/codegen-report.json"
"""
PLAN = {"summary": "count", "open_questions": [], "files": ["app.py", "lib/"]}
POINTS = 4
MOST_TRIES = 5


class Desk:
    """A `global` task in one phase, taken over from a folder; made anew for each point."""

    def __init__(self, detent: Detent, repo: MakeRepo, base: Path, number: int, phase: str) -> None:
        argv = json.dumps(["sh", "-c", AGENT])
        settings = f'[agents]\ndefault = "mine"\n[agents.mine]\nargv = {argv}\n[commands]\ntest = "true"\n'
        self.detent, self.phase = detent, phase
        self.repo = repo(f"repo-{number}", {**SAMPLE_FILES, "detent.toml": settings})
        let_out(self.repo)
        self.folder = base / f"task-{number}"
        (self.folder / "planning").mkdir(parents=True)
        (self.folder / "planning/planning.ai.json").write_text(json.dumps(PLAN), encoding="utf-8")
        (self.folder / "state.json").write_text(json.dumps({"phase": phase}), encoding="utf-8")
        made = self("adopt", self.folder, "global", "--id", "t", "--repo", self.repo)
        assert made.code == 0, made

    def __call__(self, *words: str | Path) -> Completed:
        return self.detent(*words, cwd=self.repo)

    def argv(self) -> list[str]:
        words = ("run", "--once", "t") if self.phase == "codegen" else ("approve", "t", "--reason", "fine")
        return [sys.executable, "-m", "detent", *words]

    def state(self) -> str:
        return str(self("status", "t", "--json").json()["state"])

    def finish(self) -> None:
        """Say the same again until it has happened."""
        for _ in range(MOST_TRIES):
            if self.state() != self.phase:
                self("move", "--edge", "no-such", "t")  # the next writing command clears the leftovers
                return
            self(*self.argv()[3:])
        raise AssertionError(f"still in {self.state()} after {MOST_TRIES} tries")

    def lines(self, kind: str) -> list[dict[str, Any]]:
        journal = self.repo / ".git/detent/tasks/t/journal.jsonl"
        found = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
        return [entry for entry in found if entry["kind"] == kind]

    def text(self, name: str) -> str:
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def problems(self) -> list[str]:
        audit = self("audit", "t", "--json")
        moves = [line["to"] for line in self.lines("moved")]
        left = [path.name for path in self.folder.rglob(".detent-tmp-*")]
        found = {
            f"audit: {audit.out}": audit.code != 0,
            f"moved {moves}": moves != (["review"] if self.phase == "codegen" else ["done"]),
            f"left over: {left}": bool(left),
            **(self.filed() if self.phase == "codegen" else self.decided()),
        }
        return [words for words, is_wrong in found.items() if is_wrong]

    def filed(self) -> dict[str, bool]:
        files = sorted(str(path.relative_to(self.folder)) for path in self.folder.glob("code/**/*") if path.is_file())
        wanted = ["codegen-report.json", "diff.patch", "files/app.py", "files/lib/new.py"]
        return {
            f"lies there: {files}": files != [f"code/{name}" for name in wanted],
            f"patch: {self.text('code/diff.patch')}": "+# worked on" not in self.text("code/diff.patch"),
            "copy": self.text("code/files/lib/new.py") != "new\n",
        }

    def decided(self) -> dict[str, bool]:
        decision = self.text("accept/decision.json")
        return {f"decision: {decision}": not decision or json.loads(decision)["verdict"] != "accepted"}


def points(desk: Desk, log: Path) -> list[Call]:
    ended, calls = record(desk.argv(), cwd=desk.repo, env=desk.detent.environment, log=log, names=NAMES)
    assert ended.code == 0, ended
    assert not desk.problems()
    chosen = [call for call in calls if call.is_done]
    assert len(chosen) > POINTS, f"only {len(chosen)} points were found; is the trace whole?"
    return chosen if FULL else chosen[:: max(1, len(chosen) // POINTS)]


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("phase", ["codegen", "accept"])
def test_engine_killed_while_it_files_or_records_does_it_once(
    detent: Detent, repo: MakeRepo, tmp_path: Path, phase: str
) -> None:
    wrong: list[str] = []
    killed = 0
    chosen = points(Desk(detent, repo, tmp_path, 0, phase), tmp_path / "points.strace")
    for number, call in enumerate(chosen, 1):
        desk = Desk(detent, repo, tmp_path, number, phase)
        ended = disturb(
            desk.argv(),
            cwd=desk.repo,
            env=desk.detent.environment,
            name=call.name,
            how="signal=KILL",
            number=call.number,
        )
        killed += ended.code == -9
        desk.finish()
        wrong += [f"{call}: {problem}" for problem in desk.problems()]
    assert not wrong, "\n".join(wrong[:20])
    assert killed >= len(chosen) * 3 // 4, f"only {killed} of {len(chosen)} were killed where they should be"
