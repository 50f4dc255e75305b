"""What a task has to land, in the words of git."""

from __future__ import annotations

import os

from detent.effects.git.landed_work import Work
from detent.runner.task.open import load_all
from detent.store.journal.events import Acted, Landed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.runner.task.open import Task
    from detent.store.journal.line import Line
    from detent.store.journal.places import Project


def put_branches(entries: Sequence[Line]) -> dict[str, set[str]]:
    """Every branch name that received a checkpoint, with the commits that stood there."""
    found: dict[str, set[str]] = {}
    for entry in entries:
        if isinstance(entry, Acted) and entry.result.get("branch"):
            found.setdefault(entry.result["branch"], set()).add(entry.result["commit"])
    return found


def branches_of_tasks(project: Project) -> dict[str, str]:
    """The branches that the engine keeps for tasks with a clone, by ref, each with its last checkpoint."""
    memories = (listed.memory for listed in load_all(project) if listed.memory is not None)
    # A task in place commits on a person's branch, and a branch that `gc` left is a person's by now.
    ours = (memory for memory in memories if not memory.head.in_place and os.path.isdir(memory.head.home))
    put = (memory.checkpoint for memory in ours if memory.checkpoint.branch)
    return {f"refs/heads/{checkpoint.branch}": checkpoint.commit for checkpoint in put}


def work_of(task: Task, entries: Sequence[Line], of_tasks: Mapping[str, str], until: int = 0) -> Work:
    """The work of the last checkpoint, or of the last one before a line, and the commit it landed through."""
    before = [entry for entry in entries if not until or entry.seq <= until]
    commits = [entry.result["commit"] for entry in before if isinstance(entry, Acted) and "commit" in entry.result]
    landings = [entry.commit for entry in before if isinstance(entry, Landed)]
    return Work(
        task.places.private_git(),
        task.project.common_dir,
        task.memory.head.baseline,
        commits[-1] if commits else "",
        frozenset(f"refs/heads/{name}" for name in put_branches(entries)),
        landings[-1] if landings else "",
        of_tasks=of_tasks,
    )
