"""What is said of a work tree that is not there: it is still to come, or it is gone."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task


def is_tree_to_come(task: Task) -> bool:
    """Whether work has not begun: all that was visited is an end, or a state whose moves prepare the tree."""
    visited = [task.machine.states[name] for name in task.memory.snapshot.visits]
    return all(state.is_end or any(way.prepare for edge in state.edges for way in edge.ways) for state in visited)


def missing_tree(task: Task) -> str:
    from detent.words.runner import task as say

    return say.tree_gone(task.tree_path)


def where_tree_went(task: Task) -> str:
    """What to do about a tree that is gone; the repository we came in by may be the one that was moved."""
    if not task.memory.head.in_place:
        from detent.words.runner import task as say

        return say.make_tree_again(task.id)
    old, new = task.tree_path, task.project.root
    if old == task.memory.head.root != new:
        from detent.words.runner import task as say

        return say.repository_moved(new, old)
    from detent.words.runner import task as say

    return say.put_tree_back()
