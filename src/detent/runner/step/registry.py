"""What an effect of a move and a step that prepares one are to the engine, said once where they are declared.

General ones are declared in `runner/step/general.py`, those of one machine in the `pack.py` of its pack. A declaration
is light: the functions it names are loaded when they are first asked for.
"""

from __future__ import annotations

from functools import cache

from detent.core.record import Record
from detent.machines.packs import EFFECTS, STEPS, by_name, of_packs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.machines.packs import At
    from detent.runner.task.open import Task

    Done = tuple[dict[str, str], dict[str, str]]  # what came of an effect, and the fields of the native file it leads
    Results = dict[str, dict[str, str]]  # what steps came to, by their names


class Effect(Record):
    """What follows a move; it can be repeated without harm until its own line says that it worked."""

    name: str
    says: str  # for those who write machine files
    at: At = ""  # (task, key, intent): Done
    checkpoints: bool = False  # a checkpoint of the move's tree is kept first, and what came of it is told too
    needs_tree: bool = False  # it does something with the tree that the move saw; one with a checkpoint does anyway
    is_gate: bool = False  # a task that is blocked goes back to the tree it kept

    @property
    def uses_tree(self) -> bool:
        return self.checkpoints or self.needs_tree


class Doing(Record):
    """One step of one move."""

    task: Task
    key: str  # names this one step of this one move, for ever; empty while it is only looked at
    move: Mapping[str, Any]  # the move's line as it was decided
    given: Mapping[str, str]  # what came with the command, by the option's name
    done: Mapping[str, Mapping[str, str]]  # what every step came to last, of this move and of those before it
    seen: Mapping[str, str]  # what `look` saw, as the intent has it; empty while it is only looked at


class Step(Record):
    """What must work before a move is made; what takes long is provided even before, without the task's lock."""

    name: str
    says: str  # for those who write machine files
    look: At = ""  # (doing): refuses what can be known beforehand; what the step starts from
    act: At = ""  # (doing): does it, or finds it done; may also say what became of another step's result
    begun: At = ""  # (doing): whether something of it is there
    undo: At = ""  # (doing): safe whatever was done of it
    foresee: At = ""  # (doing): refuses what of `look` can be told by reading files alone
    provide: At = ""  # (task): makes what does no harm where it is not used; notes for a person
    provided: At = ""  # (task): whether that is there
    names_tree: bool = False  # the move is of the `tree` that `look` names


_UNKNOWN = Step("", "")


@cache
def _general_effects() -> dict[str, Effect]:
    from detent.runner.step import general

    return by_name(general.EFFECTS)


@cache
def _general_steps() -> dict[str, Step]:
    from detent.runner.step import general

    return by_name(general.STEPS)


@cache
def effects() -> dict[str, Effect]:
    """Every effect there is, by its name."""
    return by_name((*_general_effects().values(), *of_packs(EFFECTS)))


@cache
def steps() -> dict[str, Step]:
    """Every step there is, by its name."""
    return by_name((*_general_steps().values(), *of_packs(STEPS)))


def effect_named(name: str) -> Effect:
    """What is known of an effect; packs are asked only for what is not general."""
    return _general_effects().get(name) or effects()[name]


def step_named(name: str) -> Step:
    """What is known of a step; one that nobody knows does nothing."""
    return _general_steps().get(name) or steps().get(name, _UNKNOWN)


def is_gate_effect(name: str) -> bool:
    """Whether a task that is blocked goes back to what this effect kept."""
    return effect_named(name).is_gate
