"""What a task may use in all its agent runs together, and how it goes on once that is used up."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.store.tasks import Memory


def budget_spent(memory: Memory) -> str:
    """Which bound of the whole task is used up, in words; empty when none is."""
    budget, usage = memory.head.get("budget", {}).get("task", {}), memory.usage
    used = (
        ("usd", usage.get("cost_usd", 0), "USD"),
        ("hours", usage.get("seconds", 0) / 3600, "hours of agent runs"),
        ("runs", usage.get("runs", 0), "agent runs"),
    )
    for name, value, words in used:
        if name in budget and value >= budget[name]:
            return f"budget: {value:.2f} of {budget[name]:g} {words} are used"
    return ""


def way_on(task_id: str, memory: Memory) -> str:
    """The command that lets a stopped task go on; more budget comes first where that is what is lacking."""
    if not budget_spent(memory):
        return f"detent resume {task_id}"
    return f"detent configure --budget USD --runs N {task_id}, then: detent resume {task_id}"
