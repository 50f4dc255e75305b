"""One real `orange` task, worked on by hand or by a scripted agent that is a real process, through the command line.

Scripts append whole sections to TASK.md: the last one of a name counts. `Oranges` makes tasks; what its agent does is a
shell script per state, as in `agent_runs.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from detent.effects.host.access import NONE
from detent.effects.host.keeper.look import look
from detent.effects.host.keeper.watch import wait_for_end
from detent.store.journal.places import project_at
from tests.conftest import SAMPLE_FILES, Completed, force_level
from tests.e2e.agent_runs import WAIT_S, Agents, AgentTask

WORDS = r"""
task="$DETENT_TASK_DIR/TASK.md"
section() { printf '\n## %s\n%b\n' "$1" "$2" >> "$task"; }
handoff() { section Handoff "DONE: ${1:-it works}, by run $DETENT_RUN_NUMBER"; }
review() { section Review "$1\nRead by run $DETENT_RUN_NUMBER."; }
work() {
  echo "# worked on in run $DETENT_RUN_NUMBER" >> app.py
  git add --all && git commit --quiet --message "work of run $DETENT_RUN_NUMBER"
}
meet() { echo "$DETENT_RUN_NUMBER $$" > "$SCRIPTS/$1.up"; read -r _ < "$SCRIPTS/$1.go"; }
"""
HONEST = {
    "working": "work; handoff; orange task update --status agent-review",
    "agent-review": "review PASS; orange task update --status reviewing",
    "clarification": "section Questions '1. Which lines?\\n2. Which format?'",
}


class OrangeTask(AgentTask):
    """A task of the review loop."""

    @property
    def file(self) -> Path:
        return self.folder / "TASK.md"

    def text(self) -> str:
        return self.file.read_text(encoding="utf-8")

    def head(self) -> dict[str, str]:
        """The head of TASK.md, line by line."""
        lines = self.text().split("---\n")[1].splitlines()
        return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}

    def add(self, section: str, body: str) -> None:
        """One more section at the end of TASK.md, by hand."""
        with self.file.open("a", encoding="utf-8", newline="") as file:
            file.write(f"\n## {section}\n{body}\n")

    def handoff(self, body: str = "DONE: it works") -> None:
        self.add("Handoff", f"{body}\nWritten after line {len(self.entries())}.")

    def judged(self, verdict: str) -> None:
        self.add("Review", f"{verdict}\nWritten after line {len(self.entries())}.")

    def update(self, status: str, expect: int | None = None) -> Completed:
        done = self("task", "update", "--status", status)
        assert expect is None or done.code == expect, done
        return done

    def to(self, *states: str) -> None:
        """Move through these states as a person, writing what each move needs."""
        for state in states:
            if self.state() == "working" and state == "agent-review":
                self.handoff()
            if self.state() == "agent-review":
                self.judged("PASS" if state == "reviewing" else "FAIL")
            self.update(state, expect=0)

    def log(self) -> list[dict[str, Any]]:
        """The native log."""
        lines = (self.folder / "history.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def respawn(self, *words: str) -> Completed:
        """One more run, or what else these words say."""
        return self("respawn", *(words or ("--once",)), self.id, cwd=self.repo)

    def wait_for_run(self) -> None:
        """Until no process of the run is left; its end is not recorded then."""
        folder = str(self.run_dir(self.entries("run_planned")[-1]["run"]))
        assert wait_for_end([folder], WAIT_S) == folder
        assert look(folder).phase in ("ended", "lost")


class Oranges(Agents):
    words = WORDS

    def honest(self, **scripts: str) -> None:
        by_state = {name.replace("_", "-"): text for name, text in scripts.items()}
        for state, text in {**HONEST, **by_state}.items():
            self.script(state, text)

    def orange(
        self,
        *states: str,
        summary: str = "parse empty lines",
        more: str = "",
        task_id: str = "lines",
        repo: Path | None = None,
        level: str = NONE,
    ) -> OrangeTask:
        """A new task, moved by a person through these states; at `level` the kernel holds its runs."""
        if repo is None:
            show = json.dumps([str(self.scripts)])
            files = {
                **SAMPLE_FILES,
                "detent.toml": self.settings(f"{more}\n[sandbox]\nshow = {show}\n"),
            }
            repo = self.make_repo(f"repo-{task_id}", files)
        force_level(project_at(str(repo), str(repo / ".git")), level)
        folder = repo.parent / f"{task_id}-task"
        words: tuple[str | Path, ...] = (
            "new",
            "orange",
            *([summary] if summary else []),
            "--id",
            task_id,
            "--dir",
            folder,
        )
        done = self.detent(*words, cwd=repo)
        assert done.code == 0, done
        task = OrangeTask(self.detent, repo, folder, task_id)
        self.tasks.append(task)
        task.to(*states)
        return task
