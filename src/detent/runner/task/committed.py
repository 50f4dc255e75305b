"""The settings of a project as they are committed: its tasks go by them, whatever lies on the disk."""

from __future__ import annotations

from detent.effects.git.git import find_repository
from detent.errors import DetentError
from detent.runner.task.open import find_project
from detent.runner.task.pinned import read_committed
from detent.store.journal.settings import FILE, Settings
from detent.store.journal.user_settings import effective_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.store.journal.places import Project


def committed_settings(start: str = "") -> Settings:
    """The settings of the project at a folder as they are committed; what can't be read says nothing."""
    try:
        project = find_project(start)
        data = read_committed(project, head_commit(project), FILE)
        return effective_settings(data, FILE)
    except DetentError:
        return Settings()


def head_commit(project: Project) -> str:
    repository = find_repository(project.root) if project.common_dir else None
    return (repository.head if repository is not None else None) or ""
