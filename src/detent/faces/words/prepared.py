"""The words for what was prepared before a move: a branch, a reset, a commit, work taken back."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from detent.runner.task.open import Task


def prepared_words(task: Task, steps: Sequence[str]) -> list[str]:
    """One line or two for each step that has something to say."""
    lines: list[str] = []
    for name in (step.removeprefix("try_") for step in steps):
        if name in _WORDS:
            lines += [f"  {line}" for line in _WORDS[name](task, task.memory.prepared.get(name, {}))]
    return lines


def _branch(_task: Task, result: Mapping[str, str]) -> list[str]:
    if name := result.get("name"):
        return [f"on branch: {name}"]
    return [f"no branch was made: {result['not_made']}"] if "not_made" in result else []


def _reset(task: Task, result: Mapping[str, str]) -> list[str]:
    if "backup" not in result:
        return ["nothing was reset: all files are as they were"]
    return [
        f"back on {result['to']}; all that was there is kept as {result['backup']}",
        *([f"what was staged is kept as {staged}"] if (staged := result.get("staged")) else []),
        *([f"{left} is left as it is: the engine did not make it"] if (left := result.get("left")) else []),
        f"to have it again: detent restore {task.id}",
    ]


def _commit(_task: Task, result: Mapping[str, str]) -> list[str]:
    if "sha" not in result:
        return [f"nothing was committed: there is no git; approved was tree {result['tree'][:12]}"]
    lines = [f"commit {result['sha'][:12]} on {result['branch']} ({result['how']}); nothing was merged or pushed"]
    if left := result.get("left"):
        lines.append(f"not part of it, because it changed after the approval: {left}")
    return lines


def _revert(task: Task, result: Mapping[str, str]) -> list[str]:
    task_branch = task.memory.checkpoint.branch
    where = f" on top of {result['branch']}" if result["onto"] else f" on {task_branch}" if task_branch else ""
    lines = [f"taken back by commit {result['commit'][:12]}{where}; what was there is kept as {result['kept'][:12]}"]
    if result["onto"]:
        lines.append(f"{result['branch']} itself did not move; once it is done: detent land {task.id}")
    return lines


_WORDS: Mapping[str, Callable[[Task, Mapping[str, str]], list[str]]] = {
    "branch": _branch,
    "reset": _reset,
    "revert": _revert,
    "commit": _commit,
}
