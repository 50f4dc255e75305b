"""The step `revert`: takes the work of a task back, by a commit that undoes it; and the record that says so.

Undone is what lies between the task's first commit and its last checkpoint. Where the work has landed, that is undone
on top of the branch as it is now, by a three-way merge in the private git, so that `detent land` brings it there; else
the tree becomes the first one again. The commit goes to the task's own branch, never to a person's. What the tree held
is kept under a private ref first. The ref of the commit, named by the step, is how a repetition finds what was done.
"""

from __future__ import annotations

import json
import os

from detent.core.record import Record
from detent.effects.git.acts import Promise, checkpoint, checkpoint_ref, commit_tree, keep_commit
from detent.effects.git.branches import Bringing, bring_branch, follow_in_clone
from detent.effects.git.git import Git, tree_of
from detent.effects.git.merge import merge_in_memory
from detent.effects.git.person_checkout import branch_commit
from detent.effects.git.put_back import put_back
from detent.errors import RefusedError
from detent.packs.global_ import words as say
from detent.packs.global_.decision_step import CHECK
from detent.runner.step.in_place import refuse_beside_run
from detent.runner.step.locks import kept_text
from detent.runner.step.look import current_tree
from detent.store.disk.atomic import as_json, read_plain
from detent.store.journal.events import Moved
from detent.store.journal.locked_files import put_back_files
from detent.store.journal.places import branch_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.runner.step.registry import Doing, Done, Results
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Promised

NAME = "revert"


class _Undoing(Record):
    """What is to be undone, and on top of what."""

    work: str  # the last checkpoint
    onto: str  # the tip of the branch the work landed on; empty where it has not
    branch: str
    tree: str  # what is left without the work


def look_revert(doing: Doing) -> dict[str, str]:
    """Refuses what can't be undone; what it starts from."""
    task = doing.task
    if not task.memory.head.baseline:
        raise RefusedError(say.no_git(), where=task.tree_path)
    if not os.path.isdir(task.tree_path):
        raise RefusedError(say.tree_gone(task.id), where=task.tree_path)
    reason = doing.move.reason.strip() or _decided(doing)
    if not reason:
        raise RefusedError(say.revert_needs_reason())
    refuse_beside_run(task)
    found = _undoing(task)
    return {"work": found.work, "onto": found.onto, "branch": found.branch, "reason": reason}


def _decided(doing: Doing) -> str:
    """The reason that stands in the decision this move rests on; its gate has read and judged that file."""
    machine, move = doing.task.machine, doing.move
    for gate in machine.parts(name for name in move.facts):
        if gate.check == CHECK:
            content = json.loads(read_plain(doing.task.native.path(gate.params["file"])) or b"{}")
            return str(content.get("reason", "")).strip() if isinstance(content, dict) else ""
    return ""


def _undoing(task: Task, onto: str | None = None) -> _Undoing:
    head, private = task.memory.head, task.places.private_git()
    baseline = str(head.baseline)
    work = task.memory.checkpoint.commit or baseline
    branch, tip = _landed(task, work)
    onto = tip if onto is None else onto
    first = tree_of(private, baseline)
    if not onto:
        return _Undoing(work, "", "", first)
    # Two commits on top of the work, under no name: so the work itself is the base of the merge, however it landed.
    ours, theirs = (commit_tree(private, tree, work, "detent: revert") for tree in (tree_of(private, onto), first))
    merged = merge_in_memory(private, ours, theirs)
    if merged.conflicts:
        raise RefusedError(say.changed_since(branch, merged.conflicts), where=task.project.root)
    return _Undoing(work, onto, branch, merged.tree)


