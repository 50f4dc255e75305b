"""The words for what is set for one task: budget, limits, mode, agents, checks."""

from __future__ import annotations

from detent.core.machine import STOPPED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.runner.task.open import Task
    from detent.store.journal.events import Configured

_BOUNDS = {"usd": "USD", "runs": "agent runs", "hours": "hours of agent runs"}


def set_words(line: Configured) -> str:
    """What a line of the journal set."""
    parts = [f"the mode to {line.mode}"] if line.mode else []
    parts += [f"the limit {name} to {most}" for name, most in line.limits.items()]
    parts += [f"the budget to {_bounds(bounds)}" for bounds in line.budget.values()]
    parts += [f"the agent of {role} to {_in_turn(choices)}" for role, choices in line.agents.items()]
    parts += [f"one more check: {check.splitlines()[0]}" for _name, check in line.commands]
    parts += [f"the kind of the change to {line.change['kind']}"] if line.change else []
    parts += [f"the code of its pack to {line.pack[:12]}"] if line.pack else []
    return "; ".join(parts)


def settings_rows(task: Task) -> list[tuple[str, str]]:
    """What the project or a person set for this task and holds now, as rows of its status."""
    head = task.memory.head
    limits = ", ".join(f"{name} {most}" for name, most in head.limits.items())
    overrides = head.agents.get("overrides", {})
    agents = "; ".join(f"{role}: {_in_turn(choices)}" for role, choices in overrides.items())
    rows = (
        ("budget", _bounds(head.budget.get("task", {}))),
        ("limits", limits),
        ("agents", agents),
        ("audit", _audit(head.audit)),
    )
    return [row for row in rows if row[1]]


def configured_words(task: Task, *, is_new: bool) -> str:
    head, stopped = f"configured: {task.id}", task.memory.snapshot.registers.get(STOPPED, "")
    lines = [head if is_new else f"{head}: all of this holds already"]
    mode = task.memory.snapshot.mode
    rows = [*([("mode", mode)] if mode else []), *settings_rows(task)]
    rows += [("kind", kind_words(task.memory.head.change))] if task.memory.head.change else []
    rows += [("check", line.splitlines()[0]) for _name, line in task.memory.head.commands]
    lines += [f"  {label + ':':<9}{value}" for label, value in rows]
    if stopped:
        lines.append(f"  it is stopped ({stopped})\n  next: detent resume {task.id}")
    return "\n".join(lines)


def kind_words(change: Mapping[str, str]) -> str:
    return change["kind"] if change.get("by") == "person" else f"{change['kind']} (guessed from the request)"


def pack_words(task_id: str, was: str, now: str) -> str:
    if was == now:
        return f"configured: {task_id}: its pack is as it was ({now[:12]})"
    consequence = "what was judged before counts as old"
    return f"configured: {task_id}\n  pack: {was[:12]} -> {now[:12]}; {consequence}\n  next: detent next {task_id}"


def _audit(settings: Mapping[str, Any]) -> str:
    """The settings of the dependency audit: only the project sets them, before a task is made."""
    accepted = ", ".join(settings.get("accept", ()))
    services = [f"asks {settings[key]}" for key in ("osv_url", "npm_registry", "cargo_db") if settings.get(key)]
    return "; ".join((*([f"accepts {accepted}"] if accepted else []), *services))


def _bounds(bounds: Mapping[str, float]) -> str:
    return ", ".join(f"{value:g} {_BOUNDS[name]}" for name, value in bounds.items())


def _in_turn(choices: list[str]) -> str:
    return ", then ".join(choices)
