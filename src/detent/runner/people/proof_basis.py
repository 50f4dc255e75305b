"""Says which commit a proof is measured by: its protected files, its commands and its set-up judge the work.

A task is judged by the commit it began with. Work that lands is judged by the branch that receives it as well: a check
that became stricter there, or a command that is new there, holds; nothing the task was judged by before is dropped. All
that makes proof reads `baseline`, `commands`, `protect` and `workspace` of the task's head, so they are changed there.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.effects.git.git import Git, check_object_id
from detent.effects.git.tree.tree_id import changed_files
from detent.effects.host.access import NONE
from detent.runner.access.access import command_level
from detent.runner.access.trust import require_trust
from detent.runner.task.pinned import read_committed
from detent.store.disk.patterns import protects
from detent.store.journal.head import with_baseline, with_basis
from detent.store.journal.settings import FILE, parse_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.runner.task.open import Task
    from detent.store.journal.head import Head
    from detent.store.journal.settings import Settings

OF_TASK = "task"


class NamedCommand(Record):
    """A command that must pass, and whose settings name it: the task's, the receiving branch's, or both."""

    name: str
    line: str
    sources: tuple[str, ...]


def judged_by(task: Task, commit: str) -> Task:
    """The task with another commit as the baseline of its proof; the same task if that commit is its baseline.

    Only for proving: the journal and the files of the task know nothing of it.
    """
    head = task.memory.head
    if commit == head.baseline:
        return task
    content = read_committed(task.project, commit, FILE)
    settings = parse_settings(content, f"{FILE} of {commit[:12]}") if content else None
    if command_level(task) == NONE:  # else these commands and their set-up are sandboxed
        require_trust(task.project, content, f"{FILE} of {commit[:12]}")
    changed = with_baseline(head, commit) if settings is None else _together(commit, head, settings)
    return task.replace(memory=task.memory.replace(head=changed, judged_by=commit))


def _together(commit: str, head: Head, settings: Settings) -> Head:
    """Commands and patterns of both; how commands are prepared and bounded is said by the receiving branch alone."""
    lines = {line: [name, line] for name, line in (*settings.commands.items(), *head.commands)}
    kinds = head.protect
    return with_basis(
        head,
        baseline=commit,
        commands=list(lines.values()),
        protect={kind: list(dict.fromkeys((*settings.protect[kind], *kinds[kind]))) for kind in kinds},
        workspace=settings.workspace(),
        command_timeout_s=settings.command_timeout_s,
        command_limits=dict(settings.command_limits),
        audit=dict(settings.audit),
    )


def named_commands(task: Task, commit: str, branch: str, lines: Mapping[str, str]) -> tuple[NamedCommand, ...]:
    """These commands (line -> name) with where each comes from; `commit` is the head of the receiving branch."""
    content = read_committed(task.project, commit, FILE) if commit else None
    settings = parse_settings(content, f"{FILE} of {commit[:12]}") if content else None
    theirs = set(settings.commands.values()) if settings is not None else set()
    of_task = {line for _, line in task.memory.head.commands}
    found = []
    for line, name in lines.items():
        sources = (
            *((branch,) if line in theirs else ()),
            *((OF_TASK,) if line in of_task or line not in theirs else ()),
        )
        found.append(NamedCommand(name, line, sources))
    return tuple(found)


def before_work(task: Task, head: str, work: str) -> str:
    """The newest commit of a branch without the work, if the work changed files it protects; else the branch's head.

    Then its own version of such a file would be the judge of it. People's later changes of protected files count.
    """
    baseline = task.memory.head.baseline
    changed = [path for _, path in changed_files(task.places.private_git(), baseline, work)]
    if not _protected(changed, judged_by(task, head).memory.head.protect["deny"]):
        return head
    git = Git(task.places.private_git())
    between = f"{check_object_id(work)}..{check_object_id(head)}"
    with_work = set(git.run("rev-list", "--ancestry-path", between).split())
    chain = git.run("rev-list", "--first-parent", between).split()
    return next((commit.decode() for commit in chain if commit not in with_work), baseline)


def _protected(paths: Sequence[str], patterns: Sequence[str]) -> list[str]:
    return [path for path in paths if protects(path, patterns)]
