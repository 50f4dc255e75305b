"""Anchors a journal outside itself: at the end of a run and at a sign-off a git ref is led to its last line.

A chain of hashes shows every edit only with knowledge of its end. A forger of the whole journal would have to rewrite
this ref too, and, where it was pushed or backed up, every copy of it.
"""

from __future__ import annotations

from detent.effects.git.git import Git, sync_names
from detent.errors import ToolError
from detent.store.disk.digest import sha256_of
from detent.store.text.numbers import whole_number
from detent.words.runner import step as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task


def anchor_ref(task_id: str) -> str:
    return f"refs/detent/anchor/{task_id}"


def anchor(task: Task) -> None:
    """Let the ref name the line the journal ends with; without git there is nowhere to anchor it."""
    if not task.project.common_dir:
        return
    text = f"{task.memory.snapshot.seq} {sha256_of(task.memory.last)}\n"
    git = Git(task.project.common_dir)
    blob = git.run("hash-object", "-w", "--stdin", input_bytes=text.encode()).decode().strip()
    # After a power cut a ref to nothing would look like fraud.
    sync_names(task.project.common_dir, f"objects/{blob[:2]}", "the anchor of the journal")
    git.run("update-ref", anchor_ref(task.id), blob)


def anchored_ids(common_dir: str) -> tuple[str, ...]:
    """The tasks that have an anchor in a repository."""
    if not common_dir:
        return ()
    listed = Git(common_dir).run("for-each-ref", "--format=%(refname)", anchor_ref("").rstrip("/")).decode()
    return tuple(name.removeprefix(anchor_ref("")) for name in listed.split())


def drop_anchor(common_dir: str, task_id: str) -> None:
    """Forget the anchor of a task whose journal a person has removed."""
    if task_id in anchored_ids(common_dir):
        Git(common_dir).run("update-ref", "-d", anchor_ref(task_id))


def read_anchor(task: Task) -> tuple[int, str] | None:
    """Number and hash of the line that was anchored last; None when there is none."""
    if not task.project.common_dir:
        return None
    git = Git(task.project.common_dir)
    ref = anchor_ref(task.id)
    if not git.run("for-each-ref", "--format=%(objectname)", ref).strip():
        return None
    words = git.run("cat-file", "blob", ref).decode("ascii", "replace").split()
    number = whole_number(words[0]) if len(words) == 2 else None
    if number is None:
        raise ToolError(say.anchor_damaged(), where=ref)
    return number, words[1]
