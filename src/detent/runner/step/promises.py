"""Does what committed moves promised: each effect can be repeated without harm until its own line says it worked."""

from __future__ import annotations

from detent.effects.git.acts import Promise, checkpoint, forget_checkpoint, whole_parent
from detent.effects.git.branches import Bringing, bring_branch, follow_in_clone
from detent.errors import ToolError, UnreadableError
from detent.machines.packs import BROUGHT, load
from detent.runner.step.look import current_tree, known_tree
from detent.runner.step.registry import effect_named, settling
from detent.runner.step.settle import Settled, project_beside, remember, settle
from detent.store.journal.places import branch_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.runner.step.registry import Done
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Memory


def put_in_order(task: Task) -> Settled:
    """What every command that writes begins with, the task's lock in hand: settle, then keep open promises."""
    settled = settle(task)
    _refuse_other_code(settled.memory)
    if settled.memory.intent:
        from detent.runner.step.prepare import settle_intent  # only a crash leaves one open

        settled = settle_intent(task, settled)
    needs_anchor = _is_sign_off_open(settled.memory)
    settled = keep_promises(task, settled)
    if needs_anchor:
        from detent.runner.step.anchor import anchor  # only after a sign-off, where a crash may have prevented it

        anchor(task.replace(memory=settled.memory))
    for put_right in settling(task):
        settled = put_right(task, settled)
    project_beside(task, settled.memory)  # what a crash kept from being written there
    return settled


def _refuse_other_code(memory: Memory) -> None:
    """A person may have taken other code for the task since this process read its pack."""
    pack, pinned = BROUGHT.get(memory.head["machine"]), memory.head.get("pack")
    if pinned and (pack is None or pack.digest != pinned):
        raise UnreadableError(
            f"the pack {memory.head['machine']} of this task was changed while this command ran",
            where=pack.folder if pack else "",
            next_step="run the same command again",
        )


def _is_sign_off_open(memory: Memory) -> bool:
    """Whether the journal ends with a sign-off, or with one whose promised effects are not all done."""
    last = max((shown["seq"] for shown in memory.signed.values()), default=0)
    return last == memory.snapshot.seq or any(key.partition(":")[0] == str(last) for key in memory.unsettled)


def keep_promises(task: Task, settled: Settled) -> Settled:
    """Do every effect a committed move promised and no line says was done."""
    memory, document = settled.memory, settled.document
    if not memory.unsettled:
        return settled
    for key, intent in memory.unsettled.items():
        result, fields = _do(task.replace(memory=memory), key, intent)
        content = {"step": key, "result": result, "fields": fields}
        memory, document = remember(task, memory, document, "acted", content)
    return settled.replace(memory=memory, document=document)


def _do(task: Task, key: str, intent: Mapping[str, Any]) -> Done:
    """One effect; what is built on a checkpoint is done only where that could be kept."""
    effect = effect_named(key.partition(":")[2])
    kept = _checkpoint(task, key, intent) if effect.checkpoints else {}
    if not effect.at or (effect.checkpoints and "commit" not in kept):
        return kept, {}
    result, fields = load(effect.at)(task, key, intent)
    return {**kept, **result}, fields


def _checkpoint(task: Task, key: str, intent: Mapping[str, Any]) -> dict[str, str]:
    head = task.memory.head
    promise = Promise(
        key=f"{task.id}/{key}",
        private_git=task.places.private_git(),
        tree=intent["tree"],
        baseline=head["baseline"],
        message=f"{head['machine']}({task.id}): {intent['to']}\n\n{head['title']}",
        parent=task.memory.checkpoint.get("commit", head["baseline"]),
    )
    try:
        result = checkpoint(promise)
    except ToolError:
        # A power cut may have taken objects that git had not written out. If the tree is still as it was, they are
        # made anew by looking at it; if not, the move stands without its checkpoint, and says so.
        forget_checkpoint(promise)
        if current_tree(task) != promise.tree:
            return {"lost": promise.tree}
        result = checkpoint(promise.replace(parent=whole_parent(promise)))
    return _brought(task, promise, result)


def _brought(task: Task, promise: Promise, result: dict[str, str]) -> dict[str, str]:
    """Bring the checkpoint of a task with a clone to the user's repository, and to the clone if it has these files."""
    head, last = task.memory.head, task.memory.checkpoint
    if head["in_place"]:
        return result
    bringing = Bringing(
        private_git=promise.private_git,
        commit=result["commit"],
        baseline=promise.baseline,
        branch=branch_of(head),
        put=last.get("commit", ""),
        put_as=last.get("branch", ""),
    )
    branch = bring_branch(bringing, task.project.common_dir)
    is_same = known_tree(task) == promise.tree
    before = last.get("clone") or promise.baseline
    followed = is_same and follow_in_clone(bringing, task.tree_path, before)
    return {**result, "branch": branch, "clone": result["commit"] if followed else last.get("clone", "")}
