"""The full proof with a kept baseline, as a multiple of one plain run of the project's test command.

Projects are generated: many small tests, which is where the engine's own share is largest. Each proof is of a tree that
was not proven before, because a comment in the code, or a new test, is another one.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from bench.measure import Gathered, Row, Times, missing, row
from bench.process import run_command
from bench.sample import CANDIDATE, FRAME, TASK, Sample

PART = "10 full proof"
SIZES, QUICK_SIZES = (10, 1_000, 10_000), (10, 1_000)
TESTS_IN_A_FILE = 200
KEPT_BAR, CHANGED_BAR, EXIT_BAR = 3.0, 5.0, 1.0
NOISE = 0.15  # of two runs of the same command
LEAST = 1_000  # tests: a bar says nothing of a command that is over before a checkout is made
_ROUNDS, _QUICK_ROUNDS = 5, 2
_CODE = {
    "pytest": ("app.py", "def add(left, right):\n    return left + right\n"),
    "node:test": ("app.js", "exports.add = (left, right) => left + right\n"),
}


class Graded(Sample):
    """A task in review in a project of so many tests; every call of `prove` is of a tree of its own."""

    def __init__(self, detent: Path, place: Path, runner: str, count: int, *, counts: bool = True) -> None:
        self.runner, self.rounds = runner, 0
        files = dict([_CODE[runner]])
        for number in range(max(1, count // TESTS_IN_A_FILE)):
            files |= dict([self._tests(number, min(count, TESTS_IN_A_FILE))])
        command = {"pytest": f"{sys.executable} -m pytest -q -p no:cacheprovider", "node:test": "node --test"}[runner]
        self.command = command if counts else f"env -u PYTHONPATH -u NODE_OPTIONS {command}"
        super().__init__(detent, place, files={**files, ".gitignore": "__pycache__/\n"}, checks=[self.command])
        self.fill({**FRAME, "Validation plan": f"cmd: {self.command}"})
        for state in ("shape", "implement"):
            self.run("move", state)
        (self.folder / "artifacts" / "result.txt").write_text("all tests passed\n", encoding="utf-8")
        self.fill(CANDIDATE)
        self._change()
        for state in ("verify", "review"):
            self.run("move", state)

    def _tests(self, number: int, count: int, first: int = 0) -> tuple[str, str]:
        if self.runner == "pytest":
            each = "\n\ndef test_{0}():\n    assert add({0}, {1}) == {0} + {1}\n"
            head, name = "from app import add\n", f"tests/test_part_{number}.py"
        else:
            each = "test('adds {0}', () => assert.strictEqual(add({0}, {1}), {0} + {1}))\n"
            head = "const {test} = require('node:test')\nconst assert = require('node:assert')\n"
            head, name = head + "const {add} = require('../app.js')\n", f"test/part_{number}.test.js"
        return name, head + "".join(each.format(one, number) for one in range(first, first + count))

    def _change(self) -> None:
        """The code is another one, and does the same."""
        self.rounds += 1
        name, text = _CODE[self.runner]
        comment = "#" if name.endswith(".py") else "//"
        (self.repository / name).write_text(f"{text}{comment} {self.rounds}\n", encoding="utf-8")

    def plain(self) -> Times:
        words = ["/bin/sh", "-c", self.command]
        return [run_command(words, cwd=self.repository, environment=self.environment)]

    def prove(self) -> Times:
        self._change()
        return [self.run("prove", TASK)]

    def prove_changed_tests(self) -> Times:
        self._change()
        name, text = self._tests(0, 3, 10_000 * self.rounds)
        path = self.repository / name.replace("part_0", "part_new")
        path.write_text(text, encoding="utf-8")
        try:
            return [self.run("prove", TASK)]
        finally:
            path.unlink()


def measure(ground: Path, detent: Path, *, quick: bool) -> list[Row]:
    rows: list[Row] = []
    for runner in _CODE:
        if runner == "node:test" and not shutil.which("node"):
            rows.append(missing(PART, "node:test", "node is not installed"))
            continue
        for count in QUICK_SIZES if quick else SIZES:
            rows += _rows(
                ground / "disk" / "proof", detent / "detent", runner, count, _QUICK_ROUNDS if quick else _ROUNDS
            )
    return rows


def _rows(place: Path, detent: Path, runner: str, count: int, rounds: int) -> list[Row]:
    folder = place / f"{runner.replace(':', '-')}-{count}"
    counted = Graded(detent, folder / "counted", runner, count)
    alone = Graded(detent, folder / "alone", runner, count, counts=False)
    title = f"{runner}, {count:,} tests"
    runs: dict[str, Callable[[], Times]] = {
        f"{title}: the command": counted.plain,
        f"{title}: exit code only": alone.prove,
        f"{title}: no test file changed": counted.prove,
        f"{title}: a test file changed": counted.prove_changed_tests,
    }
    gathered = Gathered()
    gathered.interleave(rounds, runs)
    names = list(runs)
    base = gathered.times[names[0]]
    bars = (None, EXIT_BAR + NOISE, KEPT_BAR, CHANGED_BAR) if count >= LEAST else (None,) * 4
    return [row(PART, name, gathered.times[name], base=base, bar=bar) for name, bar in zip(names, bars, strict=True)]
