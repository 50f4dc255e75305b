"""The journal line of one stage of a deployment, or of taking one back."""

from __future__ import annotations

from detent.store.journal.events import Deploy
from detent.store.journal.receipts import ReceiptStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypedDict, Unpack

    from detent.packs.lights_out.deploy_plan import Plan
    from detent.runner.task.open import Task
    from detent.store.journal.receipts import Receipt

    class Said(TypedDict, total=False):
        """What a person says with a stage that only they begin."""

        name: str
        reason: str
        unseen: bool
        edges: Sequence[str]
        differs: Sequence[str]


_BY_PERSON = ("confirmed", "rolling_back")


def deploy_line(
    task: Task,
    stage: str,
    plan: Plan,
    tree: str,
    *,
    visit: str = "",
    results: Sequence[Receipt] = (),
    why: str = "",
    left: str = "",
    **said: Unpack[Said],
) -> Deploy:
    """The line; `results` are of the commands that were run, `why` says which of them failed."""
    return Deploy(
        stage=stage,
        plan=plan.digest,
        commands=plan.pairs(),
        by="person" if stage in _BY_PERSON else "engine",
        name=said.get("name", ""),
        reason=said.get("reason", ""),
        tree=tree,
        visit=visit,
        receipts={receipt.key: receipt.digest for receipt in results},
        logs=ReceiptStore(task.places.receipts()).logs_of(results),
        ok=bool(results) and not why,
        why=why,
        unseen=said.get("unseen"),
        edges=said.get("edges"),
        differs=said.get("differs"),
        left=left,
    )
