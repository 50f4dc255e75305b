"""The closed lists a machine file may draw on, gathered from the rooms that own them."""

from __future__ import annotations

from detent.core.machine import Vocabulary
from detent.gates.registry import Check, parameters
from detent.machines.brought import BROUGHT
from detent.machines.packs import CHECKS, EFFECTS, STEPS
from detent.runner.step.registry import Effect, Step, effects, effects_from_outside, steps, steps_from_outside
from detent.store.journal.events import KINDS
from detent.store.journal.shown import SOURCES
from detent.store.text.codecs import CODECS


def vocabulary(pack: str = "") -> Vocabulary:
    """What a machine may name; that of a pack from elsewhere also what its own pack declares."""
    if pack in BROUGHT:
        from detent.machines.outside import load_everything

        load_everything(BROUGHT[pack], {CHECKS: Check, EFFECTS: Effect, STEPS: Step})
    names = {
        "effects": (*effects(), *effects_from_outside(pack)),
        "prepares": (*steps(), *steps_from_outside(pack)),
        "codecs": tuple(CODECS),
        "kinds": tuple(KINDS),
    }
    return Vocabulary(checks=parameters(pack), **names, shown=SOURCES)
