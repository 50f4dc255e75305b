"""Does what committed moves promised: each effect can be repeated without harm until its own line says it worked."""

from __future__ import annotations

from detent.effects.acts import Promise, checkpoint
from detent.runner.settle import remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from detent.runner.open import Task
    from detent.store.native import Document

    Effect = Callable[[Task, str, Mapping[str, Any]], dict[str, str]]


def keep_promises(task: Task, document: Document) -> Task:
    """Do every effect a committed move promised and no line says was done; the caller holds the task's lock."""
    memory = task.memory
    for key, intent in memory.unsettled.items():
        result = EFFECTS[key.partition(":")[2]](task.replace(memory=memory), key, intent)
        fields = {result.pop("field"): result.pop("value")} if "field" in result else {}
        content = {"step": key, "result": result}
        memory, document = remember(task, memory, document, "acted", content, fields=fields)
    return task.replace(memory=memory)


def _checkpoint(task: Task, key: str, intent: Mapping[str, Any]) -> dict[str, str]:
    head = task.memory.head
    return checkpoint(
        Promise(
            key=f"{task.id}/{key}",
            private_git=task.places.private_git(),
            tree=intent["tree"],
            baseline=head["baseline"],
            message=f"{head['machine']}({task.id}): {intent['to']}\n\n{head['title']}",
        )
    )


def _evidence_page(task: Task, _key: str, _intent: Mapping[str, Any]) -> dict[str, str]:
    """Renew the page where there is more than one artifact, and lead the document's own link to it."""
    from detent.runner.evidence import evidence_link, refresh_evidence  # few moves make a page

    result = refresh_evidence(task)
    label = task.machine.store.get("link", "")
    if not result["page"] or not label:
        return result
    return {**result, "field": label, "value": evidence_link(task, task.memory.head.get("evidence_base", ""))}


EFFECTS: Mapping[str, Effect] = {"checkpoint": _checkpoint, "evidence_page": _evidence_page}
