"""Gathers what gates are handed: files, receipts, commands and the tree of one task."""

from __future__ import annotations

import json
import os
from functools import partial

from detent.effects.git.git import has_sparse_rules
from detent.effects.git.tree.memory import moment, recall_tree, remember_tree
from detent.effects.git.tree.touched import (
    Touched,
    recall_touched,
    remember_touched,
    rules_of,
    touched_files,
    touched_later,
)
from detent.effects.workspace.observe import TaskFiles
from detent.errors import RefusedError, ToolError, UnreadableError, UsageError
from detent.gates.commands import rests_on_commands
from detent.gates.registry import declared
from detent.gates.seen import Seen, nobody_looked, not_compared
from detent.runner.step.registry import is_gate_effect
from detent.runner.step.surroundings import Surroundings
from detent.runner.task.in_project import left_out, repository_of
from detent.store.disk.atomic import sweep
from detent.store.disk.digest import sha256_of
from detent.store.journal.memory import utc_now
from detent.store.journal.observed import Command
from detent.store.journal.places import POINTER, lies_in
from detent.store.journal.receipts import ReceiptStore
from detent.store.text.proof_settings import proof_from_json
from detent.store.text.sealed import DATA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeVar

    from detent.core.machine import Gate
    from detent.effects.git.tree.tree_id import Taken
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document
    from detent.store.journal.observed import TreeFile

    Answer = TypeVar("Answer")

_MOST_LOOKS = 2  # a tree written to in the tick before is still by the second; one that keeps changing is not known


def _obstacles(prepared: Mapping[str, Mapping[str, str]]) -> tuple[tuple[str, str], ...]:
    found = (prepared.get(f"try_{name}") for name in ("baseline", "branch"))
    return tuple((gap["why"], gap["fix"]) for gap in found if gap)


def look(
    task: Task,
    memory: Memory,
    document: Document,
    tree: str,
    *,
    is_reader: bool = False,
    words: tuple[str, ...] = (),
) -> Seen:
    """One view of the task; every gate of one decision sees the same. For a reader no process is started."""
    store = task.machine.store
    request = memory.head.request.get("file", POINTER)
    engine_files = (store.file, store.log or POINTER, store.evidence or POINTER, request, POINTER)
    return Seen(
        task.machine,
        memory.snapshot,
        document,
        TaskFiles(task.native.folder, task.tree_path, engine_files),
        ReceiptStore(task.places.receipts()),
        tuple(Command(name, line) for name, line in memory.head.commands),
        tree,
        # Without a tree there is no receipt to find, and nothing to ask for.
        workspace_key(task, memory) if tree else "",
        since_gate=_once(partial(_since_gate, task, memory, "" if is_reader else tree)) if tree else nobody_looked,
        tree_files=_once(partial(_files_of_tree, task, tree, is_reader=is_reader)) if tree else nobody_looked,
        changed=partial(_changed, task, tree, is_reader=is_reader) if tree else nobody_looked,
        by_run=memory.visit.evidence,
        proved=memory.proved,
        around=Surroundings(task, memory, may_start=not is_reader),
        words=words,
        captured=memory.prepared.get("baseline", {}),
        obstacles=_obstacles(memory.prepared),
        findings={},
        touched=partial(_to_ask_about, task, tree, is_reader=is_reader),
        approved=memory.approved,
        baseline=memory.head.baseline,
        signed=memory.signed,
        deploy=memory.deploy,
        today=utc_now()[:10],
        audit=memory.head.audit,
        entry_tree=memory.entry_tree,
        trees=memory.trees,
        accepted=memory.accepted,
        differences=partial(_differences, task, tree, is_reader=is_reader) if tree else not_compared,
        filing=memory.filing,
        judged=memory.judged,
        proof=proof_from_json(memory.head.proof) if memory.head.proof else None,
        kind=memory.head.change.get("kind", ""),
        accepted_proof=memory.accepted_proof,
        sealed=sum(file["kind"] != DATA for file in memory.head.sealed),
        accepted_sealed=memory.accepted_sealed,
        engine_link=memory.link,
    )


def _once(ask: Callable[[], Answer]) -> Callable[[], Answer]:
    """Asks at the first use, and not again. Every step makes some, and `functools.cache` is slow to make."""
    known: list[Answer] = []

    def answer() -> Answer:
        if not known:
            known.append(ask())
        return known[0]

    return answer


