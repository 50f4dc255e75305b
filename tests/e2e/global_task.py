"""A task of the `global` machine with a scripted agent: honest scripts for every role, and JSON written in one word."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conftest import SAMPLE_FILES, let_out
from tests.e2e.agent_runs import Agents, AgentTask

WORDS = r"""
out() { printf '%s\n' "$2" > "$DETENT_OUT/$1"; }
count() { echo "$DETENT_STATE $DETENT_RUN_NUMBER" >> "$SCRIPTS/count"; }
meet() { echo "$DETENT_RUN_NUMBER $$" > "$SCRIPTS/$1.up"; read -r _ < "$SCRIPTS/$1.go"; }
"""
PLAN: Mapping[str, Any] = {"summary": "count words", "open_questions": [], "steps": ["do it"]}
FILES: Mapping[str, Any] = {"files": ["app.py", "test_app.py"]}
CHECK = "python3 -m unittest -q test_app"


def out(name: str, content: object, **more: object) -> str:
    """The script line by which a run leaves a report."""
    text = json.dumps({**content, **more}) if isinstance(content, dict) else json.dumps(content)
    return f"out {name} '{text}'"


PLANNER = f"{out('planning.ai.json', PLAN)}; {out('plan.files.json', FILES)}"
PLAN_OK = out("plan-review.json", {"ok": True, "blocked": False})
CODER = "echo '# worked on' >> app.py"
CODE_OK = out("code-review.json", {"ok": True, "issues": []})
HONEST = {"planning": PLANNER, "plan_review": PLAN_OK, "codegen": CODER, "review": CODE_OK}


class GlobalTask(AgentTask):
    """One task; its files are named by their path in the task folder."""

    def read(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def put(self, name: str, content: object) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    @property
    def phase(self) -> str:
        return str(self.read("state.json")["phase"])

    def ask(self, *words: str) -> Any:
        """A command about this task, as JSON."""
        return self(*words, self.id, "--json", cwd=self.repo).json()

    def missing(self, target: str, *words: str) -> dict[str, str]:
        """What a refused move lacks: gate -> why."""
        answer = self.ask("move", target, *words)
        assert not answer["moved"], answer
        return {need["gate"]: need["why"] for need in answer["refusal"]["missing"]}


def make_global(
    agents: Agents,
    task_id: str = "words",
    check: str = CHECK,
    more: str = "",
    files: Mapping[str, str] = SAMPLE_FILES,
    kind: str = "chore",
) -> GlobalTask:
    """A new task in planning whose agent does its work, unless a test scripts something else."""
    agents.words = WORDS
    for state, text in HONEST.items():
        agents.script(state, text)
    settings = agents.settings(f'[commands]\ntest = "{check}"\n{more}')
    repo = agents.make_repo(f"repo-{task_id}", {**files, "detent.toml": settings})
    let_out(repo)
    return add_global(agents, repo, task_id, "--kind", kind)


def add_global(agents: Agents, repo: Path, task_id: str, *more: str) -> GlobalTask:
    """The honest coder adds a comment: a chore, for which tests that are kept are enough."""
    folder = repo.parent / f"{task_id}-task"
    done = agents.detent(
        "new", "global", "count words", "--id", task_id, "--dir", folder, *(more or ("--kind", "chore")), cwd=repo
    )
    assert done.code == 0, done
    task = GlobalTask(agents.detent, repo, folder, task_id)
    agents.tasks.append(task)
    return task
