"""Makes a task's clone ready to be worked in: brings files along and runs set-up, once for the same commands and keys.

Set-up runs with the user's rights, in a tree an agent may have written to: what it starts can be the agent's words.
"""

from __future__ import annotations

import json
import os

from detent.effects.bring import Place, bring, brought_marks
from detent.effects.checkout import SetupFailed, Workspace, run_setup, setup_key
from detent.effects.git import Git
from detent.effects.put_back import put_back
from detent.runner.access import command_running
from detent.runner.look import current_tree
from detent.store.atomic import read_plain, write_atomic
from detent.store.digest import sha256_of
from detent.store.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.runner.open import Task


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
    failed = run_setup(place.folder, workspace, log, command_running(task))
    with Lock(task.places.lock()):
        # What set-up did to files of the work is nobody's work; new files stay, as they do in a checkout for proof.
        put_back(task.places.private_git(), task.tree_path, current_tree(task), place.tree, keep_new=True)
    return failed


def _key(task: Task, place: Place, workspace: Workspace) -> bytes:
    """What the clone is prepared from; where it is the same, nothing is done again."""
    brought = [*workspace.copy, *workspace.carry]
    parts = [setup_key(place, workspace), brought, brought_marks(task.root, brought)]
    return sha256_of(json.dumps(parts).encode("utf-8", "surrogateescape")).encode()
