"""Who carries out what a person decided about a block, in a state whose own role has not the rights for it.

`[store.resolves.STATE]` names the limit that blocks of the state count towards, and the role that works there first
once one was counted: a person has answered by then, as nothing else leads back. When its run has finished, the state's
own role looks again. Locks that it `opens` are open for that role alone.
"""

from __future__ import annotations

from detent.core.decide import spent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.core.machine import Machine, State
    from detent.core.values import Snapshot

_WORDS = ("prompt", "may", "must_not")


def resolving(machine: Machine, snapshot: Snapshot) -> Mapping[str, Any]:
    """How a decision is carried out in this visit; empty where none was made."""
    table: Mapping[str, Any] = machine.store.get("resolves", {}).get(snapshot.state, {})
    return table if table and spent(machine, snapshot, table["limit"]) else {}


def resolver_of(machine: Machine, snapshot: Snapshot, visit: Mapping[str, Any]) -> State | None:
    """The state as the run finds it that carries out a decision; None where none is due, or it was carried out."""
    table = resolving(machine, snapshot)
    if not table or (visit and (visit["role"] != table["role"] or visit["exit"] == "finished")):
        return None
    access = next(state.access for state in machine.states.values() if state.role == table["role"])
    words = {name: tuple(table[name]) if name != "prompt" else table[name] for name in _WORDS if name in table}
    return machine.states[snapshot.state].replace(role=table["role"], access=access, prompt_counted={}, **words)