def _files_of_tree(task: Task, tree: str, *, is_reader: bool) -> Mapping[str, TreeFile] | None:
    """Every file of the tree by git; for a reader as it was when a gate last asked, None when that was another tree."""
    from detent.effects.git.tree.files import recall_files, remember_files, tree_files

    if is_reader:
        return recall_files(task.places.tree_files(), tree)
    try:
        found = tree_files(task.places.private_git(), tree)
    except ToolError:
        return None
    remember_files(task.places.tree_files(), tree, found)
    return found


def _differences(task: Task, tree: str, before: str, *, is_reader: bool) -> Sequence[tuple[str, str]] | None:
    """The result of `compare_trees`; for a reader the last one that was remembered."""
    if before == tree:
        return ()
    from detent.effects.git.tree.differences import recall_differences, remember_differences

    path = task.places.tree_differences()
    if is_reader:
        return recall_differences(path, before, tree)
    found = compare_trees(task, tree, before)
    if found is not None:
        remember_differences(path, before, tree, found)
    return found


def compare_trees(task: Task, tree: str, before: str) -> tuple[tuple[str, str], ...] | None:
    """Status and path of what differs between an earlier tree and this one; the task's own files are no work."""
    from detent.effects.git.tree.differences import tree_differences

    try:
        found = tree_differences(task.places.private_git(), before, tree)
    except (ToolError, UsageError):  # a tree that is gone, or that no tree has as its name
        return None
    task_folder = os.path.relpath(os.path.realpath(task.native.folder), os.path.realpath(task.tree_path))
    return tuple((status, name) for status, name in found if not lies_in(name, task_folder))


def _since_gate(task: Task, memory: Memory, tree: str) -> list[tuple[str, str]] | None:
    """What of the work changed since the tree of the last passed gate; the task's own files are no work."""
    gate = next((memory.kept[name] for name in reversed([*memory.kept]) if is_gate_effect(name)), "")
    if not tree or not gate:
        return None
    from detent.effects.git.tree.tree_id import changed_files  # few gates ask

    try:
        changes = changed_files(task.places.private_git(), gate, tree)
    except ToolError:
        return None
    task_folder = os.path.relpath(os.path.realpath(task.native.folder), os.path.realpath(task.tree_path))
    return [(status, name) for status, name in changes if not lies_in(name, task_folder)]


def _to_ask_about(task: Task, tree: str, *, is_reader: bool) -> Mapping[str, str] | None:
    """The files of the tree that a person must be asked about; None when that is not known."""
    if not task.memory.head.protect["ask"]:
        return {}
    if not tree:
        return None
    if is_reader:
        known = known_touched(task)
        return known.ask if known.tree == tree else None
    try:
        return touched_now(task, tree).ask
    except ToolError:
        return None


def _changed(task: Task, tree: str, *, is_reader: bool) -> tuple[str, ...] | None:
    """Every path of the tree that differs from the baseline; None when that is not known."""
    baseline = task.memory.head.baseline
    if not baseline or is_reader:
        return None
    from detent.effects.git.tree.tree_id import changed_files  # few gates ask

    return tuple(path for _status, path in changed_files(task.places.private_git(), baseline, tree))


def workspace_key(task: Task, memory: Memory) -> str:
    """How a checkout is prepared, down to the files copied into it: a change makes every receipt void."""
    workspace = memory.head.workspace
    parts = json.dumps(workspace, sort_keys=True) + memory.judged_by
    if patterns := [*workspace["copy"], *workspace["carry"]]:
        from detent.effects.git.bring import brought_marks

        parts += brought_marks(task.root, patterns)
    return sha256_of(parts.encode("utf-8", "surrogateescape"))


def needs_tree(task: Task, gates: Iterable[str]) -> bool:
    """Whether any of these gates, or a gate it is made of, reads the tree."""
    return any(looks_at_tree(gate) or "about" in gate.params for gate in task.machine.parts(gates))


def looks_at_tree(gate: Gate) -> bool:
    """Whether what a gate answers depends on the tree."""
    return declared(gate.check).needs_tree


