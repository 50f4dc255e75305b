"""What must hold of lines about deployments: confirmed by a person, begun once, ended once, taken back."""

from __future__ import annotations

from detent.words.verify import lines as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.store.journal.events import Deploy
    from detent.store.journal.memory import Memory

STAGES = {
    "confirmed": "person",
    "begun": "engine",
    "ended": "engine",
    "rolling_back": "person",
    "rolled_back": "engine",
}


def deploy_problems(entry: Deploy, memory: Memory) -> Iterator[str]:
    stage, before = entry.stage, memory.deploy
    if STAGES.get(stage) != entry.by:
        yield say.no_deployment(stage, entry.by)
    if stage in ("begun", "ended") and before.confirmed != entry.plan:
        yield say.not_confirmed()
    if stage == "begun" and before.begun:
        yield say.begun_too_early()
    if stage == "ended" and before.begun.visit != entry.visit:
        yield say.ended_unbegun()
    if stage in ("rolling_back", "rolled_back") and before.last.plan != entry.plan:
        yield say.takes_back_nothing()
    if stage == "rolled_back" and before.back != entry.visit:
        yield say.rollback_unbegun()
