"""Why work can't land."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@message
def branch_moved(branch: str, task_id: str) -> tuple[str, str]:
    return f"{branch} moved meanwhile", f"run it again: detent land {task_id}"


@message
def both_changed(branch: str, into: str, files: Iterable[str], task_id: str) -> tuple[str, str]:
    return (
        f"{branch} and {into} both changed {name_some(files)}",
        f"merge by hand: git merge {branch}; then: detent land {task_id}",
    )


@message
def worked_in_checkout() -> tuple[str, str]:
    return "this task worked in your checkout: its files are there already", "look at them and commit them: git status"


@message
def does_not_land(state: str, machine: str, task_id: str) -> tuple[str, str]:
    return (
        f"{state} is an end of {machine} whose work does not land",
        f"take what you want of it by hand, from: detent dir --tree {task_id}",
    )


@message
def not_accepted_yet(state: str, task_id: str) -> tuple[str, str]:
    return f"{state} is no state to land from: the work is not accepted yet", f"detent next {task_id}"


@message
def nothing_to_land(task_id: str) -> tuple[str, str]:
    return "there is no checkpoint to land", f"detent history {task_id}"


@message
def not_committed(files: Iterable[str], task_id: str) -> tuple[str, str]:
    return (
        f"your checkout has changes that are not committed: {name_some(files)}",
        f"commit them (git commit -a) or put them aside (git stash); then: detent land {task_id}",
    )


@message
def in_the_way(files: Iterable[str], task_id: str) -> tuple[str, str]:
    return (
        f"files that are not committed stand in the way: {name_some(files)}",
        f"move them away; then: detent land {task_id}",
    )


@message
def repository_gone(task_id: str) -> tuple[str, str]:
    return (
        "the repository this task came from is not there, or has no commit",
        f"bring it back to that path, then: detent land {task_id}",
    )


@message
def on_no_branch(task_id: str) -> tuple[str, str]:
    return (
        "your checkout is on no branch (detached HEAD)",
        f"check out the branch to land on: git switch BRANCH; then: detent land {task_id}",
    )


@message
def under_way(begun: str) -> tuple[str, str]:
    return f"a {begun} is under way in your checkout", f"end it: git {begun} --abort"


@message
def merged_tree() -> str:
    return "the merged tree"


@message
def the_task() -> str:
    return "the task"


@message
def tests_refuted(why: str, fix: str, task_id: str) -> tuple[str, str]:
    return f"the green tests of the merged tree are not believed: {why}", f"{fix}; then: detent land {task_id}"


@message
def tests_waived(gates: Iterable[str], name: str, reason: str) -> str:
    return f"{name} waived {name_some(gates)} for this work: {reason}"


@message
def needs_yes(questions: Sequence[str], task_id: str) -> tuple[str, str]:
    return f"landing needs your word: {'; '.join(questions)}", f"to land it all the same: detent land {task_id} --yes"


@message
def command_fails(
    command: str,
    result: str,
    where: str,
    wanted_by: Sequence[str],
    last_lines: Sequence[str],
    branch: str,
    task_id: str,
) -> tuple[str, str]:
    """`where`: the branch or the merged tree; `wanted_by`: the sources of the command; empty where unknown."""
    text = f"{command!r} fails on {where} ({result})"
    if wanted_by:
        text += f"; {' and '.join(wanted_by)} {'want' if len(wanted_by) > 1 else 'wants'} it"
    if last_lines:
        text += "; its last lines:\n" + "\n".join(f"    {line}" for line in last_lines)
    return text, f"fix it on {branch} and commit, then: detent land {task_id}"
