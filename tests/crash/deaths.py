"""Deaths on purpose: a command killed at one of its system calls, and a git that is killed in its place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.conftest import Completed
from tests.crash.points import FULL
from tests.crash.trace import KILLED, MOST_TRIES, Call, disturb

_REMOVALS = ("unlink", "unlinkat", "rmdir")
_CODES = (0, 1, 5)  # of a command whose git died
_DYING_GIT = """#!/bin/sh
number=$(($(cat "$CRASH_COUNT") + 1)); echo $number > "$CRASH_COUNT"
if [ $number = "$CRASH_WHEN" ]; then
    if [ "$CRASH_HOW" = after ]; then "$CRASH_GIT" "$@"; fi
    kill -KILL $$
fi
exec "$CRASH_GIT" "$@"
"""


def kill_at(
    call: Call,
    argv: Sequence[str],
    put_back: Callable[[], None],
    *,
    cwd: Path,
    env: Mapping[str, str],
    with_orphans: bool,
) -> None:
    """Run a command that is killed at this call; one that was not reached is looked for again.

    In how many folders the objects of a commit lie, and are synced, depends on the second in which it is made.
    """
    for _ in range(MOST_TRIES):
        put_back()
        ended = disturb(
            argv, cwd=cwd, env=env, name=call.name, how="signal=KILL", number=call.number, with_orphans=with_orphans
        )
        if ended.code == KILLED:
            return
    # The next command that finds the process gone removes its leftovers: the one after may find fewer.
    is_unneeded = call.name in _REMOVALS and ended.code == 0
    assert is_unneeded, f"it was not killed at {call}: {ended}"


class DyingGit:
    """A git before the real one in the search path, of which one call is killed before or after its work."""

    def __init__(self, folder: Path, path: str, how: str) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "git").write_text(_DYING_GIT, encoding="utf-8")
        (folder / "git").chmod(0o755)
        self._count = folder / "count"
        self._variables = {
            "PATH": f"{folder}{os.pathsep}{path}",
            "CRASH_COUNT": str(self._count),
            "CRASH_GIT": str(shutil.which("git")),
            "CRASH_HOW": how,
        }
        self._how = how

    def variables(self, when: int) -> dict[str, str]:
        """Of a command whose `when`-th git dies; none does with 0."""
        self._count.write_text("0\n", encoding="utf-8")
        return {**self._variables, "CRASH_WHEN": str(when)}

    def calls(self) -> int:
        """How often the last such command started git."""
        return int(self._count.read_text(encoding="utf-8"))

    def problems(
        self,
        run: Callable[[dict[str, str]], Completed],
        put_back: Callable[[], None],
        problems: Callable[[], list[str]],
        every: int,
    ) -> list[str]:
        """What is wrong after the death of each git in turn, or by default of some."""
        done = run(self.variables(0))
        assert done.code == 0, done
        wrong = []
        for when in range(1, self.calls() + 1, 1 if FULL else every):
            put_back()
            died = run(self.variables(when))
            if died.code not in _CODES or "Traceback" in died.err:
                wrong.append(f"git call {when} killed {self._how}: {died}")
            wrong += [f"git call {when} killed {self._how}: {problem}" for problem in problems()]
        return wrong
