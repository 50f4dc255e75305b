"""Finds the role for a person's decision about a block, in a state whose own role has not the rights for it.

`[store.resolves.STATE]` names the limit that blocks of the state count towards, and the role that works there first
once one was counted: a person has answered by then, as nothing else leads back. When its run has finished, the state's
own role works again. Locks that it `opens` are open for that role alone.
"""

from __future__ import annotations

from detent.core.decide import spent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Machine, State
    from detent.core.values import Snapshot
    from detent.store.journal.memory import Visit
    from detent.store_spec import Resolving


def resolving(machine: Machine, snapshot: Snapshot) -> Resolving | None:
    """How a decision is carried out in this visit; None where none was made."""
    found = machine.store.resolves.get(snapshot.state)
    return found if found is not None and spent(machine, snapshot, found.limit) else None


def resolver_of(machine: Machine, snapshot: Snapshot, visit: Visit) -> State | None:
    """The state as the run finds it that carries out a decision; None where none is due, or it was carried out."""
    found = resolving(machine, snapshot)
    if found is None or (visit and (visit.role != found.role or visit.exit == "finished")):
        return None
    state = machine.states[snapshot.state]
    return state.replace(
        role=found.role,
        access=next(other.access for other in machine.states.values() if other.role == found.role),
        prompt_counted={},
        prompt=state.prompt if found.prompt is None else found.prompt,
        may=state.may if found.may is None else tuple(found.may),
        must_not=state.must_not if found.must_not is None else tuple(found.must_not),
    )
