"""Gathers what a task can show and writes it as one page.

1. journal, machine and native file say what was asked, where the task stands and how it came there;
2. receipts, artifacts and the private git folder show the proof;
3. `page/page.py` renders it, and the page is put in place in one step.

The page is a projection like any other: it may be thrown away and made again, and nothing is decided by it.
"""

from __future__ import annotations

import os
import re

from detent.core.record import Record
from detent.effects.git.tree.touched import Touched
from detent.errors import DetentError, ToolError, UnreadableError
from detent.gates.commands import rests_on_commands
from detent.page.diff import change_of, read_diff
from detent.page.events import events_of
from detent.page.files import FileReader, log_excerpt, vouched_excerpt, walk
from detent.page.page import render
from detent.page.runs import runs_of
from detent.page.text import file_address
from detent.page.values import Attempt, NextMove, Now, Page, ProofShown, Ran
from detent.runner.step.disorder import read_document
from detent.runner.step.look import touched_now
from detent.runner.task.layout import page_name
from detent.runner.tell.evidence_hashes import hashes_of, weakest_level
from detent.runner.tell.explain import explain
from detent.store.disk.atomic import make_folders, read_plain, sweep, write_atomic
from detent.store.disk.digest import sha256_of
from detent.store.journal.events import Landed, tree_seen
from detent.store.journal.receipts import ReceiptStore
from detent.store.journal.run_events import RunEnded
from detent.store.journal.vouched import is_as_vouched, may_log_grow, vouched_logs
from detent.store.text.markdown import BESIDE_LINK, besides_link, is_placeholder, says_nothing
from detent.words.runner import tell as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.core.machine import Machine
    from detent.runner.step.registry import Done
    from detent.runner.task.open import Task
    from detent.runner.tell.explain import Explain
    from detent.store.journal.events import Deploy, Proved
    from detent.store.journal.line import Line
    from detent.store.journal.memory import Promised
    from detent.store.journal.native import Document
    from detent.store.journal.receipts import Receipt
    from detent.store.journal.run_events import Print

MOST_RECEIPTS = 200
MOST_ATTEMPTS = 20  # whose output is shown, the last ones
OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES = 4_000, 8_000


class Summary(Record):
    """The summary of a page, for the person that asked for it."""

    path: str
    size_bytes: int
    digest: str
    moves: int
    refusals: int
    runs: int
    commands: int
    artifacts: int
    files_changed: int
    link: str  # what the task's file may say to lead to the page


def write_evidence(task: Task, out: str = "") -> str:
    """Write the page of a task and say where; the lock keeps an older view from replacing a newer page."""
    return evidence_summary(task, out).path


def evidence_summary(task: Task, out: str = "") -> Summary:
    """Write the page as `write_evidence` does, and say what is in it."""
    with task.held():
        return _write(task.now(), out)


def evidence_page(task: Task, _key: str, promised: Promised) -> Done:
    """Renew the page where there is more than one artifact, and lead the document's own link to it, or to the one.

    What leads nowhere keeps no task from stopping: an error leaves the link as it is, and `detent evidence` tells it.
    """
    try:
        result = refresh_evidence(task)
    except DetentError as error:
        if promised.to:
            raise
        return {"page": "", "problem": error.what}, {}
    only, label = result.pop("only", ""), task.machine.store.link
    if not (label and (only or result["page"])):
        return result, {}
    led, fields = _led(task, label, only)
    return {**result, **led}, fields


def _led(task: Task, label: str, only: str) -> tuple[dict[str, str], dict[str, str]]:
    """The link to report, and the field with it. Words of others stay: a link to the page goes before them.

    The reported link is the engine's own; empty where the field has a link by another writer.
    """
    base = task.memory.head.evidence_base
    link, found = evidence_link(task, base, only), task.native.read().value(label)
    theirs = " ".join(besides_link(found, task.memory.link).split())
    if is_placeholder(theirs) or says_nothing(theirs):
        return ({}, {}) if found == link else ({"link": link}, {label: link})
    # Another writer's link stays, unless it leads to this very file and the project has a full address for it.
    target = re.escape(only or page_name(task.machine.store))
    if base and (led := re.sub(rf"\[[^\]]*\]\({target}\)", lambda _: link, found)) != found:
        return {"link": ""}, {label: led}
    if only or link in found or f"]({page_name(task.machine.store)})" in found:
        return {}, {}
    return {"link": link}, {label: f"{link}{BESIDE_LINK}{theirs}"}


def refresh_evidence(task: Task) -> dict[str, str]:
    """The caller holds the lock. One file needs no page, but a page that is there is renewed."""
    path = _page_path(task)
    folder = os.path.dirname(path)
    shown = [name for name in walk(folder) if name != path] if os.path.isdir(folder) else []
    if len(shown) < 2 and not os.path.lexists(path):
        return {"page": "", **({"only": os.path.relpath(shown[0], task.native.folder)} if shown else {})}
    summary = _write(task, "")
    return {"page": page_name(task.machine.store), "sha256": summary.digest}


