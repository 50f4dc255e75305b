"""Looks again at proof that can still be recomputed: receipts, remembered values, kept texts, approvals."""

from __future__ import annotations

import os

from detent.errors import ToolError, UnreadableError, UsageError
from detent.gates.judge import judge
from detent.gates.proof import COMMAND, read_assessment, sealed_digest
from detent.runner.step.locks import closed_items
from detent.runner.step.look import look, touched_now
from detent.store.disk.atomic import read_plain
from detent.store.disk.digest import sha256_of
from detent.store.journal.native import Document
from detent.store.journal.receipts import ReceiptStore
from detent.store.text.fields import Found
from detent.verify.replay.lines import Finding
from detent.words.verify import replay as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from detent.core.machine import Machine
    from detent.core.values import Snapshot
    from detent.runner.task.open import Task
    from detent.store.journal.events import Approved, Moved
    from detent.store.journal.line import Line

# Checks whose answer lies in what we keep, not in files that go on changing.
_RECOMPUTED = ("commands", "red_green", "register_is", "protected_ok", "signed_tree")


def proof_problems(task: Task, entry: Moved) -> Iterator[Finding]:
    """Ask the gates again whose answer must be the same for ever: this tree, these commands, this moment."""
    snapshot = task.memory.snapshot
    texts: dict[str, Found] = {}
    for item in closed_items(task.machine, snapshot):
        if problem := object_problem(task, snapshot.locked[item]):
            yield Finding(entry.seq, "object", say.item_problem(item.partition(":")[2], problem))
            continue
        data = read_plain(os.path.join(task.places.objects(), snapshot.locked[item])) or b""
        kind, _, label = item.partition(":")
        if kind == "field":
            texts[label] = Found(label, "", data.decode("utf-8", "replace"), 0, 0)
    seen = look(task, task.memory, Document("", "", texts, snapshot.state), entry.tree)
    for name, content in entry.facts.items():
        if content["ok"] is not True or not _can_recompute(task.machine, name, texts):
            continue
        fact = judge(seen, [name])[name]
        if not fact.ok:
            yield Finding(entry.seq, "proof", say.gate_not_shown(name, fact.why))
        elif content.get("proof", "") != fact.proof:
            yield Finding(entry.seq, "proof", say.other_receipts(name))


def _can_recompute(machine: Machine, name: str, texts: Mapping[str, Found]) -> bool:
    gate = machine.gates[name]
    if gate.check in ("not", "all"):
        return all(_can_recompute(machine, part, texts) for part in gate.params["of"])
    if gate.params.get("files"):  # what stands in the task folder goes on changing
        return False
    return gate.check in _RECOMPUTED and gate.params.get("field", "") in ("", *texts)


def approval_problems(task: Task, entry: Approved) -> Iterator[Finding]:
    """An approval must name a tree, and the very files that tree has touched, or what its tests were found to prove."""
    if entry.word or entry.sealed:
        yield from _acceptance_problems(task, entry)
        return
    try:
        files = touched_now(task, entry.tree).ask
    except (ToolError, UsageError) as error:
        yield Finding(entry.seq, "approval", say.approved_tree_unreadable(error.what))
        return
    if entry.files != files:
        yield Finding(entry.seq, "approval", say.other_files_approved(entry.tree))


def _acceptance_problems(task: Task, entry: Approved) -> Iterator[Finding]:
    """A receipt that the journal vouches for must say of that tree what was accepted."""
    store = ReceiptStore(task.places.receipts())
    for key, digest in task.memory.proved.items():
        receipt = store.find(key)
        if receipt is None or (receipt.digest, receipt.command, receipt.tree) != (digest, COMMAND, entry.tree):
            continue
        found = read_assessment(receipt)
        if found is None:
            continue
        shown = (found.sealed_result, sealed_digest(found)) if entry.sealed else (found.word, found.seen)
        if shown == (entry.sealed or entry.word, entry.seen):
            return
    yield Finding(entry.seq, "approval", say.nothing_says_what_was_accepted(entry.sealed or entry.word, entry.tree))


def carried_problems(task: Task, entry: Line, before: Snapshot) -> Iterator[Finding]:
    """The text of the native file that a line carries must name the state the task is in after it."""
    if carried := entry.native:
        try:
            state = task.native.parsed(carried["text"]).state
        except UnreadableError as error:
            yield Finding(entry.seq, "native", say.carried_unreadable(error.what))
            return
        wanted = before.state if entry.after is None else entry.after["state"]
        if state != wanted:
            yield Finding(entry.seq, "native", say.carried_names_other(state or "no state", wanted))


def kept_problems(task: Task, number: int, kept: str) -> Iterator[Finding]:
    """The content of a file before it was restored: an object by its hash, or a file moved aside."""
    if not kept:
        return
    if os.path.isabs(kept):
        if not os.path.lexists(kept):
            yield Finding(number, "object", say.aside_gone(kept), is_warning=True)
    elif problem := object_problem(task, kept):
        yield Finding(number, "object", problem)


def object_problem(task: Task, digest: str) -> str:
    """What is wrong with a text kept by its hash; empty when it is whole."""
    try:
        data = read_plain(os.path.join(task.places.objects(), digest))
    except UnreadableError as error:
        return say.kept_unreadable(digest, error.what)
    if data is None:
        return say.kept_missing(digest)
    return "" if sha256_of(data) == digest else say.kept_changed(digest)
