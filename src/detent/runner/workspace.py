"""Makes a task's clone ready to be worked in: brings files along and runs set-up, once for the same commands and keys.

Set-up runs with the user's rights, in a tree an agent may have written to: what it starts can be the agent's words.
"""

from __future__ import annotations

import json
import os

from detent.effects.bring import Place, bring, brought_marks, created_paths, marks
from detent.effects.checkout import SetupFailed, Workspace, run_setup, setup_key
from detent.effects.git import Git
from detent.effects.put_back import put_back
from detent.runner.access import command_running
from detent.runner.look import current_tree
from detent.runner.settle import note
from detent.store.atomic import read_plain, write_atomic
from detent.store.digest import sha256_of
from detent.store.lock import Lock
from detent.store.names import name_some
from detent.store.places import lies_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from detent.runner.open import Task


MOST_LEFT_OUT = 2000  # paths that set-up made, as the journal and every tree id carry them


def workspace_of(head: Mapping[str, Any]) -> Workspace:
    """The `[workspace]` settings a task began with."""
    lists = {name: tuple(values) for name, values in head["workspace"].items()}
    return Workspace(**lists, timeout_s=head["command_timeout_s"])


def prepare_tree(task: Task) -> SetupFailed | None:
    """Bring `copy` and `carry` into the clone and run set-up there; None when it is ready.

    Called without the task's lock, while no agent run lives. A checkout that is worked on in place is its user's.
    """
    workspace = workspace_of(task.memory.head)
    if task.memory.head["in_place"] or not (workspace.setup or workspace.copy or workspace.carry):
        return None
    with Lock(task.places.lock()):
        tree = current_tree(task)
    index = os.path.join(task.places.private_git(), "cache", f"tmp-ready-{os.getpid()}")
    git = Git(task.places.private_git(), task.tree_path, index)
    try:
        git.run("read-tree", tree)
        tracked = frozenset(os.fsdecode(path) for path in git.run("ls-files", "-z").split(b"\0")[:-1])
        place = Place(os.path.realpath(task.tree_path), git, tree, os.path.realpath(task.root), tracked)
        key = _key(task, place, workspace)
        if read_plain(task.places.prepared()) == key:
            return None
        failed = _prepare(task, place, workspace)
    finally:
        if os.path.exists(index):
            os.unlink(index)
    if failed is None:
        write_atomic(task.places.prepared(), key, durable=False)
    return failed


def _prepare(task: Task, place: Place, workspace: Workspace) -> SetupFailed | None:
    missing = bring(place, workspace.copy)
    if missing:
        return SetupFailed(f"copy {', '.join(missing)}", 1, "", "nothing to copy in your checkout")
    bring(place, workspace.carry)
    log = os.path.join(task.places.receipts(), "setup-tree.log")
    before = marks(place.folder)
    failed = run_setup(place.folder, workspace, log, command_running(task))
    created = created_paths(before, marks(place.folder), place.tracked | _tracked_at_first(task))
    with Lock(task.places.lock()):
        task = task.at(task.store.load())
        left_out = joined_paths((*task.memory.set_up.get("left_out", ()), *created))
        if problem := too_many(left_out):
            return problem
        task = note_set_up(task, left_out, ())
        # Set-up is no work: files of the tree that it changed are restored.
        restored = put_back(task.places.private_git(), task.tree_path, current_tree(task), place.tree)
        if changed := (*restored.written, *restored.removed):
            note_set_up(task, left_out, changed)
    return failed


def note_set_up(task: Task, left_out: tuple[str, ...], changed: Sequence[str]) -> Task:
    """Journal the paths that set-up made, which no tree id counts from now on; the task's lock is held."""
    seen = task.memory.set_up
    content = {"how": "in the checkout", "why": "", "key": "", "left_out": list(left_out), "changed": list(changed)}
    if not changed and list(seen.get("left_out", ())) == content["left_out"]:
        return task
    memory = task.store.load()
    return task.at(note(task, memory, "set_up", content))


def joined_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """The paths once each, without those that lie below another of them."""
    found: list[str] = []
    for path in sorted(set(paths), key=lambda path: path.split("/")):
        if not (found and lies_in(path, found[-1])):
            found.append(path)
    return tuple(found)


def too_many(paths: Sequence[str]) -> SetupFailed | None:
    if len(paths) <= MOST_LEFT_OUT:
        return None
    why = (
        f"it makes {len(paths)} files between those of the project, at most {MOST_LEFT_OUT} are allowed "
        f"(the first: {name_some(paths)}); what is built from the project's own source belongs under [commands] build"
    )
    return SetupFailed("set-up", 1, "", why)


def _tracked_at_first(task: Task) -> frozenset[str]:
    baseline = task.memory.head["baseline"]
    if not baseline:
        return frozenset()
    listed = Git(task.places.private_git()).run("ls-tree", "-r", "-z", "--name-only", "--full-tree", baseline)
    return frozenset(os.fsdecode(path) for path in listed.split(b"\0")[:-1])


def _key(task: Task, place: Place, workspace: Workspace) -> bytes:
    """What the clone is prepared from; where it is the same, nothing is done again."""
    brought = [*workspace.copy, *workspace.carry]
    parts = [setup_key(place, workspace), brought, brought_marks(task.root, brought)]
    return sha256_of(json.dumps(parts).encode("utf-8", "surrogateescape")).encode()
