"""A scripted agent that is a real process, and the tasks it works on, driven through the command line only.

What the agent does is a shell script per state (`agents.script("verify", ...)`), or per state and run number
(`run=2`); a state without one is a run that does nothing. Scripts have a few words of their own (`WORDS`). They meet
the test at a named pipe instead of sleeping: `meet NAME` waits there until the test lets them go.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import Any

from detent.effects.host.keeper.look import is_alive, look
from detent.effects.host.keeper.start import end_survivors, stop
from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo, hear_signals, let_out
from tests.e2e.phase_task import ANSWERS, CHECK, FRAME, PhaseTask
from tests.unit.effects.host.keeper.keeper_runs import gone

WAIT_S = 120.0
TASK_ANSWERS = ANSWERS.replace("\n", r"\n")
WORDS = rf"""
field() {{ sed -i "s|^$1:.*|$1: $2|" "$DETENT_TASK_DIR/STATE.md"; }}
section() {{
  awk -v name="## $1" -v body="$2" '$0==name{{print;print "\n" body "\n";skip=1;next}} /^## /{{skip=0}} !skip' \
    "$DETENT_TASK_DIR/EVIDENCE.md" > "$SCRIPTS/section.$DETENT_TASK"  # tasks may be written at once
  cat "$SCRIPTS/section.$DETENT_TASK" > "$DETENT_TASK_DIR/EVIDENCE.md"
}}
candidate() {{
  echo "${{1:-it works}}" > "$DETENT_TASK_DIR/artifacts/result.txt"
  field "Candidate done" yes; field "Evidence location" artifacts/result.txt
  field "Evidence link" "[result](artifacts/result.txt)"
}}
review() {{ section "Gate answers" "{TASK_ANSWERS}"; section Review "Verdict: $1\nRead by run $DETENT_RUN_NUMBER."; }}
count() {{ echo "$DETENT_STATE $DETENT_RUN_NUMBER" >> "$SCRIPTS/count"; }}
meet() {{ echo "$DETENT_RUN_NUMBER $$" > "$SCRIPTS/$1.up"; read -r _ < "$SCRIPTS/$1.go"; }}
"""
AGENT = (
    'for script in "$SCRIPTS/$DETENT_TASK/$DETENT_STATE.$DETENT_RUN_NUMBER" "$SCRIPTS/$DETENT_TASK/$DETENT_STATE" '
    '"$SCRIPTS/$DETENT_STATE.$DETENT_RUN_NUMBER" "$SCRIPTS/$DETENT_STATE"; '
    'do if [ -f "$script" ]; then exec sh -eu "$script"; fi; done'
)
HONEST = {
    "implement": "count; echo '# worked on' >> app.py; candidate; detent move verify",
    "verify": "count; detent move review",
    "review": "count; review PASS; detent move done",
}


class Meeting:
    """Where a script waits for the test."""

    def __init__(self, folder: Path, name: str) -> None:
        self._up, self._go = folder / f"{name}.up", folder / f"{name}.go"
        os.mkfifo(self._up)
        os.mkfifo(self._go)

    def reached(self) -> tuple[int, int]:
        """Wait until a script is there: the number of its run, and its process."""
        descriptor = os.open(self._up, os.O_RDONLY | os.O_NONBLOCK)
        try:
            waiting = select.poll()
            waiting.register(descriptor, select.POLLIN)
            assert waiting.poll(WAIT_S * 1000), f"nobody came to {self._up.name}"
            number, pid = os.read(descriptor, 100).split()
        finally:
            os.close(descriptor)
        return int(number), int(pid)

    def go(self) -> None:
        """Let the script that is there go on."""
        self._go.write_text("go\n")


class Driving:
    """A `detent` command that goes on beside the test."""

    def __init__(self, process: subprocess.Popen[str], words: tuple[str, ...]) -> None:
        self.process = process
        self.words = words

    def done(self) -> Completed:
        out, err = self.process.communicate(timeout=WAIT_S)
        return Completed(self.words, self.process.returncode, out, err)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=WAIT_S)

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def line(self, words: str) -> str:
        """Wait for a line of its output that holds these words."""
        assert self.process.stdout is not None
        # A silent run is ended, so that the test fails instead of waiting for ever.
        guard = Timer(WAIT_S, self.process.kill)
        guard.start()
        try:
            for line in self.process.stdout:
                if words in line:
                    return line
        finally:
            guard.cancel()
        raise AssertionError(f"it never said {words!r}")


class AgentTask(PhaseTask):
    """A phase task whose agent is scripted."""

    @property
    def tree(self) -> Path:
        return Path(self.entries()[0]["tree_path"])

    def run_dir(self, number: int) -> Path:
        return self.control / "runs" / str(number)

    def entries(self, *kinds: str) -> list[dict[str, Any]]:
        """The journal's lines, or those of some kinds."""
        lines = (self.control / "journal.jsonl").read_text(encoding="utf-8").splitlines()
        found = [json.loads(line) for line in lines]
        return [entry for entry in found if not kinds or entry["kind"] in kinds]

    def last(self, kind: str) -> dict[str, Any]:
        return self.entries(kind)[-1]

    def run(self, *words: str, expect: int | None = None) -> Completed:
        done = self("run", *words, self.id, cwd=self.repo)
        assert expect is None or done.code == expect, done
        return done

    def prompt(self, number: int) -> str:
        return (self.run_dir(number) / "prompt.md").read_text(encoding="utf-8")

    def output(self, number: int) -> str:
        return (self.run_dir(number) / "events").read_text(encoding="utf-8")

    def path_of_moves(self) -> list[str]:
        return [entry["to"] for entry in self.entries("moved")]

    def audit(self) -> None:
        """The journal holds, and so does everything that remembers the same."""
        done = self("audit", self.id, "--json", cwd=self.repo)
        assert done.code == 0, done
        assert [finding for finding in done.json()["findings"] if not finding.get("warning")] == [], done


