"""What all agent runs of a task together may use, how many may come to nothing, and how it goes on after that."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Machine
    from detent.store.journal.memory import Memory

_MORE = {"usd": "--budget USD", "hours": "--hours N", "runs": "--runs N"}  # what gives more
FAILED_IN_A_ROW = (
    "fruitless"  # the limit of agent runs in a row that crashed or opened no move, where a machine has one
)


def budget_spent(memory: Memory) -> str:
    """Which bound of the whole task is used up, in words; empty when none is."""
    used_up = _used_up(memory)
    if used_up is None:
        return ""
    from detent.words.runner import task as say

    name, used, most = used_up
    return {"usd": say.usd_used, "hours": say.hours_used, "runs": say.runs_used}[name](used, most)


def _used_up(memory: Memory) -> tuple[str, float, float] | None:
    """The first bound of the whole task that is used up: its name, what was used, and the bound."""
    budget, usage = memory.head.budget.get("task", {}), memory.usage
    used = {
        "usd": usage.get("cost_usd", 0),
        "hours": usage.get("seconds", 0) / 3600,
        "runs": usage.get("runs", 0),
    }
    return next(
        ((name, value, budget[name]) for name, value in used.items() if name in budget and value >= budget[name]), None
    )


def budget_left(memory: Memory) -> dict[str, float]:
    """What is left of the whole task's money and time, where these have a bound."""
    budget, usage = memory.head.budget.get("task", {}), memory.usage
    left: dict[str, float] = {}
    if "usd" in budget:
        left["usd"] = budget["usd"] - usage.get("cost_usd", 0)
    if "hours" in budget:
        left["seconds"] = 3600 * budget["hours"] - usage.get("seconds", 0)
    return left


def failures_spent(machine: Machine, memory: Memory) -> str:
    """Why a person is called although no other limit is used up; what the runs left in between does not matter."""
    limit, last = machine.limits.get(FAILED_IN_A_ROW), memory.failed_in_a_row
    if limit is None or last.count < limit.most:
        return ""
    from detent.page.runs import EXITS  # few tasks come this far
    from detent.words.runner import task as say

    ended = say.opened_no_move() if last.exit == "finished" else EXITS.get(last.exit, last.exit)
    return say.runs_came_to_nothing(last.count, last.run, last.state, ended, last.why)


def way_on(task_id: str, memory: Memory) -> str:
    """The command that lets a stopped task go on; more budget comes first where that is what is lacking."""
    from detent.words.runner import task as say

    used_up = _used_up(memory)
    return say.resume(task_id) if used_up is None else say.raise_budget(_MORE[used_up[0]], task_id)
