"""Replays a journal line by line: every recorded move is decided again, and must come to the same end.

For each line, in this order:
1. all fields of its kind are there; its time does not run backwards;
2. what it says happened is what the rules make of the moment before (`core.decide` for moves, fixed rules otherwise);
3. proof that can still be recomputed is: receipts for the tree, remembered values, kept texts;
4. it is folded into the memory, which the next line starts from.

Nothing is raised for a bad line and nothing is written; the store proved the chain before.
"""

from __future__ import annotations

import re

from detent.store.journal.events import (
    Acted,
    Amended,
    Approved,
    Configured,
    Crashed,
    Deploy,
    Intended,
    Moved,
    Restored,
    Resumed,
    Unprepared,
)
from detent.store.journal.fold import fold, snapshot_after
from detent.store.journal.head import Head
from detent.store.journal.line import required, to_line
from detent.store.journal.run_events import ABOUT_RUNS, RunEnded
from detent.verify.replay.deploy import deploy_problems
from detent.verify.replay.lines import Finding
from detent.verify.replay.moves import (
    crash_problems,
    differences,
    first_problems,
    intent_problems,
    move_problems,
    rule_problems,
)
from detent.verify.replay.proof import approval_problems, carried_problems, kept_problems, proof_problems
from detent.verify.replay.runs import after_run, end_problems, run_order_problems, run_problems
from detent.verify.replay.settings import setting_problems
from detent.verify.replay.trees import TreeReplay, deployed_problems
from detent.words.verify import replay as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from detent.runner.task.open import Task
    from detent.store.journal.line import Line
    from detent.store.journal.memory import Memory

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError)  # what a line of the wrong shape runs into


class Replay:
    """The state of one replay. Without a machine the lines are folded, but no move can be decided again."""

    def __init__(self, task: Task | None) -> None:
        self.task = task
        self.findings: list[Finding] = []
        self.memories: list[Memory] = []  # after each line; what the cache is compared with
        self.effects: list[tuple[int, str, Mapping[str, Any]]] = []  # acted lines: number, step key, result
        self.time = ""
        self.format = 1
        self.trees = TreeReplay()

    def line(self, line: Line, raw: bytes, size: int) -> bool:
        """Take one more line; False when nothing after it can be understood."""
        number = line.seq
        memory = self.memories[-1] if self.memories else None
        self.shape(number, line, is_first=memory is None)
        try:
            if self.task is not None:
                for finding in self.judged(self.task, line, memory):
                    self.findings.append(finding)
            self.memories.append(fold(memory, line, raw, size))
        except MALFORMED as error:
            self.found(number, "malformed", say.not_understood(type(error).__name__, error))
            return False
        return True

    def found(self, line: int, kind: str, what: str, *, is_warning: bool = False) -> None:
        self.findings.append(Finding(line, kind, what, is_warning))

    def shape(self, number: int, line: Line, *, is_first: bool) -> None:
        kind, said = type(line), to_line(line)
        self.format = said.get("format", 1) if is_first else self.format
        due = (*required(kind), *(("after",) if kind.is_state else ()))
        due += kind.since_2 if self.format > 1 else ()
        lacking = [field for field in due if field not in said]
        if is_first != issubclass(kind, Head):
            self.found(number, "kind", say.cant_stand_here(kind.kind))
        if lacking:
            self.found(number, "malformed", say.line_needs(kind.kind, lacking))
        if "after" in said and not kind.is_state:
            self.found(number, "decision", say.changes_nothing(kind.kind))
        if kind.is_of_person and said.get("by") != "person":
            self.found(number, "decision", say.only_by_person(kind.kind, said.get("by")))
        time = str(said.get("time", ""))
        if not _TIME.fullmatch(time):
            self.found(number, "malformed", say.no_time(time))
        elif time < self.time:
            self.found(number, "time", say.earlier(time, self.time), is_warning=True)
        self.time = max(self.time, time)

    def judged(self, task: Task, line: Line, memory: Memory | None) -> Iterator[Finding]:
        number = line.seq
        if memory is None:
            yield from first_problems(task, line)
            return
        task, before = task.at(memory), memory.snapshot
        source = to_line(line).get("from", before.state)
        if source != before.state:
            yield Finding(number, "decision", say.starts_elsewhere(source, before.state))
        yield from (Finding(number, "run", problem) for problem in run_order_problems(line, memory))
        yield from self.of_kind(task, line, memory)
        yield from carried_problems(task, line, before)

    def of_kind(self, task: Task, line: Line, memory: Memory) -> Iterator[Finding]:
        """What is wrong with a line of its kind; `task` remembers all before it."""
        number = line.seq
        match line:
            case Moved():
                yield from move_problems(task.machine, line, memory)
                yield from proof_problems(task.replace(memory=memory), line)
                yield from self.trees.move_problems(task, line)
            case Intended() | Unprepared():
                yield from intent_problems(task, line, memory)
            case Resumed() | Amended():
                yield from rule_problems(line, memory.snapshot)
            case Configured():
                yield from (Finding(number, "decision", problem) for problem in setting_problems(task, line))
            case Deploy():
                yield from (Finding(number, "decision", problem) for problem in deploy_problems(line, memory))
                yield from deployed_problems(task, line)
            case Crashed():
                yield from crash_problems(task.machine, line, memory.snapshot)
            case Approved():
                yield from approval_problems(task, line)
            case Restored():
                yield from kept_problems(task, number, line.kept)
            case Acted():
                if line.step not in memory.unsettled:
                    yield Finding(number, "effect", say.not_promised(line.step))
                self.effects.append((number, line.step, line.result))
            case _ if isinstance(line, ABOUT_RUNS):
                yield from _about_run(task, line, memory)
            case _:
                pass


def _about_run(task: Task, line: Line, memory: Memory) -> Iterator[Finding]:
    number = line.seq
    yield from (Finding(number, "run", problem) for problem in run_problems(task.machine, line, memory))
    if (due := after_run(task.machine, line, memory)) is not None:
        yield from differences(number, due, snapshot_after(line))
    if isinstance(line, RunEnded):
        yield from (Finding(number, "run", problem) for problem in end_problems(task, line))
        yield from kept_problems(task, number, line.kept)
