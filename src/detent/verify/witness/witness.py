"""Checks the other records of a task against its journal: private git, receipts, native document."""

from __future__ import annotations

import json
import os

from detent.effects.git.acts import checkpoint_ref
from detent.effects.git.git import Git, is_object_id
from detent.errors import ToolError, UnreadableError
from detent.runner.step.disorder import find_disorder, read_document
from detent.runner.step.locks import kept_text, shown_item
from detent.store.disk.atomic import read_plain
from detent.store.disk.digest import sha256_of
from detent.store.journal.events import Moved
from detent.store.journal.places import read_pointer
from detent.store.journal.receipts import ReceiptStore
from detent.verify.replay.lines import Finding
from detent.verify.replay.proof import object_problem
from detent.words.verify import replay as of_replay
from detent.words.verify import witness as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from detent.runner.task.open import Task
    from detent.store.journal.line import Line


def check_effects(
    task: Task, acted: Sequence[tuple[int, str, Mapping[str, Any]]], entries: Sequence[Line]
) -> Iterator[Finding]:
    """Every promise has its acted line, and each commit lies under the ref that its step key names."""
    moves = {entry.seq: entry for entry in entries if isinstance(entry, Moved)}
    for key in task.memory.unsettled:
        number = int(key.partition(":")[0])
        is_overdue = any(seq > number for seq in moves)
        yield Finding(number, "effect", say.not_done(key.partition(":")[2]), not is_overdue)
    # A commit that a step made before the move lies under that step's name, and holds what the step says it left.
    made = [(line, step, result) for line, step, result in acted if "commit" in result]
    commits = [(line, step, str(result["commit"]), str(result.get("made_by", step))) for line, step, result in made]
    if not commits:
        return
    try:
        refs, trees = _refs_and_trees(task.places.private_git(), [commit for _, _, commit, _ in commits])
    except (ToolError, UnreadableError, OSError) as error:
        yield Finding(commits[0][0], "effect", say.private_git_unreadable(error))
        return
    for line, step, commit, made_by in commits:
        ref = checkpoint_ref(f"{task.id}/{made_by}")
        move = moves.get(int(step.partition(":")[0]))
        seen = move.tree if move else ""
        if move and made_by != step:
            seen = (move.prepared or {}).get(made_by.partition(":")[2], {}).get("tree", "")
        if refs.get(ref) != commit:
            yield Finding(line, "effect", say.ref_holds_other(ref, commit, refs.get(ref, "nothing")))
        elif not seen or trees.get(commit) != seen:
            yield Finding(line, "effect", say.commit_not_of_move(commit))


def _refs_and_trees(private_git: str, commits: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    if not os.path.isdir(private_git):
        return {}, {}
    git = Git(private_git)
    listed = git.run("for-each-ref", "--format=%(refname) %(objectname)", "refs/detent/").decode().splitlines()
    wanted = [commit for commit in commits if is_object_id(commit)]
    queries = "".join(f"{commit}^{{tree}}\n" for commit in wanted).encode()
    answers = git.run("cat-file", "--batch-check=%(objectname)", input_bytes=queries).decode().splitlines()
    refs = {name: commit for name, _, commit in (line.partition(" ") for line in listed)}
    return refs, dict(zip(wanted, answers, strict=True))


def check_receipts(task: Task) -> Iterator[Finding]:
    """Every receipt the journal vouches for is still the one that was written."""
    store = ReceiptStore(task.places.receipts())
    for key, digest in task.memory.proved.items():
        receipt = store.find(key)
        if receipt is None or receipt.digest != digest:
            path = store.path(key)
            what = say.receipt_gone(path) if receipt is None else say.receipt_changed(path, receipt.command)
            yield Finding(task.memory.snapshot.seq, "receipt", what)


def check_native(task: Task) -> Iterator[Finding]:
    """Check the document against the journal, and the texts that a repair would restore."""
    snapshot, file = task.memory.snapshot, task.native.file
    last = snapshot.seq
    for item, digest in snapshot.locked.items():
        if problem := object_problem(task, digest) or _file_problem(task, item, digest):
            yield Finding(last, "object", of_replay.item_problem(item.partition(":")[2], problem))
    for name, digest in task.memory.filed.items():
        if problem := _filed_problem(task, name, digest):
            yield Finding(last, "native", say.unreadable(name, problem))
    try:
        pointer = read_pointer(task.native.folder)
        document = read_document(task)
        disorder = find_disorder(task, task.memory, document)
    except UnreadableError as error:
        yield Finding(last, "native", error.what)
        return
    if pointer is None or os.path.realpath(pointer) != os.path.realpath(task.places.folder):
        yield Finding(1, "native", say.no_pointer_back(task.native.folder))
    if disorder.unfinished:
        yield Finding(last, "native", say.file_behind(file), is_warning=True)
    for label in disorder.owned:
        yield Finding(last, "native", say.label_differs(file, label))
    for item in disorder.locked:
        yield Finding(last, "native", say.locked_was_changed(shown_item(file, item)))
    if disorder.old_bytes:
        yield Finding(last, "native", say.older_copy(file, document.state))
    if disorder.lost:
        yield Finding(last, "native", say.state_line_lost(file))
    if disorder.request:
        yield Finding(last, "native", say.names_other_state(file, disorder.request, snapshot.state))


def _file_problem(task: Task, item: str, digest: str) -> str:
    """What is wrong with the texts of locked files, which the list that is locked names."""
    if not item.startswith("file:"):
        return ""
    listed = json.loads(kept_text(task, digest))
    return next((problem for text_digest in listed.values() if (problem := object_problem(task, text_digest))), "")


def _filed_problem(task: Task, name: str, digest: str) -> str:
    """What is wrong with a revision that never changes; empty when it is as it was filed."""
    if problem := object_problem(task, digest):
        return problem
    try:
        data = read_plain(task.native.path(name))
    except UnreadableError as error:
        return error.what
    if data is None:
        return say.revision_gone()
    return "" if sha256_of(data) == digest else say.revision_changed()
