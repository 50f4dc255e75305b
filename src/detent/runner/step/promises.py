"""Does what committed moves promised: each effect can be repeated without harm until its own line says it worked."""

from __future__ import annotations

from detent.effects.git.acts import Promise, checkpoint, forget_checkpoint, whole_parent
from detent.effects.git.branches import Bringing, bring_branch, follow_in_clone
from detent.errors import ToolError
from detent.machines.packs import load
from detent.runner.step.look import current_tree, known_tree
from detent.runner.step.registry import effect_named
from detent.store.journal.events import Acted
from detent.store.journal.places import branch_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.step.change import Change
    from detent.runner.step.registry import Done
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Promised


def keep_promises(change: Change) -> None:
    """Do every effect a committed move promised and no line says was done."""
    for key, promised in change.memory.unsettled.items():
        result, fields = _do(change.task, key, promised)
        change.write(Acted(step=key, result=result, fields=fields))


def _do(task: Task, key: str, promised: Promised) -> Done:
    """One effect; what is built on a checkpoint is done only where that could be kept."""
    effect = effect_named(key.partition(":")[2])
    kept = _checkpoint(task, key, promised) if effect.checkpoints else {}
    if not effect.at or (effect.checkpoints and "commit" not in kept):
        return kept, {}
    result, fields = load(effect.at)(task, key, promised)
    return {**kept, **result}, fields


def _checkpoint(task: Task, key: str, promised: Promised) -> dict[str, str]:
    head = task.memory.head
    promise = Promise(
        key=f"{task.id}/{key}",
        private_git=task.places.private_git(),
        tree=promised.tree,
        baseline=head.baseline,
        message=f"{head.machine}({task.id}): {promised.to}\n\n{head.title}",
        parent=task.memory.checkpoint.commit or head.baseline,
    )
    try:
        result = checkpoint(promise)
    except ToolError:
        # A power cut may have taken objects that git had not written out. If the tree is still as it was, they are
        # made again by a scan of it; if not, the move stands without its checkpoint, and says so.
        forget_checkpoint(promise)
        if current_tree(task) != promise.tree:
            return {"lost": promise.tree}
        result = checkpoint(promise.replace(parent=whole_parent(promise)))
    return _brought(task, promise, result)


def _brought(task: Task, promise: Promise, result: dict[str, str]) -> dict[str, str]:
    """Bring the checkpoint of a task with a clone to the user's repository, and to the clone if it has these files."""
    head, last = task.memory.head, task.memory.checkpoint
    if head.in_place:
        return result
    bringing = Bringing(
        private_git=promise.private_git,
        commit=result["commit"],
        baseline=promise.baseline,
        branch=branch_of(head.machine, head.id),
        put=last.commit,
        put_as=last.branch,
    )
    branch = bring_branch(bringing, task.project.common_dir)
    is_same = known_tree(task) == promise.tree
    before = last.clone or promise.baseline
    followed = is_same and follow_in_clone(bringing, task.tree_path, before)
    return {**result, "branch": branch, "clone": result["commit"] if followed else last.clone}
