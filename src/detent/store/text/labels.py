"""The labels of a machine's main file under which values of the journal stand, as `[store]` names them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Machine

NUMBERS = ("revision",)
ROUNDS, STATUS = "rounds", "status"  # of `[store]`: labels with {state} in them, one for each state


def state_label(machine: Machine, key: str, state: str) -> str:
    """The label under which one state's rounds or status stand; empty where the machine keeps none."""
    template: str = machine.store.get(key, "")
    return template.replace("{state}", state) if template and not machine.states[state].is_end else ""


def state_labels(machine: Machine, key: str) -> tuple[str, ...]:
    return tuple(label for state in machine.states if (label := state_label(machine, key, state)))


def labels_from(machine: Machine, sources: tuple[str, ...]) -> tuple[str, ...]:
    """The labels that show one of these."""
    return tuple(label for label, source in machine.store.get("shows", {}).items() if source in sources)
