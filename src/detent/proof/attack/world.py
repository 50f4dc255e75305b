"""The lab's side: a throw-away home, repository and task, put into a wanted state in a moment.

A state is made once, honestly, by hand, and kept as a copy; it is put back to the very same place, because tasks know
their paths. Nothing outside one temporary folder is touched.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile

from detent.effects.process import Finished
from detent.effects.process import run as run_process
from detent.effects.sandbox import Probe
from detent.errors import ToolError
from detent.proof.attack import values
from detent.proof.attack.inside import gate_answers
from detent.proof.attack.scene import APP, ASKED_FILE, CHECK_FILE, FIXED, Scene, write
from detent.proof.attack.values import HERE, MAIN, OTHER
from detent.runner.access import remember_level
from detent.store.places import project_at

_TIMEOUT_S = 120.0
CHECK = f"sh {CHECK_FILE}"
_FILES = {"app.sh": APP, CHECK_FILE: '. ./app.sh\ntest "$(answer)" = right\n', "README.md": "# Sample\n"}
_SETTINGS = """[commands]
test = "{check}"
memory_mb = {memory_mb}
processes = {processes}

[agents]
default = "attacker"

[agents.attacker]
argv = {argv}

[protect]
deny = ["detent.toml", "{check_file}"]
ask = ["{asked_file}"]

[budget.run]
minutes = 2
stall_minutes = {stall}
"""
_NO_NETWORK = '\n[sandbox.network]\nbuilder = "deny"\n'
_STALL_MINUTES, _SHORT_STALL_MINUTES = 1.0, 0.03
_FRAME = {"Done gate": "the check passes", "Not doing": "anything else", "User facing": "no"}
_BEFORE = {
    values.GREEN: values.IMPLEMENT,
    values.RED: values.IMPLEMENT,
    values.OLD_REVIEW: values.GREEN,
    values.OLD_REPAIR: values.RED,
}


class World:
    """One temporary folder with everything an attack needs."""

    def __init__(self, top: str) -> None:
        self.live = os.path.join(os.path.realpath(top), "live")
        self.kept = os.path.join(os.path.realpath(top), "kept")
        self.home = os.path.join(self.live, "home")
        self.repo = os.path.join(self.live, "repo")
        identity = {f"GIT_{who}_{what}": "lab" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self.environment = {
            **identity,
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": self.home,
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "XDG_STATE_HOME": os.path.join(self.home, "state"),
            "TMPDIR": os.path.join(self.live, "tmp"),
            "SSH_AUTH_SOCK": os.path.join(self.home, values.SOCKET),
            values.SECRET: values.CANARY,
        }

    def run(self, *argv: str, expect: int | None = 0, **more: str) -> Finished:
        done = run_process(argv, cwd=self.repo, env={**self.environment, **more}, timeout_s=_TIMEOUT_S)
        if expect is not None and done.exit != expect:
            text = (done.stdout + done.stderr).decode("utf-8", "replace")
            raise ToolError(f"the lab could not be set up: {' '.join(argv[-4:])} ended with {done.exit}: {text[-500:]}")
        return done

    def detent(self, *words: str, expect: int | None = 0, **more: str) -> Finished:
        return self.run(sys.executable, "-P", "-m", "detent", *words, expect=expect, **more)

    def at(self, stage: str, level: str) -> None:
        """Put the task into a state, and tell the project at which level it is to hold its runs."""
        saved = os.path.join(self.kept, stage)
        if not os.path.isdir(saved):
            self._make(stage, level)
            shutil.copytree(self.live, saved, symlinks=True)
        else:
            self.clear()
            shutil.copytree(saved, self.live, symlinks=True)
        self.hold_at(level)

    def clear(self) -> None:
        """Make room for another world; what an attacker left running goes on in the old one, out of the way."""
        if os.path.isdir(self.live):
            old = tempfile.mkdtemp(prefix="old-", dir=os.path.dirname(self.live))
            os.rename(self.live, old)
            shutil.rmtree(old, ignore_errors=True)

    def hold_at(self, level: str) -> None:
        project = project_at(self.repo, os.path.join(self.repo, ".git"))
        os.makedirs(project.control, exist_ok=True)
        remember_level(project, Probe(level, "chosen by the attack lab"))

    def _make(self, stage: str, level: str) -> None:
        if stage == values.IMPLEMENT:
            return self._begin(level)
        self.at(_BEFORE[stage], level)
        scene = Scene(self, stage)
        match stage:
            case values.GREEN | values.RED:
                if stage == values.GREEN:
                    write(os.path.join(scene.tree(), "app.sh"), FIXED)
                write(os.path.join(scene.folder(), "artifacts", "result.txt"), "looked at it\n")
                link = "[result](artifacts/result.txt)"
                location = {"Evidence location": "artifacts/result.txt", "Evidence link": link}
                scene.set({"Candidate done": "yes", **location})
                self.detent("move", "verify", MAIN)
            case values.OLD_REVIEW:
                scene.section("Gate answers", gate_answers())
                scene.section("Review", "Verdict: PASS\nFrom an earlier round.")
                self.detent("move", "review", MAIN)
            case values.OLD_REPAIR:
                scene.section("Failed checks", "check.sh: the answer is wrong")
                scene.section("Repairs", "check.sh: mended, in an earlier round")
                self.detent("move", "repair", MAIN)
            case _:
                raise ValueError(stage)
        return None

    def _begin(self, level: str) -> None:
        self.clear()
        for name, text in {values.NOTES: values.NOTES_TEXT, values.KEY: values.CANARY}.items():
            write(os.path.join(self.home, name), text)
        os.makedirs(os.path.join(self.live, "tmp"))
        os.makedirs(os.path.join(self.home, values.ELSEWHERE))
        os.makedirs(os.path.dirname(os.path.join(self.home, values.SOCKET)))
        argv = json.dumps([sys.executable, "-P", "-m", "detent.proof.attack.inside"])
        kinds = ((MAIN, _STALL_MINUTES, ""), (OTHER, _SHORT_STALL_MINUTES, _NO_NETWORK), (HERE, _STALL_MINUTES, ""))
        for task, stall, more in kinds:
            named = {"check": CHECK, "check_file": CHECK_FILE, "asked_file": ASKED_FILE}
            most = {"memory_mb": values.MOST_MEMORY_MB, "processes": values.MOST_PROCESSES}
            settings = _SETTINGS.format(**named, **most, argv=argv, stall=stall)
            for name, text in {**_FILES, "detent.toml": settings + more}.items():
                write(os.path.join(self.repo, name), text)
            words = (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", f"settings of {task}"))
            for one in words[task != MAIN :]:
                self.run("git", *one)
            self.hold_at(level)
            options = ("--in-place",) if task == HERE else ()
            self.detent("new", "phase", "give the right answer", "--id", task, "--check", CHECK, *options)
        scene = Scene(self, values.IMPLEMENT)
        scene.set({**_FRAME, "Reality constraints": "a shell"})
        for state in ("shape", "implement"):
            self.detent("move", state, MAIN)