def _landed(task: Task, work: str) -> tuple[str, str]:
    """The branch the work is part of, and its tip: where it landed by us, else by a merge of a person."""
    common_dir, landed = task.project.common_dir, task.memory.landed
    if task.memory.head.in_place or not task.memory.checkpoint.commit:
        return "", ""
    if landed and landed.how != "pr":  # the fate of a request is unknown here
        return landed.branch, branch_commit(common_dir, landed.branch)
    merged = Git(common_dir).finish("for-each-ref", f"--contains={work}", "--format=%(refname:lstrip=2)", "refs/heads")
    task_branch = task.memory.checkpoint.branch
    names = (
        [name for name in os.fsdecode(merged.stdout).splitlines() if name != task_branch] if merged.exit == 0 else []
    )
    return (names[0], branch_commit(common_dir, names[0])) if len(names) == 1 else ("", "")


def do_revert(doing: Doing) -> Results:
    """Keep what is there, make the commit or find it, then have the files follow."""
    task, seen, private = doing.task, doing.seen, doing.task.places.private_git()
    found = _undoing(task, seen["onto"])
    key = f"{task.id}/{doing.key}"
    kept = _kept(private, f"{checkpoint_ref(key)}-before")
    now = current_tree(task)
    if not kept:
        kept = keep_commit(private, f"{checkpoint_ref(key)}-before", now, found.work, f"{task.id}: before it is undone")
    title, reason = str(task.memory.head.title), seen["reason"]
    promise = Promise(
        key=key,
        private_git=private,
        tree=found.tree,
        baseline=str(task.memory.head.baseline),
        message=f'Revert "{title}"\n\nThis takes back the work of task {task.id}.\n\nReason: {reason}',
        parent=found.onto or found.work,
        also=found.work if found.onto else "",
    )
    commit = checkpoint(promise)["commit"]
    put_back(private, task.tree_path, now, found.tree)
    result = {"commit": commit, "tree": found.tree, "reverts": found.work, "kept": kept, "step": doing.key}
    return {NAME: {**result, "onto": found.onto, "branch": seen["branch"], "reason": reason}}


def has_revert(doing: Doing) -> bool:
    key = f"{doing.task.id}/{doing.key}"
    return bool(_kept(doing.task.places.private_git(), f"{checkpoint_ref(key)}-before"))


def _kept(private: str, ref: str) -> str:
    return Git(private).run("for-each-ref", "--format=%(objectname)", ref).decode().strip()


def record_revert(task: Task, key: str, _promised: Promised) -> Done:
    """Bring the commit to the task's branch and write the record, the same bytes whenever it is repeated."""
    number = int(key.partition(":")[0])
    line = next(line for line in task.store.history() if line.seq == number)
    done = (line.prepared or {})[NAME] if isinstance(line, Moved) else {}
    result = {} if task.memory.head.in_place else _brought(task, done)
    record = {
        "reason": done["reason"],
        "by": line.name,
        "time": line.time,
        "reverted": _commits(task, done["reverts"]),
        "commit": done["commit"],
        "branch": result.get("branch", ""),
        "onto": done["onto"],
        "kept": done["kept"],
    }
    digest = task.store.keep(as_json(record, compact=False) + b"\n")
    if name := task.machine.store.record:
        put_back_files(
            task.native.folder,
            name,
            {name: digest},
            lambda content_digest: kept_text(task, content_digest),
            task.store.keep,
        )
    return {**result, "record": name, "sha256": digest}, {}


def _commits(task: Task, work: str) -> list[str]:
    """The checkpoints that are taken back, the newest first."""
    baseline = str(task.memory.head.baseline)
    return Git(task.places.private_git()).run("rev-list", "--first-parent", work, f"^{baseline}").decode().split()


def _brought(task: Task, done: Mapping[str, str]) -> dict[str, str]:
    head, last = task.memory.head, task.memory.checkpoint
    bringing = Bringing(
        private_git=task.places.private_git(),
        commit=done["commit"],
        baseline=head.baseline,
        branch=branch_of(head.machine, head.id),
        put=last.commit,
        put_as=last.branch,
    )
    branch = bring_branch(bringing, task.project.common_dir)
    before = last.clone or head.baseline
    followed = follow_in_clone(bringing, task.tree_path, before)
    clone = done["commit"] if followed else last.clone
    return {"commit": done["commit"], "made_by": done["step"], "branch": branch, "clone": clone}
