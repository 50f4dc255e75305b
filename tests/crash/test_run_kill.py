"""Kills the engine while it drives an agent run: at plan, start, wait, end and decision. Nothing is lost or run twice.

By default at a few of the system calls by which it changes files or starts something; DETENT_CRASH=full kills
at every one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo, let_out
from tests.crash.points import FULL
from tests.crash.trace import Call, disturb, record
from tests.e2e.phase_task import CHECK, FRAME, PhaseTask

NAMES = ("fdatasync", "rename", "vfork", "mkdir")  # their number is the same each time, unlike that of looks and waits
AGENT = """
echo "$DETENT_RUN_NUMBER" >> "$COUNT"; cat > /dev/null
echo '# worked on' >> app.py; echo works > "$DETENT_TASK_DIR/artifacts/result.txt"
sed -i -e 's#^Candidate done:.*#Candidate done: yes#' \
    -e 's#^Evidence location:.*#Evidence location: artifacts/result.txt#' \
    -e 's|^Evidence link:.*|Evidence link: [result](artifacts/result.txt)|' "$DETENT_TASK_DIR/STATE.md"
detent move verify
"""
POINTS = 9
MOST_TRIES = 5
WAY = ["shape", "implement", "verify", "review"]


class Driven:
    """A task whose next step is one run in implement; made anew for each point, in a folder of its own."""

    def __init__(self, detent: Detent, repo: MakeRepo, base: Path, number: int) -> None:
        argv = json.dumps(["sh", "-c", AGENT])
        settings = f'[agents]\ndefault = "mine"\n[agents.mine]\nargv = {argv}\n'
        self.repo = repo(f"repo-{number}", {**SAMPLE_FILES, "detent.toml": settings})
        let_out(self.repo)
        self.count = base / f"count-{number}"
        self.detent = Detent(detent.directory, {**detent.environment, "COUNT": str(self.count)})
        folder = base / f"task-{number}"
        made = self("new", "count", "--id", "t", "--check", CHECK, "--dir", folder)
        assert made.code == 0, made
        task = PhaseTask(self.detent, self.repo, folder, "t")
        task.set(FRAME)
        for state in ("shape", "implement"):
            task.move(state)
        self.task = task

    def __call__(self, *words: str | Path) -> Completed:
        return self.detent(*words, cwd=self.repo)

    def argv(self) -> list[str]:
        return [sys.executable, "-m", "detent", "run", "--once", "t"]

    def finish(self) -> None:
        """Say the same again until the run is decided."""
        for _ in range(MOST_TRIES):
            if self.task.state() != "implement":
                return
            self("run", "--once", "t")
        raise AssertionError(f"still in {self.task.state()} after {MOST_TRIES} tries")

    def problems(self) -> list[str]:
        audit = self("audit", "t", "--json")
        lines = self.task.history()
        planned = [line["run"] for line in lines if line["kind"] == "run_planned"]
        closed = [line["run"] for line in lines if line["kind"] in ("run_ended", "run_void")]
        worked = self.count.read_text(encoding="utf-8").split() if self.count.exists() else []
        ended = [str(line["run"]) for line in lines if line["kind"] == "run_ended"]
        moves = [line["to"] for line in lines if line["kind"] == "moved"]
        found = {
            f"audit: {audit.out}": audit.code != 0,
            f"planned {planned}, closed {closed}": planned != closed,
            f"worked {worked}, ended {ended}": worked != ended,
            # Where the end was only to be decided, the repetition does that and then drives the next state's run.
            f"moved {moves}": moves not in (WAY[:3], WAY),
        }
        return [words for words, is_wrong in found.items() if is_wrong]


def points(driven: Driven, log: Path) -> list[Call]:
    ended, calls = record(driven.argv(), cwd=driven.repo, env=driven.detent.environment, log=log, names=NAMES)
    assert ended.code == 0, ended
    assert not driven.problems()
    chosen = [call for call in calls if call.is_done]
    assert len(chosen) > POINTS, f"only {len(chosen)} points were found; is the trace whole?"
    return chosen if FULL else chosen[:: max(1, len(chosen) // POINTS)]


@pytest.mark.usefixtures("strace")
def test_an_engine_killed_while_driving_loses_and_repeats_nothing(
    detent: Detent, repo: MakeRepo, tmp_path: Path
) -> None:
    wrong: list[str] = []
    killed = 0
    chosen = points(Driven(detent, repo, tmp_path, 0), tmp_path / "points.strace")
    for number, call in enumerate(chosen, 1):
        driven = Driven(detent, repo, tmp_path, number)
        ended = disturb(
            driven.argv(),
            cwd=driven.repo,
            env=driven.detent.environment,
            name=call.name,
            how="signal=KILL",
            number=call.number,
        )
        killed += ended.code == -9
        driven.finish()
        wrong += [f"{call}: {problem}" for problem in driven.problems()]
    assert not wrong, "\n".join(wrong[:20])
    assert killed >= len(chosen) * 3 // 4, f"only {killed} of {len(chosen)} were killed where they should be"
