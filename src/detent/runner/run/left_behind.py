"""Finds a run's changes in a throw-away checkout although its role writes elsewhere: they are lost, and reported."""

from __future__ import annotations

import os

from detent.effects.git.tree.tree_id import LeftOut, changed_files, take_tree
from detent.errors import DetentError
from detent.runner.task.in_project import left_out, repository_of
from detent.store.disk.patterns import matches
from detent.words.runner import run as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task
    from detent.store.journal.memory import LastRun

_MOST_NAMES = 50


def left_behind(task: Task, *, in_a_hurry: bool) -> tuple[str, ...]:
    """The files that differ in the checkout of the run that is over; none for a judge, which tries things there.

    A file that can't be compared, being too large, keeps no run from ending.
    """
    run, head, folder = task.memory.run, task.memory.head, task.memory.run.cwd
    states = task.machine.states.values()
    writes_elsewhere = any(state.access == "write" for state in states if state.role == run.role)
    is_looked_at = run.access == "read" and writes_elsewhere
    if not is_looked_at or not run.tree or folder == task.tree_path or not os.path.isdir(folder):
        return ()
    outside = LeftOut(left_out(task), head.tool_caches)
    place = (task.places.private_git(), folder, repository_of(task), head.baseline or None)
    try:
        taken = take_tree(*place, outside, in_a_hurry=in_a_hurry)
        changed = changed_files(task.places.private_git(), run.tree, taken.id)
    except DetentError:
        return ()
    brought = [*head.workspace["copy"], *head.workspace["carry"]]
    return tuple(name for _status, name in changed if not matches(name, brought))[:_MOST_NAMES]


def left_words(last_run: LastRun) -> str:
    """The report of it; empty where nothing was left."""
    names = last_run.left
    if not names:
        return ""
    return say.left_in_checkout(last_run.run, names)