def needs_commands(task: Task, gates: Iterable[str]) -> bool:
    """Whether any of these gates, or a gate it is made of, rests on a command the engine runs."""
    return any(rests_on_commands(gate) for gate in task.machine.parts(gates))


def touched_now(task: Task, tree: str) -> Touched:
    """The protected files this tree has touched, by git."""
    head = task.memory.head
    return touched_files(task.places.private_git(), head.baseline, tree, head.protect)


def known_touched(task: Task) -> Touched:
    """The same for a reader, as of the last scan of the tree."""
    return recall_touched(task.places.touched())


def known_tree(task: Task) -> str:
    """The tree's id for a reader: without starting anything, and only if nothing looks touched."""
    return recall_tree(task.places.seen_tree(), task.tree_path)


def current_tree(task: Task) -> str:
    """The id of the tree as it is now, by git."""
    return take_current_tree(task).id


def take_current_tree(task: Task) -> Taken:
    """The same with what git had to look at."""
    _prepare_look(task)
    known = known_tree(task)
    for _ in range(_MOST_LOOKS):
        since = moment(task.places.folder)
        taken = _take(task, looks_untouched=bool(known))
        if taken.id == known or remember_tree(task.places.seen_tree(), task.tree_path, taken.id, taken.watched, since):
            break
    _remember_touched(task, taken)
    return taken


def take_tree_unremembered(task: Task, *, in_a_hurry: bool = False) -> tuple[Taken, int]:
    """The same, but not remembered for readers yet (`remember_taken`). Also the moment before the scan.

    With `in_a_hurry` a tree that takes long to scan raises TakesLong.
    """
    _prepare_look(task)
    since = moment(task.places.folder)
    return _take(task, looks_untouched=True, in_a_hurry=in_a_hurry), since


def remember_taken(task: Task, taken: Taken, since: int) -> None:
    """What `take_tree_unremembered` left for later: let readers know the tree."""
    if remember_tree(task.places.seen_tree(), task.tree_path, taken.id, taken.watched, since):
        _remember_touched(task, taken)
    else:
        take_current_tree(task)


def _prepare_look(task: Task) -> None:
    if not os.path.isdir(task.tree_path):
        from detent.runner.task.missing_tree import is_tree_to_come, missing_tree, where_tree_went

        if is_tree_to_come(task):
            is_over = task.machine.states[task.memory.snapshot.state].is_end
            from detent.words.runner import step as say

            raise RefusedError(say.no_files_any_more(task.id) if is_over else say.no_files_yet(task.id))
        raise UnreadableError(missing_tree(task), where=task.tree_path, next_step=where_tree_went(task))
    private = task.places.private_git()
    for name in ("", "cache", "info", "objects/info"):
        sweep(os.path.join(private, name))  # what a killed step left; the task's lock is held


def _take(task: Task, *, looks_untouched: bool, in_a_hurry: bool = False) -> Taken:
    from detent.effects.git.tree.tree_id import LeftOut, take_tree  # a reader takes none

    repository = repository_of(task)
    if repository is not None and task.memory.head.in_place and has_sparse_rules(repository):
        from detent.effects.git.person_checkout import refuse_sparse  # few checkouts have such rules

        refuse_sparse(repository)
    place = (task.places.private_git(), task.tree_path, repository, task.memory.head.baseline or None)
    # A task of an older version has no such list, and counts caches for ever.
    outside = LeftOut(left_out(task), task.memory.head.tool_caches)
    return take_tree(*place, outside, looks_untouched=looks_untouched, in_a_hurry=in_a_hurry)


def _remember_touched(task: Task, taken: Taken) -> None:
    head, touched = task.memory.head, known_touched(task)
    rules = rules_of(head.baseline, head.protect)
    if touched.rules != rules:
        touched = Touched(head.baseline, rules=rules)  # the baseline itself has touched nothing
    if touched.tree == taken.id:
        return
    later = None
    if taken.before and touched.tree == taken.before:  # usually nothing protected was changed since
        later = touched_later(touched, taken.id, taken.changed, head.protect, task.tree_path)
    remember_touched(task.places.touched(), later or touched_now(task, taken.id))


def refuse_other_tree(tree: str, shown: str) -> None:
    """A person that names the reviewed tree approves no other."""
    if shown and not tree.startswith(shown):
        from detent.words.runner import step as say

        raise RefusedError(say.other_tree(tree, shown))
