"""Audits one task: does everything that remembers it still tell the same story? It never writes and never locks.

1. chain     every journal line follows from the one before; the first bad one is named
2. anchors   cache, projection memory and git's anchor know no line that the journal has lost or has otherwise
3. machine   the pinned machine is the one the first line names, by its digest
4. replay    every line is decided again (replay.py)
5. effects   what moves promised was done, and the private git still holds it
6. cache     it equals the journal folded to the same line
7. files     what lines vouch for by hash: logs of receipts, prompts, output and exits of runs, evidence at the end
8. landed    git shows the work where the journal says it landed
9. native    the log, line by line, and the document: state line, owned fields, locked fields, pointer

A damaged journal is reported, not raised: it is replayed up to its first bad line; 5 to 9 (witness*.py) are left out.
"""

from __future__ import annotations

import json
import os

from detent.core.record import Record
from detent.errors import DamagedJournal, ToolError, UnreadableError
from detent.runner.step.anchor import anchored_ids, read_anchor
from detent.runner.task.open import Task, pinned_machine
from detent.store.disk.atomic import read_cache
from detent.store.disk.digest import sha256_of
from detent.store.journal.chain import GENESIS, Journal, decode_lines, split_lines
from detent.store.journal.events import Collected, Configured
from detent.store.journal.head import with_pack
from detent.store.journal.native import Native
from detent.store.journal.tasks import CACHE_SCHEMA, TaskStore, cache_content, mark_of
from detent.verify.replay.lines import Finding
from detent.verify.replay.replay import MALFORMED, Replay
from detent.verify.witness.commits import check_commits
from detent.verify.witness.files import check_evidence, check_format, check_logs, check_runs
from detent.verify.witness.landed import check_landed
from detent.verify.witness.log import LARGEST_BYTES, check_log, parsed_line
from detent.verify.witness.witness import check_effects, check_native, check_receipts
from detent.words.store import journal as of_journal
from detent.words.verify import audit as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.store.journal.line import Line
    from detent.store.journal.memory import Memory
    from detent.store.journal.places import Project, TaskPlaces

MOST_ROUNDS = 3  # a journal that grows during the audit is read again


class Audit(Record):
    lines: int
    ok: bool  # no finding but warnings
    findings: tuple[Finding, ...] = ()


def audit(task: Task) -> Audit:
    return audit_task(task.project, task.id)


def audit_task(project: Project, task_id: str) -> Audit:
    """The same for a task too damaged to be opened."""
    places = project.task(task_id)
    journal = Journal(places.journal())
    for _ in range(MOST_ROUNDS):
        try:
            data = journal.read()
        except UnreadableError as error:
            return Audit(0, ok=False, findings=(Finding(1, "chain", error.what),))
        found = _Auditing(project, places, data).run()
        if journal.size() == len(data):
            break
    ordered = tuple(sorted(found.findings, key=lambda finding: (finding.line, finding.is_warning)))
    return Audit(len(found.raws), all(finding.is_warning for finding in ordered), ordered)


def stray_anchors(project: Project) -> tuple[str, ...]:
    """Tasks that are anchored in git and whose folder is gone, journal and all."""
    known = set(project.task_ids())
    return tuple(task_id for task_id in anchored_ids(project.common_dir) if task_id not in known)


