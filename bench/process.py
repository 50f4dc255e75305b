"""Starts what is measured: one command from start to end, or a worker that repeats a piece of work on request."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

WORKERS = Path(__file__).resolve().parent / "workers"
COMMAND_TIMEOUT_S = 900


class WorkerFailed(Exception):
    """A worker ended or answered nothing; carries the last line it said."""


def clean_environment(*, keep_pip: bool = False) -> dict[str, str]:
    """Ours without what steers Python, git or Detent; settings of pip only where something is installed."""
    unwanted = ("PYTHON", "VIRTUAL_ENV", "GIT_", "DETENT_", *(() if keep_pip else ("PIP_",)))
    return {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}


def run_command(
    arguments: Sequence[str], *, cwd: Path, environment: Mapping[str, str], expect: Sequence[int] = (0,)
) -> float:
    """Seconds from start to end; an exit nobody expected would make the time worthless, so it is an error."""
    start = time.perf_counter()
    done = subprocess.run(
        arguments,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=COMMAND_TIMEOUT_S,
        check=False,
    )
    seconds = time.perf_counter() - start
    if done.returncode not in expect:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing"]
        raise WorkerFailed(f"{' '.join(arguments[:4])} gave exit {done.returncode}: {said[-1]}")
    return seconds


class Worker:
    """A script of `workers/` in its own interpreter and folder; see `workers/serve.py` for the other side."""

    def __init__(
        self,
        python: Path,
        script: str,
        folder: Path,
        arguments: Sequence[str] = (),
        wrapper: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "worker.log"
        home = {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*wrapper, str(python), str(WORKERS / script), *arguments],
                cwd=folder,
                env={**clean_environment(), **home, **(environment or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                encoding="utf-8",
            )
        self.about: dict[str, Any] = self._answer()

    def ask(self, question: Mapping[str, Any]) -> Any:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise WorkerFailed(self._last_words()) from None
        return self._answer()

    def times(self, count: int, what: str = "") -> list[float]:
        """Seconds of `count` repetitions."""
        return [float(second) for second in self.ask({"count": count, "what": what})]

    def turn(self, count: int, what: str = "") -> Callable[[], list[float]]:
        """The same as `times`, to be called later and again."""
        return lambda: self.times(count, what)

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise WorkerFailed(self._last_words())
        return json.loads(line)

    def _last_words(self) -> str:
        self.process.wait()
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit {self.process.returncode} without a word"

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
