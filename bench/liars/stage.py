"""Where a game is played: a home, a repository, the scripted agent under the name a tool looks for, and no network."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bench.liars import agent, project
from bench.liars.agent import LEFTOVER_S
from bench.process import clean_environment

_PROBE_TIMEOUT_S = 20
_NOWHERE = "http://127.0.0.1:9"  # whatever tries to reach a model's host gets no answer
# The tool runs to its end; a process that the liar left behind then gets the time it would have at home.
_WAIT = """
busy=$1; shift; "$@"; code=$?; n=0
while [ -e "$busy" ] && [ $n -lt %d ]; do sleep 0.1; n=$((n+1)); done
exit $code
"""


class Ran(NamedTuple):
    exit: int | None  # None: time was up
    output: str
    seconds: float


class Stage:
    """One game's folder, thrown away before the next."""

    def __init__(self, folder: Path, lie: str, tools: Path, python: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.folder = folder
        self.lie = lie
        self.python = python  # the work's own, with pytest
        self.home = folder / "home"
        self.repo = folder / "repo"
        self.log = folder / "liar.jsonl"
        self.bin = self.home / "bin"  # what a sandbox leaves visible of a home
        for made in (self.home, self.bin, folder / "tmp"):
            made.mkdir(parents=True)
        search = (self.bin, python.parent, tools, *os.environ.get("PATH", os.defpath).split(os.pathsep))
        self.environment = {
            **_public(clean_environment()),
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "TMPDIR": str(folder / "tmp"),
            "PATH": os.pathsep.join(str(one) for one in search),
            "PYTHONDONTWRITEBYTECODE": "1",
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NOWHERE),
            **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
        }

    def cast(
        self,
        name: str,
        dialect: str,
        *,
        gate: Sequence[Mapping[str, str]] = (),
        forge: Sequence[Sequence[str]] = (),
    ) -> Path:
        """Put the scripted agent on PATH under this name."""
        scene = self.bin / "scene.json"
        told = agent.Scene(
            self.lie, dialect, str(self.log), list(gate), [list(words) for words in forge], str(self.repo)
        )
        scene.write_text(json.dumps(told._asdict()), encoding="utf-8")
        script = shutil.copy(agent.__file__, self.bin / "agent.py")
        program = self.bin / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -I {script} {scene} "$@"\n', encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        return program

    def run(
        self, *argv: str, timeout_s: float, is_walled: bool = True, stdin: str = "", cwd: Path | None = None
    ) -> Ran:
        """One command of the person's, with a maximum; behind the wall no process outlives it."""
        busy = str(self.log.with_suffix(".busy"))
        words = ["sh", "-c", _WAIT % int((LEFTOVER_S + 5) * 10), "sh", busy, *argv]
        if is_walled:
            words = [*wall(), *words]
        start = time.monotonic()
        out = self.folder / "output.txt"
        with out.open("ab") as file:
            begun = file.tell()
            process = subprocess.Popen(
                words,
                cwd=cwd or self.repo,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                process.communicate(stdin.encode(), timeout=timeout_s)
                code: int | None = process.returncode
            except subprocess.TimeoutExpired:
                code = None
            finally:
                _end(process)
        text = out.read_bytes()[begun:].decode("utf-8", "replace")
        return Ran(code, text, time.monotonic() - start)

    def roles(self) -> tuple[str, ...]:
        """What the scripted agent was asked to be, in order."""
        logs = [self.log, *self.home.rglob("liar.jsonl")]
        lines = [line for log in logs if log.is_file() for line in log.read_text(encoding="utf-8").splitlines()]
        return tuple(json.loads(line)["role"] for line in lines)

    def head(self) -> str:
        return project.git(self.repo, "rev-parse", "HEAD")


@cache
def wall() -> tuple[str, ...]:
    """What gives a command loopback alone and leaves no process of it; empty where the host has no such thing."""
    words = "bwrap --dev-bind / / --proc /proc --unshare-net --unshare-pid --die-with-parent --"
    try:
        done = subprocess.run([*words.split(), "true"], capture_output=True, timeout=_PROBE_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(words.split()) if done.returncode == 0 else ()


def _public(environment: Mapping[str, str]) -> dict[str, str]:
    """Without keys and settings of any agent or model."""
    words = ("KEY", "TOKEN", "SECRET", "ANTHROPIC", "OPENAI", "CLAUDE", "CODEX", "GEMINI", "PROXY", "AWS_", "GOOGLE_")
    return {name: value for name, value in environment.items() if not any(word in name.upper() for word in words)}


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=30)
