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

from detent.store.journal.events import KINDS, Beginning
from detent.store.journal.line import required
from detent.store.journal.memory import fold, snapshot_from_json
from detent.store.journal.run_events import ABOUT_RUNS
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from detent.runner.task.open import Task
    from detent.store.journal.chain import Entry
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

    def line(self, entry: Entry, raw: bytes, size: int) -> bool:
        """Take one more line; False when nothing after it can be understood."""
        number = entry["seq"]
        memory = self.memories[-1] if self.memories else None
        self.shape(number, entry, is_first=memory is None)
        try:
            if self.task is not None:
                for finding in self.judged(self.task, entry, memory):
                    self.findings.append(finding)
            self.memories.append(fold(memory, entry, raw, size))
        except MALFORMED as error:
            self.found(number, "malformed", f"the line can't be understood: {type(error).__name__} {error}")
            return False
        return True

    def found(self, line: int, kind: str, what: str, *, is_warning: bool = False) -> None:
        self.findings.append(Finding(line, kind, what, is_warning))

    def shape(self, number: int, entry: Entry, *, is_first: bool) -> None:
        kind = entry["kind"]
        type_of = KINDS[kind]
        self.format = entry.get("format", 1) if is_first else self.format
        due = (*required(type_of), *(("after",) if type_of.is_state else ()))
        due += type_of.since_2 if self.format > 1 else ()
        lacking = [field for field in due if field not in entry]
        if is_first != issubclass(type_of, Beginning):
            self.found(number, "kind", f"a {kind} line can't stand here")
        if lacking:
            self.found(number, "malformed", f"a {kind} line needs {', '.join(lacking)}")
        if "after" in entry and not type_of.is_state:
            self.found(number, "decision", f"a {kind} line changes nothing, this one says it did")
        if type_of.is_of_person and entry.get("by") != "person":
            self.found(number, "decision", f"only a person makes a {kind} line, not {entry.get('by')!r}")
        time = str(entry.get("time", ""))
        if not _TIME.fullmatch(time):
            self.found(number, "malformed", f"{time!r} is no time")
        elif time < self.time:
            self.found(number, "time", f"{time} is earlier than the line before ({self.time})", is_warning=True)
        self.time = max(self.time, time)

    def judged(self, task: Task, entry: Entry, memory: Memory | None) -> Iterator[Finding]:
        kind, number = entry["kind"], entry["seq"]
        if memory is None:
            yield from first_problems(task, entry)
            return
        task, before = task.at(memory), memory.snapshot
        if entry.get("from", before.state) != before.state:
            yield Finding(number, "decision", f"it starts in {entry['from']}, but the task was in {before.state}")
        yield from (Finding(number, "run", problem) for problem in run_order_problems(entry, memory))
        if kind == "moved":
            yield from move_problems(task.machine, entry, memory)
            yield from proof_problems(task.replace(memory=memory), entry)
            yield from self.trees.move_problems(task, entry)
        elif kind in ("intended", "unprepared"):
            yield from intent_problems(task, entry, memory)
        elif kind in ("resumed", "amended"):
            yield from rule_problems(entry, before)
        elif kind in ("configured", "deploy"):
            told = setting_problems(task, entry) if kind == "configured" else deploy_problems(entry, memory)
            yield from (Finding(number, "decision", problem) for problem in told)
            yield from deployed_problems(task, entry) if kind == "deploy" else ()
        elif kind == "crashed":
            yield from crash_problems(task.machine, entry, before)
        elif KINDS[kind] in ABOUT_RUNS:
            yield from _about_run(task, entry, memory)
        elif kind == "approved":
            yield from approval_problems(task, entry)
        elif kind == "restored":
            yield from kept_problems(task, entry)
        elif kind == "acted":
            if entry["step"] not in memory.unsettled:
                yield Finding(number, "effect", f"no move promised {entry['step']}, or it was done before")
            self.effects.append((number, entry["step"], entry["result"]))
        yield from carried_problems(task, entry, before)


def _about_run(task: Task, entry: Entry, memory: Memory) -> Iterator[Finding]:
    number = entry["seq"]
    yield from (Finding(number, "run", problem) for problem in run_problems(task.machine, entry, memory))
    if (due := after_run(task.machine, entry, memory)) is not None:
        yield from differences(number, due, snapshot_from_json(entry["after"], number))
    if entry["kind"] == "run_ended":
        yield from (Finding(number, "run", problem) for problem in end_problems(task, entry))
        yield from kept_problems(task, entry)
