"""The front end of the checker: one machine file in, everything that can be said against it out, all at once.

A file that parses is linted and explored as well, even if the linter found something: repairing a machine takes the
whole list. A bad machine raises nothing; a file that is not there is still an error.
"""

from __future__ import annotations

import os
import time

from detent.core.explore import Violation, explore
from detent.core.lint import lint
from detent.core.record import Record
from detent.errors import MachineError, UnreadableError
from detent.machines.findings import findings
from detent.machines.load import load, read_document
from detent.runner.make.vocabulary import vocabulary
from detent.runner.step.registry import meanings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Report(Record):
    name: str
    where: str
    states: int = 0
    edges: int = 0
    problems: tuple[str, ...] = ()  # of the parser, or of the linter when it parses
    violations: tuple[Violation, ...] = ()  # each with the shortest story that leads to it
    snapshots: int = 0
    decisions: int = 0  # how often the explorer asked for a decision
    seconds: float = 0.0

    @property
    def is_sound(self) -> bool:
        return not self.problems and not self.violations


def check_machine(name_or_path: str, *, limits: Mapping[str, int] | None = None, options: Sequence[str] = ()) -> Report:
    """What is wrong with a built-in machine or a machine file, under a project's limits and options."""
    started = time.perf_counter()
    try:
        document, where = read_document(name_or_path)
    except UnreadableError as error:
        if not os.path.isfile(error.where):
            raise
        return Report(name_or_path, error.where, problems=(error.what,), seconds=time.perf_counter() - started)
    name = str(document.get("name") or name_or_path)
    try:
        machine, _ = load(name_or_path, vocabulary(name_or_path), limits=limits, options=options)
    except MachineError as error:
        return Report(name, where, problems=error.problems, seconds=time.perf_counter() - started)
    graph = explore(machine)
    return Report(
        machine.name,
        where,
        states=len(machine.states),
        edges=sum(1 for _ in machine.edges()),
        problems=lint(machine),
        violations=findings(machine, graph, meanings()),
        snapshots=len(graph.snapshots),
        decisions=graph.decisions,
        seconds=time.perf_counter() - started,
    )
