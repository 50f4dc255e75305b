"""The laboratory: walks one task once, keeps the world before each kind of step, and judges what is left after a death.

A kind of step is one command on one world. Undisturbed it comes to one `Ending`; killed, cut off or refused by the disk
at any point, then repeated, it must come to the same.
"""

from __future__ import annotations

import compileall
import json
import os
import py_compile
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import detent
from tests.conftest import let_out
from tests.crash.trace import CHANGING, KILLED, MOST_TRIES, Call, Ended, disturb, record
from tests.crash.world import (
    CONTROL,
    FOLDER,
    JOURNAL,
    LOG,
    STATE,
    TASK,
    Ending,
    Files,
    World,
    ending,
    journal_lines,
    read_journal,
    temporaries,
    without_times,
)
from tests.forks import Forks

REPLY_TIMEOUT_S = 60
KINDS = (
    "new",
    "adopt",
    "move",
    "move and lock",
    "move and checkpoint",
    "move and prove",
    "file request refused",
    "owned field restored",
    "locked field restored",
    "file request granted",
    "answer",
    "settle",
)
_START = "import sys; from detent.faces.cli.main import main; sys.exit(main())"
# No site-packages: the engine needs none, and a start costs less. Nothing that could differ between two runs.
_PYTHON = (sys.executable, "-S", "-s", "-P")
SETTLE = ("move", "--edge", "no-such-move", TASK)  # refused by every state, after the task was brought into order
_READERS = (("status", "--json", TASK), ("list", "--json"), ("history", "--json", TASK))
_BAD_CODES = (3, 5, 99)

FRAME = """# Parse empty lines

A paragraph that belongs to nobody but its writer.  \t

Phase: intake
Status: being framed
Objective: parse empty lines
Done gate: the parser returns an empty list
Not doing: comments
Reality constraints: none — only the standard library
Validation plan:
- cmd: test -f app.py
User facing: no
Current result: nothing yet
Next step: A) keep both formats, B) drop the old one
Blockers:
Evidence location: artifacts/result.txt
Evidence link: [proof](artifacts/result.txt)
Candidate done: no
Validator status: pending
Repair applied: no
Revalidation status: pending
Last updated:
Ticket: 4711 (a field of our own)

## Notes

Ünïcödé, `code`, and a fence:

```text
Phase: done
```

last line without an end"""