class _Auditing:
    def __init__(self, project: Project, places: TaskPlaces, data: bytes) -> None:
        self.project = project
        self.places = places
        self.raws, whole = split_lines(data)
        self.findings: list[Finding] = []
        self.cache = self.read_cache()
        if whole < len(data):
            self.found(len(self.raws) + 1, "chain", say.last_line_torn(), is_warning=True)

    def found(self, line: int, kind: str, what: str, *, is_warning: bool = False) -> None:
        self.findings.append(Finding(line, kind, what, is_warning))

    def run(self) -> _Auditing:
        entries = self.chain()
        is_whole = len(entries) == len(self.raws) > 0
        if not self.raws:
            self.found(1, "chain", of_journal.empty())
        task = self.open(entries) if entries else None
        if is_whole:
            self.anchors(len(entries), task)
        replay = Replay(task)
        size = 0
        for raw, entry in zip(self.raws, entries, strict=False):
            size += len(raw) + 1
            if not replay.line(entry, raw, size):
                is_whole = False
                break
        self.findings += replay.findings
        if is_whole:
            self.compare_cache(replay.memories)
        if is_whole and task is not None:
            task = task.replace(memory=replay.memories[-1])
            self.findings += check_effects(task, replay.effects, entries)
            self.findings += check_commits(task, replay.effects)
            self.findings += check_receipts(task)
            self.findings += (*check_format(entries), *check_logs(task, entries), *check_runs(task, entries))
            self.findings += check_landed(task, entries)
            # Where a person had the home removed, and said so last, there is no folder to look at.
            if not isinstance(entries[-1], Collected) or os.path.isdir(task.native.folder):
                self.findings += check_log(task.native, entries)
                self.findings += check_native(task)
                self.findings += check_evidence(task, entries)
        return self

    def chain(self) -> list[Line]:
        """The lines up to the first that is damaged."""
        entries: list[Line] = []
        previous = GENESIS
        for number, raw in enumerate(self.raws, 1):
            try:
                entries += decode_lines([raw], self.places.journal(), number, previous)
            except DamagedJournal as error:
                line = self.changed_line(number)
                what = error.what if line == number else say.line_changed(line)
                self.found(line, "chain", what)
                return entries[: line - 1]
            previous = sha256_of(raw)
        return entries

    def changed_line(self, number: int) -> int:
        """A line whose own hash the next one (or the cache) confirms is as it was written: the one before is not."""
        raw = self.raws[number - 1]
        entry = parsed_line(raw)
        if number == 1 or entry is None or entry.get("seq") != number:
            return number
        after = parsed_line(self.raws[number]) if number < len(self.raws) else None
        is_confirmed = self.cache.get("last") == mark_of(raw)
        if after is not None and after.get("prev") == sha256_of(raw):
            is_confirmed = True
        return number - 1 if is_confirmed else number

    def read_cache(self) -> Mapping[str, Any]:
        data = read_cache(self.places.snapshot(), LARGEST_BYTES)
        content = parsed_line(data) if data is not None else None
        if content is None and os.path.lexists(self.places.snapshot()):
            self.found(0, "cache", say.cache_torn(), is_warning=True)
        return content or {}

    def anchors(self, last: int, task: Task | None) -> None:
        """The log is no anchor: it lies in the agent's reach, and is compared line by line later."""
        known: dict[str, object] = {say.the_cache(): self.cache.get("seq", 0)}
        if task is not None:
            known[say.the_projection_memory()] = task.native.projected_seq()
        for name, seq in known.items():
            if isinstance(seq, int) and seq > last:
                self.found(last + 1, "chain", say.lines_removed(name, seq))
        if task is not None:
            self.git_anchor(task, last)

    def git_anchor(self, task: Task, last: int) -> None:
        try:
            anchored = read_anchor(task)
        except ToolError as error:
            self.found(0, "anchor", say.at_place(error.what, error.where))
            return
        if anchored is None:
            return
        seq, digest = anchored
        if seq > last:
            self.found(last + 1, "anchor", say.lines_removed_by_anchor(seq))
        elif sha256_of(self.raws[seq - 1]) != digest:
            self.found(seq, "anchor", say.not_the_anchored_line(seq))

    def open(self, lines: Sequence[Line]) -> Task | None:
        """The task as its first line describes it; without its own machine nothing can be decided again."""
        try:
            store = TaskStore(self.places)
            memory = Replay(None)
            memory.line(lines[0], self.raws[0], len(self.raws[0]) + 1)
            machine = pinned_machine(self.project, _with_last_pack(memory.memories[0], lines))
            native = Native(machine, memory.memories[0].head.dir, self.places)
            return Task(self.project, self.places, store, memory.memories[0], machine, native)
        except UnreadableError as error:
            self.found(1, "machine", say.at_place(error.what, error.where))
        except MALFORMED as error:
            self.found(1, "malformed", say.describes_no_task(type(error).__name__, error))
        return None

    def compare_cache(self, memories: Sequence[Memory]) -> None:
        """A cache may lag behind; what it says must be what the journal said then."""
        seq = self.cache.get("seq", 0)
        if self.cache and self.cache.get("schema") != CACHE_SCHEMA:
            return  # of another version: it is never used, but made again
        if not self.cache or not isinstance(seq, int) or seq > len(memories):
            return
        if seq < 1:
            self.found(0, "cache", say.cache_names_no_line(), is_warning=True)
            return
        wanted = json.loads(json.dumps(cache_content(memories[seq - 1])))
        fields = dict.fromkeys((*wanted, *self.cache))
        wrong = [field for field in fields if self.cache.get(field) != wanted.get(field)]
        if wrong:
            self.found(seq, "cache", say.cache_differs(wrong, seq))


def _with_last_pack(first: Memory, lines: Sequence[Line]) -> Memory:
    """The first line with the code of the pack that holds now; a person may have taken other code since."""
    if not first.head.pack:
        return first
    later = (line.pack for line in reversed(lines) if isinstance(line, Configured) and line.pack)
    return first.replace(head=with_pack(first.head, next(later, first.head.pack)))
