"""`detent audit`: is what a project remembers of its tasks still true?"""

from __future__ import annotations

import os

from detent.errors import DetentError, UsageError
from detent.faces.cli.output import show
from detent.faces.words.audit import Audited, audit_json, audit_words, lost_task
from detent.runner.task.open import current_folder, find_project, locate_task
from detent.store.journal.places import POINTER
from detent.verify.audit import audit_task, stray_anchors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments
    from detent.store.journal.places import Project


def audit(arguments: Arguments) -> int:
    """One task, or every task of the project; the exit code is that of the worst."""
    wanted, repo = arguments.text("TASK"), arguments.text("--repo")
    if wanted and arguments.has("--all"):
        raise UsageError("a task and --all exclude each other", next_step="detent audit --all")
    is_single = bool(wanted) or not (arguments.has("--all") or repo)
    if is_single and (wanted or os.path.lexists(os.path.join(current_folder(), POINTER))):
        found = [_audit_task(wanted, repo)]
    else:
        found = _audit_all(find_project(repo))
    show(arguments, audit_json(found), audit_words(found))
    return max(audited.code for audited in found)


def _audit_task(wanted: str, repo: str) -> Audited:
    try:
        project, task_id = locate_task(wanted, repo)
    except UsageError:
        if wanted not in stray_anchors(find_project(repo)):
            raise
        return lost_task(wanted)
    return Audited(task_id, audit_task(project, task_id))


def _audit_all(project: Project) -> list[Audited]:
    found = []
    for task_id in project.task_ids():
        try:
            found.append(Audited(task_id, audit_task(project, task_id)))
        except DetentError as error:  # of one task; the others are audited all the same
            found.append(Audited(task_id, None, error))
    found += [lost_task(task_id) for task_id in stray_anchors(project)]
    if not found:
        raise UsageError("no task here", where=project.root, next_step='detent new phase "what is to be done"')
    return found
