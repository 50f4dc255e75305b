"""Agent runs on a task whose main file has a YAML head: what they spoil is put back, what they wrote counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo, let_out

MACHINE = Path(__file__).parents[1] / "data/machines/ticket.toml"
HANDOFF = r"printf '\n## Handoff\n\nDONE: all\n' >> \"$DETENT_TASK_DIR/TASK.md\""


class Ticket:
    def __init__(self, detent: Detent, repository: Path, folder: Path) -> None:
        self.detent, self.repository, self.folder = detent, repository, folder
        let_out(repository)
        assert self("new", str(MACHINE), "Fix it", "--id", "t", "--dir", str(folder)).code == 0
        (folder / "TASK.md").write_text(self.text() + "\n## Context\n\nwhy\n")
        assert self("move", "working", "t").code == 0

    def __call__(self, *words: str) -> Completed:
        return self.detent(*words, cwd=self.repository)

    def text(self) -> str:
        return (self.folder / "TASK.md").read_text()

    def events(self) -> list[Any]:
        return [json.loads(line) for line in (self.folder / "history.jsonl").read_text().splitlines()]

    def last(self, kind: str) -> Any:
        journal = self.repository / ".git/detent/tasks/t/journal.jsonl"
        entries = [json.loads(line) for line in journal.read_text().splitlines()]
        return next(entry for entry in reversed(entries) if entry["kind"] == kind)


@pytest.fixture
def ticket(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Callable[[str], Ticket]:
    """A ticket in working whose agent is a shell script."""

    def make(script: str) -> Ticket:
        settings = f'[agents]\ndefault = "mine"\n[agents.mine]\nargv = ["sh", "-euc", "{script}"]\nevents = "text"\n'
        return Ticket(detent, repo(files={**SAMPLE_FILES, "detent.toml": settings}), tmp_path / "ticket")

    return make


def test_artifact_counts_after_any_end_and_crashes_are_counted(ticket: Callable[[str], Ticket]) -> None:
    task = ticket(r"if [ $DETENT_RUN_NUMBER = 1 ]; then exit 3; fi; " + HANDOFF + "; exit 4")
    task("run", "--once", "t")
    assert task.events()[-1] | {"timestamp": ""} == {
        "type": "agent.crashed", "timestamp": "", "status": "working", "crash_count": 1, "reason": "it ended as failed",
    }  # fmt: skip
    assert "crash_count: 1\n" in task.text()
    task("respawn", "--once", "t")
    assert task.events()[-1] | {"timestamp": ""} == {
        "type": "auto.advanced", "timestamp": "", "from": "working", "to": "agent-review", "reason": "open: handoff",
    }  # fmt: skip
    assert "status: agent-review\n" in task.text()
    assert "crash_count: 0\n" in task.text()
    assert task("audit", "t").code == 0


def test_second_crash_is_told_as_crash_and_as_a_move(ticket: Callable[[str], Ticket]) -> None:
    task = ticket("exit 3")
    task("run", "--once", "t")
    task("respawn", "--once", "t")
    assert [(event["type"], event.get("crash_count")) for event in task.events()[-3:]] == [
        ("agent.crashed", 1), ("agent.crashed", 2), ("auto.advanced", None),
    ]  # fmt: skip
    assert "status: stuck\n" in task.text()
    assert task("audit", "t").code == 0


def test_a_head_damaged_by_a_run_is_restored(ticket: Callable[[str], Ticket]) -> None:
    task = ticket(HANDOFF + r"; sed -i 's/^status: .*/status: [/' \"$DETENT_TASK_DIR/TASK.md\"; exit 3")
    task("run", "--once", "t")
    ended = task.last("run_ended")
    assert "no valid YAML" in ended["restored"][0]
    assert task.last("moved")["to"] == "agent-review", "what it wrote into the body counts"
    assert task.text().startswith("---\nstatus: agent-review\nsummary: Fix it\n")
    assert task.text().endswith("\n## Context\n\nwhy\n\n## Handoff\n\nDONE: all\n")
    assert task("audit", "t").code == 0


def test_locked_text_is_restored_and_quoted_to_the_next_run(ticket: Callable[[str], Ticket]) -> None:
    cheats = "s/^why/why not/; s/^summary: .*/summary: Fix nothing/; s/^crash_count: .*/crash_count: -5/"
    task = ticket(rf"sed -i '{cheats}' \"$DETENT_TASK_DIR/TASK.md\"; exit 3")
    task("run", "--once", "t")
    restored = task.last("run_ended")["restored"]
    assert [words.partition(" is ")[0] for words in restored] == [
        'TASK.md: "crash_count"', 'TASK.md: "summary"', 'TASK.md: "## Context"',
    ]  # fmt: skip
    assert "summary: Fix it\n" in task.text()
    assert task.text().endswith("\n## Context\n\nwhy\n")
    task("respawn", "--once", "t")
    prompt = (task.repository / ".git/detent/tasks/t/runs/2/prompt.md").read_text()
    assert '- locked now: summary, TASK.md: "## Context", NOTES.md: "## Rules", plan/, scope.json' in prompt
    assert 'TASK.md: "## Context" is locked in working and was put back' in prompt
    assert task("audit", "t").code == 0
