"""Tasks of the small machine tests/data/pipeline.toml, worked on in place by a scripted agent, a real process."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo, Options, let_out
from tests.e2e.agent_runs import Agents, AgentTask

MACHINE = Path(__file__).resolve().parents[1] / "data" / "pipeline.toml"
WORDS = r"""
design() { printf '# Design\n\n## Architecture\n\n%s\n' "$1" > "$DETENT_TASK_DIR/design.md"; }
count() { echo "$DETENT_STATE $DETENT_RUN_NUMBER" >> "$SCRIPTS/count"; }
meet() { echo "$DETENT_RUN_NUMBER $$" > "$SCRIPTS/$1.up"; read -r _ < "$SCRIPTS/$1.go"; }
"""
POST_MORTEM = r"""cat > "$DETENT_TASK_DIR/post-mortem.md" <<'END'
## What went wrong

the parser

## What to try differently

a stack

## What to avoid

the recursion
END
"""
REPORT = """printf 'BLOCKED: it recurses. Options: [a stack, a limit]. Recommendation: a stack.\n' \
  > "$DETENT_TASK_DIR/blocked.md"
"""
HONEST = {"Designing": "count; design small", "Building": "count; echo 'ready = 1' >> app.py"}
READY = "grep -q ready app.py"


class PipelineTask(AgentTask):
    """One task; commands run in its repository."""

    def __init__(self, detent: Detent, repo: Path, make_repo: MakeRepo, task_id: str) -> None:
        super().__init__(detent, repo, repo / "scaffolding", task_id)
        self.make_repo = make_repo

    def __call__(self, *words: str | Path, **more: Unpack[Options]) -> Completed:
        options: Options = {"cwd": self.repo, **more}
        return self.detent(*words, **options)

    def git(self, *words: str) -> str:
        return self.make_repo.git(self.repo, *words)

    def done(self, *words: str | Path) -> Completed:
        done = self(*words, self.id)
        assert done.code == 0, done
        return done

    def state(self) -> str:
        return str(self.json("status", self.id)["state"])

    def begun(self) -> PipelineTask:
        self.done("move", "Designing")
        return self

    @property
    def log(self) -> str:
        return (self.folder / "log.md").read_text(encoding="utf-8")

    def subjects(self) -> list[str]:
        """Of the commits on the task's branch, oldest first."""
        return self.subjects_of("pipeline")

    def subjects_of(self, machine: str) -> list[str]:
        return self.git("log", "--reverse", "--format=%s", f"main..{machine}/{self.id}").splitlines()

    def commit_of(self, subject: str) -> str:
        """The last commit with this beginning."""
        rows = self.git("log", "--format=%H %s", f"main..pipeline/{self.id}").splitlines()
        return next(row.split()[0] for row in rows if row.partition(" ")[2].startswith(subject))


class Pipelines(Agents):
    words = WORDS

    def task(self, more: str = "", *, task_id: str = "p", command: str = READY) -> PipelineTask:  # type: ignore[override]
        commands = f"[commands]\ntest = '{command}'\n"
        repo = self.make_repo(f"repo-{task_id}", {**SAMPLE_FILES, "detent.toml": self.settings(commands + more)})
        let_out(repo)
        made = self.detent("new", MACHINE, "Count words", "--id", task_id, cwd=repo)
        assert made.code == 0, made
        task = PipelineTask(self.detent, repo, self.make_repo, task_id)
        self.tasks.append(task)
        return task

    def honest(self, **scripts: str) -> None:
        for state, text in {**HONEST, **scripts}.items():
            self.script(state, text)