def evidence_link(task: Task, base: str = "", only: str = "") -> str:
    """What leads a reader to the page, or to the `only` file that is proof.

    It is a full address where the project has a place for pages, else a relative link.
    """
    name = only or page_name(task.machine.store)
    address = file_address(name)[2:]
    if base:
        return f"{base.rstrip('/')}/{task.id}/{address}"
    return f"[{os.path.basename(only) if only else 'evidence'}]({address if only else name})"


def _page_path(task: Task) -> str:
    """Where the page belongs; a folder that leads out of the task folder is refused, never written through."""
    path = os.path.join(task.native.folder, page_name(task.machine.store))
    folder = os.path.dirname(path)
    top = os.path.realpath(task.native.folder)
    if os.path.realpath(folder) != os.path.normpath(os.path.join(top, os.path.dirname(page_name(task.machine.store)))):
        raise UnreadableError(say.page_folder_is_link(), where=folder)
    return path


def _write(task: Task, out: str) -> Summary:
    page_path = _page_path(task)
    path = os.path.abspath(out) if out else page_path
    folder = os.path.dirname(path)
    if not out:
        make_folders(folder)
        sweep(folder)
    page = gather(task, page_path, folder)
    data = render(page)
    write_atomic(path, data, durable=False)
    return Summary(
        path=path,
        size_bytes=len(data),
        digest=sha256_of(data),
        moves=sum(event.kind == "moved" for event in page.events),
        refusals=sum(event.kind == "refused" for event in page.events),
        runs=len(page.runs),
        commands=len(page.commands),
        artifacts=len(page.artifacts),
        files_changed=len(page.diff.files) if page.diff else 0,
        link=evidence_link(task, task.memory.head.evidence_base),
    )


def gather(task: Task, page_path: str, page_folder: str) -> Page:
    """All that a page shows. `own` is the page itself, which is no artifact; links are made for `page_folder`."""
    head, machine, snapshot = task.memory.head, task.machine, task.memory.snapshot
    entries = task.store.history()
    commands, commands_note = _commands(task, entries)
    targets = {edge.name: edge.target for state in machine.states.values() for edge in state.edges}
    gates = frozenset(name for name, gate in machine.gates.items() if rests_on_commands(gate))
    document = _document(task)
    frame = _frame(task, document)
    labels = {label for label, _ in frame}
    reader = FileReader(page_folder)
    artifacts, artifacts_note = reader.folder(os.path.dirname(page_path), (page_path,))
    request = (head.request["file"],) if head.request else ()
    names = (*request, *machine.store.files, *machine.store.extra.values())
    paths = [(task.native.path(name), name) for name in names]
    tree, level = _last_tree(entries), weakest_level(entries)
    explained = explain(task, with_moves=True)
    return Page(
        title=head.title,
        task=task.id,
        machine=head.machine,
        now=_now(explained),
        states=_in_order(machine),
        ends=machine.ends(),
        events=events_of(entries, targets, gates, commands),
        frame=frame,
        is_frame_locked=any(f"field:{label}" in snapshot.locked for label in labels),
        claims=_claims(task, document, labels),
        folder_link=file_address(os.path.relpath(task.native.folder, page_folder)),
        commands=commands,
        commands_note=commands_note,
        diff=read_diff(task.places.private_git(), task.memory.began_at(), tree),
        touched=_touched(task, tree),
        artifacts=artifacts,
        artifacts_note=artifacts_note,
        task_files=tuple(reader.file(path, name) for path, name in paths if os.path.lexists(path)),
        runs=runs_of(entries, targets, lambda run, digest: vouched_excerpt(_prompt_path(task, run), digest)),
        hashes=hashes_of(task, tree, level),
        sandbox=level,
        proof=_proof(explained),
    )


def _touched(task: Task, tree: str) -> tuple[tuple[str, str], ...]:
    try:
        found = touched_now(task, tree) if tree else Touched()
    except ToolError:
        return ()  # the changes themselves say that they can't be shown
    is_approved = (task.memory.approved.tree, task.memory.approved.files) == (tree, found.ask)
    approval = f"approved by {task.memory.approved.name}" if is_approved and found.ask else "a person must approve it"
    return (*((name, approval) for name in found.ask), *((name, "reported") for name in found.report))


def _in_order(machine: Machine) -> tuple[str, ...]:
    """The states as a task can reach them, step by step, and the ends last: those that are final first."""
    found = [machine.initial]
    for name in found:
        targets = [edge.target for edge in machine.states[name].edges if edge.target in machine.states]
        found += [target for target in dict.fromkeys(targets) if target not in found]
    found += [name for name in machine.states if name not in found]
    ends = [name for name in found if machine.states[name].is_end]
    ends.sort(key=lambda name: len(machine.states[name].edges) > 0)
    return (*(name for name in found if name not in ends), *ends)


