"""What all agent runs of a task together may use, how many may come to nothing, and how it goes on after that."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Machine
    from detent.store.journal.memory import Memory

_MORE = {"USD": "--budget USD", "hours of agent runs": "--hours N", "agent runs": "--runs N"}  # what gives more
FRUITLESS = "fruitless"  # the limit of agent runs in a row that crashed or opened no move, where a machine has one


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


def budget_left(memory: Memory) -> dict[str, float]:
    """What is left of the whole task's money and time, where these have a bound."""
    budget, usage = memory.head.get("budget", {}).get("task", {}), memory.usage
    left: dict[str, float] = {}
    if "usd" in budget:
        left["usd"] = budget["usd"] - usage.get("cost_usd", 0)
    if "hours" in budget:
        left["seconds"] = 3600 * budget["hours"] - usage.get("seconds", 0)
    return left


def fruitless_spent(machine: Machine, memory: Memory) -> str:
    """Why a person is called although no other limit is used up; what the runs left in between does not matter."""
    limit, last = machine.limits.get(FRUITLESS), memory.fruitless
    if limit is None or last.get("count", 0) < limit.most:
        return ""
    from detent.page.runs import EXITS  # few tasks come this far

    ended = "opened no move" if last["exit"] == "finished" else EXITS.get(last["exit"], last["exit"])
    why = f": {last['why']}" if last["why"] else ""
    head = f"{last['count']} agent runs in a row came to nothing"
    return f"{head}; the last one, #{last['run']} in {last['state']}, {ended}{why}"


def way_on(task_id: str, memory: Memory) -> str:
    """The command that lets a stopped task go on; more budget comes first where that is what is lacking."""
    spent = budget_spent(memory)
    if not spent:
        return f"detent resume {task_id}"
    option = next(option for words, option in _MORE.items() if spent.endswith(f" {words} are used"))
    return f"detent configure {option} {task_id}, then: detent resume {task_id}"
