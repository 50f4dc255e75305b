"""Makes the folder an agent run works in ready: the task's own tree, or for a reading role a throw-away checkout of it.

A reading role may run whatever it likes in its checkout; nothing of that sticks. What can take long happens here,
without the task's lock.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.acts import commit_tree
from detent.effects.host.access import NOTHING_LAID
from detent.effects.host.last_lines import last_lines
from detent.effects.workspace.checkout import Checkout, CheckoutSpec, FrozenTree, SetupFailed
from detent.effects.workspace.prepared import lasting_checkout
from detent.errors import RefusedError
from detent.runner.access.access import running_in, setups_in
from detent.runner.access.command_place import RUN_CACHE, place_of, remember_laid
from detent.runner.step.look import current_tree
from detent.runner.step.proving.workspace import prepare_tree, workspace_of
from detent.runner.step.registry import readying
from detent.runner.task.layout import writes_of
from detent.runner.task.unready import keep_failure
from detent.runner.tell.judging import next_run
from detent.store.disk.atomic import make_folders
from detent.words.runner import run as say
from detent.words.runner import task as of_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.core.machine import State
    from detent.effects.workspace.checkout import Begins
    from detent.runner.task.open import Task

LOOK = "look"


class Ready(Record):
    """The folder of a run, and the tree that was scanned when it was made ready."""

    state: State  # as the run is to find it: the role may be lent by another
    cwd: str
    tree: str
    failed: SetupFailed | None = None
    copy: Mapping[str, Any] = {}  # a set-up that was made for this folder alone, as `made_bytes`, `why` and `for`


def make_ready(task: Task, begins: Begins | None = None) -> Ready:
    """The folder for the next run of the current state's role; why it can't be had is kept until it can.

    `begins` is called with each command of set-up before it runs.
    """
    ready = _make_ready(task, begins)
    keep_failure(task.places, failure_words(ready.failed) if ready.failed else "")
    return ready


def failure_words(failed: SetupFailed) -> str:
    """The command that failed and how on the first line, the last lines it printed below."""
    said = last_lines(failed.log, os.environ)
    return "\n".join(filter(None, (of_task.set_up_failed(failed.command, failed.why), said)))


def _make_ready(task: Task, begins: Begins | None) -> Ready:
    head = task.memory.head
    for look_before in readying(task):
        look_before(task)
    failed = prepare_tree(task, begins) if task.machine.states[task.memory.snapshot.state].access == "write" else None
    task = task.now()  # set-up may have been journaled
    with task.held():
        tree = current_tree(task)
    state = next_run(task, tree)
    if state.access == "write":
        _make_writable(task, state.role)
        return Ready(state, task.tree_path, tree, failed)
    folder, workspace = os.path.join(task.home, LOOK), workspace_of(head)
    private, baseline = task.places.private_git(), head.baseline
    commit = commit_tree(private, tree, baseline, f"{task.id}: the work so far") if baseline else ""
    made = lasting_checkout(
        CheckoutSpec(
            folder,
            FrozenTree(private, tree, baseline or None, commit=commit),
            workspace,
            work_tree=task.root,
            cache_dir=os.path.join(task.home, f"{LOOK}-setup"),
            log_path=os.path.join(task.places.receipts(), f"setup-{LOOK}.log"),
            running=running_in(place_of(task, RUN_CACHE), head.command_limits, begins),
            setups=setups_in(place_of(task), head.command_limits, begins) if workspace.setup else None,
            private=os.path.join(task.home, f"{LOOK}-deps"),
        )
    )
    remember_laid(task, folder, made.laid if isinstance(made, Checkout) else NOTHING_LAID)
    if isinstance(made, SetupFailed):
        return Ready(state, folder, tree, made)
    copied = {"made_bytes": made.size, "why": made.why, "for": say.checkout_of(state.role)}
    return Ready(state, folder, tree, copy=copied if made.made_now else {})


def _make_writable(task: Task, role: str) -> None:
    """Make the folders a role is kept to, which it could not make from inside; a link would let it out of the tree."""
    for folder in writes_of(task.machine.store, role):
        path = os.path.join(os.path.realpath(task.tree_path), folder.rstrip("/"))
        make_folders(path)
        if os.path.realpath(path) != path:
            raise RefusedError(say.folder_behind_link(folder, role), where=path)
