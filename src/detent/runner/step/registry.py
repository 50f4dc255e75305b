"""What effects of moves, steps that prepare them and keys of `[store]` are to the engine, said once by a declaration.

What any machine may name is declared here, what one machine alone has in the `pack.py` of its pack. A declaration is
light: the functions it names are loaded when they are first asked for.
"""

from __future__ import annotations

from functools import cache

from detent.core.record import Record
from detent.machines.brought import BROUGHT, pack_of
from detent.machines.packs import EFFECTS, FEATURES, STEPS, by_name, load, of_packs
from detent.store_spec import keys_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from detent.core.machine import State
    from detent.gates.seen import Seen
    from detent.machines.meanings import Meanings
    from detent.machines.packs import At
    from detent.runner.task.open import Task
    from detent.store.journal.events import Moved
    from detent.store.journal.line import Line
    from detent.store.journal.memory import Memory

    Done = tuple[dict[str, str], dict[str, str]]  # what came of an effect, and the fields of the native file it leads
    Results = dict[str, dict[str, str]]  # what steps came to, by their names


class Effect(Record):
    """What follows a move; it can be repeated without harm until its own line says that it worked."""

    name: str
    says: str  # for authors of machine files
    at: At = ""  # (task, key, promised): Done
    checkpoints: bool = False  # a checkpoint of the move's tree is kept first, and its result is reported too
    needs_tree: bool = False  # it does something with the tree that the move saw; one with a checkpoint does anyway
    is_gate: bool = False  # a task that is blocked goes back to the tree it kept
    delivers: bool = False  # it hands the work over to people
    delivers_at_rest: bool = False  # so it does where the move leads into a state in which the work may rest

    @property
    def uses_tree(self) -> bool:
        return self.checkpoints or self.needs_tree


class Doing(Record):
    """One step of one move."""

    task: Task
    key: str  # names this one step of this one move, for ever; empty while it is only checked
    move: Moved  # the move's line as it was decided
    options: Mapping[str, str]  # what came with the command, by the option's name
    done: Mapping[str, Mapping[str, str]]  # what every step came to last, of this move and of those before it
    seen: Mapping[str, str]  # what `look` saw, as the intent has it; empty while it is only checked


class Step(Record):
    """What must work before a move is made; what takes long is provided even before, without the task's lock."""

    name: str
    says: str  # for authors of machine files
    look: At = ""  # (doing): refuses what can be known beforehand; what the step starts from
    act: At = ""  # (doing): does it, or finds it done; may also say what became of another step's result
    begun: At = ""  # (doing): whether something of it is there
    undo: At = ""  # (doing): safe whatever was done of it
    foresee: At = ""  # (doing): the refusals of `look` that reading files alone can find
    provide: At = ""  # (task): makes what does no harm where it is not used; notes for a person
    provided: At = ""  # (task): whether that is there
    names_tree: bool = False  # the move is of the `tree` that `look` names
    delivers: bool = False  # it hands the work over to people
    is_signed: bool = False  # what it hands over is the tree that was signed last
    takes_back: bool = False  # it leaves the tree as it was before the work


class Feature(Record):
    """What the engine does besides for a machine that has one of these keys of `[store]`."""

    name: str
    keys: tuple[str, ...]
    settles: At = ""  # see `settling` in changing.py; for the others `projecting` below, and so on
    projects: At = ""
    readies: At = ""
    prompts: At = ""
    talks: At = ""


