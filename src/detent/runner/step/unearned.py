"""Moves that are open only because no agent has worked yet: they are not offered, and not taken unless named.

In a state that wants an agent, "the gate failed" is true before the first run too, and so is a move that needs nothing.
A person may take such a move by its name; a bare `detent move` does not mean it.
"""

from __future__ import annotations

from detent.core.machine import ENTRY
from detent.core.values import Advance, Missing, Refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.values import Decision, Signal
    from detent.runner.task.open import Task


def why_unearned(task: Task, taken: Advance) -> Missing | None:
    """Why a move counts a failure of a run that there was not; None when it does not."""
    if not (taken.way.counts and _is_early(task, taken)):
        return None
    why = f"no agent run has worked in {taken.edge.source} yet, and {taken.edge.name} counts a failed attempt"
    return Missing("after", why, f"start one: detent run {task.id}")


def refuse_unearned(task: Task, decision: Decision, asked: Signal) -> Decision:
    """A bare request of a person takes no move that only the absence of a run has opened."""
    is_bare = asked.who == "person" and not asked.want and not asked.verb
    if not (is_bare and isinstance(decision, Advance) and _is_early(task, decision)):
        return decision
    if decision.way.needs and not decision.way.counts:
        return decision
    edge = decision.edge
    why = f"no agent run has worked in {edge.source} yet; {edge.name} leads to {edge.target} without one"
    fix = f"start one: detent run {task.id}; if you mean that move, name it: detent move --edge {edge.name} {task.id}"
    return Refuse(f"{edge.source}: nothing is ready", (Missing("after", why, fix),))


def _is_early(task: Task, taken: Advance) -> bool:
    snapshot = task.memory.snapshot
    is_waiting = task.machine.states[snapshot.state].driver == "agent" and snapshot.exit == ENTRY
    return is_waiting and ENTRY not in taken.way.after