def _proof(explained: Explain) -> ProofShown | None:
    if explained.proof is None:
        return None
    from detent.runner.tell.proof_summary import proof_rows  # most states don't ask what tests prove

    changed = tuple(
        change_of("::".join(filter(None, (part.file, part.name))), part.how, part.diff)
        for part in explained.proof.found.changed
    )
    return ProofShown(proof_rows(explained.proof), changed)


def _now(explained: Explain) -> Now:
    task = explained.task
    moves = tuple(
        NextMove(move.to, move.is_open, move.by, tuple(gap.why for gap in move.missing)) for move in explained.moves
    )
    state = explained.snapshot.state
    is_end = task.machine.states[state].is_end
    return Now(
        state, task.memory.entered_time, explained.waiting_for, is_end, moves, explained.problems, explained.advice
    )


def _document(task: Task) -> Document | None:
    try:
        return read_document(task)
    except UnreadableError:
        return None  # `explain` says so on the page


def _frame(task: Task, document: Document | None) -> tuple[tuple[str, str], ...]:
    """The fields a lock holds: from the store once locked, because the file may have been changed since."""
    labels = dict.fromkeys(label for lock in task.machine.locks for label in lock.fields)
    return tuple((label, _locked_or_written(task, document, label)) for label in labels)


def _locked_or_written(task: Task, document: Document | None, label: str) -> str:
    digest = task.memory.snapshot.locked.get(f"field:{label}", "")
    data = read_plain(os.path.join(task.places.objects(), digest)) if digest else None
    if data is not None and sha256_of(data) == digest:
        return data.decode("utf-8", "replace")
    return document.value(label) if document else ""


def _claims(task: Task, document: Document | None, frame_labels: set[str]) -> tuple[tuple[str, str], ...]:
    """What else the file says, without what the engine itself writes there."""
    if document is None:
        return ()
    known = task.native.wanted_fields(task.memory.snapshot, "").keys() | frame_labels
    labels = [label for label in task.native.labels if label not in known]
    return tuple((label, value) for label in labels if (value := document.value(label)).strip())


def _commands(task: Task, entries: Sequence[Line]) -> tuple[tuple[Ran, ...], str]:
    """Every receipt in the order of time; one that can't be read proves nothing and is only counted."""
    store = ReceiptStore(task.places.receipts())
    names = sorted(name for name in os.listdir(store.folder) if name.endswith(".json"))
    found = [receipt for name in names if (receipt := store.find(name.removesuffix(".json")))]
    found.sort(key=lambda receipt: (receipt.time, receipt.command, receipt.key))
    notes = []
    if len(found) < len(names):
        notes.append(f"{len(names) - len(found)} receipts can't be read and prove nothing.")
    if len(found) > MOST_RECEIPTS:
        notes.append(f"The last {MOST_RECEIPTS} of {len(found)} are shown.")
    vouched = vouched_logs(entries)
    shown = tuple(_ran(store, receipt, vouched) for receipt in found[-MOST_RECEIPTS:])
    return shown, " ".join(notes)


def _ran(store: ReceiptStore, receipt: Receipt, vouched: Mapping[str, tuple[Print, Proved | Deploy]]) -> Ran:
    attempts = []
    for number, code in enumerate(receipt.attempts, 1):
        log = store.log_path(receipt.key, number)
        is_shown = number > len(receipt.attempts) - MOST_ATTEMPTS
        output = log_excerpt(log, OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES) if is_shown else None
        found = vouched.get(os.path.basename(log))  # journals begun before format 2 vouch for none
        is_changed = False
        if output and found:
            is_changed = not is_as_vouched(log, found[0], may_grow=may_log_grow(found[1]))
        attempts.append(Attempt(number, code, None if is_changed else output, is_changed))
    # A set-up that failed has a log of its own; an attempt that ran too long has the log of its attempt.
    logs = {store.log_path(receipt.key, number) for number in range(1, len(attempts) + 1)}
    is_set_up = bool(receipt.problem) and receipt.log not in logs
    return Ran(
        receipt.key,
        f"{receipt.command}  ({receipt.where})" if receipt.where else receipt.command,
        receipt.tree,
        receipt.time,
        receipt.is_green,
        tuple(attempts),
        receipt.problem,
        log_excerpt(receipt.log, OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES) if is_set_up else None,
    )


def _prompt_path(task: Task, number: int) -> str:
    return task.places.prompt(number)


def _last_tree(entries: Sequence[Line]) -> str:
    """The task's own files as last seen: not those of a branch it landed on, nor those a reading role had damaged."""
    for line in reversed(entries):
        is_of_task = not (isinstance(line, Landed) or (isinstance(line, RunEnded) and line.tainted))
        if is_of_task and (tree := tree_seen(line)):
            return tree
    return ""
