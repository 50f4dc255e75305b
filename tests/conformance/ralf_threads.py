"""Real ralf threads in real repositories, worked on by scripted agents that are real processes.

`threads.script("Running", ...)` says what the agent does in a state (of its n-th run with `run=n`, as one of several
agents with `agent="two"`); a state without a script is a run that says nothing.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Unpack

from detent.effects.host.keeper.look import look
from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo, Options, let_out
from tests.e2e.agent_runs import Agents, AgentTask
from tests.unit.effects.host.keeper.keeper_runs import gone

PROMISE = "ALL GREEN"
CRITERION = "grep -q ready app.py"
SPEC = f"""# Sums

Promise: <promise>{PROMISE}</promise>

## Criteria

- the app is ready; cmd: {CRITERION}
"""
WORDS = f"""
promise() {{ echo "All done."; echo "<promise>{PROMISE}</promise>"; }}
ready() {{ echo '# ready' >> app.py; }}
count() {{ echo "$DETENT_STATE $WHO" >> "$SCRIPTS/count"; }}
meet() {{ echo "$DETENT_RUN_NUMBER $$" > "$SCRIPTS/$1.up"; read -r _ < "$SCRIPTS/$1.go"; }}
report() {{ printf '# Report\\n\\n## %s\\n\\n%b\\n' "$2" "$3" > "$DETENT_TASK_DIR/$1"; }}
"""
AGENT = (
    'WHO={who}; export WHO; for script in "$SCRIPTS/$DETENT_STATE.$DETENT_RUN_NUMBER" '
    '"$SCRIPTS/$DETENT_STATE.$WHO" "$SCRIPTS/$DETENT_STATE"; '
    'do if [ -f "$script" ]; then exec sh -eu "$script"; fi; done'
)


class Thread(AgentTask):
    """One thread; commands run in its repository."""

    def __call__(self, *words: str | Path, **more: Unpack[Options]) -> Completed:
        options: Options = {"cwd": self.repo, **more}
        return self.detent(*words, **options)

    def state(self) -> str:
        return str(self.json("status", self.id)["state"])

    def done(self, *words: str | Path) -> Completed:
        """A command about this thread that must work."""
        done = self(*words, self.id)
        assert done.code == 0, done
        return done

    def spec(self, text: str) -> None:
        (self.folder / "spec" / "draft.md").write_text(text, encoding="utf-8")

    def to(self, state: str, spec: str = SPEC) -> None:
        """By the shortest way a person takes in methodical mode."""
        self.spec(spec)
        steps = [
            ("Finalized", ("approve", "--skip-assess")),
            ("Preflight", ("move", "Preflight")),
            ("Configuring", ("run", "--once")),
            ("Running", ("move", "Running")),
        ]
        for name, words in steps:
            done = self(*words, self.id)
            assert done.code in (0, 4), done
            if name == state:
                break
        assert self.state() == state

    def counters(self) -> dict[str, int]:
        counters: dict[str, int] = self.json("status", self.id)["counters"]
        return counters


class Threads(Agents):
    """Makes threads; the scripted agents are called one and two."""

    def __init__(self, detent: Detent, repo: MakeRepo, folder: Path) -> None:
        super().__init__(detent, repo, folder)
        self.repo: Path | None = None

    def script(self, state: str, text: str, run: int = 0, task: str = "", agent: str = "") -> None:
        name = f"{state}.{run}" if run else f"{state}.{agent}" if agent else state
        (self.scripts / task / name).write_text(f"{WORDS}\n{text}\n", encoding="utf-8")

    def settings(self, more: str = "", events: str = "text") -> str:
        agents = "".join(
            f'[agents.{who}]\nargv = {json.dumps(["sh", "-c", AGENT.format(who=who)])}\nevents = "{events}"\n'
            for who in ("one", "two")
        )
        return f'[agents]\ndefault = "one"\n{agents}\n{more}\n'

    def thread(self, *words: str, task_id: str = "sums", more: str = "") -> Thread:
        if self.repo is None:
            self.repo = self.make_repo("repo", {**SAMPLE_FILES, "detent.toml": self.settings(more)})
            let_out(self.repo)
        done = self.detent("new", "ralf", "add sums", "--id", task_id, *words, cwd=self.repo)
        assert done.code == 0, done
        made = Thread(self.detent, self.repo, self.repo / ".ralf" / "threads" / task_id, task_id)
        self.tasks.append(made)
        return made

    def lose_run(self, thread: Thread) -> None:
        """Start the loop's first run, and have its keeper and its driver killed."""
        here = self.meeting()
        self.script("Running", "meet here")
        driving = self.begin("run", thread.id, cwd=thread.repo)
        here.reached()
        driving.kill()
        identity = look(str(thread.run_dir(1))).identity
        assert identity is not None
        os.kill(identity.keeper_pid, signal.SIGKILL)
        gone(identity.keeper_pid)
