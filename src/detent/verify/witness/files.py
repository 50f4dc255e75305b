"""The files that journal lines vouch for by hash: logs of receipts, prompts and output of agent runs, evidence.

A file that is missing or changed is named with the line that vouches for it. Files that `gc` removed with the home are
not looked for.
"""

from __future__ import annotations

import os

from detent.errors import UnreadableError
from detent.gates.judge import evidence_hashes
from detent.machines.reading import IN_TREE
from detent.runner.step.disorder import read_document
from detent.runner.step.look import look
from detent.runner.task.layout import is_tracked
from detent.runner.task.open import waits_at_end
from detent.store.journal.events import Moved
from detent.store.journal.fold import snapshot_after
from detent.store.journal.run_events import RunEnded, RunPlanned, RunVoid
from detent.store.journal.vouched import is_as_vouched, may_log_grow, vouched_logs
from detent.verify.replay.lines import Finding
from detent.words.verify import witness as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from detent.runner.task.open import Task
    from detent.store.journal.line import Line

_JUDGED = ("section:", "text:", "file:")  # evidence that is read from files of the task folder


def check_format(entries: Sequence[Line]) -> Iterator[Finding]:
    """A journal of an older format is no worse, but it vouches for less."""
    if entries[0].format == 1:
        yield Finding(1, "format", say.begun_by_older(), is_warning=True)


def check_logs(task: Task, entries: Sequence[Line]) -> Iterator[Finding]:
    """The logs of receipts; the last line about a log that was written again vouches for it."""
    for name, (fingerprint, entry) in vouched_logs(entries).items():
        path = os.path.join(task.places.receipts(), os.path.basename(name))
        yield from _changed(path, fingerprint, entry.seq, say.log_of_receipt(), may_grow=may_log_grow(entry))


def check_runs(task: Task, entries: Sequence[Line]) -> Iterator[Finding]:
    """The prompt of each run, and its output, errors and exit."""
    # A stop of the host may take a prompt along, and a plan that never began may have none.
    promptless = {
        entry.run
        for entry in entries
        if isinstance(entry, RunVoid) or (isinstance(entry, RunEnded) and entry.how == "lost")
    }
    for entry in entries:
        if isinstance(entry, RunPlanned) and entry.run not in promptless:
            path = task.places.prompt(entry.run)
            yield from _changed(path, {"sha256": entry.prompt}, entry.seq, say.prompt_of_run(entry.run))
        elif isinstance(entry, RunEnded):
            for name, fingerprint in (entry.files or {}).items():
                path = os.path.join(task.places.run(entry.run), os.path.basename(name))
                yield from _changed(path, fingerprint, entry.seq, say.file_of_run(name, entry.run))


def check_evidence(task: Task, entries: Sequence[Line]) -> Iterator[Finding]:
    """Verdicts and artifacts of a finished task are as they were when it ended."""
    state = task.machine.states[task.memory.snapshot.state]
    if not state.is_end or waits_at_end(state) or is_tracked(task.machine.store):
        return
    last = next((entry for entry in reversed(entries) if isinstance(entry, Moved)), None)
    if last is None or last.to != state.name:
        return
    try:
        document = read_document(task)
    except UnreadableError:
        return  # the check of the document names it
    try:
        seen = look(task, task.memory, document, "")
        judged, listed = evidence_hashes(seen), seen.files.listing()
    except UnreadableError as error:
        yield Finding(last.seq, "evidence", say.unreadable(error.where, error.what))
        return
    files = last.files or {}
    for name, digest in files.items():
        if name != "*" and listed.get(name) != digest:
            yield _after_end(last, state.name, name, is_gone=name not in listed)
    # What a prepared step wrote came after these were taken.
    for key, digest in () if last.prepared else snapshot_after(last).entry.items():
        name = key.partition(":")[2]
        is_named = key.startswith("file:") and name in files
        if key.startswith(_JUDGED) and not name.startswith(IN_TREE) and not is_named and judged.get(key) != digest:
            yield _after_end(last, state.name, name.replace(":", " ## "), is_gone=key not in judged)


def _after_end(entry: Line, state: str, name: str, *, is_gone: bool) -> Finding:
    what = say.evidence_gone(name, state) if is_gone else say.evidence_changed(name, state)
    return Finding(entry.seq, "evidence", what)


def _changed(
    path: str, vouched: Mapping[str, Any], line: int, what: str, *, may_grow: bool = False
) -> Iterator[Finding]:
    if not os.path.lexists(path):
        yield Finding(line, "file", say.file_gone(path, what))
        return
    if not is_as_vouched(path, vouched, may_grow=may_grow):
        yield Finding(line, "file", say.file_changed(path, what))
