"""Brings a task into order: what every command that writes begins with, the task's lock in hand."""

from __future__ import annotations

from detent.errors import UnreadableError
from detent.machines.brought import BROUGHT
from detent.runner.step.promises import keep_promises
from detent.runner.step.registry import settling
from detent.runner.step.settle import project_beside, settle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.step.disorder import Settled
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Memory


def put_in_order(task: Task) -> Settled:
    """Settle, finish what a crash cut short, then keep open promises."""
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
