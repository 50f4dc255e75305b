"""A phase task that `detent run` drives with one real agent, whose model plays a script per state.

The agent's program is found on PATH under its own name. What lies there is two lines that write down the command line
they were given and become the real program, so the catalog's own words are what is run. Where the host allows it, the
whole command has a network of its own, in which there is nothing but the model.
"""

from __future__ import annotations

import json
import os
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.agents.dialects import Shell, Write
from tests.agents.scripted_model import Script, ScriptedModel, Turn
from tests.agents.world import ALONE, CONFIGURE, PORT, Meeting, environment_of
from tests.conftest import Completed, Detent, MakeRepo
from tests.e2e.clone_task import CloneTask
from tests.e2e.phase_task import CANDIDATE, FRAME, QUESTIONS, RESULT

ENGINE_S = 240.0  # for a whole task
KNOCK_S = 60.0
CHECK = "python3 -c 'import greet; assert greet.hello() == 1'"
CODE = "def hello():\n    return 1\n"


def in_state(name: str) -> str:
    """Words that stand in the prompt of a run in this state, and in no other."""
    return f"The task is in state **{name}**"


def fields(values: Mapping[str, str]) -> Shell:
    """Write fields of STATE.md with the agent's shell."""
    edits = " ".join(f"-e {shlex.quote(f's|^{label}:.*|{label}: {value}|')}" for label, value in values.items())
    return Shell(f'sed -i {edits} "$DETENT_TASK_DIR/STATE.md"')


def sections(values: Mapping[str, str]) -> Shell:
    """Write lines below headings of EVIDENCE.md with the agent's shell."""
    edits = " ".join(f"-e {shlex.quote(f'/^## {heading}$/a {line}')}" for heading, line in values.items())
    return Shell(f'sed -i {edits} "$DETENT_TASK_DIR/EVIDENCE.md"')


ANSWERS = "\\n".join(f"- {question}: yes, by reviewer, {RESULT}" for question in QUESTIONS)
FRAMED = (Turn("I write the frame.", (fields(FRAME),)), Turn("The frame stands."))
SHAPED = (Turn("The plan stands."),)
MADE = (
    Turn("I write the code.", (Write("greet.py", CODE),)),
    Turn("I keep what shows it.", (Shell(f'echo "hello gives 1" > "$DETENT_TASK_DIR/{RESULT}"'), fields(CANDIDATE))),
    Turn("There is a candidate."),
)
REVIEWED = (Turn("I judge.", (sections({"Gate answers": ANSWERS, "Review": "Verdict: PASS"}),)), Turn("It passes."))
HONEST = {
    in_state("intake"): FRAMED,
    in_state("shape"): SHAPED,
    in_state("implement"): MADE,
    in_state("review"): REVIEWED,
}


