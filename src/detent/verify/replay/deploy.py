"""What must hold of lines about deployments: confirmed by a person, begun once, ended once, taken back."""

from __future__ import annotations

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
        yield f"a deployment is not {stage!r} by {entry.by!r}"
    if stage in ("begun", "ended") and before.get("confirmed") != entry.plan:
        yield "nobody confirmed these deploy commands"
    if stage == "begun" and before.get("begun"):
        yield "it was begun while the end of another one was not known"
    if stage == "ended" and before.get("begun", {}).get("visit") != entry.visit:
        yield "it ended without having begun"
    if stage in ("rolling_back", "rolled_back") and before.get("last", {}).get("plan") != entry.plan:
        yield "it takes back what was not deployed"
    if stage == "rolled_back" and before.get("back") != entry.visit:
        yield "a rollback ended without having begun"
