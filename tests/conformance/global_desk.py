"""A `global` task in any phase, real and cheap: its folder names the phase and is adopted; moves are made by the step.

What agents would write is written by hand, which the gates take the same way. What follows from the end of a run is
shown in tests/e2e, with real runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from detent.core.values import Advance, Missing, Refuse, Signal, Wait
from detent.runner.make.adopt import adopt
from detent.runner.make.begin import NewTask
from detent.runner.step.step import Outcome, step
from detent.runner.task.open import load_task
from detent.store.journal.line import to_line
from tests.conftest import MakeRepo, let_out, trust

PLANNING, FILES = "planning/planning.ai.json", "plan.files.json"
PLAN_REVIEW, CODE_REVIEW = "review/plan-review.json", "review/code-review.json"
REPORT, DECISION, RECORD = "code/codegen-report.json", "accept/decision.json", "revert/record.json"
EVAL = "eval/eval-report.json"
PLAN = {"summary": "count words", "open_questions": [], "files": ["app.py"]}
SETTINGS = '[commands]\ntest = "sh test.sh"\nlint = "sh lint.sh"\n'


class GlobalDesk:
    """One task; `put` writes an artifact, `ask` asks for a move as a person."""

    def __init__(
        self,
        repo: MakeRepo,
        base: Path,
        phase: str = "planning",
        settings: str = SETTINGS,
        plan: object = PLAN,
        **state: object,
    ) -> None:
        files = {"app.py": "1\n", "other.py": "1\n", "test.sh": "exit 0\n", "lint.sh": "exit 0\n"}
        self.tree = repo("repo", {**files, "detent.toml": settings})
        let_out(self.tree)
        trust(self.tree)
        self.folder = base / "task"
        self.folder.mkdir()
        self.put("state.json", {"phase": phase, **state})
        if phase != "planning":
            self.put(PLANNING, plan)
        self.task = adopt(NewTask("global", "count words", "words", str(self.tree), str(self.folder), by="ann"))

    def put(self, name: str, content: object) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def read(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def work(self, name: str = "app.py", text: str = "2\n") -> None:
        (self.tree / name).write_text(text, encoding="utf-8")

    def signal(self, signal: Signal, **inputs: str) -> Outcome:
        outcome = step(self.task, signal, options=inputs)
        self.task = load_task(outcome.task.project, outcome.task.id)
        return outcome

    def ask(self, want: str = "", reason: str = "", override: str = "", verb: str = "") -> Outcome:
        return self.signal(Signal("person", want, name="ann", reason=reason, override=override, verb=verb))

    def moved(self, want: str = "", reason: str = "", **more: str) -> str:
        """Ask, and be given the move: the name of its edge."""
        outcome = self.ask(want, reason, **more)
        assert isinstance(outcome.decision, Advance), outcome.decision
        assert self.read("state.json")["phase"] == outcome.decision.after.state == self.state
        return outcome.decision.edge.name

    def refused(self, want: str = "", **more: str) -> dict[str, str]:
        """Ask, and be refused: what is missing, by gate; the task stays where it is."""
        before = self.state
        decision = self.ask(want, **more).decision
        assert isinstance(decision, (Refuse, Wait)), decision
        assert self.state == before
        missing: tuple[Missing, ...] = decision.missing
        return {need.gate: need.why for need in missing}

    @property
    def state(self) -> str:
        return self.task.memory.snapshot.state

    def lines(self, *kinds: str) -> list[dict[str, Any]]:
        return [to_line(line) for line in self.task.store.history() if not kinds or line.kind in kinds]

    def transcript(self) -> list[dict[str, Any]]:
        text = (self.folder / "transcript.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]
