"""Gathers what gates are handed: files, receipts, commands and the tree of one task."""

from __future__ import annotations

import json
import os

from detent.core.values import Command
from detent.effects.git import Git, Repository, find_repository
from detent.effects.observe import TaskFiles
from detent.effects.tree import tree_id
from detent.effects.tree_memory import recall_tree, remember_tree
from detent.errors import UnreadableError
from detent.gates.seen import Seen
from detent.runner.surroundings import Surroundings
from detent.store.atomic import sweep
from detent.store.digest import sha256_of
from detent.store.places import POINTER
from detent.store.receipts import ReceiptStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from detent.runner.open import Task
    from detent.store.native import Document
    from detent.store.tasks import Memory

TREE_CHECKS = ("commands", "criteria")  # checks whose answer depends on the tree


def look(
    task: Task, memory: Memory, document: Document, tree: str, *, may_start: bool = False, words: tuple[str, ...] = ()
) -> Seen:
    """One view of the task; every gate of one decision sees the same. Who only reads may start no program for it."""
    store = task.machine.store
    request = memory.head.get("request", {}).get("file", POINTER)
    own_files = (store["file"], store.get("log", POINTER), store.get("evidence", POINTER), request, POINTER)
    return Seen(
        task.machine,
        memory.snapshot,
        document,
        TaskFiles(task.native.folder, task.tree_path, own_files),
        ReceiptStore(task.places.receipts()),
        tuple(Command(name, line) for name, line in memory.head["commands"]),
        tree,
        _workspace(task, memory.head["workspace"]) if tree else "",  # without a tree there is no receipt to find
        memory.visit.get("evidence", {}),
        memory.proved,
        around=Surroundings(task, memory, may_start=may_start),
        words=words,
        baseline=memory.prepared.get("baseline", {}),
        findings={},
    )


def _workspace(task: Task, workspace: dict[str, list[str]]) -> str:
    """How a checkout is prepared, down to the files that are brought along: a change makes every receipt void."""
    parts = json.dumps(workspace, sort_keys=True)
    if patterns := [*workspace["copy"], *workspace["carry"]]:
        from detent.effects.bring import brought_marks

        parts += brought_marks(task.root, patterns)
    return sha256_of(parts.encode("utf-8", "surrogateescape"))


def needs_tree(task: Task, gates: Iterable[str]) -> bool:
    """Whether any of these gates, or a gate it is made of, looks at the tree."""
    return any(gate.check in TREE_CHECKS for gate in task.machine.parts(gates))


def known_tree(task: Task) -> str:
    """The tree's id for a reader: without starting anything, and only if nothing looks touched."""
    return recall_tree(task.places.seen_tree(), task.tree_path)


def current_tree(task: Task) -> str:
    """The id of the tree as it is now, by git."""
    if not os.path.isdir(task.tree_path):
        from detent.runner.explain import missing_tree, where_tree_went

        raise UnreadableError(missing_tree(task), where=task.tree_path, next_step=where_tree_went(task))
    private = task.places.private_git()
    for name in ("", "cache", "info", "objects/info"):
        sweep(os.path.join(private, name))  # what a killed step left; the task's lock is held
    baseline = task.memory.head["baseline"] or None
    tree = tree_id(private, task.tree_path, repository_of(task), baseline, left_out(task))
    files = Git(private).run("ls-tree", "-r", "-z", "--name-only", tree).split(b"\0")
    names = [os.fsdecode(name) for name in files if name]
    remember_tree(task.places.seen_tree(), task.tree_path, tree, names)
    return tree


def repository_of(task: Task) -> Repository | None:
    """The user's repository, also where the tree is a clone: what an agent writes into its own `.git` is not asked."""
    if not task.project.common_dir:
        return None
    return find_repository(task.tree_path if task.memory.head["in_place"] else task.project.root)


def left_out(task: Task) -> tuple[str, ...]:
    """What lies in the tree but is not part of the work: the tasks' own folders and a control plane without git."""
    root = os.path.realpath(task.tree_path)
    outside = [os.path.realpath(task.native.folder), os.path.realpath(task.project.control)]
    if shared := task.machine.store.get("root"):
        outside.append(os.path.join(root, shared))
    return tuple(
        os.path.relpath(path, root) for path in outside if path.startswith(root + os.sep) and "/.git/" not in path
    )
