"""What a task has to land, in the words of git."""

from __future__ import annotations

from detent.effects.landed_work import Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.runner.open import Task
    from detent.store.journal import Entry


def put_branches(entries: Sequence[Entry]) -> dict[str, set[str]]:
    """Every branch name a checkpoint was brought to, with the commits that stood there."""
    found: dict[str, set[str]] = {}
    for entry in entries:
        result = entry.get("result", {})
        if entry["kind"] == "acted" and result.get("branch"):
            found.setdefault(result["branch"], set()).add(result["commit"])
    return found


def work_of(task: Task, entries: Sequence[Entry], until: int = 0) -> Work:
    """The work of the last checkpoint, or of the last one before a line, and the commit it landed through."""
    before = [entry for entry in entries if not until or entry["seq"] <= until]
    commits = [str(entry["result"]["commit"]) for entry in before if "commit" in entry.get("result", {})]
    landings = [str(entry["commit"]) for entry in before if entry["kind"] == "landed"]
    return Work(
        task.places.private_git(),
        task.project.common_dir,
        task.memory.head["baseline"],
        commits[-1] if commits else "",
        frozenset(f"refs/heads/{name}" for name in put_branches(entries)),
        landings[-1] if landings else "",
    )
