"""Where a machine keeps the native folders of its tasks: a task home, or a folder of its own inside the project.

`[store] root` names that folder (".ralf") and `folder` the place of one task in it ("threads/{id}"). Files there are
no work: git ignores them by the file that only this clone reads, and tree ids leave them out. Where the folder is
`tracked` it belongs to one task and is part of its work; only what changes with every move is left out then.
"""

from __future__ import annotations

import os

from detent.errors import StorageError, UnreadableError
from detent.store.disk.atomic import make_folders, read_plain, read_text, write_atomic
from detent.store.journal.places import POINTER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.store.journal.places import Project
    from detent.store_spec import StoreSpec

_EXCLUDE = "info/exclude"


def store_root(store: StoreSpec, project_root: str) -> str:
    """The folder of the project that holds every task of a machine; empty where each has its own elsewhere."""
    return os.path.join(project_root, store.root) if store.root else ""


def native_folder(store: StoreSpec, project: Project, task_id: str) -> str:
    """The default native folder of a new task."""
    root = store_root(store, project.root)
    if not root:
        from detent.effects.workspace.home import TASK  # only a new task needs it, and readers load this module too

        return os.path.join(project.home(), task_id, TASK)
    return root if is_tracked(store) else os.path.join(root, store.folder.replace("{id}", task_id))


def is_tracked(store: StoreSpec) -> bool:
    """Whether the native folder is part of the work."""
    return store.tracked


def writes_of(store: StoreSpec, role: str) -> tuple[str, ...]:
    """The folders of the tree a role may write to; nothing: all of it, as far as its access goes."""
    return tuple(store.writes.get(role, ()))


def adds_of(store: StoreSpec, role: str) -> tuple[str, ...]:
    """Patterns of the only files that a role may add or change in the folders it writes to; nothing: all of them."""
    return tuple(store.adds.get(role, ()))


def moving_files(store: StoreSpec) -> tuple[str, ...]:
    """What changes in a tracked folder with every move or look, and is no part of any tree id."""
    return tuple(name for name in (store.file, store.log, POINTER, page_name(store)) if name)


def page_name(store: StoreSpec) -> str:
    """The path of the evidence page inside the task folder."""
    return store.evidence or "artifacts/evidence.html"


def exclude_root(store: StoreSpec, project: Project) -> str:
    """Have git ignore the machine's folder, by the one file that is neither committed nor another clone's.

    Of a tracked folder that is the state, the pointer and the evidence page; its log is committed, and git shows it.

    Returns a note for the person: that file may be a link or belong to another user.
    """
    if not store.root or not project.common_dir:
        return ""
    names = (store.file, POINTER, page_name(store)) if is_tracked(store) else ("",)
    lines = [f"/{store.root}/{name}" for name in names]
    path = os.path.join(project.common_dir, _EXCLUDE)
    try:
        text = read_text(path) or ""
        if missing := [line for line in lines if line not in text.splitlines()]:
            make_folders(os.path.dirname(path))
            separator = "" if not text or text.endswith("\n") else "\n"
            added = "".join(f"{line}\n" for line in missing)
            write_atomic(path, f"{text}{separator}{added}".encode(), durable=True)
    except (StorageError, UnreadableError) as error:
        from detent.words.runner import task as say

        return say.not_passed_over(store.root, error.where, error.what, lines)
    return ""


def named_in(path: str) -> str:
    """The task that such a file names; empty where it names none."""
    try:
        return (read_plain(path, 4096) or b"").strip().decode("utf-8", "replace")
    except UnreadableError:
        return ""  # any process may write there; an unreadable file names no task


def active_problem(store: StoreSpec, project: Project, task_id: str) -> str:
    """Why a task can't be remembered so, for a person; empty when it can, or the machine keeps no such file."""
    if not (store.root and store.active):
        return ""
    path = os.path.join(store_root(store, project.root), store.active)
    try:
        read_plain(path)
    except UnreadableError as error:
        from detent.words.runner import task as say

        return say.not_remembered(path, error.what, task_id)
    return ""
