"""What an agent run changed and may not: which files those are, and how they are put back."""

from __future__ import annotations

from functools import partial

from detent.effects.put_back import put_back as put_back_files
from detent.effects.tree import changed_files
from detent.runner.layout import writes_of
from detent.runner.look import current_tree
from detent.store.patterns import protects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.effects.tree import Taken
    from detent.runner.open import Task

_MOST_NAMES = 50


def tainted_files(task: Task, taken: Taken) -> list[str]:
    """The files of the repository that the run changed and may not: a reading role none, any other none protected."""
    run = task.memory.run
    is_forbidden = partial(_is_forbidden, task, run["access"], run["role"])
    if not taken.id or taken.id == run["tree"]:
        return []
    if taken.before == run["tree"] and not any(map(is_forbidden, taken.changed)):
        return []  # whatever of it really differs, none is among them
    changed = changed_files(task.places.private_git(), run["tree"], taken.id)
    return [name for _status, name in changed if is_forbidden(name)][:_MOST_NAMES]


def _is_forbidden(task: Task, access: str, role: str, name: str) -> bool:
    folders = writes_of(task.machine.store, role)
    is_outside = bool(folders) and not name.startswith(folders)
    return access == "read" or is_outside or protects(name, task.memory.head["protect"]["deny"])


def put_tree_back(task: Task) -> None:
    """Undo in a clone what a tainted run may not change; only after its line stands, or a crash would hide the taint.

    A checkout that is worked on in place is its user's, who may have been at work too: there it is only told. What the
    run made of the files stays in the private git folder, under the tree id of that line.
    """
    ended = task.memory.ended
    if ended["tainted"] and ended["put_back"]:
        only = partial(_is_forbidden, task, ended["access"], ended["role"])
        put_back_files(task.places.private_git(), task.tree_path, current_tree(task), ended["before"], only=only)


def taint_words(task: Task) -> str:
    """Why nothing follows from a run that changed what it may not."""
    ended = task.memory.ended
    folders = writes_of(task.machine.store, ended["role"])
    what = f"its role may write to {' and '.join(folders)} alone" if folders else "these files are protected"
    what = "its role may only read the repository" if ended["access"] == "read" else what
    return f"{what}, and it changed {', '.join(ended['tainted'][:5])}: what it asked for was not considered"
