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
    from detent.words.runner import step as say

    why = say.not_worked_yet(taken.edge.source, taken.edge.name, task.id)
    return Missing("after", why, why.next_step)


def refuse_unearned(task: Task, decision: Decision, signal: Signal) -> Decision:
    """A bare request of a person takes no move that only the absence of a run has opened."""
    is_bare = signal.who == "person" and not signal.want and not signal.verb
    if not (is_bare and isinstance(decision, Advance) and _is_early(task, decision)):
        return decision
    if decision.way.needs and not decision.way.counts:
        return decision
    edge = decision.edge
    from detent.words.runner import step as say

    why = say.leads_without_run(edge.source, edge.name, edge.target, task.id)
    return Refuse(say.nothing_ready(edge.source), (Missing("after", why, why.next_step),))


def _is_early(task: Task, taken: Advance) -> bool:
    snapshot = task.memory.snapshot
    is_waiting = task.machine.states[snapshot.state].driver == "agent" and snapshot.exit == ENTRY
    return is_waiting and ENTRY not in taken.way.after