class Driven:
    """One agent, a home, a repository and a phase task on it."""

    def __init__(self, name: str, program: Path, folder: Path, *, alone: bool) -> None:
        self.name = name
        self.program = program
        self.alone = alone
        self.folder = folder
        self.home, self.bin = folder / "home", folder / "bin"
        self._wrapper: tuple[str, ...] = ()
        for path in (self.home, self.home / "tmp", self.bin):
            path.mkdir()
        who = {f"GIT_{role}_{part}": "tester" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
        self.environment = {
            **environment_of(self.home, self.bin),
            **who,
            "XDG_STATE_HOME": str(folder / "state"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        # What the scripted model is reached by is the user's own business, and passed on by their own settings.
        user_file = self.home / ".config" / "detent" / "config.toml"
        user_file.parent.mkdir(parents=True)
        user_file.write_text(
            f"[sandbox]\npass = {json.dumps(sorted(CONFIGURE[name](self.home, '')))}\n", encoding="utf-8"
        )
        self.detent = Detent(folder, self.environment)
        repo = MakeRepo(folder, self.environment)
        self.checkout = repo()
        # Nothing is said about pi: it is what is looked for first, and it knows its model from its own settings.
        named = () if name == "pi" else ("--agent", f"{name}:scripted")
        with self.model(()):
            self.task = CloneTask(self.detent, repo, self.checkout, *named, check=CHECK)

    @contextmanager
    def model(self, script: Script) -> Iterator[Meeting | ScriptedModel]:
        """Put the agent on PATH, with this model to talk to."""
        if self.alone:
            with Meeting(script) as meeting:
                self._put_program(f"http://127.0.0.1:{PORT}")
                self._wrapper = (sys.executable, str(ALONE), meeting.path, str(PORT))
                yield meeting
        else:
            with ScriptedModel(script) as model:
                self._put_program(model.url)
                yield model

    def _put_program(self, url: str) -> None:
        self.environment.update(CONFIGURE[self.name](self.home, url))
        program = self.bin / self.name
        text = f'#!/bin/sh\necho "$*" >> "$DETENT_OUT/calls"\nexec {shlex.quote(str(self.program))} "$@"\n'
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)

    def __call__(self, *words: str) -> Completed:
        """One command in the user's checkout; driving a whole task may take long."""
        done = subprocess.run(
            self._argv(words),
            cwd=self.checkout,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=ENGINE_S,
            check=False,
        )
        return Completed(words, done.returncode, done.stdout, done.stderr)

    def begin(self, *words: str) -> subprocess.Popen[str]:
        """A command that is left to work; what it says can be read."""
        return subprocess.Popen(
            self._argv(words),
            cwd=self.checkout,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def _argv(self, words: tuple[str, ...]) -> list[str]:
        wrapper = self._wrapper if words[0] == "run" else ()
        return [*wrapper, sys.executable, "-m", "detent", *words]

    def run(self, script: Script, *words: str) -> Completed:
        """`detent run` with this model."""
        with self.model(script):
            return self("run", *words)

    def command_lines(self) -> list[str]:
        """What the agent was started with, run by run."""
        return (self.out / "calls").read_text(encoding="utf-8").splitlines()

    def wait_for_conversation(self) -> None:
        """Until the agent has written down what its session can be gone on with, for this task alone or at home."""
        end = time.monotonic() + KNOCK_S
        while not any(next(top.rglob("*.jsonl"), None) for top in (self.task.home / "agents", self.home)):
            assert time.monotonic() < end, "the agent never wrote its conversation down"
            time.sleep(0.02)

    def lines(self, kind: str) -> list[dict[str, Any]]:
        """The journal's lines of one kind."""
        raws = (self.task.control / "journal.jsonl").read_bytes().splitlines()
        return [entry for raw in raws if (entry := json.loads(raw))["kind"] == kind]

    def identity(self, number: int) -> dict[str, Any]:
        path = self.task.control / "runs" / str(number) / "identity.json"
        found: dict[str, Any] = json.loads(path.read_bytes())
        return found

    @property
    def is_held(self) -> bool:
        """Whether the kernel kept the first run inside."""
        return bool(self.lines("run_planned")[0]["sandbox"] != "none")

    @property
    def out(self) -> Path:
        return self.task.home / "out"

    def log(self, number: int) -> str:
        """Everything a run printed."""
        folder = self.task.control / "runs" / str(number)
        return "".join((folder / name).read_text(encoding="utf-8") for name in ("events", "errors"))


class Doors:
    """Two named pipes in the run's own folder: the agent's shell says that it is there, and waits to be let go on."""

    KNOCK = Shell('echo here > "$DETENT_OUT/here"')
    KNOCK_AND_WAIT = Shell('echo here > "$DETENT_OUT/here"; read word < "$DETENT_OUT/go"')

    def __init__(self, folder: Path) -> None:
        self._here, self._go = folder / "here", folder / "go"
        for path in (self._here, self._go):
            os.mkfifo(path)

    def wait(self) -> None:
        reading = os.open(self._here, os.O_RDONLY | os.O_NONBLOCK)
        try:
            ready, _, _ = select.select([reading], [], [], KNOCK_S)
        finally:
            os.close(reading)
        assert ready, "the agent never came"

    def let_go_on(self) -> None:
        self._go.write_text("go\n", encoding="utf-8")


def listing(folder: Path, left_out: str) -> dict[str, tuple[int, int, int]]:
    """Every file and folder below, with what changes when it is touched."""
    found = {}
    for base, names, files in os.walk(folder):
        names[:] = [name for name in names if name != left_out]
        for path in (Path(base, name) for name in (*names, *files)):
            stat = path.lstat()
            found[str(path.relative_to(folder))] = (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
    return found