# What any machine may name.
_GENERAL_EFFECTS = (
    Effect("checkpoint", "keep the tree as a commit of the engine's own git", checkpoints=True, is_gate=True),
    Effect("evidence_page", "write the evidence page", "detent.runner.tell.evidence:evidence_page", needs_tree=True),
)
_GENERAL_STEPS = (
    Step(
        "workspace",
        "make the task's clone, if it has none yet and the project's pool has room",
        foresee="detent.runner.step.proving.homes:foresee_workspace",
        provide="detent.runner.step.proving.homes:make_workspace",
        provided="detent.runner.step.proving.homes:has_workspace",
    ),
    Step(
        "baseline",
        "write down branch and commit of the checkout, to come back to; without git only with `--no-git`",
        look="detent.runner.step.git_steps:look_baseline",
        act="detent.runner.step.git_steps:do_baseline",
        foresee="detent.runner.step.git_steps:foresee_baseline",
    ),
    Step(
        "branch",
        "make and check out `MACHINE/ID`, from a clean checkout; `--no-branch` leaves it out",
        look="detent.runner.step.git_steps:look_branch",
        act="detent.runner.step.git_steps:do_branch",
        begun="detent.runner.step.git_steps:has_branch",
        undo="detent.runner.step.git_steps:undo_branch",
        foresee="detent.runner.step.git_steps:foresee_branch",
    ),
    Step(
        "try_baseline",
        "as `baseline`; what it would refuse is written down, and the gate `baseline_known` tells it",
        look="detent.runner.step.git_steps:try_look_baseline",
        act="detent.runner.step.git_steps:try_baseline",
    ),
    Step(
        "try_branch",
        "as `branch`, likewise; nothing is done where `try_baseline` could not be",
        look="detent.runner.step.git_steps:try_look_branch",
        act="detent.runner.step.git_steps:try_branch",
        begun="detent.runner.step.git_steps:has_branch",
        undo="detent.runner.step.git_steps:undo_branch",
    ),
    Step(
        "reset",
        "save files and commits under `refs/detent/backup/`, go back to the baseline's branch, delete the engine's own",
        look="detent.runner.step.git_steps:look_reset",
        act="detent.runner.step.git_steps:do_reset",
        begun="detent.runner.step.git_steps:has_saved",
        foresee="detent.runner.step.git_steps:foresee_reset",
    ),
)
_GENERAL_FEATURES = (Feature("titles", ("retitles",), settles="detent.runner.run.retitle:follow_title"),)
_UNKNOWN = Step("", "")


@cache
def _general_effects() -> dict[str, Effect]:
    return by_name(_GENERAL_EFFECTS)


@cache
def _general_steps() -> dict[str, Step]:
    return by_name(_GENERAL_STEPS)


@cache
def effects() -> dict[str, Effect]:
    """Every effect there is, by its name."""
    return by_name((*_general_effects().values(), *of_packs(EFFECTS)))


@cache
def steps() -> dict[str, Step]:
    """Every step there is, by its name."""
    return by_name((*_general_steps().values(), *of_packs(STEPS)))


def effects_from_outside(pack: str) -> Mapping[str, Effect]:
    """The effects of a pack from another folder; none where it is not loaded."""
    if pack not in BROUGHT:
        return {}
    from detent.machines.outside import declarations

    return declarations(pack, EFFECTS, Effect)


def steps_from_outside(pack: str) -> Mapping[str, Step]:
    """Likewise its steps."""
    if pack not in BROUGHT:
        return {}
    from detent.machines.outside import declarations

    return declarations(pack, STEPS, Step)


def effect_named(name: str) -> Effect:
    """What is known of an effect; packs are asked only for what is not general."""
    pack = pack_of(name)
    return _general_effects().get(name) or (effects_from_outside(pack.name) if pack else effects())[name]


def step_named(name: str) -> Step:
    """The declaration of a step; an unknown one does nothing."""
    pack = pack_of(name)
    return _general_steps().get(name) or (steps_from_outside(pack.name) if pack else steps()).get(name, _UNKNOWN)


def meanings() -> Meanings:
    """What the checker asks of names: their declarations."""
    from detent.gates.registry import declared  # reading one task compares no gates
    from detent.machines.meanings import Meanings

    return Meanings(declared, effect_named, step_named)


def is_gate_effect(name: str) -> bool:
    """Whether a task that is blocked goes back to what this effect kept."""
    return effect_named(name).is_gate


@cache
def _features() -> tuple[Feature, ...]:
    return tuple(by_name((*of_packs(FEATURES), *_GENERAL_FEATURES)).values())


def hooks_of(task: Task, hook: str) -> Iterator[Any]:
    """What the features of a task's machine have under this name of `Feature`."""
    keys = keys_of(task.machine.store)
    for feature in _features():
        if (at := getattr(feature, hook)) and not keys.isdisjoint(feature.keys):
            yield load(at)


def projecting(task: Task) -> Iterator[Callable[[Task, Memory], None]]:
    """Bring files beside the task up to its journal, after each line; again and again, until they are."""
    return hooks_of(task, "projects")


def readying(task: Task) -> Iterator[Callable[[Task], None]]:
    """Do what must come before an agent run is made ready; it may take long, and no lock is held."""
    return hooks_of(task, "readies")


def prompting(task: Task) -> Iterator[Callable[[Task, State, Seen], str]]:
    """A part of every prompt; empty where there is nothing to tell."""
    return hooks_of(task, "prompts")


def talking(task: Task) -> Iterator[Callable[[Task, Sequence[Line]], Iterator[Mapping[str, Any]]]]:
    """The conversation so far, where people and agents talk."""
    return hooks_of(task, "talks")