class Agents:
    """Makes tasks with the scripted agent, starts commands beside the test, and ends what is left at its end."""

    words = WORDS

    def __init__(self, detent: Detent, repo: MakeRepo, folder: Path) -> None:
        self.scripts = folder / "scripts"
        self.scripts.mkdir()
        self.detent = Detent(detent.directory, {**detent.environment, "SCRIPTS": str(self.scripts)})
        self.make_repo = repo
        self.tasks: list[AgentTask] = []
        self.driving: list[Driving] = []

    def script(self, state: str, text: str, run: int = 0, task: str = "") -> None:
        folder = self.scripts / task
        folder.mkdir(exist_ok=True)
        (folder / (f"{state}.{run}" if run else state)).write_text(f"{self.words}\n{text}\n", encoding="utf-8")

    def honest(self, **scripts: str) -> None:
        """The agent does its work; the scripts given here take the place of its own."""
        for state, text in {**HONEST, **scripts}.items():
            self.script(state, text)

    def settings(self, more: str = "", events: str = "text") -> str:
        argv = json.dumps(["sh", "-c", AGENT])
        return f'[agents]\ndefault = "scripted"\n[agents.scripted]\nargv = {argv}\nevents = "{events}"\n{more}\n'

    def task(
        self, more: str = "", *, events: str = "text", task_id: str = "words", repo: Path | None = None
    ) -> AgentTask:
        """A new task with a complete frame, so that its first run is in implement; `more` are further settings."""
        if repo is None:
            files = {**SAMPLE_FILES, "detent.toml": self.settings(more, events)}
            repo = self.make_repo(f"repo-{task_id}", files)
        # Scripts meet the test outside the sandbox; what the kernel holds has tests of its own.
        let_out(repo)
        folder = repo.parent / f"{task_id}-task"
        done = self.detent("new", "count", "--id", task_id, "--check", CHECK, "--dir", folder, cwd=repo)
        assert done.code == 0, done
        task = AgentTask(self.detent, repo, folder, task_id)
        task.set(FRAME)
        self.tasks.append(task)
        return task

    def meeting(self, name: str = "here") -> Meeting:
        return Meeting(self.scripts, name)

    def counted(self) -> list[str]:
        """What scripts counted: a line per run that began its work."""
        path = self.scripts / "count"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def begin(self, *words: str | Path, cwd: Path) -> Driving:
        argv = tuple(str(word) for word in words)
        process = subprocess.Popen(
            [sys.executable, "-m", "detent", *argv],
            cwd=cwd,
            env=self.detent.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            preexec_fn=hear_signals,  # noqa: PLW1509  # no thread of the test holds a lock
        )
        self.driving.append(Driving(process, argv))
        return self.driving[-1]

    def close(self) -> None:
        for driving in self.driving:
            driving.close()
        for task in self.tasks:
            for run_dir in sorted(task.control.glob("runs/*")):
                identity = look(str(run_dir)).identity
                if identity is not None:
                    if is_alive(identity):
                        stop(str(run_dir))
                        gone(identity.keeper_pid)
                    end_survivors(identity)