_KEPT = re.compile(r"others: .*/objects/([0-9a-f]{64}): '\1' should be None")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of step: the command, the world it begins in, and how it ends when nothing disturbs it."""

    name: str
    words: tuple[str, ...]
    before: Files
    code: int
    after: Files  # right after the command
    end: Ending  # after the command and one more step
    journal: tuple[str, ...]  # right after the command

    @property
    def texts(self) -> frozenset[str]:
        """The contents STATE.md may have at any moment; a form that was just made has no time in it yet."""
        before, after = (without_times((files.get(STATE) or b"").decode()) for files in (self.before, self.after))
        first = before or after.replace("Last updated: TIME", "Last updated:")
        return frozenset((before, after, first))


class Lab:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.world = World(folder / "world")
        self.engine = self._copy_engine()
        temporary = folder / "tmp"
        temporary.mkdir()
        self.environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.world.top / "home"),
            "XDG_STATE_HOME": str(self.world.top / "home/state"),
            "LANG": "C.UTF-8",
            "USER": "tester",
            "TMPDIR": str(temporary),
            "PYTHONPATH": str(self.engine),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._make_repository()
        self.committed = {path.parent.name + path.name for path in (self.world.top / "repo/.git/objects").glob("??/*")}
        self._server = subprocess.Popen(
            [*_PYTHON, str(Path(__file__).with_name("serve.py"))],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._forks = Forks(_PYTHON, self.environment)
        self.kinds = {kind.name: kind for kind in self._walk()}
        assert tuple(self.kinds) == KINDS

    def close(self) -> None:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.stdout.close()
        self._server.wait(REPLY_TIMEOUT_S)
        self._forks.close()

    # --- making the worlds ---

    def _copy_engine(self) -> Path:
        """The engine as it is now, compiled: no edit and no first compilation changes the calls of a run."""
        source = Path(detent.__file__).parent
        target = self.folder / "engine"
        shutil.copytree(source, target / "detent", ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(
            target, quiet=1, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH, workers=1
        )
        return target

    def _make_repository(self) -> None:
        repository = self.world.top / "repo"
        repository.mkdir(parents=True)
        (repository / "app.py").write_text("def parse(text):\n    return text.split()\n", encoding="utf-8")
        (repository / ".gitignore").write_text("*.log\n", encoding="utf-8")
        environment = {
            **self.environment,
            **{f"GIT_{who}_NAME": "Tester" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "tester@example.invalid" for who in ("AUTHOR", "COMMITTER")},
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        for words in (
            ("init", "--quiet", "--initial-branch=main", "--template="),
            ("add", "--all"),
            ("commit", "--quiet", "--message=Start"),
        ):
            subprocess.run(["git", *words], cwd=repository, env=environment, check=True, timeout=REPLY_TIMEOUT_S)
        (repository / "noise.log").write_text("ignored by the baseline\n", encoding="utf-8")
        for name in ("home", "folders"):
            (self.world.top / name).mkdir()
        let_out(repository)  # what a sandbox mounts is on no disk, and would only confuse the model of one

    def _walk(self) -> list[Kind]:
        """One task from nothing to review, with the world kept wherever a kind of step begins."""
        kinds = []
        nothing = self.world.read()
        folder = str(self.world.top / FOLDER)
        kinds.append(
            self.kind(
                "new", ("new", "phase", "parse empty lines", "--in-place", "--id", TASK, "--dir", folder), nothing
            )
        )
        foreign = {**nothing, FOLDER: None, STATE: FRAME.encode(), f"{FOLDER}/own.txt": b"keep me\n"}
        kinds.append(self.kind("adopt", ("adopt", folder, "phase", "--id", TASK), foreign))
        intake = {**kinds[0].after, STATE: FRAME.encode()}
        kinds.append(self.kind("move", ("move", "shape", TASK), intake))
        kinds.append(self.kind("move and lock", ("move", "implement", TASK), kinds[-1].after))
        implement = kinds[-1].after
        work = {
            "repo/app.py": b"def parse(text):\n    return text.split() if text else []\n",
            "repo/added.txt": b"new\n",
            f"{FOLDER}/artifacts/result.txt": b"seen\n",
        }
        candidate = {**edited(implement, "Candidate done: no", "Candidate done: yes"), **work}
        kinds.append(self.kind("move and checkpoint", ("move", "verify", TASK), candidate))
        kinds.append(self.kind("move and prove", ("move", "review", TASK), kinds[-1].after))
        request = edited(implement, "Phase: implement", "Phase: done")
        kinds.append(self.kind("file request refused", ("move", TASK), request, 1))
        owned = edited(implement, "Validator status: pending", "Validator status: pass")
        kinds.append(self.kind("owned field restored", SETTLE, owned, 1))
        locked = edited(implement, "Objective: parse empty lines", "Objective: do nothing")
        kinds.append(self.kind("locked field restored", SETTLE, locked, 1))
        question = edited(
            edited(implement, "Blockers:", "Blockers: two formats"), "Phase: implement", "Phase: needs_user_decision"
        )
        waiting = self.kind("file request granted", ("move", TASK), question)
        kinds.append(waiting)
        kinds.append(self.kind("answer", ("answer", "keep both formats", TASK), waiting.after))
        unfinished = {**implement, STATE: kinds[2].after[STATE], LOG: kinds[2].after[LOG]}
        for name in (f"{CONTROL}/projected.jsonl", f"{CONTROL}/snapshot.json", f"{CONTROL}/native-last"):
            unfinished[name] = kinds[2].after[name]
        kinds.append(self.kind("settle", SETTLE, unfinished, 1))
        return kinds

    def kind(self, name: str, words: tuple[str, ...], before: Files, code: int = 0) -> Kind:
        """Take a command's undisturbed course as the measure for every disturbed one."""
        self.world.put(before)
        (done,) = self.run(words)
        assert done["code"] == code, f"{name}: {done}"
        after = self.world.read()
        (settled,) = self.run(SETTLE)
        assert settled["code"] == 1, f"{name}: {settled}"
        final = self.world.read()
        assert not temporaries(final), f"{name} leaves {temporaries(final)}"
        return Kind(name, words, before, code, after, ending(final, self.committed), journal_lines(after))

    def count(self, what: str, kind: str, points: int) -> None:
        """Print how much was tried, for the numbers of a complete run (`pytest -s`)."""
        sys.stdout.write(f"\n{what}: {kind}: {points} points\n")

    # --- running ---

    @property
    def cwd(self) -> Path:
        return self.world.top / "repo"

    def argv(self, words: Sequence[str], start: str = _START) -> list[str]:
        """A real process of its own."""
        return [*_PYTHON, "-c", start, *words]

    def run(self, *commands: Sequence[str]) -> list[dict[str, Any]]:
        """Commands after each other, in a fork of a process that has the engine loaded."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps({"cwd": str(self.cwd), "commands": commands}) + "\n")
        self._server.stdin.flush()
        answer: list[dict[str, Any]] = json.loads(self._server.stdout.readline())
        return answer

    def record(self, kind: Kind, log: Path, names: Sequence[str] = CHANGING) -> tuple[Ended, list[Call]]:
        """The calls of a step on the world as it is, but none of its imports."""
        return record(kind.words, cwd=self.cwd, env=self.environment, log=log, names=names, forks=self._forks)

    def kill(self, kind: Kind, call: Call) -> Ended:
        """The step killed at this call; one that was not reached is looked for again.

        In how many folders a checkpoint's objects lie, and are synced, depends on the second in which it was made.
        """
        for _ in range(MOST_TRIES):
            self.world.put(kind.before)
            ended = self.disturb(kind, call, "signal=KILL")
            if ended.code == KILLED:
                return ended
        raise AssertionError(f"{kind.name} was not killed at {call}: {ended}")

    def disturb(self, kind: Kind, call: Call, how: str) -> Ended:
        """The step with one of its recorded calls replaced; waits for the processes it leaves behind."""
        where: dict[str, Any] = {"cwd": self.cwd, "env": self.environment}
        where |= {"name": call.name, "how": how, "number": call.number}
        if call.name in ("vfork", "pidfd_open"):  # a helper may outlive the step; no import makes these calls
            return disturb(self.argv(kind.words), with_orphans=True, **where)
        return disturb(kind.words, forks=self._forks, **where)

    # --- judging ---

    def problems(self, kind: Kind, *, is_acknowledged: bool, is_power_cut: bool = False) -> list[str]:
        """Everything that is wrong with the world a death left behind; repeats the command on the way."""
        found = self._problems_before(kind, is_acknowledged, is_power_cut)
        repeated, settled = self.run(kind.words, SETTLE)
        for done in (repeated, settled):
            if done["code"] in _BAD_CODES:
                found.append(f"the repetition ended with {done}")
        files = self.world.read()
        try:
            differences = ending(files, self.committed).differences(kind.end)
            # What stood there after the power was gone is kept too, by its hash: one text more does no harm.
            found += [difference for difference in differences if not (is_power_cut and _KEPT.fullmatch(difference))]
        except (AssertionError, ValueError, KeyError) as problem:
            found.append(f"afterwards: {problem}")
        found += [f"left behind: {name}" for name in temporaries(files)]
        return found

    def _problems_before(self, kind: Kind, is_acknowledged: bool, is_power_cut: bool) -> list[str]:
        found = []
        files = self.world.read()
        try:
            lines = journal_lines(files)
        except (AssertionError, ValueError, KeyError) as problem:
            return [f"the journal: {problem}"]
        if lines != kind.journal[: len(lines)]:
            found.append(f"the journal holds {lines[-1]}, which no undisturbed run writes")
        if is_acknowledged and lines != kind.journal:
            found.append(f"acknowledged were {len(kind.journal)} lines, {len(lines)} are there")
        text = (files.get(STATE) or b"").decode()
        # The bytes of a renamed file may not have reached the disk; the journal has them.
        if without_times(text) not in kind.texts and not (is_power_cut and is_carried(files)):
            found.append(f"STATE.md is neither old nor new: {text!r}")
        found += self._reader_problems(kind, files)
        return found

    def _reader_problems(self, kind: Kind, files: Files) -> list[str]:
        found = []
        answers = self.run(*_READERS)
        is_there = JOURNAL in files and b"\n" in (files[JOURNAL] or b"")
        for words, done in zip(_READERS, answers, strict=True):
            if done["code"] != 0 and (is_there or words[0] == "list" or done["code"] in _BAD_CODES):
                found.append(f"{words[0]} ended with {done}")
        states = {ending_state(kind.before), kind.end.state}
        if is_there and answers[0]["code"] == 0:
            state = json.loads(answers[0]["out"])["state"]
            if state not in states:
                found.append(f"status says {state}, it may say {sorted(states)}")
        if self.world.read() != files:
            found.append("a reader wrote")
        return found


def is_carried(files: Files) -> bool:
    """Whether the last line that leads to a text of STATE.md carries it."""
    carried = [entry["native"] for entry in read_journal(files) if "native" in entry]
    return bool(carried and carried[-1])


def ending_state(files: Files) -> str:
    lines = [json.loads(line) for line in (files.get(JOURNAL) or b"").splitlines()]
    return next((str(line["after"]["state"]) for line in reversed(lines) if "after" in line), "")


def edited(files: Files, old: str, new: str) -> dict[str, bytes | None]:
    """A world in which one line of STATE.md was edited."""
    text = (files[STATE] or b"").decode()
    assert text.count(f"\n{old}\n") == 1, f"{old!r} should stand once in {text!r}"
    return {**files, STATE: text.replace(f"\n{old}\n", f"\n{new}\n").encode()}
