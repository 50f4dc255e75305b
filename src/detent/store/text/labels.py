"""The labels of a machine's main file under which values of the journal stand, as `[store]` names them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Machine

NUMBERS = ("revision",)


def state_label(machine: Machine, template: str, state: str) -> str:
    """The label under which one state's rounds or status stand; empty where the machine keeps none."""
    return template.replace("{state}", state) if template and not machine.states[state].is_end else ""


def state_labels(machine: Machine, template: str) -> tuple[str, ...]:
    return tuple(label for state in machine.states if (label := state_label(machine, template, state)))


def labels_from(machine: Machine, sources: tuple[str, ...]) -> tuple[str, ...]:
    """The labels that show one of these."""
    return tuple(label for label, source in machine.store.shows.items() if source in sources)
